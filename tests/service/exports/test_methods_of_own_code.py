"""The methods paragraph of a study with code of its own: it tells what its arms run, not what else the file has."""

from __future__ import annotations

from typing import Any

from service.exports.methods import methods
from tests.service.own_code import CODE, PROBLEM, SCRIPT, study_of
from tests.service.studies import view_of

MINE: dict[str, Any] = {"name": "MGDA", "problem": {"name": "Mine"}, "weighting": {"name": "mgda"}}
FOREST: dict[str, Any] = {"name": "forest", "problem": {"name": "forest"}}


def told(*arms: dict[str, Any], hooks: tuple[str, ...] = (), **changed: Any) -> tuple[str, list[str]]:
    """The paragraph, and the keys of what is cited; `hooks` are those of Mine."""
    code = {**CODE, "problems": [{**PROBLEM, "hooks": list(hooks)}, {**SCRIPT, "metrics": PROBLEM["metrics"]}]}
    said = methods(view_of(study_of(code=code, arms=list(arms), **changed)))
    return said.paragraph, [cited.reason for cited in said.citations]


def test_a_script_beside_a_problem_that_no_arm_runs_trained_by_itself() -> None:
    text, cited = told(FOREST)
    assert "Data and training: the study's own code (sha256 000000000000: forest)." in text
    assert "Trained by the code itself, from 2 seeds (0, 1)." in text
    assert not any(word in text for word in ("epoch", "adam", "Mine", "Class and price", "learning rate"))
    assert not [reason for reason in cited if reason.startswith(("optimizer", "weighting", "training"))]


def test_a_problem_beside_a_script_that_no_arm_runs_was_trained_by_ours() -> None:
    text, cited = told(MINE, training={"epochs": 5})
    assert "(sha256 000000000000: Mine, Class and price)." in text and "forest" not in text
    assert "Trained for 5 epochs with adam [@" in text and "optimizer adam" in cited


def test_arms_that_were_trained_in_different_ways_are_told_apart() -> None:
    text, _ = told(MINE, FOREST, training={"epochs": 5})
    assert "batches of 128 (“MGDA”); by the code itself (“forest”), from 2 seeds (0, 1)." in text


def test_an_optimiser_of_the_codes_own_is_no_adam() -> None:
    text, cited = told(MINE, hooks=("optimizer",), training={"epochs": 5, "warm_up": 2})
    assert "Trained for 5 epochs with an optimiser of the code's own, batches of 128, epochs of warm-up 2" in text
    assert "adam" not in text and "learning rate" not in text and "optimizer adam" not in cited


def test_a_schedule_of_the_codes_own_is_told() -> None:
    text, _ = told(MINE, hooks=("schedule",))
    assert "batches of 128, learning rates on a schedule of the code's own, from 2 seeds" in text


def test_a_code_that_nobody_reads_has_no_bound_on_what_it_says_about_classes() -> None:
    text, cited = told(MINE, hooks=("code",))
    assert "I(X;Z) is the upper bound" in text and "in bits on the test split" in text
    assert "I(Z;Y)" not in text and "chance level" not in text and "estimator cross-entropy" not in cited


def test_a_code_that_is_read_has_both_bounds() -> None:
    text, cited = told(MINE, hooks=("code", "decode"))
    assert "and I(Z;Y) the lower bound" in text and "estimator cross-entropy" in cited


def test_a_code_that_no_arm_has_is_not_measured() -> None:
    text, _ = told(FOREST, hooks=("code", "decode"))
    assert "I(X;Z)" not in text and "collapsed" not in text
