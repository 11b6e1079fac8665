"""What a command measured, as docs/operations.md has it: a block between marks that bear the command and the day."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "operations.md"


def block(command: str, lines: Sequence[str], day: str | None = None) -> str:
    """Marked, as every measured number of the page."""
    body = "\n".join(lines)
    return f"<!--measured: {command}, {day or time.strftime('%Y-%m-%d', time.gmtime())}-->\n{body}\n<!--/-->"


def with_block(page: str, command: str, new: str) -> str:
    """The page with this block in place of the command's last one, or of the empty marks that wait for the first."""
    own = re.compile(rf"<!--measured: {re.escape(command)}(, [\d-]+)?-->.*?<!--/-->", re.DOTALL)
    if len(own.findall(page)) != 1:
        raise ValueError(f"the page needs one block of {command}")
    return own.sub(lambda _: new, page)


def tell(command: str, lines: Sequence[str], keep: bool) -> None:
    """Printed as the page has it, and with `keep` written there."""
    new = block(command, lines)
    print(f"\n{new}")
    if keep:
        PAGE.write_text(with_block(PAGE.read_text(), command, new))
        print(f"\nkept in {PAGE}: read the sentences around it")
