"""Where suggestions come from: ranges and their scales, when results begin to count, and the same values tomorrow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import optuna
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from service.contract.parameters.axes import Choice, Range, Searched
from service.contract.study.expansion import PlannedTrial
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.answers.read_by_drivers import KnownTrial
from tests.planned import planned as planned_of
from workers.planning.past import Past, past_of
from workers.planning.samplers import distribution_of, draw
from workers.planning.supply import Search, Supply, searches_of

GRID = {"name": "grid", "weighting": {"name": "fixed", "beta": {"grid": [0.1, 0.2, 0.3]}}}
Values = list[tuple[float, int]]


def study(sampler: str, trials: int = 12, seeds: int = 1, **search: Any) -> Study:
    tuned = {
        "name": "tuned",
        "weighting": {"name": "fixed", "beta": {"range": {"from": 1e-3, "to": 10.0, "scale": "log"}}},
        "model": {"latent": {"range": {"from": 2, "to": 256, "scale": "log"}}},
        "search": {"name": "optuna", "sampler": sampler, "trials": trials, **search},
    }
    return check_study({"name": "s", "seeds": list(range(seeds)), "arms": [tuned, GRID]})


def values_of(search: Search, reached: Callable[[int], list[float] | None]) -> Values:
    """All that is suggested when the i-th trial reaches `reached(i)`."""
    values: Values = []
    while batch := search.ask():
        for trial in batch:
            values.append((trial.config["weighting.beta"], trial.config["model.latent"]))
        for i, trial in enumerate(batch, len(values) - len(batch)):
            search.tell(trial.id, reached(i))
    return values


def rising(i: int) -> list[float]:
    return [float(i), float(i)]


def best_first(i: int) -> list[float]:
    return [float(i), float(-i)]


def best_last(i: int) -> list[float]:
    return [float(-i), float(i)]


def falling(i: int) -> list[float]:
    return [float(-i), float(i * i % 7)]


def alike(one: Values, other: Values) -> int:
    """How many suggestions agree before the first that does not."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), len(one))


def searches(checked: Study) -> tuple[Search, Search]:
    return searches_of(checked, {})[0], searches_of(checked, {})[0]


@pytest.mark.parametrize(
    ("axis", "distribution"),
    [
        ({"range": {"from": 1, "to": 64, "scale": "log", "integer": True}}, IntDistribution(1, 64, log=True)),
        ({"range": {"from": 1, "to": 64, "integer": True}}, IntDistribution(1, 64)),
        ({"range": {"from": 0.1, "to": 64.0, "scale": "log"}}, FloatDistribution(0.1, 64.0, log=True)),
        ({"range": {"from": -1.0, "to": 64.0}}, FloatDistribution(-1.0, 64.0)),
        ({"choice": [8, 2, 4]}, CategoricalDistribution([8, 2, 4])),
    ],
)
def test_a_value_is_drawn_from_its_range_on_its_scale(axis: dict[str, Any], distribution: BaseDistribution) -> None:
    read: Searched = Range.model_validate(axis) if "range" in axis else Choice.model_validate(axis)
    trial = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0)).ask()
    draw(trial, "key", read)
    assert trial.distributions == {"key": distribution} == {"key": distribution_of(read)}


@pytest.mark.parametrize(
    ("sampler", "settings", "free"),
    [
        ("random", {"batch": 1}, 24),
        ("qmc", {"batch": 1}, 24),
        ("tpe", {"batch": 1}, 6),
        ("tpe", {"batch": 10}, 10),
        ("nsga2", {"batch": 1}, 4),
        ("nsga2", {"batch": 1, "population": 7}, 7),
        ("nsga3", {"batch": 1, "population": 7}, 7),
        ("gp", {"batch": 1}, 6),
    ],
)
def test_results_count_from_the_first_trial_after_the_free_ones(
    sampler: str, settings: dict[str, int], free: int
) -> None:
    one, other = searches(study(sampler, trials=24, **settings))
    assert alike(values_of(one, best_first), values_of(other, best_last)) == free


def test_a_batch_of_which_much_failed_leads_to_another_free_one() -> None:
    """Densities need as many results as a batch has trials, not as many trials."""
    one, other = searches(study("tpe", trials=27, batch=9))
    first = values_of(one, lambda i: None if i < 2 else best_first(i))
    assert alike(first, values_of(other, lambda i: None if i < 2 else best_last(i))) == 18


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "nsga3", "qmc", "random"])
def test_searches_and_their_seeds_suggest_different_points(sampler: str) -> None:
    betas = [beta for search in searches_of(study(sampler, 24, seeds=2), {}) for beta, _ in values_of(search, rising)]
    distinct = len(set(betas))
    assert distinct == 24 or (sampler in ("nsga2", "nsga3") and distinct > 12), "evolution may keep a parent's value"


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "nsga3", "qmc", "random"])
def test_no_point_is_suggested_again_where_nothing_is_known_of_those_before(sampler: str) -> None:
    """As where all of them failed or collapsed."""
    (search,) = searches_of(study(sampler, 5, batch=1), {})
    assert len(set(values_of(search, lambda i: None))) == 5


PINNED: dict[str, Values] = {
    "tpe": [(0.017048510498022317, 22), (4.6718272166053385, 18)],
    "nsga2": [(0.017048510498022317, 22), (0.36861867657708125, 44)],
    "nsga3": [(0.017048510498022317, 22), (0.36861867657708125, 44)],
    "qmc": [(0.04656804637919568, 61), (0.4087438847440613, 26)],
    "random": [(0.017048510498022317, 22), (2.5943287479206454, 5)],
}


@pytest.mark.parametrize("sampler", ["tpe", "nsga2", "nsga3", "qmc", "random"])
def test_a_study_is_searched_tomorrow_as_it_was_today(sampler: str) -> None:
    """By the numbers of the locked Optuna: another version may have others, a change of ours must not."""
    (_, search) = searches_of(study(sampler, 24, seeds=2), {})
    first, *_, last = values_of(search, falling)
    assert [first, last] == [pytest.approx(pinned) for pinned in PINNED[sampler]]


def alike_in_shape(**search: Any) -> Study:
    """Only β is searched, so that all suggestions may train together."""
    arm = {"name": "tuned", "weighting": {"name": "fixed", "beta": {"range": {"from": 0.1, "to": 1.0}}}}
    searched = {**arm, "search": {"name": "optuna", "sampler": "random", **search}}
    return check_study({"name": "s", "seeds": [0, 1], "arms": [searched, GRID]})


def arms_of(cohort: list[PlannedTrial] | None) -> list[str]:
    return [trial.arm for trial in cohort or []]


def test_searches_that_wait_together_train_together() -> None:
    cohort = Supply([], searches_of(alike_in_shape(trials=8, batch=2), {}), 1, None).next()
    assert cohort is not None and [trial.seed for trial in cohort] == [0, 0, 1, 1]


def test_suggestions_keep_to_the_size_that_a_study_wants() -> None:
    supply = Supply([], searches_of(alike_in_shape(trials=8, batch=2), {}), 1, 3)
    assert [len(arms_of(supply.next())) for _ in range(3)] == [2, 2, 0]


def test_planned_cohorts_fill_the_time_in_which_a_search_waits() -> None:
    checked = alike_in_shape(trials=8, batch=2)
    supply = Supply(planned_of(checked, "grid"), searches_of(checked, {}), 1, None)
    first = supply.next() or []
    assert arms_of(first) == ["tuned"] * 4 and arms_of(supply.next()) == ["grid"] * 6
    assert supply.next() is None and not supply.is_over
    for trial in first:
        supply.tell(trial.id, None)
    assert arms_of(supply.next()) == ["tuned"] * 4 and supply.is_over


def test_a_seed_without_a_trial_has_no_search() -> None:
    assert len(searches_of(study("random", trials=2, seeds=3), {})) == 2


def test_a_trial_of_which_only_some_values_are_known_is_suggested_anew() -> None:
    checked = study("random")
    whole, again = values_of(searches_of(checked, {})[0], rising), searches_of(checked, {})[0].ask()[0]
    past = {again.id: Past({"weighting.beta": 0.5}, over=False, objectives=None)}
    assert values_of(searches_of(checked, past)[0], rising) == whole


def known(**change: Any) -> KnownTrial:
    body = {"id": "a", "arm": "tuned", "state": "planned", "config": {}, "metrics": {}, **change}
    return KnownTrial.model_validate(body)


def test_the_past_of_a_search_is_what_has_values_or_is_over() -> None:
    checked = study("random")
    values = {"weighting.beta": 0.0, "model.latent": 4, "model.widths": [8], "training.epochs": 3}
    reached = {"validation_i_xz_bits": 9, "validation_i_zy_bits": 3}
    trials = [
        known(id="planned"),
        known(id="started", state="running", config=values),
        known(id="stopped", state="stopped", config=values, metrics=reached),
        known(id="failed", state="failed"),
        known(id="finished", state="finished", config=values, metrics=reached),
        known(id="grid", arm="grid", state="finished", config=values, metrics=reached),
    ]
    own: dict[str, Any] = {"weighting.beta": 0.0, "model.latent": 4}
    assert past_of(checked, trials) == {
        "started": Past(own, False, None),
        "stopped": Past(own, False, None),
        "failed": Past({}, True, None),
        "finished": Past(own, True, [9, 3]),
    }
