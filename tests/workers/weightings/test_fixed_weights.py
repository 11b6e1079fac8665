"""Fixed weights over several terms: contract, grids, and what the worker makes of them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from service.contract.methods.weightings import Fixed
from service.contract.study import simplex
from service.contract.study.expansion import PlannedTrial, Slot, count_trials, expand, resolve, searched, searched_keys
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.errors import InvalidInput
from tests.planned import planned
from workers.weightings import Setting, build

TASKS = ("class", "rotation", "random-labels")
MULTITASK = {"name": "multitask", "main": "class", "auxiliaries": ["rotation", "random-labels"]}
GRIDS = {"rotation": {"grid": [0.0, 0.5]}, "class": {"grid": [1.0, 2.0, 3.0]}}
RANGES = {"rotation": {"range": {"from": 0.1, "to": 2.0}}, "class": {"choice": [1.0, 2.0]}}


def study(weighting: dict[str, Any], **arm: Any) -> Study:
    arm = {"name": "a", "problem": MULTITASK, "weighting": {"name": "fixed", **weighting}, **arm}
    return check_study({"name": "s", "seeds": [0, 1], "arms": [arm]})


def refused(weighting: dict[str, Any], **arm: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as caught:
        study(weighting, **arm)
    return {detail.path: detail.message for detail in caught.value.details}


def weights(trial: PlannedTrial, terms: tuple[str, ...] = TASKS) -> list[float]:
    found = build([trial.weighting], Setting(terms, 1, torch.device("cpu")))(torch.ones(1, len(terms)), None)
    return [round(w, 6) for w in found[0].tolist()]


def test_named_terms_have_their_weight_and_the_others_one() -> None:
    trials = planned(study({"weights": {"rotation": 0.25}}))
    assert weights(trials[0]) == [1.0, 0.25, 1.0]
    assert trials[0].config["weighting.weights.rotation"] == 0.25
    assert not {"weighting.weights", "weighting.beta", "weighting.simplex"} & trials[0].config.keys()


def test_grids_inside_the_weights_expand_to_every_combination() -> None:
    trials = planned(study({"weights": GRIDS}))
    assert count_trials(study({"weights": GRIDS})) == {"a": 12} and len({t.id for t in trials}) == 12
    assert {tuple(weights(t)) for t in trials} == {(c, r, 1.0) for c in (1.0, 2.0, 3.0) for r in (0.0, 0.5)}
    for trial in trials:
        config = [trial.config[f"weighting.weights.{term}"] for term in TASKS[:2]]
        assert config == weights(trial)[:2]


def test_a_search_suggests_weights() -> None:
    checked = study({"weights": RANGES}, search={"name": "optuna", "trials": 4})
    keys = ["weighting.weights.rotation", "weighting.weights.class"]
    assert searched_keys(checked) == {"a": keys}
    slot = expand(checked)[0]
    assert isinstance(slot, Slot)
    assert list(searched(slot)) == keys and not [k for k in slot.config if k.startswith("weighting.weights")]
    trial = resolve(slot, {keys[0]: 0.7, keys[1]: 2.0})
    assert weights(trial) == [2.0, 0.7, 1.0]
    assert trial.config[keys[0]] == 0.7


@settings(deadline=None)
@given(st.integers(1, 5), st.integers(1, 8))
def test_a_simplex_grid_holds_every_mixture_once(terms: int, steps: int) -> None:
    names = [f"t{i}" for i in range(terms)]
    found = list(simplex.mixtures(names, steps))
    assert len(found) == simplex.count(terms, steps) == len({tuple(m.values()) for m in found})
    for mixture in found:
        assert list(mixture) == names and sum(mixture.values()) == pytest.approx(terms)
        parts = [w * steps / terms for w in mixture.values()]
        assert all(p >= 0 and p == pytest.approx(round(p), abs=1e-9) for p in parts)


def test_a_simplex_is_a_grid_over_all_weights() -> None:
    trials = planned(study({"simplex": 3}))
    assert count_trials(study({"simplex": 3})) == {"a": 20} and len({t.id for t in trials}) == 20
    assert [1.0, 1.0, 1.0] in map(weights, trials) and [3.0, 0.0, 0.0] in map(weights, trials)
    assert [trials[0].config[f"weighting.weights.{term}"] for term in TASKS] == weights(trials[0])


def test_a_finer_simplex_keeps_the_trials_of_a_coarser_one() -> None:
    coarse, fine = ({t.id for t in planned(study({"simplex": n}))} for n in (3, 6))
    assert coarse < fine


def test_beta_stays_the_weight_of_the_second_of_two_terms() -> None:
    arm = {"name": "a", "weighting": {"name": "fixed"}}
    trial = planned(check_study({"name": "s", "arms": [arm]}))[0]
    assert weights(trial, ("pred", "info")) == [1.0, 0.01]
    assert trial.config["weighting.beta"] == 0.01
    named = {**arm, "weighting": {"name": "fixed", "weights": {"info": 0.01}}}
    assert weights(planned(check_study({"name": "s", "arms": [named]}))[0], ("pred", "info")) == [1.0, 0.01]


def test_a_member_of_each_kind_in_one_cohort() -> None:
    params = [Fixed(beta=0.5), Fixed(weights={"a": 3.0}), Fixed(weights={"a": 0.0, "b": 2.0})]
    w = build(params, Setting(("a", "b"), 1, torch.device("cpu")))(torch.ones(3, 2), None)
    assert w.tolist() == [[1.0, 0.5], [3.0, 1.0], [0.0, 2.0]]


@pytest.mark.parametrize(
    ("weighting", "path", "words"),
    [
        ({"weights": {"rotatoin": 1.0}}, "weights.rotatoin", ["'rotatoin'", "class, rotation, random-labels"]),
        ({"weights": {"rotation": -1.0}}, "weights.rotation", ["-1.0"]),
        ({"weights": {"rotation": {"grid": [1.0, -2.0]}}}, "weights.rotation.grid[1]", ["-2.0"]),
        ({"weights": {"rotation": {"range": {"from": 0.0, "to": 1.0}}}}, "weights.rotation.range", ["optuna"]),
        ({"weights": {"rotation": 1.0}, "beta": 0.1}, "", ["beta or weights, not both"]),
        ({"simplex": 3, "beta": 0.1}, "", ["beta or simplex, not both"]),
        ({"simplex": 3, "weights": {"rotation": 1.0}}, "simplex", ["every term", "rotation"]),
        ({"simplex": 0}, "simplex", ["0"]),
        ({"beta": 0.1}, "beta", ["second of two", "random-labels"]),
        ({"beta": None}, "", ["none of them"]),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_path(weighting: dict[str, Any], path: str, words: list[str]) -> None:
    found = refused(weighting)
    where = f"arms[0].weighting.{path}".rstrip(".")
    assert where in found, found
    assert all(word in found[where] for word in words), found


def test_a_simplex_takes_no_search_and_no_more_trials_than_the_limit() -> None:
    searching = refused({"simplex": 3}, search={"name": "optuna", "trials": 4})
    assert "arms[0].weighting.simplex" in searching
    assert "over limits.trials" in refused({"simplex": 1000})["limits.trials"]
