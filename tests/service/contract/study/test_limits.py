"""Limits of a study: what may be written, what is refused, and which arms they are for."""

from __future__ import annotations

from typing import Any

import pytest

from service.contract.study.batches import batches_of, count_batches
from service.contract.study.parsing import check_study
from service.contract.study.warnings import warnings
from service.contract.wire.errors import InvalidInput
from tests.service.elsewhere import far_study

BETA = {"range": {"from": 0.1, "to": 1.0}}
TUNED: dict[str, Any] = {
    "name": "tuned",
    "weighting": {"name": "fixed", "beta": BETA},
    "search": {"name": "optuna", "trials": 60},
}
MIB = {"name": "MIB", "weighting": {"name": "mib"}}
FILLED = {**TUNED, "name": "filled", "search": {"name": "fill", "trials": 60}}


def spec(*arms: dict[str, Any], **limits: Any) -> dict[str, Any]:
    return {"name": "s", "seeds": [0, 1, 2], "arms": list(arms or [TUNED, MIB]), "limits": limits}


@pytest.mark.parametrize("written", [0.005, "0.5 %", "0.5%", " 0.50 % "])
def test_a_gain_is_a_share_or_a_text_in_percent_and_is_kept_as_a_share(written: object) -> None:
    study = check_study(spec(gain=written))
    assert study.limits.gain == 0.005 and study.limits.batches_in_a_row == 2
    again = study.model_dump(by_alias=True, mode="json")
    assert again["limits"] == {"seconds": None, "trials": 500, "gain": 0.005}
    assert check_study(again) == study


def test_limits_that_nobody_wrote_are_not_in_the_spec() -> None:
    limits = check_study(spec()).model_dump(by_alias=True, mode="json")["limits"]
    assert limits == {"seconds": None, "trials": 500}


@pytest.mark.parametrize(
    ("limits", "path", "words"),
    [
        ({"gain": 0}, "limits.gain", "greater than 0, got 0"),
        ({"gain": 1}, "limits.gain", "less than 1, got 1"),
        ({"gain": "100 %"}, "limits.gain", "less than 1, got"),
        ({"gain": "half"}, "limits.gain", "got 'half'"),
        ({"gain": "-1 %"}, "limits.gain", "got '-1 %'"),
        ({"gain": float("nan")}, "limits.gain", "got nan"),
        ({"gain": True}, "limits.gain", "got True"),
        ({"patience": 2}, "limits.patience", "give gain too, got 2"),
        ({"gain": 0.01, "patience": 0}, "limits.patience", "greater than or equal to 1, got 0"),
        ({"gain": 0.01, "patience": 3}, "limits.gain", "with a patience of 3 an arm needs 6 batches to end before its"),
        ({"training_seconds": 0}, "limits.training_seconds", "greater than 0, got 0"),
        ({"training_seconds": "1 h"}, "limits.training_seconds", "got '1 h'"),
    ],
)
def test_what_is_no_limit_is_refused_with_path_rule_and_value(limits: dict[str, Any], path: str, words: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_study(spec(**limits))
    (detail,) = refused.value.details
    assert detail.path == path and words in detail.message, detail


def test_a_gain_needs_an_arm_that_can_end_before_its_last_batch() -> None:
    with pytest.raises(InvalidInput, match=r"needs 5 batches to end before its last.*, got 1 at most"):
        check_study(spec(MIB, gain=0.01))
    assert check_study(spec({**TUNED, "search": {"name": "optuna", "trials": 15}}, gain=0.01))
    with pytest.raises(InvalidInput, match="got 4 at most"):
        check_study(spec({**TUNED, "search": {"name": "optuna", "trials": 12, "batch": 1}}, gain=0.01))


@pytest.mark.parametrize(
    ("study", "why"),
    [
        (spec(FILLED, gain=0.01), "(fill ends by its own tolerance)"),
        (
            {**far_study(), "limits": {"gain": 0.01}},
            "(a grid that is trained elsewhere is handed out as a whole)",
        ),
    ],
)
def test_a_gain_that_ends_no_arm_at_all_is_refused_and_says_what_does(study: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_study(study)
    (detail,) = refused.value.details
    assert detail.path == "limits.gain" and detail.message.startswith("gain ends a search by optuna, or a grid that")
    assert f"no arm is one {why}: leave it out, got 0.01" in detail.message


def test_arms_that_a_gain_does_not_end_are_warned_of_but_for_single_configurations() -> None:
    few = {"name": "few", "weighting": {"name": "fixed", "beta": {"grid": [0.1, 0.2, 0.3]}}}
    said = {d.path: d.message for d in warnings(check_study(spec(TUNED, MIB, FILLED, few, gain=0.01)))}
    rule = "limits.gain does not end this arm"
    assert said == {
        "arms[2].search.name": f"{rule}: fill ends by its own tolerance, got 'fill'",
        "arms[3]": f"{rule}: it would need 5 batches to end before its last, got 3",
    }
    assert warnings(check_study(spec(TUNED, FILLED))) == []


def test_a_study_that_is_far_too_large_is_refused_for_that_and_never_expanded() -> None:
    grid = {"grid": {"from": 0.1, "to": 1.0, "count": 1000}}
    large = {"name": "g", "weighting": {"name": "fixed", "beta": grid}, "model": {"latent": {"grid": [1, 2, 4, 8]}}}
    with pytest.raises(InvalidInput) as refused:
        check_study(spec(large, gain=0.01))
    assert [detail.path for detail in refused.value.details] == ["limits.trials"]


def test_batches_are_counted_as_they_are_cut() -> None:
    study = check_study(spec(TUNED, {**TUNED, "name": "odd", "search": {"name": "optuna", "trials": 29}}, MIB))
    cut = batches_of(study)
    assert count_batches(study) == {arm: max(map(len, by_seed.values())) for arm, by_seed in cut.items()}
    assert [len(batch) for batch in cut["tuned"][0]] == [4, 4, 4, 4, 4]
    assert [len(own) for own in cut["odd"].values()] == [5, 5, 5], "10, 10 and 9 trials, two at a time"
    assert {seed: len(own) for seed, own in cut["MIB"].items()} == {0: 1, 1: 1, 2: 1}
    everything = [trial.id for by_seed in cut.values() for own in by_seed.values() for batch in own for trial in batch]
    assert len(everything) == len(set(everything)) == 60 + 29 + 3
