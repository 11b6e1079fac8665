"""Text that is safe to print."""

from __future__ import annotations

import pytest

from service.contract.study.parsing import check_study, parse_study
from service.contract.wire.errors import InvalidInput
from service.contract.wire.events import TrialFailed
from service.contract.wording.plain_text import hidden_in, hidden_places, printable
from service.exports.formats import harmless
from service.store.sql import CHECKED

ARMS = [{"name": "a", "weighting": {"name": "uniform"}}]


@pytest.mark.parametrize("text", ["", "manual β", "naïve 中文 🎉", "a\u200db", "½ · é", "a\u00a0b"])
def test_words_of_any_language_are_plain(text: str) -> None:
    assert hidden_in(text) is None and printable(text) == text


def test_every_place_is_found_also_in_keys_and_deep_down() -> None:
    deep: object = "a\x1b"
    for _ in range(5000):
        deep = [deep]
    assert len(list(hidden_places(deep))) == 1
    body = {"name": "a\x00", "arms": [{"name": "b"}, {"name": "\u202e"}], "k\x07": 1}
    assert sorted(place for place, _ in hidden_places(body)) == [(), ("arms", 1, "name"), ("name",)]


def test_a_stored_study_is_read_whatever_it_is_called() -> None:
    """It was taken before there was the rule."""
    assert check_study({"name": "a\x1bb", "arms": ARMS}).name == "a\x1bb"
    with pytest.raises(InvalidInput) as error:
        parse_study('name: "a\\x1bb"\nseeds: [0]\narms: [{name: "\\u202ex", weighting: {name: uniform}}]\n', "yaml")
    told = {(detail.path, detail.line): detail.message for detail in error.value.details}
    assert set(told) == {("name", 1), ("arms[0].name", 3)} and told["name", 1].endswith("got U+001B")


def test_what_workers_say_is_cleaned_not_refused() -> None:
    said = "\x1b[31mloss\x1b[0m is nan\nat\tstep 3\x00\u202e"
    assert printable(said) == "loss is nan\nat\tstep 3\ufffd\ufffd"
    [event] = CHECKED.validate_python([TrialFailed(uid="u", trial="t", reason=said, log=["\x1b[2Jepoch 1"])])
    assert isinstance(event, TrialFailed)
    assert (event.reason, event.log) == ("loss is nan\nat\tstep 3\ufffd\ufffd", ["epoch 1"])


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", " =cmd|x", "\t=1", "\r\n=1"])
def test_a_cell_that_a_spreadsheet_would_run_is_made_a_text(text: str) -> None:
    assert harmless(text) == f"'{text}"


@pytest.mark.parametrize("cell", ["", "a=1", "β", "'=1", -1, -0.5, None, True, 1e-3])
def test_other_cells_are_as_they_are(cell: object) -> None:
    assert harmless(cell) is cell
