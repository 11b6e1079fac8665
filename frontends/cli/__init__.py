"""`paretoscope`, the command line."""

from __future__ import annotations

import sys


def main() -> None:
    from frontends.cli.commands import app, run

    sys.exit(run(app))
