"""A cohort whose problem is a user's own: the same face to the training loop as `workers.training.loop.Cohort`."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from paretoscope.own import Problem
from service.contract.methods.own_problems import OwnProblem
from service.contract.metrics import TEST_LOSS, VALIDATION
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Evaluation
from service.contract.wire.events import Curve
from workers import optimizers, weightings
from workers.data.random_streams import Seeds, generator
from workers.data.split import Part
from workers.measures.attacks.steps.ascent import Target
from workers.optimizers.stacking import learning_rates
from workers.optimizers.stacking.stacked import Optimizer
from workers.own_code import choosing
from workers.own_code.coded import coded_of
from workers.own_code.data import Part as OwnPart
from workers.own_code.data import PartName, split_of
from workers.own_code.errors import at, place_of, users_own
from workers.own_code.functions import Function, losses_of, metrics_of
from workers.own_code.jacobian import HELD, check_room, way_words
from workers.own_code.measuring import Measuring
from workers.own_code.members import Members
from workers.own_code.optimizing import OwnOptimizers
from workers.own_code.passes import Passes
from workers.own_code.randomness import undisturbed
from workers.own_code.running_members import Batch, Way
from workers.own_code.sharing import check_slots, reach_of
from workers.own_code.step import step
from workers.state import State, joined, within
from workers.training import annealing
from workers.training.angles import Angles
from workers.training.gradients import Step
from workers.training.kept_weights import KeptWeights

log = logging.getLogger(__name__)

Columns = dict[str, list[float]]


class Named(NamedTuple):
    """What the loop asks of a problem."""

    terms: tuple[str, ...]
    raw: Callable[[Tensor], Tensor]
    place: str  # of its method losses, where that is known


class OwnCohort:
    """Models, weighting and optimiser of K members of a user's problem, and the data they learn from."""

    def __init__(
        self,
        trials: Sequence[PlannedTrial],
        problem: Problem,
        folder: Path,
        device: torch.device,
        validation_fraction: float = 0.2,
        per_seed: bool = True,
        watched: bool = False,
        alive: Callable[[], None] | None = None,
        may_be_cut: bool = False,
        held: int = HELD,
    ) -> None:
        first = trials[0]
        spec = _spec_of(trials)
        terms = spec.terms
        self._own, self._folder, self._watched, self._held = problem, folder, watched, held
        self._training = first.training
        file, line = place_of(problem.losses, folder)
        self.problem = Named(terms, lambda losses: losses, f"{file}:{line}: " if file else "")
        self.seeds = seeds = Seeds([trial.seed for trial in trials], device)
        self._losses = losses_of(problem, terms, folder)
        self._metrics = [metric.name for metric in spec.described.metrics]
        self._measure = metrics_of(problem, self._metrics, folder)
        with users_own(folder, problem.data):
            self.split = split_of(problem, seeds, validation_fraction, per_seed)
        if alive:
            alive()
        with users_own(folder, problem.model):
            self._passes = Passes(
                self.split, seeds, first.training.batch_size, partial(users_own, folder, problem.data)
            )
            self.model = Members(problem, seeds, self._passes.first_rows, alive)
        with users_own(folder, problem.losses), undisturbed(), self.model.attributes.changing():
            self._find_shared()
        steps = math.ceil(len(self.split.train) / self._training.batch_size)
        setting = weightings.Setting(
            terms, first.model.latent, device, tuple(t.seed for t in trials), steps, epochs=first.training.epochs
        )
        self.weighting = weightings.build([t.weighting for t in trials], setting)
        if self.weighting.middle() is not None:
            raise ValueError(f"weighting {first.weighting.name} tells the model its place, which a user's model is not")
        if may_be_cut:
            check_room(self.model, len(terms), self.weighting, held)
        choice = self._chosen()
        self.stacking, self.ratio, self._alone, self._stacked = choice.words, choice.ratio, choice.alone, choice.stacked
        self._go(choice.stacks)
        self._trainings = [t.training for t in trials]
        self.optimizer = self._optimizer()
        self.kept = KeptWeights(trials, [stack.flat for stack in self.model.stacks], self.model.state())
        self.angles = Angles(terms)
        self.model.train(False)
        with undisturbed():
            self._coded = coded_of(problem, self._way, self._alone, self.split, seeds, folder)

    def __str__(self) -> str:
        split, shared, own = self.split, self.model.shared.flat.shape[1], self.model.own.flat.shape[1]
        held = "none" if split.validation is None else len(split.validation)
        text = (
            f"{len(split.train)} training, {held} validation and {len(split.test)} test examples, batches of "
            f"{self._training.batch_size}; {shared} shared and {own} other parameters each; {self.stacking}"
        )
        way = way_words(self.model, len(self.problem.terms), self.weighting, self._watched, self._held)
        return f"{text}; {way}" if way else text

    def state(self) -> State:
        """All that epochs change; random numbers follow from seeds and the epoch's number."""
        parts = {"model": self.model.state(), "optimizer": self.optimizer.state()}
        parts |= {"weighting": self.weighting.state(), "way": {"stacked": torch.tensor(self.stacks)}}
        return joined(parts) | self.kept.state()

    def load(self, state: State) -> None:
        own = {name: tensor.to(self.seeds.device, copy=True) for name, tensor in state.items()}
        self.model.load(within("model", own))
        self.optimizer.load(within("optimizer", own))
        self.weighting.load(within("weighting", own))
        self.kept.load(own)
        self._go(bool(own["way.stacked"]))  # the two ways round differently

    @property
    def stacks(self) -> bool:
        """Whether the members train together."""
        return self._way is not self._alone

    def train_epoch(self, epoch: int) -> tuple[Tensor, Tensor]:
        """One pass over the training split: losses and weights [steps, K, n]."""
        losses, weights = [], []
        self.angles.start()
        self._set_pace(epoch)
        self.weighting.anneal(annealing.shares(self._trainings, epoch, self.seeds.device))
        self.model.train(True)
        with undisturbed():
            for number, batch in enumerate(self._passes.epoch(epoch)):
                update = self._step(batch)
                with users_own(self._folder, self._own.optimizer):
                    self.optimizer.step([update.encoder, update.head])
                self._shake(f"langevin/{epoch}/{number}")
                self.kept.after_step()
                losses.append(update.losses)
                weights.append(update.weights)
                if update.gram is not None:
                    self.angles.add(update.gram)
        self.model.train(False)
        if self.weighting.needs_validation and self.split.validation is not None:
            count = min(len(self.split.train), len(self.split.validation))
            shuffled = torch.randperm(len(self.split.train), generator=generator(0, "train-subset"))[:count]
            seen = self.split.train.some(shuffled.to(self.seeds.device))
            self.weighting.after_epoch(
                self._means(self._losses, "train", seen), self._means(self._losses, "validation", self.split.validation)
            )
        return torch.stack(losses), torch.stack(weights)

    def curves(self, evaluation: Evaluation, epoch: int, last: bool) -> dict[int, Curve]:
        """A user's problem is a single point."""
        return {}

    def evaluate(self, evaluation: Evaluation, epoch: int, last: bool) -> Columns:
        """The declared metrics and the terms' losses of test and validation split, per member."""
        columns: Columns = {}
        if self._coded is not None:
            with undisturbed():
                columns |= self._coded.evaluate(evaluation, epoch, last)
        elif evaluation.attacks and self._own.logits is not None:
            words = "evaluation.attacks: logits needs data in memory, but they are too large and read item by item"
            raise at(self._own.logits, self._folder, words)
        if not (last or epoch % evaluation.every == 0):
            return columns
        for name, part in self.split.held_out():
            measured = self._means(self._measure, name, part)
            self._tell_missing(measured, name, epoch)
            losses = self._means(self._losses, name, part)
            own = dict(zip(self._metrics, measured.mT.tolist(), strict=True))
            own |= {TEST_LOSS.of(term): losses[:, i].tolist() for i, term in enumerate(self.problem.terms)}
            columns |= {metric if name == "test" else VALIDATION.of(metric): own[metric] for metric in own}
        return columns

    def unmeasured(self, columns: Mapping[str, Sequence[float]]) -> Mapping[int, str]:
        """Which members end without a number for a declared metric on the test split, and why they fail for it."""
        file, line = place_of(self._own.measure, self._folder)
        place = f"{file}:{line}: " if file else ""
        return {
            k: f"{place}measure gave {value} for {metric} on the test split in the last epoch"
            for metric in reversed(self._metrics)  # so that the first one is told
            for k, value in enumerate(columns[metric])
            if not math.isfinite(value)
        }

    def shown(self) -> tuple[Target, Part] | None:
        """Whose codes a latent map shows, and of which examples."""
        if self._coded is None or self._own.code is None:
            return None
        return self._coded.target, self._coded.split.test

    def _go(self, stacked: bool) -> None:
        """From now on stacked, where that is possible, or one by one."""
        self._alone.kept.adopt()
        self._way: Way = self._stacked if stacked and self._stacked is not None else self._alone
        self._measuring = Measuring(self._way, self._alone)

    def _step(self, batch: Batch) -> Step:
        """A batch that cannot be stacked, though the first one could, is computed one by one, and so are all later."""
        with users_own(self._folder, self._own.losses):
            if self.stacks:
                try:
                    return self._step_of(batch)
                except RuntimeError as error:
                    self._go(stacked=False)
                    self.stacking = f"not stacked any more: {str(error).partition(chr(10))[0][:300]}"
                    log.info("%s", self.stacking)
            return self._step_of(batch)

    def _step_of(self, batch: Batch) -> Step:
        return step(self._way, self.model, self._losses, self.weighting, batch, self._watched, self._held)

    def _means(self, function: Function, name: PartName, part: OwnPart) -> Tensor:
        """The means of what a function gives over a split: [K, …]."""
        what, method = ("losses", self._own.losses) if function is self._losses else ("measure", self._own.measure)
        with users_own(self._folder, method), undisturbed():
            return self._measuring(function, lambda: self._passes.measured(what, name, part))

    def _tell_missing(self, measured: Tensor, split: PartName, epoch: int) -> None:
        """What is no number has no place on a front, so the log says which metric it was."""
        for metric, column in zip(self._metrics, measured.isfinite().unbind(1), strict=True):
            if not bool(column.all()):
                members = f"{int((~column).sum())} of {len(column)} members"
                log.warning("measure gave no finite %s for %s on %s in epoch %d", metric, members, split, epoch)

    def _find_shared(self) -> None:
        """On the first batch, with the first member; and whether its losses are random."""
        batch = next(self._passes.epoch(1))
        self.model.alive()
        model = self.model.model
        before = {name: tensor.clone() for name, tensor in model.named_buffers()}
        model.train(True)
        rows = batch.of([column[0] for column in batch.columns])
        batch.begin(0)
        with batch.answering(0):
            reach = reach_of(self._own, self.problem.terms, model, self._losses, rows, self._folder)
        batch.begin(0)
        with batch.answering(0):
            check_slots(self.model.slots, self._losses, model, rows, reach, self._folder)
        self._passes.settle()
        for name, tensor in model.named_buffers():
            tensor.data.copy_(before[name])
        self.model.divide(reach.shared, reach.only)

    def _chosen(self) -> choosing.Choice:
        self.model.train(True)
        with users_own(self._folder, self._own.losses), undisturbed():
            return choosing.choose(self.model, self._losses, next(self._passes.epoch(1)))

    def _set_pace(self, epoch: int) -> None:
        """The learning rates of an epoch, where the study or the problem has a schedule: with both, their product."""
        pace = learning_rates.factors(self._trainings, epoch, self.seeds.device)
        if self._own.schedule is None:
            if pace is not None:
                self.optimizer.set_pace(pace)
            return
        with users_own(self._folder, self._own.schedule):
            factor = float(self._own.schedule(epoch, self._training.epochs))
        if not (math.isfinite(factor) and factor >= 0):
            raise at(
                self._own.schedule, self._folder, f"schedule must give a number ≥ 0, got {factor} in epoch {epoch}"
            )
        one = torch.ones(len(self._trainings), device=self.seeds.device)
        self.optimizer.set_pace((one if pace is None else pace) * factor)

    def _optimizer(self) -> Optimizer:
        """The user's own, or the study's."""
        if self._own.optimizer is not None:
            with users_own(self._folder, self._own.optimizer):
                return OwnOptimizers(self._own.optimizer, self.model, self._folder)
        return optimizers.build_for(self._trainings, [stack.flat for stack in self.model.stacks], self.seeds.device)

    def _shake(self, stream: str) -> None:
        """Noise on every parameter, where the weighting asks for it."""
        deviation = self.weighting.parameter_noise()  # [K]
        if deviation is None:
            return
        flats = [stack.flat for stack in self.model.stacks]
        sizes = [flat.shape[1] for flat in flats]
        drawn = self.seeds.draw(stream, lambda g: torch.randn(sum(sizes), generator=g))
        for flat, part in zip(flats, torch.split(self.seeds.spread(drawn), sizes, dim=1), strict=True):
            flat.addcmul_(part, deviation[:, None].to(flat))


def _spec_of(trials: Sequence[PlannedTrial]) -> OwnProblem:
    problem = trials[0].problem
    if not isinstance(problem, OwnProblem):
        raise ValueError(f"a problem of the study's own code is needed, got {problem.name!r}")
    return problem
