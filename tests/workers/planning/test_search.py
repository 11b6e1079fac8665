"""Searches without Ray: Optuna asked and told, cohorts handed out, the history rebuilt from the log."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from statistics import mean
from typing import Any

import moocore
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.contract.methods.weightings import Fixed, Mib
from service.contract.study.expansion import PlannedTrial, expand, searched_keys
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.answers.read_by_drivers import KnownTrial
from tests.planned import planned as planned_of
from workers.on_ray.searcher import CohortSearcher
from workers.on_ray.trainable import MEMBERS, members_of
from workers.planning.past import Past, past_of
from workers.planning.supply import Search, Supply, searches_of

SAMPLERS = ["tpe", "nsga2", "nsga3", "qmc", "random"]  # gp, which is slow: test_plain_optuna
Reached = Callable[[PlannedTrial], list[float] | None]


def study(
    sampler: str = "tpe", trials: int = 20, seeds: int = 1, arms: list[dict[str, Any]] | None = None, **search: Any
) -> Study:
    tuned = {
        "name": "tuned",
        "weighting": {"name": "fixed", "beta": {"range": {"from": 1e-5, "to": 10.0, "scale": "log"}}},
        "model": {"latent": {"range": {"from": 2, "to": 256, "scale": "log"}}},
        "training": {"learning_rate": {"range": {"from": 1e-5, "to": 1.0, "scale": "log"}}},
        "search": {"name": "optuna", "sampler": sampler, "trials": trials, **search},
    }
    return check_study({"name": "s", "seeds": list(range(seeds)), "arms": [tuned, *(arms or [])]})


def beta_of(trial: PlannedTrial) -> float:
    assert isinstance(trial.weighting, Fixed) and trial.weighting.beta is not None
    return trial.weighting.beta


def mib_of(trial: PlannedTrial) -> Mib:
    assert isinstance(trial.weighting, Mib)
    return trial.weighting


def reached(trial: PlannedTrial) -> list[float]:
    """A rate that falls with β and a prediction that grows with the rate; a wrong step size or latent costs both."""
    beta, step = math.log10(beta_of(trial)), math.log10(trial.training.learning_rate)
    cost = 0.6 * (step + 2.5) ** 2 + 0.15 * (math.log2(trial.model.latent) - 4) ** 2
    rate = 32 / (1 + math.exp(1.5 * (beta + 2)))
    return [rate + 4 * cost, 3.3 * (1 - math.exp(-rate / 6)) - cost]


def run(search: Search, reached: Reached = reached, most: int = 10**6) -> list[PlannedTrial]:
    """All trials of a search in the order of their asking, each told at once after its batch."""
    asked: list[PlannedTrial] = []
    while len(asked) < most and (batch := search.ask()):
        asked += batch
        for trial in batch:
            search.tell(trial.id, reached(trial))
    return asked


def hypervolume(trials: list[PlannedTrial]) -> float:
    points = [[x, -y] for x, y in map(reached, trials)]
    return float(moocore.hypervolume(np.array(points), ref=[32.0, 0.0]))


def configs(trials: list[PlannedTrial]) -> list[dict[str, Any]]:
    return [trial.config for trial in trials]


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_search_trains_every_slot_once_in_order_with_values_in_range(sampler: str) -> None:
    checked = study(sampler, trials=23, seeds=2)
    slots, searches = expand(checked), searches_of(checked, {})
    assert len(searches) == 2
    for seed, search in enumerate(searches):
        trials = run(search)
        assert [trial.id for trial in trials] == [slot.id for slot in slots if slot.seed == seed]
        assert search.exhausted and search.ask() == []
        for trial in trials:
            assert 1e-5 <= beta_of(trial) <= 10
            assert isinstance(trial.model.latent, int) and 2 <= trial.model.latent <= 256


@pytest.mark.parametrize("sampler", ["tpe", "nsga2"])
def test_later_trials_of_a_search_beat_random_ones(sampler: str) -> None:
    def later(sampler: str) -> float:
        return mean(hypervolume(run(search)[20:]) for search in searches_of(study(sampler, 200, seeds=5), {}))

    assert later(sampler) > 1.2 * later("random")


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_equal_results_lead_to_equal_suggestions_and_seeds_to_others(sampler: str) -> None:
    one, two = (configs(run(searches_of(study(sampler), {})[0])) for _ in range(2))
    other = configs(run(searches_of(study(sampler, 40, seeds=2), {})[1]))
    assert one == two
    assert one != other


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_search_goes_on_when_trials_fail(sampler: str) -> None:
    checked = study(sampler)
    assert len(run(searches_of(checked, {})[0], lambda trial: None)) == 20
    half = run(searches_of(checked, {})[0], lambda t: reached(t) if beta_of(t) > 1e-2 else None)
    assert len(half) == 20


def test_choices_are_searched_by_every_sampler() -> None:
    for sampler in SAMPLERS:
        arm = {
            "name": "b",
            "weighting": {
                "name": "mib",
                "smoothing": {"choice": [True, False]},
                "mu": {"range": {"from": 0.1, "to": 1}},
            },
            "problem": {"name": "bottleneck", "rate": {"choice": ["vib", "nib"]}},
            "search": {"name": "optuna", "sampler": sampler, "trials": 12},
        }
        trials = run(searches_of(study(arms=[arm]), {})[1], lambda t: [mib_of(t).mu, 1.0])
        found = {(trial.config["problem.rate"], mib_of(trial).smoothing) for trial in trials}
        assert len(trials) == 12 and found <= {(r, s) for r in ("vib", "nib") for s in (True, False)}


def known(answer: list[dict[str, Any]]) -> list[KnownTrial]:
    return [KnownTrial.model_validate_json(json.dumps({"seed": 0, **trial})) for trial in answer]


def past(trials: list[PlannedTrial], checked: Study, over: Callable[[int], bool]) -> dict[str, Past]:
    """What the log would have of these trials: as the service answers, through its JSON."""
    answer = [
        {
            "id": trial.id,
            "arm": trial.arm,
            "config": trial.config,
            "state": "finished" if over(i) else "planned",
            "metrics": dict(zip(checked.choosing, reached(trial), strict=True)) if over(i) else {},
        }
        for i, trial in enumerate(trials)
    ]
    return past_of(checked, known(answer))


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("known", [0, 2, 4, 11, 19])
def test_a_history_from_the_log_leads_to_the_suggestions_of_an_uninterrupted_search(sampler: str, known: int) -> None:
    checked = study(sampler)
    whole = run(searches_of(checked, {})[0])
    again = run(searches_of(checked, past(whole[:known], checked, lambda i: True))[0])
    assert configs(again) == configs(whole[known:])


@given(st.integers(0, 20), st.sets(st.integers(0, 19)), st.sampled_from(SAMPLERS))
@settings(max_examples=25, deadline=None)
def test_whatever_the_log_has_each_slot_ends_once_and_started_ones_keep_their_values(
    known: int, over: set[int], sampler: str
) -> None:
    checked = study(sampler)
    whole = run(searches_of(checked, {})[0])
    kept = past(whole[:known], checked, lambda i: i in over)
    trials = run(searches_of(checked, kept)[0])
    done = [trial.id for i, trial in enumerate(whole[:known]) if i in over]
    assert sorted([trial.id for trial in trials] + done) == sorted(slot.id for slot in expand(checked))
    values = {trial.id: trial.config for trial in trials}
    for i, trial in enumerate(whole[:known]):
        assert i in over or values[trial.id] == trial.config


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_log_is_believed_over_the_sampler(sampler: str) -> None:
    checked = study(sampler)
    first = run(searches_of(checked, {})[0], most=1)[:2]
    changed = [trial._replace(config={**trial.config, "weighting.beta": 0.5}) for trial in first]
    trials = run(searches_of(checked, past(changed, checked, lambda i: False))[0])
    assert [beta_of(trial) for trial in trials[:2]] == [0.5, 0.5]


def test_a_trial_that_failed_before_it_had_values_is_over() -> None:
    checked = study()
    first = expand(checked)[0]
    kept = {first.id: Past({}, over=True, objectives=None)}
    assert first.id not in {trial.id for trial in run(searches_of(checked, kept)[0])}


def test_collapsed_and_unmeasured_trials_are_told_as_failed() -> None:
    checked = study()
    ends = [
        {"validation_i_xz_bits": 0.01, "validation_i_zy_bits": 0.0},
        {"validation_i_xz_bits": None, "validation_i_zy_bits": 3.0},
        {"validation_i_xz_bits": 9, "validation_i_zy_bits": 3},
    ]
    log = [
        {"id": str(i), "arm": "tuned", "config": {"weighting.beta": 1.0}, "state": "finished", "metrics": metrics}
        for i, metrics in enumerate(ends)
    ]
    assert [entry.objectives for entry in past_of(checked, known(log)).values()] == [None, None, [9, 3]]


def test_a_trial_that_reported_before_it_failed_is_told_as_failed() -> None:
    metrics = {"validation_i_xz_bits": 9, "validation_i_zy_bits": 3}
    trial = {"id": "a", "arm": "tuned", "config": {"weighting.beta": 1.0}, "state": "failed", "metrics": metrics}
    assert past_of(study(), known([trial])) == {"a": Past({"weighting.beta": 1.0}, over=True, objectives=None)}


GRID = {"name": "grid", "weighting": {"name": "fixed", "beta": {"grid": [0.1, 0.2, 0.3]}}}


@given(st.data(), st.integers(1, 4), st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_whatever_the_order_of_ends_every_trial_is_handed_out_once(data: Any, slots: int, seeds: int) -> None:
    checked = study("random", trials=17, seeds=seeds, arms=[GRID])
    planned = planned_of(checked, "grid")
    supply = Supply(planned, searches_of(checked, {}), slots, None)
    searcher = CohortSearcher(supply, slots, searched_keys(checked))
    running: dict[str, dict[str, Any]] = {}
    seen: list[str] = []
    asked = 0
    while True:
        asked += 1
        config = searcher.suggest(f"c{asked}")
        if config == CohortSearcher.FINISHED:
            break
        if config is not None:
            running[f"c{asked}"] = members_of(config)
            seen += members_of(config)
            assert len(running) <= slots
            continue
        ended = data.draw(st.sampled_from(sorted(running)))
        for member in running.pop(ended):
            supply.tell(member, [1.0, 1.0])
        searcher.on_trial_complete(ended)
    assert sorted(seen) == sorted(trial.id for trial in expand(checked))


def test_suggestions_travel_with_their_trials_and_planned_ones_have_none() -> None:
    checked = study(trials=2, arms=[GRID])
    planned = planned_of(checked, "grid")
    searcher = CohortSearcher(Supply(planned, searches_of(checked, {}), 9, 8), 9, searched_keys(checked))
    cohorts = [members_of(searcher.suggest(str(i))) for i in range(2)]
    assert [set(values) for values in cohorts[0].values()] == [{*searched_keys(checked)["tuned"]}]
    assert list(cohorts[1].values()) == [{}, {}, {}]


def test_a_slot_is_given_away_when_its_cohort_has_ended() -> None:
    supply = Supply(planned_of(study(arms=[GRID]), "grid"), [], 1, 1)
    searcher = CohortSearcher(supply, 1, {})
    assert searcher.suggest("a")
    searcher.has_said_all("a")
    assert searcher.suggest("b") is None
    searcher.on_trial_complete("a")
    assert searcher.suggest("b")


def test_a_slot_is_given_away_with_the_last_report_while_another_is_idle() -> None:
    checked = study("random", trials=8, batch=4)
    supply = Supply([], searches_of(checked, {}), 2, 2)
    searcher = CohortSearcher(supply, 2, searched_keys(checked))
    first, second = (members_of(searcher.suggest(name)) for name in ("a", "b"))
    searcher.has_said_all("a")
    for trial in first:
        supply.tell(trial, None)
    assert searcher.suggest("c") is None  # its search waits for the other cohort
    searcher.on_trial_complete("a")
    for trial in second:
        supply.tell(trial, None)
    searcher.has_said_all("b")
    assert [MEMBERS in searcher.suggest(name) for name in ("c", "d")] == [True, True]


def test_a_cohort_that_is_gone_without_a_word_does_not_stop_its_search() -> None:
    checked = study("random", trials=8, batch=4)
    searcher = CohortSearcher(Supply([], searches_of(checked, {}), 1, 4), 1, searched_keys(checked))
    names: list[str] = []
    while (config := searcher.suggest("x")) != CohortSearcher.FINISHED:
        names += members_of(config)
        searcher.on_trial_complete("x", error=True)
    assert len(names) == 8


def test_a_study_without_searches_does_not_import_optuna() -> None:
    code = "import sys, workers.on_ray.driver, workers.run_study; assert 'optuna' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
