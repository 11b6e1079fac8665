"""A training for every trade-off beside one for a single one, of as many networks: CPU time, in turns."""

from __future__ import annotations

import time
from statistics import median
from typing import NamedTuple

import torch

from findings.folder import asked
from service.contract.study.study import Study
from tests.benchmarks.row import Row, ends
from tests.planned import planned
from workers import data
from workers.training.loop import Cohort

ROUNDS, FEWER = 25, 11  # of small data, and of data whose epochs take seconds


class Price(NamedTuple):
    """How many times the second goes into the first: the median over rounds, and its 95 % interval."""

    first: float  # CPU seconds of an epoch, a median too
    second: float
    ratio: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.ratio:.2f} ({self.low:.2f} to {self.high:.2f})"


def price(every: Cohort, one: Cohort, rounds: int = ROUNDS) -> Price:
    """Each round is an epoch of both, one right after the other, so that what disturbs is there for both; who begins
    alternates. The first round, in which memory is taken, does not count. One thread: threads that wait for each other
    would count as work."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    seconds: list[dict[str, float]] = []
    for epoch in range(1, rounds + 2):
        turns = [("every", every), ("one", one)]
        seconds.append({name: _seconds(each, epoch) for name, each in turns[:: 1 if epoch % 2 else -1]})
    torch.set_num_threads(threads)
    first, second = ([each[name] for each in seconds[1:]] for name in ("every", "one"))
    ratios = sorted(a / b for a, b in zip(first, second, strict=True))
    return Price(median(first), median(second), median(ratios), *ends(ratios))


def _seconds(trained: Cohort, epoch: int) -> float:
    start = time.process_time()
    trained.train_epoch(epoch)
    return time.process_time() - start


def cohort(study: Study, arm: str, members: int) -> Cohort:
    """The first configuration of an arm, with so many seeds."""
    first = next(trial.config for trial in planned(study, arm))
    trials = [trial for trial in planned(study, arm) if trial.config == first][:members]
    seeds = [trial.seed for trial in trials]
    assert len(trials) == members
    return Cohort(trials, data.draws(study.data, seeds), torch.device("cpu"))


# Kept studies: the arm that is one network for every trade-off, the grid, and how many rounds.
MEASURED = {
    "digits": ("one-training-digits", "all β at once", "manual β", ROUNDS),
    "fashion": ("one-training-fashion", "all β at once", "manual β", FEWER),
    "gaussian": ("one-training-gaussian", "all β at once", "manual β", FEWER),
    "garments": ("one-training-garments", "all preferences at once", "grid of weights", FEWER),
}
NAMES = {"digits": "digits", "fashion": "Fashion-MNIST", "gaussian": "Gaussian data", "garments": "two garments"}


def prices() -> list[Row]:
    """Of as many networks of both as the study has seeds; of digits also of one, of as many as its whole grid, and of
    few beside that grid."""
    rows = [_row(name, 5) for name in MEASURED]
    stacks = [beside_a_stack("stack"), beside_a_stack("stack-encoder", *ENCODER)]
    return [*rows, _row("digits", 1), _row("digits", 60), *stacks]


# What telling β to the encoder alone costs: a study of the same data, model and training, and its arm.
ENCODER = ("one-training-ablation", "encoder only", ", told to the encoder alone")


def beside_a_stack(key: str, finding: str = "one-training-digits", arm: str = "all β at once", told: str = "") -> Row:
    """Of each network of digits: those for every β are few, and the grid's are one stack, as in a study of both."""
    study = asked(finding).study
    networks = planned(study, "manual β")
    few, many = len(study.seeds), len(networks)
    stack = Cohort(networks, data.draws(study.data, study.seeds), torch.device("cpu"))
    own = price(cohort(study, arm, few), stack)
    what = f"digits, {few} beside a grid’s {many}{told}: an epoch of a network for every trade-off / of one for one"
    share = many / few
    between = (own.low * share, own.high * share)
    return Row(
        f"every-digits-{key}", "every", what, own.first / few, own.second / many, "CPU s", own.ratio * share, between
    )


def _row(name: str, members: int) -> Row:
    finding, every, grid, rounds = MEASURED[name]
    study = asked(finding).study
    study = study.model_copy(update={"seeds": list(range(members))})
    own = price(cohort(study, every, members), cohort(study, grid, members), rounds)
    beside = "one of each" if members == 1 else f"{members} of each"
    what = f"{NAMES[name]}, {beside}: an epoch of networks for every trade-off / of networks for one"
    key = f"every-{name}" + ("" if members == 5 else f"-{members}")
    return Row(key, "every", what, own.first, own.second, "CPU s", own.ratio, (own.low, own.high))
