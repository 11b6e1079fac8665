"""What a step for every β costs beside a step for one, in CPU time: the machine may be busy."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import torch

from service.contract.methods.weightings import Conditional, Fixed, Weighting
from service.contract.study.parsing import check_study
from tests.planned import planned
from workers import data
from workers.training.loop import Cohort

MEMBERS = 5
ROUNDS = 60


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other would count as work."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def cohort(weighting: Weighting) -> Cohort:
    study = check_study({"name": "s", "seeds": list(range(MEMBERS)), "arms": [{"name": "a", "weighting": weighting}]})
    return Cohort(planned(study), data.draws(study.data, study.seeds), torch.device("cpu"))


def seconds_of(trained: Cohort, epoch: int) -> float:
    start = time.process_time()
    trained.train_epoch(epoch)
    return time.process_time() - start


def test_one_network_for_every_beta_trains_in_less_time_than_two_of_a_grid() -> None:
    """The best of both over rounds that alternate: what disturbs only adds, so more rounds come nearer to the truth."""
    every, one = cohort(Conditional()), cohort(Fixed())
    best = [float("inf")] * 2
    for epoch in range(1, ROUNDS):
        best = [min(known, seconds_of(each, epoch)) for known, each in zip(best, (every, one), strict=True)]
        if epoch >= 5 and best[0] < 1.8 * best[1]:
            break
    assert best[0] < 1.8 * best[1]
