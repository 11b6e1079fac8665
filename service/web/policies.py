"""Content-security policies: what a browser lets an answer of ours do."""

from __future__ import annotations

import base64
import hashlib
import re

POLICY = "Content-Security-Policy"

_ALONE = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

# Data, which nobody is to show as a page.
CLOSED = f"default-src 'none'; {_ALONE}"

# The dashboard. plotly.js writes style elements, and compiles the shaders of parallel coordinates by `new Function`.
OF_PAGES = (
    "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    f"img-src 'self' data: blob:; font-src 'self' data:; {_ALONE}"
)

# A report carries its scripts in itself, and names of users: it may talk to nobody, and is of no origin, so not ours.
OF_REPORTS = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; "
    f"font-src data:; sandbox allow-scripts allow-downloads allow-popups allow-modals; {_ALONE}"
)


def of_docs(page: str) -> str:
    """The page that shows the API: its own script by its hash, and calls to this service."""
    inline = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline]
    scripts = " ".join(f"'sha256-{each}'" for each in hashes)
    return (
        f"default-src 'none'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
        f"img-src 'self' data:; {_ALONE}"
    )
