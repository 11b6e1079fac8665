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
from workers import estimators, gradients, information, models, optimizers, problems, weightings
from workers.attacks.loop import Target
from workers.attacks.robustness import robustness
from workers.data import DataSet
from workers.data.streams import Seeds, generator

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
        if alive and (last or epoch % evaluation.every == 0):
            columns |= cohort.evaluate(evaluation.samples if last else 1)
            columns |= cohort.estimate(evaluation)
        if alive and evaluation.attacks_at(epoch, last):
            columns |= cohort.attack(evaluation)
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
        self.data, self.batch_size = data, first.training.batch_size
        self.seeds = Seeds([t.seed for t in trials], device)
        self.problem = problems.build(first.problem, latent)
        sizes = models.Sizes(
            data.features, self.problem.outputs, latent, data.classes, data.shape, self.problem.scalars
        )
        self.model = models.build(first.model, sizes, self.seeds)
        batches = math.ceil(len(data.x_train) / self.batch_size)
        seeds = tuple(t.seed for t in trials)
        setting = weightings.Setting(self.problem.terms, latent, device, seeds, batches, self.problem.raw)
        self.weighting = weightings.build([t.weighting for t in trials], setting)
        rates = torch.tensor([float(t.training.learning_rate) for t in trials], device=device)  # type: ignore[arg-type]
        parameters = [self.model.encoder.flat, self.model.head.flat]
        self.optimizer = optimizers.build(first.training.optimizer, parameters, rates)
        shuffled = torch.randperm(len(data.x_train), generator=generator(0, "train-subset"))
        self._seen = shuffled[: len(data.x_test)].to(device)  # the same images for every cohort

    def train_epoch(self, epoch: int) -> tuple[Tensor, Tensor]:
        """One pass over the training split, each seed in its own order: losses and weights [steps, K, n]."""
        count = len(self.data.x_train)
        order = self.seeds.draw(f"order/{epoch}", lambda g: torch.randperm(count, generator=g))  # [S, N]
        latent = self.problem.latent
        noise = self.seeds.draw(f"noise/{epoch}", lambda g: torch.randn(count, latent, generator=g))
        losses, weights = [], []
        for start in range(0, count, self.batch_size):
            part = slice(start, start + self.batch_size)
            batch = (self.data.x_train[order[:, part]], self.data.y_train[order[:, part]], noise[:, part])
            x, y, eps = (self.seeds.spread(t) for t in batch)  # [K, B, …]
            found = gradients.step(self.model, self.problem, self.weighting, gradients.Batch(x, y, eps))
            self.optimizer.step([found.encoder, found.head])
            losses.append(found.losses)
            weights.append(found.weights)
        return torch.stack(losses), torch.stack(weights)

    def evaluate(self, samples: int) -> dict[str, list[float]]:
        """The metrics of the test split, and the accuracy on the training subset, per member."""
        d, seen = self.data, self._seen

        def measure(x: Tensor, y: Tensor, stream: str) -> information.Measured:
            return information.measure(self.model, self.problem, x, y, seeds=self.seeds, stream=stream, samples=samples)

        test = measure(d.x_test, d.y_test, "test")
        train = measure(d.x_train[seen], d.y_train[seen], "train")
        return {
            "i_xz_bits": information.i_xz_bits(test).tolist(),
            "i_zy_bits": information.i_zy_bits(test, d.y_test).tolist(),
            "accuracy": test.accuracy.tolist(),
            "train_accuracy": train.accuracy.tolist(),
            "generalization_gap": (train.accuracy - test.accuracy).tolist(),
        }

    def estimate(self, evaluation: Evaluation) -> dict[str, list[float]]:
        """The further estimates of I(X;Z) that the study asks for, on the test split, per member."""
        return estimators.estimate(self.model, self.problem, self.data.x_test, self.seeds, evaluation)

    def attack(self, evaluation: Evaluation) -> dict[str, list[float]]:
        """The accuracy that each listed attack leaves on the test split, per member."""
        target = Target(self.model, self.problem)
        return robustness(target, self.data.x_test, self.data.y_test, self.seeds, evaluation)


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
