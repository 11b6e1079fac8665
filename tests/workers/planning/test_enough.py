"""Arms that end before their last trial: when, why, and the same after a restart."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.answers.read_by_drivers import KnownTrial
from service.contract.wire.epoch_report import EpochReport
from service.contract.wire.events import TrialState
from tests.planned import planned as planned_of
from workers.planning.budget import budget_of
from workers.planning.ending import MayEndEarly, ended_early
from workers.planning.past import Past, past_of
from workers.planning.supply import Search, Supply, searches_of
from workers.planning.supply import planned_of as without_search

BETA = {"range": {"from": 1e-3, "to": 1.0, "scale": "log"}}
TUNED: dict[str, Any] = {
    "name": "tuned",
    "weighting": {"name": "fixed", "beta": BETA},
    "search": {"name": "optuna", "sampler": "random", "trials": 60, "batch": 2},
}
GRID: dict[str, Any] = {
    "name": "grid",
    "weighting": {"name": "fixed", "beta": {"grid": {"from": 1e-3, "to": 1.0, "count": 20, "scale": "log"}}},
}
LIMITS = {"gain": 0.02, "patience": 2}


def study(*arms: dict[str, Any], **limits: Any) -> Study:
    return check_study({"name": "s", "seeds": [0, 1, 2], "arms": list(arms or [TUNED]), "limits": limits or LIMITS})


def reached(beta: float, trial: str) -> list[float]:
    """A front that is soon known: all that is left is noise."""
    noise = random.Random(trial).uniform(0.99, 1.0)
    return [8 * (1 - beta) ** 2 + 0.01, 3 * (1 - beta**2) * noise]


def trained(search: Search, most: int = 10_000) -> dict[str, Past]:
    """What the log has when `most` trials have ended."""
    log: dict[str, Past] = {}
    while batch := search.ask():
        for trial in batch:
            if len(log) == most:
                return log
            beta = trial.config["weighting.beta"]
            log[trial.id] = Past({"weighting.beta": beta}, True, reached(beta, trial.id))
            search.tell(trial.id, log[trial.id].objectives)
    return log


def test_networks_that_verify_a_curve_are_in_no_batch_and_planned_with_those_that_no_search_asks_for() -> None:
    curves = {"name": "curves", "weighting": {"name": "conditional", "verify": 2}}
    checked = study(GRID, curves)
    left = without_search(checked, planned_of(checked))
    assert [trial.arm for trial in left if trial.verifies] == ["curves"] * 2 * len(checked.seeds)
    assert not [trial for trial in left if trial.arm == "grid"]


def only(checked: Study, past: Mapping[str, Past] | None = None) -> Any:
    (search,) = searches_of(checked, past or {})
    assert isinstance(search, MayEndEarly)
    return search


def test_a_search_ends_before_its_last_trial_and_says_what_another_batch_would_gain() -> None:
    search = only(study())
    log = trained(search)
    assert search.exhausted and 24 <= len(log) < 60
    spared, reason = search.ended
    assert f": stopped after {len(log)} of 60 trials: another batch would gain at most " in reason
    assert float(reason.split()[-4]) < 2 and len(spared) == 60 - len(log)


def test_a_search_whose_batches_still_gain_trains_all_its_trials() -> None:
    search = only(study(gain=1e-6))
    assert len(trained(search)) == 60
    assert search.exhausted and search.ended is None


@pytest.mark.parametrize("arm", [TUNED, GRID], ids=["search", "grid"])
@pytest.mark.parametrize("most", [0, 1, 7, 23, 10_000])
def test_a_driver_that_is_started_again_trains_the_same_and_ends_at_the_same_place(
    arm: dict[str, Any], most: int
) -> None:
    checked = study(arm)
    whole = trained(only(checked))
    assert len(whole) < 60
    before = trained(only(checked), most)
    again = only(checked, before)
    rest = trained(again)
    assert {**before, **rest} == whole and again.exhausted
    if len(before) == len(whole):
        assert again.ask() == [] and again.ended


def test_no_seed_goes_ahead_of_the_others() -> None:
    search = only(study())
    first = search.ask()
    assert sorted(trial.seed for trial in first) == [0, 0, 1, 1, 2, 2]
    for trial in first:
        assert search.ask() == [], "while one of the batch is in training"
        search.tell(trial.id, [1.0, 1.0])
    assert len(search.ask()) == 6


def test_a_seed_that_was_ahead_when_the_driver_was_stopped_waits_for_the_others() -> None:
    checked = study()
    (ahead, *others) = searches_of(study(trials=500), {})
    log: dict[str, Past] = {}
    for _ in range(3):
        for trial in ahead.ask():
            log[trial.id] = Past({"weighting.beta": trial.config["weighting.beta"]}, True, [1.0, 1.0])
            ahead.tell(trial.id, [1.0, 1.0])
    assert others
    assert sorted(trial.seed for trial in only(checked, log).ask()) == [1, 1, 2, 2]


def test_failed_trials_bring_nothing_and_a_search_of_them_alone_never_has_enough() -> None:
    search = only(study())
    count = 0
    while batch := search.ask():
        for trial in batch:
            count += 1
            search.tell(trial.id, None)
    assert count == 60 and search.ended is None


def test_a_grid_comes_in_batches_in_an_order_drawn_once_and_the_same_for_every_seed() -> None:
    first = only(study(GRID)).ask()
    betas = [[t.config["weighting.beta"] for t in first if t.seed == seed] for seed in (0, 1, 2)]
    assert betas[0] == betas[1] == betas[2] and len(betas[0]) == 4
    assert betas[0] != sorted(betas[0])
    assert without_search(study(GRID), first) == [] and without_search(study(GRID, trials=500), first) == first


def test_the_log_tells_the_past_of_grids_only_where_they_come_in_batches() -> None:
    metrics = {"validation_i_xz_bits": 2.0, "validation_i_zy_bits": 1.0}
    known = KnownTrial(id="t1", arm="grid", state=TrialState.FINISHED, config={}, metrics=metrics)
    assert past_of(study(GRID, trials=500), [known]) == {}
    assert past_of(study(GRID), [known]) == {"t1": Past({}, True, [2.0, 1.0])}


def report(seconds: Mapping[str, float], final: bool = False) -> EpochReport:
    return EpochReport(epoch=1, metrics={t: {"seconds": s} for t, s in seconds.items()}, failures={}, final=final)


def test_an_arm_that_has_spent_its_seconds_stops_and_gets_no_more_cohorts() -> None:
    checked = study(GRID, {**GRID, "name": "other"}, training_seconds=10)
    budget = budget_of(checked, {})
    assert budget is not None
    planned = planned_of(checked)
    supply = Supply(planned, [], 2, 8, budget=budget)
    cohort, other = supply.next(), supply.next()
    assert cohort and other and {trial.arm for trial in cohort} == {"grid"}, "arms are trained apart"
    first, second, *_ = [trial.id for trial in cohort]
    assert not budget.stops(report({first: 4.0, second: 5.0}))
    assert not budget.stops(report({first: 4.5, second: 5.0})), "the last report of a trial counts, not their sum"
    assert budget.stops(report({first: 5.0, second: 5.0}))
    assert not budget.stops(report({first: 5.0}, final=True)), "what has ended by itself need not be stopped"
    rest = []
    while left := supply.next():
        rest += [trial.arm for trial in left]
    assert set(rest) == {"other"} and supply.is_over
    ended = ended_early([], {trial.id for trial in planned}, budget)
    spent = "grid: its 10 s of training are spent, 60 of 60 trials not trained to the end"
    assert ended.reason == f"{spent}, 2 of them stopped under way" and len(ended.spared) == 60


def test_a_search_that_has_spent_its_seconds_is_not_asked_again() -> None:
    checked = study({**TUNED}, training_seconds=10)
    budget = budget_of(checked, {})
    supply = Supply([], searches_of(checked, {}), 1, None, budget=budget)
    cohort = supply.next()
    assert cohort and budget
    budget.stops(report({cohort[0].id: 11.0}))
    for trial in cohort:
        supply.tell(trial.id, None)
    assert supply.next() is None and supply.is_over


def test_what_was_spent_before_a_restart_counts() -> None:
    checked = study(GRID, training_seconds=10)
    first = planned_of(checked)[0].id
    budget = budget_of(checked, {first: 10.0, "of another": 1.0})
    assert budget is not None and budget.is_spent("grid")
    assert Supply(planned_of(checked), [], 2, 8, budget=budget).next() is None
    assert budget_of(study(GRID, trials=500), {}) is None
