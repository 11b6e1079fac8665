"""Measured figures of docs/operations.md are written by the commands that measure them."""

from __future__ import annotations

import re
from datetime import date

import pytest

from findings.unmarked import looking_measured, measuring_commands
from tests.operations_page import PAGE, block, with_block

COMMANDS = ("make load", "make load ARGS=--postgresql", "make fuzz")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_finds_its_place_and_replaces_what_it_wrote(command: str) -> None:
    page = PAGE.read_text()
    first = with_block(page, command, block(command, ["| up | 9.5 s |"], "2026-01-01"))
    again = with_block(first, command, block(command, ["| up | 8.5 s |"], "2026-01-02"))
    assert "9.5 s" in first and "9.5 s" not in again and "8.5 s" in again
    assert again.replace("8.5 s", "9.5 s").replace("2026-01-02", "2026-01-01") == first
    assert looking_measured(again) == looking_measured(page), "its numbers are marked"
    assert command.split()[1] in measuring_commands(again)


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_command_measured_last_stands_there_with_its_day(command: str) -> None:
    kept = re.search(rf"<!--measured: {re.escape(command)}, (\S+)-->\n(.*?)<!--/-->", PAGE.read_text(), re.DOTALL)
    assert kept, f"{command} has a place and nothing in it: run it with --keep"
    assert date(2026, 11, 1) <= date.fromisoformat(kept[1])
    head, line, *rows = [row for row in kept[2].splitlines() if row.startswith("|")]
    assert (head, line) == ("| what | |", "|---|---|")
    assert rows and all(re.fullmatch(r"\| .+ \| .*\d.* \|", row) for row in rows), "each with a number"


def test_a_page_without_a_place_is_not_guessed_at() -> None:
    with pytest.raises(ValueError, match="one block of make load"):
        with_block("# Operations", "make load", "")
