"""`python -m findings`."""

from __future__ import annotations

import sys

from findings.command_line import app
from frontends.cli.commands import run
from frontends.cli.terminal import complain
from service.contract.wire.errors import ParetoscopeError


def main() -> int:
    try:
        return run(app)
    except (ValueError, ParetoscopeError) as error:
        complain(str(error))
        return 2


if __name__ == "__main__":
    sys.exit(main())
