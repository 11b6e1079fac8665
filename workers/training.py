"""The loop: a cohort of planned trials in, one report per epoch out. Knows no Ray."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from service.contract.data import Data
from service.contract.expansion import PlannedTrial
from service.contract.study import Evaluation
from workers import data as datasets
from workers import gradients, optimizers, problems, weightings
from workers.data import DataSet
from workers.data.streams import Seeds
from workers.problems import Split

Metrics = dict[str, float | None]


class EpochReport(NamedTuple):
    """An epoch of a cohort. A trial in `failures` is in no later report; after `final` there is none."""

    epoch: int
    metrics: dict[str, Metrics]
    failures: dict[str, str]
    final: bool


def train(
    trials: Sequence[PlannedTrial],
    data: Data,
    evaluation: Evaluation,
    device: torch.device,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[EpochReport]:
    """Train all trials together; a member's metrics equal those of training it alone, to float tolerance."""
    cohort = Cohort(trials, datasets.load(data).to(device), device)
    alive = dict(enumerate(trials))
    epochs = trials[0].training.epochs
    seconds = 0.0
    for epoch in range(1, epochs + 1):
        start = clock()
        losses, weights = (t.cpu() for t in cohort.train_epoch(epoch))  # [steps, K, n]; waits for the device
        seconds += clock() - start
        losses = cohort.problem.raw(losses)
        failures = {k: _failure(losses[:, k], trials[k], cohort.problem.terms, epoch) for k in alive}
        failed = {alive.pop(k).id: why for k, why in failures.items() if why}
        last = epoch == epochs
        columns = _epoch_means(losses, weights, cohort.problem.terms)
        if alive:
            columns |= cohort.evaluate(evaluation, epoch, last)
        shared = {"epoch": float(epoch), "seconds": seconds / len(trials)}
        metrics = {t.id: {**shared, **{m: _finite(c[k]) for m, c in columns.items()}} for k, t in alive.items()}
        yield EpochReport(epoch, metrics, failed, last or not alive)
        if not alive:
            return


class Cohort:
    """Model, problem, weighting and optimiser of K members, and the data they share."""

    def __init__(self, trials: Sequence[PlannedTrial], data: DataSet, device: torch.device) -> None:
        _check_alike(trials)
        first = trials[0]
        latent = int(first.model.latent)  # type: ignore[arg-type]
        seeds = tuple(t.seed for t in trials)
        self._split = Split(data, Seeds(seeds, device), first.training.batch_size)
        self.problem = problems.build(first.problem, latent)
        self.model = self.problem.model(first.model, self._split)
        steps = self.problem.steps(self._split)
        setting = weightings.Setting(self.problem.terms, latent, device, seeds, steps, self.problem.raw)
        self.weighting = weightings.build([t.weighting for t in trials], setting)
        rates = torch.tensor([float(t.training.learning_rate) for t in trials], device=device)  # type: ignore[arg-type]
        parameters = [self.model.encoder.flat, self.model.head.flat]
        self.optimizer = optimizers.build(first.training.optimizer, parameters, rates)

    def train_epoch(self, epoch: int) -> tuple[Tensor, Tensor]:
        """One pass over the training split: losses and weights [steps, K, n]."""
        losses, weights = [], []
        self.model.train(True)
        for batch in self.problem.batches(self._split, epoch):
            found = gradients.step(self.model, self.problem, self.weighting, batch)
            self.optimizer.step([found.encoder, found.head])
            losses.append(found.losses)
            weights.append(found.weights)
        self.model.train(False)
        return torch.stack(losses), torch.stack(weights)

    def evaluate(self, evaluation: Evaluation, epoch: int, last: bool) -> dict[str, list[float]]:
        """What the problem measures after an epoch, per member."""
        return self.problem.evaluate(self.model, self._split, evaluation, epoch, last)


def _check_alike(trials: Sequence[PlannedTrial]) -> None:
    if not trials:
        raise ValueError("a cohort needs at least one trial")
    for what, values in (
        ("problem", [t.problem for t in trials]),
        ("model", [t.model for t in trials]),
        ("training.epochs", [t.training.epochs for t in trials]),
        ("training.batch_size", [t.training.batch_size for t in trials]),
        ("training.optimizer", [t.training.optimizer for t in trials]),
    ):
        other = next((v for v in values if v != values[0]), values[0])
        if other != values[0]:
            raise ValueError(f"trials of a cohort must share {what}, got {values[0]!r} and {other!r}")


def _epoch_means(losses: Tensor, weights: Tensor, terms: Sequence[str]) -> dict[str, list[float]]:
    means = {"loss": losses.double().mean(0), "weight": weights.double().mean(0)}  # [K, n]
    return {f"{what}_{term}": mean[:, i].tolist() for what, mean in means.items() for i, term in enumerate(terms)}


def _failure(losses: Tensor, trial: PlannedTrial, terms: Sequence[str], epoch: int) -> str | None:
    """Where a member's losses [steps, n] first stop being numbers, if they do."""
    broken = (~losses.isfinite()).nonzero()
    if not len(broken):
        return None
    step, term = broken[0].tolist()
    rate = f"learning rate {trial.training.learning_rate:g}"
    return f"loss_{terms[term]} became non-finite in epoch {epoch}, step {step + 1} ({rate})"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
