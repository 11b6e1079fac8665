"""Which commit a tree is at: what a kept study was measured with, beyond its version."""

from __future__ import annotations

import subprocess
from pathlib import Path

CHANGED = "+"  # after a commit: the code that ran differs from it
BESIDE = (":!docs", ":!tests", ":!*.md")  # no part of what runs


def commit_of(tree: Path) -> str | None:
    """`e0785b1b21`, `e0785b1b21+` where its code was changed since; none where git knows nothing of the tree."""
    at = _git(tree, "rev-parse", "--short=10", "HEAD")
    changed = _git(tree, "status", "--porcelain", "--", ".", *BESIDE)
    return None if not at or changed is None else at + (CHANGED if changed else "")


def spanned(begun: str | None, ended: str | None) -> str | None:
    """Of a study that began at one commit and ended at another: `e0785b1 to 1a64575`; none if the first is unknown."""
    return begun if begun is None or ended in (begun, None) else f"{begun} to {ended}"


def _git(tree: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(["git", *words], cwd=tree, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
