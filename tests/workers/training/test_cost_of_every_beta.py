"""What a step for every trade-off costs beside a step for one, in CPU time: the machine may be busy."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from service.contract.study.parsing import check_study
from tests.planned import planned
from workers import data
from workers.training.loop import Cohort

MEMBERS = 5
ROUNDS = 60
TIMES = 1.8  # as long as a step for one, at most
EVERY = {"name": "conditional"}
TWO_TASKS = {"name": "multitask", "main": "class", "auxiliaries": ["rotation"]}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other would count as work."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def cohort(problem: dict[str, Any], weighting: dict[str, Any]) -> Cohort:
    arm = {"name": "a", "problem": problem, "weighting": weighting}
    study = check_study({"name": "s", "seeds": list(range(MEMBERS)), "arms": [arm]})
    return Cohort(planned(study), data.draws(study.data, study.seeds), torch.device("cpu"))


def seconds_of(trained: Cohort, epoch: int) -> float:
    start = time.process_time()
    trained.train_epoch(epoch)
    return time.process_time() - start


def least_ratio(every: Cohort, one: Cohort) -> float:
    """The best of both over rounds that alternate: what disturbs only adds, so more rounds come nearer to the truth."""
    best = [float("inf")] * 2
    for epoch in range(1, ROUNDS):
        best = [min(known, seconds_of(each, epoch)) for known, each in zip(best, (every, one), strict=True)]
        if epoch >= 5 and best[0] < TIMES * best[1]:
            break
    return best[0] / best[1]


def test_one_network_for_every_beta_trains_in_less_time_than_two_of_a_grid() -> None:
    problem = {"name": "bottleneck"}
    assert least_ratio(cohort(problem, EVERY), cohort(problem, {"name": "fixed", "beta": 0.01})) < TIMES


def test_one_network_for_every_preference_trains_in_less_time_than_two_of_a_grid() -> None:
    one = {"name": "fixed", "weights": {"rotation": 0.5}}
    assert least_ratio(cohort(TWO_TASKS, EVERY), cohort(TWO_TASKS, one)) < TIMES
