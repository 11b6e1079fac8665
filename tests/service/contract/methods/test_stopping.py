"""Rungs, shares and epochs of halving; what it takes of a study, and what it refuses with path, rule and value."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.contract.methods.stopping import Halving
from service.contract.study.extension import Extension, extended
from service.contract.study.halved import halved
from service.contract.study.parsing import check_study
from service.contract.study.warnings import warnings
from service.contract.wire.errors import InvalidInput

GRID = {"name": "a", "weighting": {"name": "fixed", "beta": {"grid": [0.1, 0.2, 0.3, 0.4]}}}
SEARCHED = {
    "name": "b",
    "weighting": {"name": "fixed", "beta": {"range": {"from": 0.1, "to": 1.0}}},
    "search": {"name": "optuna", "trials": 4},
}
CURVE = {"name": "c", "weighting": {"name": "conditional", "verify": 2}}
MIB = {"name": "d", "weighting": {"name": "mib"}}


def study(stopping: Any, *arms: dict[str, Any], epochs: int = 20) -> Any:
    spec = {"name": "s", "training": {"epochs": epochs}, "arms": list(arms or (GRID,)), "stopping": stopping}
    return check_study(spec)


HALVINGS = st.builds(Halving, keep=st.floats(1e-9, 1, exclude_max=True), first=st.integers(1, 60))


@given(HALVINGS, st.integers(1, 60))
def test_rungs_go_up_from_the_first_and_stay_below_the_last_epoch(halving: Halving, epochs: int) -> None:
    rungs = halving.rungs(epochs)
    assert all(a < b for a, b in pairwise(rungs)) and all(rung < epochs for rung in rungs)
    assert rungs[:1] == [halving.first][: halving.first < epochs]


@given(HALVINGS, st.integers(0, 300))
def test_a_rung_leaves_somebody_and_never_more_than_came(halving: Halving, count: int) -> None:
    kept = halving.going_on(count)
    assert min(1, count) <= kept <= count
    assert kept == count or kept >= halving.keep * count - 1e-6


@given(HALVINGS, st.integers(1, 40), st.integers(1, 60))
def test_epochs_to_come_are_those_of_a_study_that_is_played(halving: Halving, count: int, epochs: int) -> None:
    trained, left = 0, count
    for epoch in range(1, epochs + 1):
        trained += left
        left = halving.going_on(left) if epoch in halving.rungs(epochs) else left
    assert halving.epochs_from(count, 0, epochs) == trained <= count * epochs


def test_rungs_and_shares_of_the_documented_example() -> None:
    halving = Halving(keep=0.33, first=5)
    assert halving.rungs(40) == [5, 15] and halving.rungs(50) == [5, 15, 46] and halving.rungs(5) == []
    assert [halving.going_on(count) for count in (64, 22, 4, 3, 1)] == [22, 8, 2, 3, 1]
    assert Halving(keep=0.07).going_on(100) == 7, "100 · 0.07 is a little above 7 in floats"


def test_a_study_with_it_is_read_and_written_and_one_without_it_does_not_name_it() -> None:
    spec = study({"name": "halving", "keep": 0.5, "first": 2}).model_dump(by_alias=True, mode="json")
    assert spec["stopping"] == {"name": "halving", "keep": 0.5, "first": 2}
    assert check_study(spec).stopping == Halving(keep=0.5, first=2)
    assert "stopping" not in study(None).model_dump(by_alias=True, mode="json")


@pytest.mark.parametrize(
    ("stopping", "arms", "path", "words"),
    [
        ({"name": "median"}, (), "stopping.name", "'halving', got 'median'"),
        ({"name": "halving", "keep": 0.0}, (), "stopping.keep", "greater than 0, got 0.0"),
        ({"name": "halving", "keep": 1.0}, (), "stopping.keep", "less than 1, got 1.0"),
        ({"name": "halving", "first": 0}, (), "stopping.first", "greater than or equal to 1, got 0"),
        ({"name": "halving", "rungs": 3}, (), "stopping.rungs", "unknown key rungs; known keys: name, keep, first"),
        (
            {"name": "halving", "first": 20},
            (),
            "stopping.first",
            "before the last epoch, which is 20 in arm 'a', got 20",
        ),
        ({"name": "halving"}, (SEARCHED,), "stopping.name", "(arm 'b': a search learns from what its trials reach"),
        ({"name": "halving"}, (MIB, CURVE), "stopping.name", "(arm 'd': 1 configuration, too few for a share of 0.33"),
        ({"name": "halving"}, (MIB, CURVE), "stopping.name", "; arm 'c': each of its trials is a curve, not one point"),
    ],
)
def test_what_it_cannot_do_is_refused_with_path_rule_and_value(
    stopping: Any, arms: tuple[dict[str, Any], ...], path: str, words: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        study(stopping, *arms)
    assert [detail.path for detail in refused.value.details] == [path]
    assert words in refused.value.details[0].message


def test_searches_and_curves_beside_a_grid_are_trained_whole_and_the_check_says_so() -> None:
    filled = {**SEARCHED, "name": "e", "search": {"name": "fill", "trials": 4}}
    own = study({"name": "halving"}, GRID, SEARCHED, CURVE, MIB, filled)
    assert [arm.name for arm in halved(own)] == ["a", "d"]
    rule = "stopping halving stops no trial of this arm"
    assert {detail.path: detail.message for detail in warnings(own)} == {
        "arms[1].search": f"{rule}: a search learns from what its trials reach at their end, got 'optuna'",
        "arms[2].weighting.name": f"{rule}: each of its trials is a curve, not one point, got 'conditional'",
        "arms[4].search": f"{rule}: a search learns from what its trials reach at their end, got 'fill'",
    }
    assert warnings(study(None, GRID, SEARCHED, CURVE)) == []


def test_an_arm_that_is_trained_whole_may_have_as_few_epochs_as_it_likes() -> None:
    short = {**SEARCHED, "training": {"epochs": 2}}
    assert study({"name": "halving", "first": 5}, GRID, short).stopping is not None
    with pytest.raises(InvalidInput, match="the first rung must come before the last epoch, which is 2 in arm 'a'"):
        study({"name": "halving", "first": 5}, {**GRID, "training": {"epochs": 2}}, SEARCHED)


def test_a_single_epoch_has_no_rung() -> None:
    with pytest.raises(InvalidInput) as refused:
        study({"name": "halving", "first": 1}, epochs=1)
    assert [(detail.path, detail.message) for detail in refused.value.details] == [
        ("stopping.first", "the first rung must come before the last epoch, which is 1 in arm 'a', got 1")
    ]


def test_a_study_whose_trials_were_compared_gets_no_more() -> None:
    with pytest.raises(InvalidInput, match="compared with each other already"):
        extended(study({"name": "halving"}), Extension(seeds=[7]))


def test_objectives_are_measured_at_rungs_attacks_only_where_one_is_an_objective() -> None:
    attacked = {"every": 7, "attacks": [{"name": "pgd", "epsilon": 0.03}]}
    base = {"name": "s", "arms": [GRID], "stopping": {"name": "halving"}, "evaluation": attacked}
    plain = check_study(base).evaluation_at_rungs
    assert (plain.every, plain.attack_every) == (1, None)
    robust = [{"metric": "robust_pgd", "goal": "maximize"}, {"metric": "i_xz_bits", "goal": "minimize"}]
    assert check_study({**base, "objectives": robust}).evaluation_at_rungs.attack_every == 1
