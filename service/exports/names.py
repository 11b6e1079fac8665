"""File names made from a study's name: safe on every system, and still the study's."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

LONGEST = 60


def file_stem(name: str, study_id: str) -> str:
    """Letters and digits of any script, everything else one hyphen; the id keeps studies of one name apart."""
    words = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", name)).strip("-")[:LONGEST].strip("-")
    return f"{words}-{study_id}" if words else study_id


def disposition(filename: str, kind: str = "attachment") -> str:
    """Content-Disposition for old and new readers (RFC 6266)."""
    plain = unicodedata.normalize("NFKD", filename).encode("ascii", "ignore").decode()
    plain = re.sub(r"-{2,}", "-", re.sub(r"[^A-Za-z0-9.-]", "", plain)).strip("-")
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(filename, safe='')}"
