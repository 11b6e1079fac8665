"""What `make findings` writes where one page asks for what nobody kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from findings import command_line

KEPT = "<!--study: beta-vs-mib-digits--><!--= seeds --><!--/--> seeds\n"
UNKEPT = "<!--study: speed-->\n<!--= ratio(nobody-measured-this) --><!--/-->\n"


def test_a_page_that_asks_for_what_nobody_kept_does_not_hold_up_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong, right = tmp_path / "a.md", tmp_path / "b.md"
    wrong.write_text(UNKEPT)
    right.write_text(KEPT)
    monkeypatch.setattr(command_line, "ROOT", tmp_path)
    monkeypatch.setattr(command_line, "pages", lambda: [wrong, right])
    ended = CliRunner().invoke(command_line.app, [])
    assert ended.exit_code == 1
    assert "not written: a.md:2: " in ended.stdout and "nobody-measured-this" in ended.stdout
    assert "b.md: written" in ended.stdout
    assert wrong.read_text() == UNKEPT and right.read_text() == KEPT.replace("--><!--/--> seeds", "-->5<!--/--> seeds")
