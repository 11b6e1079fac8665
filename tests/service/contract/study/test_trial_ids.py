"""Ids, order and settings of trials, pinned: a change would orphan the logs of every study there is."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.contract.methods.weightings import Fixed
from service.contract.study import simplex
from service.contract.study.expansion import count_trials, expand, trial_id
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from tests.planned import planned as trials_of

TASKS = {"name": "multitask", "main": "left", "auxiliaries": ["right"]}
BETA_RANGE = {"range": {"from": 1e-4, "to": 1.0, "scale": "log"}}


def study(*arms: dict[str, Any], **more: Any) -> Study:
    return check_study({"name": "s", "arms": list(arms), **more})


def tasks(weighting: dict[str, Any], name: str) -> Study:
    return study({"name": name, "problem": TASKS, "weighting": weighting}, data={"name": "overlaid"})


PINNED: dict[str, tuple[Study, list[str]]] = {
    "a grid on two seeds": (
        study({"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": [0.01, 1.0]}}}, seeds=[0, 7]),
        ["taf246bd5a805", "t99b7aff60d42", "te093605c0575", "tfb4a93b196c7"],
    ),
    "nothing varied": (study({"name": "MIB", "weighting": {"name": "mib"}}), ["te83b5e2979a4"]),
    "overrides of an arm": (
        study(
            {
                "name": "a",
                "weighting": {"name": "fixed", "beta": {"grid": [0.1]}},
                "model": {"latent": {"grid": [2, 4]}},
                "training": {"learning_rate": {"grid": [0.1]}, "epochs": 3},
            }
        ),
        ["t29623032db87", "t2af3e424a5da"],
    ),
    "grids of the study": (
        study(
            {"name": "a", "weighting": {"name": "uniform"}},
            model={"name": "mlp", "latent": {"grid": [4, 8]}},
            training={"l2": {"grid": [0.0, 0.5]}},
        ),
        ["teea9d0be8b5f", "tbe8441811058", "tb2c4b1cc8396", "ta908be299730"],
    ),
    "a simplex": (tasks({"name": "fixed", "simplex": 2}, "mix"), ["tcca9d519f3cc", "t773a2945def8", "t9ecdda69e593"]),
    "weights of terms": (
        tasks({"name": "fixed", "weights": {"right": {"grid": [0.5, 2.0]}, "left": 1.0}}, "w"),
        ["t4437fa461489", "t7cb987a3068a"],
    ),
    "a search on two seeds": (
        study(
            {
                "name": "tuned",
                "weighting": {"name": "fixed", "beta": BETA_RANGE},
                "search": {"name": "optuna", "trials": 3},
            },
            seeds=[0, 5],
        ),
        ["t1d3b56b7e52a", "te376d2107ed7", "tf979661270f0"],
    ),
    "words and switches": (
        study(
            {
                "name": "t",
                "problem": {"name": "bottleneck", "rate": {"grid": ["vib", "nib"]}},
                "weighting": {"name": "mib", "automatic": {"grid": [True, False]}},
            }
        ),
        ["t2e58c68bff4d", "t8958d84103d2", "t87f54f717178", "t4d404ec29a89"],
    ),
}


@pytest.mark.parametrize("what", PINNED)
def test_ids_and_their_order_are_those_of_old_logs(what: str) -> None:
    planned, ids = PINNED[what]
    assert [trial.id for trial in expand(planned)] == ids


@pytest.mark.parametrize("what", PINNED)
def test_counting_agrees_with_expanding(what: str) -> None:
    planned, ids = PINNED[what]
    assert sum(count_trials(planned).values()) == len(ids)


def test_an_id_depends_on_arm_values_and_seed_and_not_on_the_order_of_keys() -> None:
    both = {"weighting.beta": 0.1, "model.latent": 4}
    assert trial_id("a", both, 0) == trial_id("a", dict(reversed(both.items())), 0)
    others = [
        trial_id("b", both, 0),
        trial_id("a", both, 1),
        trial_id("a", {**both, "model.latent": 5}, 0),
        trial_id("a", {"weighting.beta": 0.1}, 0),
    ]
    assert len({trial_id("a", both, 0), *others}) == 5


def test_keys_may_stand_in_any_order() -> None:
    left, right = ("left", {"grid": [1.0, 2.0]}), ("right", {"grid": [0.5, 3.0]})
    one, other = (
        expand(tasks({"name": "fixed", "weights": dict(pairs)}, "w")) for pairs in ((left, right), (right, left))
    )
    assert {t.id for t in one} == {t.id for t in other}
    grids = {"learning_rate": {"grid": [0.1, 0.2]}, "l1": {"grid": [0.0, 0.1]}}
    arm = {"name": "a", "weighting": {"name": "uniform"}}
    straight, turned = (
        {t.id for t in expand(study({**arm, "training": dict(order)}))}
        for order in (grids.items(), reversed(grids.items()))
    )
    assert straight == turned and len(straight) == 4


def test_arms_come_in_the_order_of_the_spec_and_seeds_change_fastest() -> None:
    planned = study(
        {"name": "b", "weighting": {"name": "fixed", "beta": {"grid": [1.0, 0.1]}}},
        {"name": "a", "weighting": {"name": "mib"}},
        seeds=[3, 1],
    )
    order = [(t.arm, t.config.get("weighting.beta"), t.seed) for t in expand(planned)]
    assert order == [("b", 1.0, 3), ("b", 1.0, 1), ("b", 0.1, 3), ("b", 0.1, 1), ("a", None, 3), ("a", None, 1)]
    assert count_trials(planned) == {"b": 4, "a": 2}


def test_a_trial_shows_what_its_arm_wrote_and_what_varies_and_no_more() -> None:
    planned = study(
        {
            "name": "a",
            "weighting": {"name": "fixed", "beta": 0.1},
            "training": {"epochs": 3},
        },
        model={"name": "mlp", "latent": {"grid": [4, 8]}, "widths": [9]},
        training={"batch_size": 7},
    )
    first, second = (t.config for t in expand(planned))
    shown = {key: value for key, value in first.items() if not key.startswith("problem.")}
    assert shown == {"weighting.name": "fixed", "weighting.beta": 0.1, "model.latent": 4, "training.epochs": 3}
    assert second == {**first, "model.latent": 8}


def test_a_trial_is_trained_with_its_own_values() -> None:
    trials = trials_of(PINNED["overrides of an arm"][0])
    assert [(t.model.latent, t.training.learning_rate, t.training.epochs) for t in trials] == [(2, 0.1, 3), (4, 0.1, 3)]
    mixed = trials_of(PINNED["a simplex"][0])
    assert [t.weighting.weights for t in mixed if isinstance(t.weighting, Fixed)] == [
        {"left": 0.0, "right": 2.0},
        {"left": 1.0, "right": 1.0},
        {"left": 2.0, "right": 0.0},
    ]


# Mixtures


@pytest.mark.parametrize(
    ("terms", "steps", "count"), [(2, 1, 2), (2, 4, 5), (3, 2, 6), (3, 10, 66), (4, 3, 20), (1, 5, 1)]
)
def test_how_many_mixtures_there_are(terms: int, steps: int, count: int) -> None:
    assert simplex.count(terms, steps) == count
    assert len(list(simplex.mixtures([f"t{i}" for i in range(terms)], steps))) == count


def test_mixtures_of_three_terms_by_hand() -> None:
    found = [tuple(m.values()) for m in simplex.mixtures(["a", "b", "c"], 2)]
    assert set(found) == {(3, 0, 0), (0, 3, 0), (0, 0, 3), (1.5, 1.5, 0), (1.5, 0, 1.5), (0, 1.5, 1.5)}


@given(st.integers(1, 4), st.integers(1, 6))
def test_mixtures_are_every_one_once_and_weigh_as_many_as_there_are_terms(n: int, steps: int) -> None:
    terms = [f"t{i}" for i in range(n)]
    found = list(simplex.mixtures(terms, steps))
    assert all(list(m) == terms and sum(m.values()) == pytest.approx(n) for m in found)
    exact = {
        tuple(round(i * n / steps, 9) for i in places)
        for places in itertools.product(range(steps + 1), repeat=n)
        if sum(places) == steps
    }
    assert {tuple(round(w, 9) for w in m.values()) for m in found} == exact and len(found) == len(exact)
