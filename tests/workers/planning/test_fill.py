"""A search that fills a front, without training: what it asks for, when it ends, and that the log can bring it back."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.contract.study.expansion import PlannedTrial, expand
from service.contract.study.gaps import gaps
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from workers.planning.ending import ended_early
from workers.planning.fill import Filler
from workers.planning.past import Past
from workers.planning.supply import Supply, searches_of

Reached = Callable[[PlannedTrial], list[float] | None]
LOG = {"from": 1e-4, "to": 10.0, "scale": "log"}


def study(trials: int = 60, tolerance: float = 0.1, seeds: int = 1, bounds: Any = None, **search: Any) -> Study:
    arm = {
        "name": "filled",
        "weighting": {"name": "fixed", "beta": {"range": bounds or LOG}},
        "search": {"name": "fill", "trials": trials, "tolerance": tolerance, **search},
    }
    return check_study({"name": "s", "seeds": list(range(seeds)), "arms": [arm]})


def filler(study: Study, past: dict[str, Past] | None = None) -> Filler:
    (search,) = searches_of(study, past or {})
    assert isinstance(search, Filler)
    return search


def beta_of(trial: PlannedTrial) -> float:
    return float(trial.config["weighting.beta"])


def reached(trial: PlannedTrial) -> list[float]:
    """A rate that falls with β and a prediction that grows with the rate, each seed a little to the side."""
    rate = 32 / (1 + math.exp(1.5 * (math.log10(beta_of(trial)) + 2))) + 0.1 * trial.seed
    return [rate, 3.3 * (1 - math.exp(-rate / 6))]


def run(search: Filler, reached: Reached = reached, most: int = 10**6) -> list[PlannedTrial]:
    """All trials of a search in the order of their asking, each told at once after its round."""
    asked: list[PlannedTrial] = []
    while len(asked) < most and (batch := search.ask()):
        asked += batch
        for trial in batch:
            search.tell(trial.id, reached(trial))
    return asked


def largest_gap(trials: list[PlannedTrial]) -> float:
    return max(gap.size for gap in gaps([(x, -y) for x, y in map(reached, trials)]))


def values(trials: list[PlannedTrial]) -> list[float]:
    return list(dict.fromkeys(map(beta_of, trials)))


def test_it_ends_when_no_gap_is_above_the_tolerance_and_says_so() -> None:
    search = filler(study(tolerance=0.2))
    trials = run(search)
    assert largest_gap(trials) <= 0.2 and len(trials) < 15
    assert search.exhausted and search.ended is not None
    assert search.ended.reason == f"filled: no gap above 0.2 left after {len(trials)} of 60 trials"
    slots = {slot.id for slot in expand(study())}
    assert set(search.ended.spared) == slots - {trial.id for trial in trials}


def test_it_ends_with_its_budget_and_then_has_spared_nothing() -> None:
    search = filler(study(trials=7, tolerance=0.01))
    assert len(run(search)) == 7 and search.exhausted and search.ended is None


def test_it_starts_with_values_spread_over_the_range_both_ends_among_them() -> None:
    first = filler(study(start=6)).ask()
    assert [beta_of(trial) for trial in first] == pytest.approx([1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0])
    assert len(filler(study(trials=2, start=6)).ask()) == 2, "no more than the budget"


def test_every_value_is_trained_with_every_seed_and_the_budget_counts_all_trials() -> None:
    trials = run(filler(study(trials=24, tolerance=0.01, seeds=3)))
    assert len(trials) == 24 and len(values(trials)) == 8
    assert all({t.seed for t in trials if beta_of(t) == beta} == {0, 1, 2} for beta in values(trials))


def test_of_a_budget_that_seeds_do_not_divide_the_last_value_has_fewer_of_them() -> None:
    trials = run(filler(study(trials=11, tolerance=0.01, seeds=3)))
    assert [sum(beta_of(t) == beta for t in trials) for beta in values(trials)] == [3, 3, 3, 2]


def test_its_largest_gap_is_smaller_than_that_of_a_grid_of_its_size() -> None:
    any_trial = filler(study()).ask()[0]
    on_grid = [any_trial._replace(config={"weighting.beta": beta}) for beta in np.geomspace(1e-4, 10.0, 12)]
    assert largest_gap(run(filler(study(trials=12, tolerance=0.01)))) < 0.7 * largest_gap(on_grid)


def test_nothing_is_asked_for_while_a_round_is_in_training() -> None:
    search = filler(study())
    first, *others = search.ask()
    for trial in others:
        search.tell(trial.id, reached(trial))
    assert search.ask() == [] and not search.exhausted
    search.tell(first.id, reached(first))
    search.tell(first.id, None)
    assert search.ask() != [], "telling twice changes nothing"


@settings(max_examples=40)
@given(
    st.integers(0, 10_000), st.integers(1, 3), st.floats(0.02, 1), st.sampled_from(["noise", "dead", "jump", "folded"])
)
def test_whatever_is_reached_it_never_asks_for_a_value_twice_and_always_ends(
    seed: int, seeds: int, tolerance: float, kind: str
) -> None:
    draw = np.random.default_rng(seed)

    def any_(trial: PlannedTrial) -> list[float] | None:
        x = math.log10(beta_of(trial))
        if kind == "dead" and draw.random() < 0.5:
            return None
        if kind == "jump":
            return [0.0, 1.0] if x < -1.234 else [-1.0, 0.0]
        if kind == "folded":
            return [math.sin(3 * x), math.cos(5 * x)]
        return [float(v) for v in draw.normal(size=2)]

    search = filler(study(trials=40, tolerance=tolerance, seeds=seeds))
    trials = run(search, any_)
    assert search.exhausted and len(trials) <= 40
    assert len({(beta_of(trial), trial.seed) for trial in trials}) == len(trials)
    assert all(1e-4 <= beta_of(trial) <= 10 for trial in trials)


def test_where_nothing_is_reached_it_looks_over_the_range_and_says_so() -> None:
    search = filler(study(tolerance=0.2))
    trials = run(search, lambda trial: None)
    assert 5 <= len(trials) < 20 and search.ended is not None
    assert "no value of weighting.beta reached anything" in search.ended.reason


def test_a_jump_ends_the_search_before_its_budget_with_the_gap_that_is_left() -> None:
    search = filler(study())
    trials = run(search, lambda trial: [0.0, 0.0] if beta_of(trial) < 0.05 else [-1.0, -1.0])
    assert len(trials) < 20 and search.ended is not None
    assert "no gap above 0.1 left that can be filled" in search.ended.reason and "1.41" in search.ended.reason


def test_the_edge_of_what_collapses_is_found() -> None:
    """Everything above 0.7 collapses: the last value that lives is near it, without most of the budget spent there."""
    trials = run(filler(study(trials=40, tolerance=0.1)), lambda t: reached(t) if beta_of(t) < 0.7 else None)
    living = [beta_of(trial) for trial in trials if beta_of(trial) < 0.7]
    assert max(living) > 0.3 and len(trials) - len(living) <= 6


def test_what_breaks_a_constraint_is_on_no_front_however_it_is_told() -> None:
    """Above 0.7 all is infeasible: the search goes on as if those had failed, and so does one that the log brings."""

    def broken(trial: PlannedTrial) -> float:
        return 0.5 if beta_of(trial) >= 0.7 else -0.5

    search, failing = (filler(study(trials=12, tolerance=0.1)) for _ in range(2))
    asked: list[PlannedTrial] = []
    while batch := search.ask():
        asked += batch
        for trial in batch:
            search.tell(trial.id, reached(trial), [-1.0, broken(trial)])
    assert values(asked) == values(run(failing, lambda t: reached(t) if beta_of(t) < 0.7 else None))
    known = {t.id: Past({"weighting.beta": beta_of(t)}, True, reached(t), [broken(t)]) for t in asked[:8]}
    assert values(run(filler(study(trials=12, tolerance=0.1), known))[:1]) == values(asked[8:9])


def test_whole_numbers_are_filled_with_whole_numbers_and_no_longer() -> None:
    arm = {
        "name": "sized",
        "weighting": {"name": "fixed"},
        "model": {"latent": {"range": {"from": 2, "to": 9}}},
        "search": {"name": "fill", "trials": 40, "tolerance": 0.01},
    }
    search = filler(check_study({"name": "s", "arms": [arm]}))
    trials = run(search, lambda trial: [float(trial.model.latent), float(trial.model.latent) ** 2])
    assert sorted(trial.model.latent for trial in trials) == list(range(2, 10))


@pytest.mark.parametrize(
    "weighting",
    [
        {"name": "target-rate", "rate_bits": {"range": {"from": 1, "to": 30}}},
        {"name": "stch", "preference": {"range": {"from": 0.05, "to": 0.95}}},
        {"name": "fixed", "weights": {"info": {"range": LOG}}},
    ],
)
def test_a_rate_a_preference_or_a_weight_can_be_gone_along(weighting: dict[str, Any]) -> None:
    arm = {"name": "a", "weighting": weighting, "search": {"name": "fill", "trials": 9, "tolerance": 0.01}}
    trials = run(
        filler(check_study({"name": "s", "arms": [arm]})),
        lambda t: (
            [
                next(
                    float(value)
                    for key, value in t.config.items()
                    if key in ("weighting.rate_bits", "weighting.preference", "weighting.weights.info")
                )
            ]
            * 2
        ),
    )
    assert len(trials) == 9


def past_of(trials: list[PlannedTrial], over: int) -> dict[str, Past]:
    """What the log has when so many of these are over and the rest have started."""
    return {
        trial.id: Past({"weighting.beta": beta_of(trial)}, i < over, reached(trial) if i < over else None)
        for i, trial in enumerate(trials)
    }


@given(st.integers(0, 27), st.integers(0, 4))
def test_a_restart_in_the_middle_changes_nothing(over: int, started: int) -> None:
    checked = study(trials=27, tolerance=0.02, seeds=2)
    whole = run(filler(checked))
    known = past_of(whole[: over + started], over)
    rest = run(filler(checked, known))
    assert sorted((t.id, beta_of(t)) for t in [*whole[:over], *rest]) == sorted((t.id, beta_of(t)) for t in whole)


def test_a_restart_after_the_end_needs_nothing_and_says_the_same() -> None:
    search = filler(study(tolerance=0.2))
    trials = run(search)
    again = filler(study(tolerance=0.2), past_of(trials, len(trials)))
    assert again.exhausted and again.ask() == [] and again.ended == search.ended
    assert Supply([], [again], 1, None).is_over


def test_after_more_epochs_every_trial_that_was_goes_on_with_its_value() -> None:
    """All were told as over before and now have epochs to go: none is over, and none gets another value."""
    trials = run(filler(study(trials=12, tolerance=0.15, seeds=2)))
    known = past_of(trials, 0)
    more = run(filler(study(trials=12, tolerance=0.15, seeds=2), known), lambda t: [1.5 * reached(t)[0], reached(t)[1]])
    assert {(t.id, beta_of(t)) for t in trials} <= {(t.id, beta_of(t)) for t in more}


def test_trials_that_are_known_go_on_even_where_they_are_needed_no_more() -> None:
    """The front shrinks to a point when they have more epochs."""
    trials = run(filler(study(trials=12, tolerance=0.15)))
    more = run(filler(study(trials=12, tolerance=0.15), past_of(trials, 0)), lambda trial: [1.0, 1.0])
    assert {(t.id, beta_of(t)) for t in trials} <= {(t.id, beta_of(t)) for t in more}


def test_rounds_of_several_searches_are_supplied_until_each_has_ended() -> None:
    arms = [
        {
            "name": name,
            "weighting": {"name": "fixed", "beta": {"range": LOG}},
            "search": {"name": "fill", "trials": 30, "tolerance": tolerance},
        }
        for name, tolerance in (("a", 0.3), ("b", 0.15))
    ]
    checked = check_study({"name": "s", "arms": arms})
    searches = searches_of(checked, {})
    supply = Supply([], searches, 1, None)
    left = {trial.id for trial in expand(checked)}
    while cohort := supply.next():
        for trial in cohort:
            left.remove(trial.id)
            supply.tell(trial.id, reached(trial))
    ended = ended_early(searches, left)
    assert supply.is_over and set(ended.spared) == left
    assert ended.reason.startswith("a: no gap above 0.3") and "; b: no gap above 0.15" in ended.reason
