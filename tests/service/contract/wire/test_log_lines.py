"""A line of the log: one JSON object, with what it is about."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from service.contract.wire.log_lines import JsonLines, about, formatter_of, readable


def record(message: str, *values: object, **extra: str) -> logging.LogRecord:
    made = logging.LogRecord("paretoscope.launcher", logging.WARNING, __file__, 1, message, values, None)
    made.created = 1_767_225_600.25
    vars(made).update(extra)
    return made


def test_a_line_has_time_level_logger_message_and_what_it_is_about() -> None:
    line = JsonLines(job="s1-2").format(record("trial %s failed", "t1", study="s1", trial="t1"))
    assert json.loads(line) == {
        "time": "2026-01-01T00:00:00.250Z",
        "level": "warning",
        "logger": "paretoscope.launcher",
        "message": "trial t1 failed",
        "study": "s1",
        "trial": "t1",
        "job": "s1-2",
    }


def test_what_is_not_known_is_not_said_and_what_the_place_knows_is() -> None:
    with about(study="s9", trial=None):
        inside = json.loads(JsonLines().format(record("m")))
    assert inside["study"] == "s9" and not {"trial", "job", "exception"} & inside.keys()
    assert "study" not in json.loads(JsonLines().format(record("m")))


def test_an_exception_and_hostile_text_stay_in_their_line() -> None:
    try:
        raise ValueError("one\ntwo")
    except ValueError:
        made = record("a\nb\x1b[31m\u202e")
        made.exc_info = sys.exc_info()
    line = JsonLines().format(made)
    assert line.isascii() and line.isprintable() and len(line.splitlines()) == 1
    assert "ValueError: one\ntwo" in json.loads(line)["exception"]
    assert "\x1b" not in readable(line) and "\u202e" not in readable(line)


def test_a_line_can_be_read_by_people_again_and_other_lines_stay() -> None:
    line = JsonLines().format(record("it failed", study="s1"))
    assert readable(line) == "2026-01-01T00:00:00.250Z WARNING paretoscope.launcher: it failed"
    for other in ("Traceback (most recent call last):", "{}", "3", '{"message": 1}'):
        assert readable(other) == other


@pytest.mark.parametrize(
    ("asked", "terminal", "json_lines"),
    [("auto", False, True), ("auto", True, False), ("json", True, True), ("text", False, False)],
)
def test_people_at_a_terminal_get_text_and_files_get_json_unless_asked_otherwise(
    asked: str, terminal: bool, json_lines: bool
) -> None:
    assert isinstance(formatter_of(asked, terminal), JsonLines) == json_lines
