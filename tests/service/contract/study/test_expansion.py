from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.contract.methods.weightings import Fixed
from service.contract.parameters.axes import Span
from service.contract.study.expansion import count_trials
from service.contract.study.parsing import check_study
from tests.planned import planned

betas = st.lists(st.floats(1e-6, 10), min_size=1, max_size=5, unique=True)
seeds = st.lists(st.integers(0, 100), min_size=1, max_size=4, unique=True)


def study(beta: Any, seeds: list[int], **more: Any) -> Any:
    arm = {"name": "a", "weighting": {"name": "fixed", "beta": beta}}
    return check_study({"name": "s", "seeds": seeds, "arms": [arm], **more})


@given(betas, seeds)
def test_a_grid_expands_to_every_combination_once(values: list[float], seeds: list[int]) -> None:
    trials = planned(study({"grid": values}, seeds))
    chosen = {(t.weighting.beta, t.seed) for t in trials if isinstance(t.weighting, Fixed)}
    assert chosen == {(b, s) for b in values for s in seeds}
    assert len({t.id for t in trials}) == len(trials) == len(values) * len(seeds)


@given(betas, seeds)
def test_ids_survive_reordering_and_extension(values: list[float], seeds: list[int]) -> None:
    ids = {t.id for t in planned(study({"grid": values}, seeds))}
    longer = {t.id for t in planned(study({"grid": [*reversed(values), 20.0]}, [*reversed(seeds), 1000]))}
    assert ids < longer
    assert ids == {t.id for t in planned(study({"grid": values}, seeds, training={"epochs": 7}))}


def test_ids_are_the_same_tomorrow() -> None:
    assert [t.id for t in planned(study({"grid": [0.01]}, [0]))] == ["t3112e9020f76"]


def test_counting_needs_no_expansion_and_agrees_with_it() -> None:
    checked = study(
        {"grid": {"from": 1e-3, "to": 1.0, "count": 4, "scale": "log"}},
        [0, 1, 2],
        model={"name": "mlp", "latent": {"grid": [4, 8]}},
        training={"learning_rate": {"grid": [1e-3, 1e-2]}},
    )
    assert count_trials(checked) == {"a": 48}
    assert len(planned(checked)) == 48


def test_an_arm_overrides_model_and_training_of_the_study() -> None:
    arm = {
        "name": "a",
        "weighting": {"name": "mib"},
        "model": {"latent": 3},
        "training": {"learning_rate": {"grid": [0.1, 0.2]}},
    }
    trials = planned(check_study({"name": "s", "training": {"epochs": 9}, "arms": [arm]}))
    assert [t.training.learning_rate for t in trials] == [0.1, 0.2]
    assert {(t.model.latent, t.training.epochs) for t in trials} == {(3, 9)}
    assert trials[0].config["training.learning_rate"] == 0.1
    assert trials[0].config["model.latent"] == 3


@pytest.mark.parametrize(
    ("span", "values"),
    [
        ({"from": 1.0, "to": 3.0, "count": 3}, [1.0, 2.0, 3.0]),
        ({"from": 1e-4, "to": 1.0, "count": 3, "scale": "log"}, [1e-4, 1e-2, 1.0]),
        ({"from": 5.0, "to": 5.0, "count": 1}, [5.0]),
    ],
)
def test_a_span_holds_both_ends(span: dict[str, Any], values: list[float]) -> None:
    assert Span.model_validate(span).values() == pytest.approx(values)


def test_a_setting_of_zero_or_false_is_a_setting() -> None:
    (manual,) = study({"grid": [0.0, 0.01]}, [0]).arms
    mib = {"name": "mib", "smoothing": {"grid": [True, False]}}
    arm = {"name": "b", "weighting": mib, "training": {"l2": 0.0}}
    trials = planned(check_study({"name": "s", "seeds": [0], "arms": [manual.model_dump(), arm]}))
    assert [t.config.get("weighting.beta") for t in trials if t.arm == "a"] == [0.0, 0.01]
    assert [t.config.get("weighting.smoothing") for t in trials if t.arm == "b"] == [True, False]
    assert [t.config.get("training.l2") for t in trials if t.arm == "b"] == [0.0, 0.0]


def test_a_weight_of_zero_is_told_and_what_is_not_set_is_not() -> None:
    weighting = {"name": "fixed", "weights": {"info": 0.0, "pred": 1.0}}
    (trial,) = planned(check_study({"name": "s", "seeds": [0], "arms": [{"name": "a", "weighting": weighting}]}))
    assert trial.config["weighting.weights.info"] == 0.0
    assert None not in trial.config.values()
