"""The token of a driver: from a file that only its owner reads, or for a code that is good once.

Neither stands in the environment, where every process of this user could read it and Ray's logs would keep it.
"""

from __future__ import annotations

import os
from pathlib import Path

import httpx

from service.contract.wire.errors import OtherVersion, Unavailable
from workers.sending.asking import said_by, words_of

TRIES_SECONDS = 30.0


def own_token(url: str, study_id: str) -> str | None:
    """None where the service asks for no token."""
    if path := os.environ.get("PARETOSCOPE_TOKEN_PATH"):
        return _from_file(Path(path))
    if code := os.environ.pop("PARETOSCOPE_CLAIM", None):
        return _for_code(url, study_id, code)
    return os.environ.get("PARETOSCOPE_TOKEN")


def _from_file(path: Path) -> str:
    """Read once: another driver of this study gets a file of its own."""
    try:
        token = path.read_text().strip()
        path.unlink(missing_ok=True)
    except OSError as error:
        raise Unavailable(f"the driver's token cannot be read: {error.strerror} ({path})") from error
    return token


def _for_code(url: str, study_id: str, code: str) -> str:
    """Not tried again: a second use of the code counts as somebody else's."""
    headers = {**said_by("driver"), "Authorization": f"Bearer {code}"}
    try:
        answer = httpx.post(
            f"{url}/api/studies/{study_id}/token", headers=headers, timeout=TRIES_SECONDS, trust_env=False
        )
        if answer.status_code == OtherVersion.status:
            raise OtherVersion(words_of(answer))
        answer.raise_for_status()
        return str(answer.json()["token"])
    except (httpx.HTTPError, ValueError, KeyError) as error:
        raise Unavailable(f"the service gave no token for this driver's code: {error}") from error
