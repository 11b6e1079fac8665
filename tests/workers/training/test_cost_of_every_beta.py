"""What a step for every trade-off costs beside a step for one, in CPU time: the machine may be busy."""

from __future__ import annotations

from typing import Any

import torch

from service.contract.study.parsing import check_study
from tests.benchmarks.every import Price, price
from tests.planned import planned
from workers import data
from workers.training.loop import Cohort

MEMBERS = 5
ROUNDS = 15
TIMES = 1.8  # as long as a step for one, at most
EVERY = {"name": "conditional"}
TWO_TASKS = {"name": "multitask", "main": "class", "auxiliaries": ["rotation"]}


def cohort(problem: dict[str, Any], weighting: dict[str, Any]) -> Cohort:
    arm = {"name": "a", "problem": problem, "weighting": weighting}
    study = check_study({"name": "s", "seeds": list(range(MEMBERS)), "arms": [arm]})
    return Cohort(planned(study), data.draws(study.data, study.seeds), torch.device("cpu"))


def priced(problem: dict[str, Any], single: dict[str, Any]) -> Price:
    """Printed for who runs it with `-s`."""
    own = price(cohort(problem, EVERY), cohort(problem, single), ROUNDS)
    print(f"{problem['name']}: {own} times, median of {ROUNDS} rounds and its 95 % interval")
    return own


def test_one_network_for_every_beta_trains_in_less_time_than_two_of_a_grid() -> None:
    assert priced({"name": "bottleneck"}, {"name": "fixed", "beta": 0.01}).ratio < TIMES


def test_one_network_for_every_preference_trains_in_less_time_than_two_of_a_grid() -> None:
    assert priced(TWO_TASKS, {"name": "fixed", "weights": {"rotation": 0.5}}).ratio < TIMES
