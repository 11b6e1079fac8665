"""The loop: a cohort of planned trials in, one report per epoch out. Knows no Ray."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from service.contract.methods.balance import hidden_code
from service.contract.methods.data import Data
from service.contract.methods.weightings import Conditional
from service.contract.methods.weightings import Weighting as WeightingSpec
from service.contract.metrics import EPOCH, LOSS, SECONDS, WEIGHT
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Evaluation
from service.contract.wire.epoch_report import EpochReport
from service.contract.wire.events import Curve, Metrics
from service.contract.wording.numbers import number, setting
from workers import data as datasets
from workers import optimizers, problems, weightings
from workers.balance.schedule import Schedule
from workers.data import DataSet
from workers.data.augmenting import augmentation_of
from workers.data.random_streams import Seeds
from workers.data.split import Part, Split
from workers.measures.attacks.steps.ascent import Target
from workers.models import Conditioned
from workers.models.components.modulation import Told
from workers.models.mlp import Mlp
from workers.optimizers.stacking import learning_rates
from workers.planning.cohorts import told_class
from workers.problems import Problem
from workers.problems.bottleneck import Bottleneck
from workers.state import State, copy_into, joined, within
from workers.training import alignment, annealing, gradients
from workers.training.angles import Angles
from workers.training.gradients import Step
from workers.training.kept_weights import KeptWeights
from workers.training.overfitting import Overfitting
from workers.weightings import Weighting
from workers.weightings.conditional import told_by

log = logging.getLogger(__name__)

CURVES = 5  # of a training, the last included


def train(
    trials: Sequence[PlannedTrial],
    data: Data,
    evaluation: Evaluation,
    device: torch.device,
    clock: Callable[[], float] = time.perf_counter,
    at_end: Callable[[Any, Mapping[int, PlannedTrial]], Mapping[int, str] | None] | None = None,
    begun: Progress | None = None,
    between: Callable[[Progress], bool] | None = None,
    at_last: Callable[[Progress, EpochReport], None] | None = None,
    code: OwnCode | None = None,
    rung: Rung | None = None,
    clocked: bool = False,
) -> Iterator[EpochReport]:
    """Train all trials together; a member's metrics equal those of training it alone, to float tolerance.

    `at_end` is given the trained cohort and its members that did not fail, before their final report, and answers
    what could not be kept of which. `begun` is where the same trials were left before, or had ended when they had fewer
    epochs. `between` is told after each report but the final one how far they are, and may ask them to leave;
    `at_last` before the final one, with it. `code` is the study's own, where their problem is of it. At a `rung` they
    end before their last epoch. `clocked` are those that a clock may end with any report.
    """
    cohort = cohort_of(trials, data, device, evaluation.gradients, code)
    if evaluation.overfitting and isinstance(cohort, Cohort):
        cohort.watch_overfitting()
    watched = [k for k, trial in enumerate(trials) if evaluation.watches(trial.weighting)]
    log.info("%s", cohort)
    alive = dict(enumerate(trials))
    epochs = trials[0].training.epochs
    first, seconds = 1, 0.0
    if begun is not None:
        first, seconds = begun.epoch + 1, begun.seconds
        alive = {k: trial for k, trial in alive.items() if trial.id not in begun.failed}
        cohort.load(begun.state())
        log.info("goes on after epoch %d", begun.epoch)
    for epoch in range(first, epochs + 1):
        start = clock()
        losses, weights = (t.cpu() for t in cohort.train_epoch(epoch))  # [steps, K, n]; waits for the device
        seconds += clock() - start
        losses = cohort.problem.raw(losses)
        failures = {k: _failure(losses[:, k], trials[k], cohort.problem.terms, epoch) for k in alive}
        failed = _told({alive.pop(k).id: f"{cohort.problem.place}{why}" for k, why in failures.items() if why})
        last = epoch == epochs
        columns = _epoch_means(losses, weights, cohort.problem.terms)
        rests = rung is not None and epoch == rung.epoch and not last
        measured = rung.evaluation if rung and rests else evaluation
        drawn = alive and _draws_curves(epoch, epochs, evaluation.every, clocked)
        plain = partial(cohort.evaluate, Evaluation(samples=evaluation.samples), epoch, False)
        with cohort.kept.worn(epoch, plain if last and alive else None):
            if alive:
                columns |= cohort.evaluate(measured, epoch, last)
            points = cohort.curves(evaluation, epoch, last) if drawn else {}
            unmeasured = cohort.unmeasured(columns) if last and alive else {}
            whole = {k: trial for k, trial in alive.items() if k not in unmeasured}
            missing = (at_end(cohort, whole) if last and whole and at_end else None) or {}
        columns |= cohort.kept.after_epoch(epoch, columns, last)
        own = {**cohort.weighting.report(), **cohort.angles.report(watched)}
        metrics = {
            trial.id: {**_clock(epoch, seconds / len(trials)), **_of_member(k, columns, own)}
            for k, trial in alive.items()
        }
        failed |= _told({trial.id: unmeasured.get(k) for k, trial in alive.items()})
        own_points = {trial.id: points[k] for k, trial in whole.items() if k in points}
        alive = whole
        if last or not alive:
            took = f"trained {epoch} epochs in {number(seconds)} s"
            log.info("%s, %d of %d trials to the end", took, len(alive), len(trials))
        report = EpochReport(
            epoch=epoch,
            metrics=metrics,
            points=own_points,
            failures=failed,
            missing={alive[k].id: why for k, why in missing.items()},
            final=last or not alive,
            rests=rests and bool(alive),
        )
        progress = Progress(epoch, seconds, _others(trials, alive), cohort.state, epochs)
        if at_last and last and alive:
            at_last(progress, report)
        if rung and rung.save and report.rests:
            rung.save(progress, report)
        yield report
        if not alive or rests or (between and not last and between(progress)):
            return


class Rung(NamedTuple):
    """Where members are compared before they go on: after which epoch, by what measured there, and what saves them."""

    epoch: int
    evaluation: Evaluation
    save: Callable[[Progress, EpochReport], None] | None = None


class Terms(Protocol):
    """What the loop asks of a problem."""

    @property
    def terms(self) -> tuple[str, ...]: ...

    @property
    def raw(self) -> Callable[[Tensor], Tensor]: ...

    @property
    def place(self) -> str: ...


class Naming(Protocol):
    """A trained model, as far as its weights are kept."""

    def named(self) -> dict[str, Tensor]: ...


class Trained(Protocol):
    """What the loop asks of a cohort: ours, or one of a user's own problem."""

    angles: Angles
    kept: KeptWeights
    weighting: Weighting

    @property
    def problem(self) -> Terms: ...

    @property
    def model(self) -> Naming: ...

    def train_epoch(self, epoch: int) -> tuple[Tensor, Tensor]: ...
    def evaluate(self, evaluation: Evaluation, epoch: int, last: bool) -> dict[str, list[float]]: ...
    def unmeasured(self, columns: Mapping[str, Sequence[float]]) -> Mapping[int, str]: ...
    def curves(self, evaluation: Evaluation, epoch: int, last: bool) -> dict[int, Curve]: ...
    def shown(self) -> tuple[Target, Part] | None: ...
    def state(self) -> State: ...
    def load(self, state: State) -> None: ...


class OwnCode(Protocol):
    """A user's code, which makes the cohorts of its own problems."""

    def cohort(
        self, trials: Sequence[PlannedTrial], data: Data, device: torch.device, watched: bool = False
    ) -> Trained: ...


def cohort_of(
    trials: Sequence[PlannedTrial], data: Data, device: torch.device, watched: bool, code: OwnCode | None
) -> Trained:
    """Trials that share their shape, before their first step."""
    if code is not None:
        _check_alike(trials)
        return code.cohort(trials, data, device, watched)
    seeds = list(dict.fromkeys(trial.seed for trial in trials))
    return Cohort(trials, datasets.draws(data, seeds), device, watched)


class Progress(NamedTuple):
    """How far a cohort has come; `state` is what it needs to go on from there, read when it is asked for."""

    epoch: int
    seconds: float  # of training, all members together
    failed: tuple[str, ...]
    state: Callable[[], State]
    epochs: int | None = None  # that they were to have
    is_empty: bool = False  # whether there is nothing to go on from: a script that has saved nothing


class Cohort:
    """Model, problem, weighting and optimiser of K members, and the data they learn from."""

    def __init__(
        self, trials: Sequence[PlannedTrial], draws: Sequence[DataSet], device: torch.device, watched: bool = False
    ) -> None:
        _check_alike(trials)
        first = trials[0]
        latent = first.model.latent
        seeds = tuple(t.seed for t in trials)
        self._trainings = [t.training for t in trials]
        self.split = Split(draws, Seeds(seeds, device), first.training.batch_size)
        self.split.augmentation = augmentation_of(self._trainings, self.split.seeds)
        self.problem = problem = problems.build(first.problem, latent, first.weighting)
        terms, epochs = problem.terms, first.training.epochs
        told = _told_by(first.weighting, problem)
        self.model = problem.model(first.model, self.split, told)
        if told and not isinstance(self.model, Conditioned):
            raise ValueError(f"weighting conditional needs model mlp or cnn, got {first.model.name!r}")
        steps = problem.steps(self.split)
        setting = weightings.Setting(
            terms, latent, device, seeds, steps, problem.raw, epochs, problem.by_beta, problem.separable
        )
        self.weighting = weightings.build([t.weighting for t in trials], setting)
        stacks = (self.model.encoder, self.model.head)
        parameters, paces = [stack.flat for stack in stacks], [stack.pace for stack in stacks]
        self.optimizer = optimizers.build_for(self._trainings, parameters, device, paces)
        self.kept = KeptWeights(trials, parameters, self.model.named())
        self.angles = Angles(terms)  # of the last epoch
        self._step: Callable[[Problem, Weighting, Any], Step] = partial(gradients.step, self.model, watched=watched)
        if first.training.feedback == "dfa":
            if not isinstance(self.model, Mlp):
                raise ValueError(f"training.feedback dfa needs model mlp, got {first.model.name!r}")
            self._step = partial(alignment.step, self.model, self.model.align_feedback())
        spec = first.training.balance
        self._overfitting: Overfitting | None = None
        self._balance = spec and Schedule(spec, self.model.pairs(hidden_code(first.problem)), seeds, device, epochs)

    def __str__(self) -> str:
        train, test, features = len(self.split.train), len(self.split.test), self.split.data.features
        weights = self.model.encoder.flat.shape[1] + self.model.head.flat.shape[1]
        return (
            f"{train} training and {test} test examples of {features} features, "
            f"batches of {self.split.batch_size}; {weights} weights each"
        )

    def watch_overfitting(self) -> None:
        """From now on, before the first step, losses are compared on both splits where they are measured."""
        self.model.train(False)
        self._tell(self.weighting.middle())
        self._overfitting = Overfitting(self.problem, self.model, self.split)

    def state(self) -> State:
        """All that epochs change; random numbers follow from seeds and the epoch's number."""
        parts = {"model": self.model.named(), "optimizer": self.optimizer.state()}
        parts |= {"weighting": self.weighting.state(), "problem": self.problem.state()}
        return joined(parts) | self.kept.state()

    def load(self, state: State) -> None:
        own = {name: tensor.to(self.split.seeds.device, copy=True) for name, tensor in state.items()}
        copy_into(self.model.named(), within("model", own), "model")
        self.optimizer.load(within("optimizer", own))
        self.weighting.load(within("weighting", own))
        self.problem.load(within("problem", own))
        self.kept.load(own)

    def train_epoch(self, epoch: int) -> tuple[Tensor, Tensor]:
        """One pass over the training split: losses and weights [steps, K, n]."""
        losses, weights = [], []
        self.angles.start()
        if (pace := learning_rates.factors(self._trainings, epoch, self.split.seeds.device)) is not None:
            self.optimizer.set_pace(pace)
        self.weighting.anneal(annealing.shares(self._trainings, epoch, self.split.seeds.device))
        if self._balance:
            self._balance.before_epoch(epoch)
        self.model.train(True)
        for step, batch in enumerate(self.problem.batches(self.split, epoch)):
            self._tell(self.weighting.told(epoch, step, batch.x.shape[1]))
            update = self._step(self.problem, self.weighting, batch)
            self.optimizer.step([update.encoder, update.head])
            self._shake(f"langevin/{epoch}/{step}")
            self.kept.after_step()
            losses.append(update.losses)
            weights.append(update.weights)
            if update.gram is not None:
                self.angles.add(update.gram)
        self.model.train(False)
        self._tell(self.weighting.middle())
        if self._balance:
            self._balance.after_epoch(epoch)
        if self.weighting.needs_validation:
            train = self.problem.mean_losses(self.model, self.split, "train")
            validation = self.problem.mean_losses(self.model, self.split, "validation")
            if train is not None and validation is not None:
                self.weighting.after_epoch(train, validation)
        return torch.stack(losses), torch.stack(weights)

    def _shake(self, stream: str) -> None:
        """Noise on every parameter, where the weighting asks for it."""
        deviation = self.weighting.parameter_noise()  # [K]
        if deviation is None:
            return
        flats = (self.model.encoder.flat, self.model.head.flat)
        sizes = [flat.shape[1] for flat in flats]
        seeds = self.split.seeds
        noise = seeds.spread(seeds.draw(stream, lambda g: torch.randn(sum(sizes), generator=g)))  # [K, P + Q]
        for flat, part in zip(flats, torch.split(noise, sizes, dim=1), strict=True):
            flat.addcmul_(part, deviation[:, None].to(flat))

    def _tell(self, told: Tensor | None) -> None:
        """Where the model is from now on, if it is told."""
        if told is not None and isinstance(self.model, Conditioned):
            self.model.condition(told)

    def curves(self, evaluation: Evaluation, epoch: int, last: bool) -> dict[int, Curve]:
        """What the problem measures at each place of the members' curves; empty where they are single points."""
        curves: dict[int, Curve] = {}
        for place in self.weighting.places():
            self._tell(place.told)
            columns = self.problem.evaluate(self.model, self.split, evaluation, epoch, last)
            for k, where in enumerate(place.where):
                metrics: Metrics = {name: column[k] for name, column in columns.items()}
                curves.setdefault(k, []).append({"where": where, "metrics": metrics})
        self._tell(self.weighting.middle())
        return curves

    def unmeasured(self, columns: Mapping[str, Sequence[float]]) -> Mapping[int, str]:
        """An estimate that is no number fails nothing: the loss is what says that a training went wrong."""
        return {}

    def shown(self) -> tuple[Target, Part] | None:
        """Whose codes a latent map shows, and of which examples; none where the problem has no code."""
        problem = self.problem
        return (Target(self.model, problem), self.split.test) if isinstance(problem, Bottleneck) else None

    def evaluate(self, evaluation: Evaluation, epoch: int, last: bool) -> dict[str, list[float]]:
        """What the problem measures after an epoch, per member, and how balanced the model is."""
        columns = self.problem.evaluate(self.model, self.split, evaluation, epoch, last)
        if self._balance:
            columns |= self._balance.measure()
        if self._overfitting and evaluation.overfitting and (last or epoch % evaluation.every == 0):
            columns |= self._overfitting.measure()
        return columns


def _of_member(
    k: int, columns: Mapping[str, Sequence[float]], own: Mapping[str, Mapping[int, float]]
) -> dict[str, float]:
    """What was measured of every member, and what the weighting says of some."""
    told = {name: values[k] for name, values in own.items() if k in values}
    return {**{name: column[k] for name, column in columns.items()}, **told}


def _told_by(weighting: WeightingSpec, problem: Problem) -> Told | None:
    """What the model takes in besides its inputs; most weightings tell it nothing."""
    return told_by(weighting, problem.by_beta, len(problem.terms)) if isinstance(weighting, Conditional) else None


def _draws_curves(epoch: int, epochs: int, every: int, clocked: bool) -> bool:
    """After the last epoch and in some even steps before, at which anything is measured: a curve takes as many
    evaluations as it has points. Under a clock at each of them: whichever report is the last has a curve."""
    steps = every if clocked else every * math.ceil(epochs / (every * CURVES))
    return epoch == epochs or epoch % steps == 0


def _check_alike(trials: Sequence[PlannedTrial]) -> None:
    if not trials:
        raise ValueError("a cohort needs at least one trial")
    for what, values in (
        ("problem", [t.problem for t in trials]),
        ("model", [t.model for t in trials]),
        ("training.epochs", [t.training.epochs for t in trials]),
        ("training.batch_size", [t.training.batch_size for t in trials]),
        ("training.optimizer", [t.training.optimizer for t in trials]),
        ("training.balance", [t.training.balance for t in trials]),
        ("training.feedback", [t.training.feedback for t in trials]),
        ("training.best", [t.training.best for t in trials]),
        ("what the model is told", [told_class(t.weighting) for t in trials]),
    ):
        other = next((v for v in values if v != values[0]), values[0])
        if other != values[0]:
            raise ValueError(f"trials of a cohort must share {what}, got {values[0]!r} and {other!r}")


def _others(trials: Sequence[PlannedTrial], alive: Mapping[int, PlannedTrial]) -> tuple[str, ...]:
    return tuple(trial.id for k, trial in enumerate(trials) if k not in alive)


def _clock(epoch: int, seconds: float) -> Metrics:
    return {EPOCH: epoch, SECONDS: seconds}


def _told(failures: Mapping[str, str | None]) -> dict[str, str]:
    """Those trials that failed, by name, with why, which is logged."""
    failed = {name: why for name, why in failures.items() if why}
    for name, why in failed.items():
        log.warning("trial %s failed: %s", name, why)
    return failed


def _epoch_means(losses: Tensor, weights: Tensor, terms: Sequence[str]) -> dict[str, list[float]]:
    means = {LOSS: losses.double().mean(0), WEIGHT: weights.double().mean(0)}  # [K, n]
    return {family.of(term): mean[:, i].tolist() for family, mean in means.items() for i, term in enumerate(terms)}


def _failure(losses: Tensor, trial: PlannedTrial, terms: Sequence[str], epoch: int) -> str | None:
    """Where a member's losses [steps, n] first stop being numbers, if they do."""
    broken = (~losses.isfinite()).nonzero()
    if not len(broken):
        return None
    step, term = broken[0].tolist()
    rate = f"learning rate {setting(trial.training.learning_rate)}"
    return f"{LOSS.of(terms[term])} became non-finite in epoch {epoch}, step {step + 1} ({rate})"
