"""Several tasks over one encoder: a main one and auxiliaries."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from service.contract.methods.models import Model as ModelSpec
from service.contract.methods.problems import Multitask as Spec
from service.contract.metrics import (
    ACCURACY,
    KL_PRIOR,
    MEAN_ACCURACY,
    SPREAD,
    TASK_ACCURACY,
    TEST_EXAMPLES,
    TEST_LOSS,
    VALIDATION,
    WORST_ACCURACY,
)
from service.contract.study.study import Evaluation
from workers import models
from workers.data.split import Split
from workers.measures.coding import Columns
from workers.measures.information import ROWS
from workers.models import Model
from workers.models.components.modulation import Told
from workers.problems import PartName, Problem, rates, tasks
from workers.problems.image_views import Views
from workers.problems.tasks.classes import labelled_by
from workers.problems.tasks.task import Drawn, Setting, SplitName, Task, View
from workers.state import State, copy_into


class TaskBatch(NamedTuple):
    """The views of a step, one below the other, so that one run through the encoder serves all tasks."""

    x: Tensor  # [K, R, features]
    drawn: dict[View, tuple[slice, Drawn]]
    noise: Tensor | None = None  # of the code [K, R, latent], where it has any


class Measured(NamedTuple):
    """What a model does on examples of a split."""

    losses: Tensor  # [n, K] of all terms
    hits: dict[str, Tensor]  # [K] of the tasks that have them
    spread: Tensor | None  # [K] of the exemplar projections, where there is that task


class Multitask(Problem):
    """One term per task: the mean loss over the examples that have a label for it. Heads act on ReLU(code), or with a
    rate on a sample of the code; then the rate's mean over all images of a step is the last term.
    """

    by_beta = False
    separable = True

    def __init__(self, spec: Spec, latent: int) -> None:
        self._spec, self._latent = spec, latent
        self.terms, self._heads = spec.terms, spec.tasks
        self._rate = None if spec.rate == "none" else rates.build(spec.rate)
        self._tasks: dict[str, Task] = {}
        self._views: Views | None = None
        self._teacher: Model | None = None

    def model(self, spec: ModelSpec, split: Split, told: Told | None = None) -> Model:
        data, seeds = split.data, split.seeds
        setting = Setting(self._spec, split, labelled_by(self._spec.main, split))
        self._tasks = {name: tasks.build(name, setting) for name in self._heads}
        original = self._spec.teacher_sees == "original"
        self._views = Views(split, setting.labelled, self._spec.shift, original)
        first, *others = (task.outputs for task in self._tasks.values())
        outputs = self._rate.outputs(self._latent) if self._rate else self._latent
        sizes = models.Sizes(
            data.features, outputs, self._latent, first, data.shape, (), tuple(others), data.vocabulary, told
        )
        if "exemplar" in self.terms:
            self._teacher = models.build(spec, sizes, seeds)  # starts where the student does
        return models.build(spec, sizes, seeds)

    def steps(self, split: Split) -> int:
        return self._own_views().steps

    def batches(self, split: Split, epoch: int) -> Iterator[TaskBatch]:
        views = self._own_views()
        orders = views.orders(epoch)
        for step in range(views.steps):
            drawn = {v: views.training(v, orders, epoch, step) for v in self._needed()}
            yield _batch(drawn, self._noise(drawn, split, f"{epoch}/{step}"))

    def losses(self, model: Model, s: tuple[Tensor, ...], batch: TaskBatch) -> list[Tensor]:
        if self._teacher is not None:
            _follow(self._teacher, model, self._spec.teacher_decay)
        read = self._read(s, batch.noise)
        means = [self._mean(name, model, read, batch)[0] for name in self._heads]
        return means if self._rate is None else [*means, self._rate.nats(self._rate.code(s)).mean(1)]

    def raw(self, losses: Tensor) -> Tensor:
        return losses

    def evaluate(self, model: Model, split: Split, evaluation: Evaluation, epoch: int, last: bool) -> Columns:
        columns: Columns = {}
        if last or epoch % evaluation.every == 0:
            columns |= self._columns(model, "test", len(split.test))
            if split.validation is not None:
                held = self._columns(model, "validation", len(split.validation))
                columns |= {VALIDATION.of(metric): values for metric, values in held.items()}
        return columns

    def _columns(self, model: Model, split: SplitName, count: int) -> Columns:
        losses, hits, spread = self._measure(model, split, count)
        columns = {TEST_LOSS.of(name): losses[i].tolist() for i, name in enumerate(self.terms)}
        columns |= {TASK_ACCURACY.of(name): values.tolist() for name, values in hits.items()}
        if self.terms[0] in hits:
            columns[ACCURACY] = hits[self.terms[0]].tolist()
        if hits:
            each = torch.stack(list(hits.values()))  # [tasks, K]
            columns |= {MEAN_ACCURACY: each.mean(0).tolist(), WORST_ACCURACY: each.amin(0).tolist()}
        if self._rate is not None:
            columns[KL_PRIOR] = (losses[-1] / math.log(2)).tolist()
        if spread is not None:
            columns[SPREAD.of("exemplar")] = spread.tolist()
        return {**columns, TEST_EXAMPLES: [float(count)] * losses.shape[1]}

    def mean_losses(self, model: Model, split: Split, part: PartName) -> Tensor | None:
        if split.validation is None:
            return None
        return self._measure(model, part, min(len(split.train), len(split.validation))).losses.mT

    def state(self) -> State:
        return {} if self._teacher is None else self._teacher.named()

    def load(self, state: State) -> None:
        if self._teacher is not None:
            copy_into(self._teacher.named(), state, "teacher")

    @torch.no_grad()
    def _measure(self, model: Model, split: SplitName, count: int) -> Measured:
        views = self._own_views()
        totals: dict[str, Tensor] = {}
        rights: dict[str, Tensor] = {}
        counts: dict[str, Tensor] = {}
        directions: list[Tensor] = []
        for start in range(0, count, ROWS):
            rows = slice(start, min(start + ROWS, count))
            drawn = {view: views.measured(view, split, rows) for view in self._needed()}
            batch = _batch(drawn, self._noise(drawn, views.split, f"{split}/{start}"))
            s = model.encode(batch.x)
            code = self._read(s, batch.noise)
            if self._teacher is not None:
                directions.append(self._directions(model, code, batch))
            for name in self.terms:
                mean, right, known = self._mean(name, model, code, batch) if name in self._tasks else self._cost(s)
                for sums, value in ((totals, mean), (rights, right), (counts, torch.ones_like(mean))):
                    if value is not None:
                        sums[name] = sums.get(name, 0.0) + value.double() * known
        losses = torch.stack([totals[name] / counts[name].clamp_min(1) for name in self.terms])
        hits = {name: right / counts[name].clamp_min(1) for name, right in rights.items()}
        return Measured(losses, hits, _spread(torch.cat(directions, dim=1)) if directions else None)

    def _directions(self, model: Model, code: Tensor, batch: TaskBatch) -> Tensor:
        """The student's exemplar projections, of length one: [K, B, width]."""
        rows, _ = batch.drawn["shifted"]
        outputs = model.decode(code[:, rows], self.terms.index("exemplar"), rows)
        return functional.normalize(outputs.double(), dim=-1)

    def _read(self, s: tuple[Tensor, ...], noise: Tensor | None) -> Tensor:
        """What the heads read of the encoder's outputs: [K, R, latent]; without noise the mean of a noisy code."""
        if self._rate is None:
            return s[0].relu()
        code = self._rate.code(s)
        return code.mean if noise is None else self._rate.sample(code, noise)

    def _cost(self, s: tuple[Tensor, ...]) -> tuple[Tensor, Tensor | None, Tensor]:
        """The mean rate [K] over all images that were encoded, and how many they are."""
        assert self._rate is not None
        nats = self._rate.nats(self._rate.code(s))  # [K, R]
        return nats.mean(1), None, torch.full_like(nats[:, 0], nats.shape[1])

    def _noise(self, drawn: dict[View, Drawn], split: Split, stream: str) -> Tensor | None:
        """Of the code of each image of each view [K, R, latent], the same for members of one seed."""
        if self._rate is None:
            return None
        many, latent = sum(seen.x.shape[1] for seen in drawn.values()), self._latent
        return split.seeds.spread(split.seeds.draw(f"code/{stream}", lambda g: torch.randn(many, latent, generator=g)))

    def _mean(self, name: str, model: Model, code: Tensor, batch: TaskBatch) -> tuple[Tensor, Tensor | None, Tensor]:
        """A task's mean loss and mean hits [K] over the examples that have its label, and how many they are [K]."""
        task, head = self._tasks[name], self.terms.index(name)
        rows, drawn = batch.drawn[task.view]
        outputs = model.decode(code[:, rows], head, rows)
        if task.view == "shifted":
            drawn = drawn._replace(extra=self._projection(drawn, head))
        losses, hits, known = task.losses(outputs, drawn), task.hits(outputs, drawn), task.known(drawn)
        if known is None:
            known = torch.ones_like(losses, dtype=torch.bool)
        count = known.sum(1)

        def mean(values: Tensor) -> Tensor:
            return torch.where(known, values, 0).sum(1) / count.clamp_min(1)

        return mean(losses), None if hits is None else mean(hits), count

    @torch.no_grad()
    def _projection(self, drawn: Drawn, head: int) -> Tensor:
        """The teacher's, of the second view or of the image itself."""
        if self._teacher is None or drawn.extra is None:
            raise ValueError("exemplar needs a teacher and a second view")
        return self._teacher.decode(self._read(self._teacher.encode(drawn.extra), None), head)

    def _needed(self) -> list[View]:
        return list(dict.fromkeys(task.view for task in self._tasks.values()))

    def _own_views(self) -> Views:
        if self._views is None:
            raise ValueError("multitask: build the model first")
        return self._views


def _spread(directions: Tensor) -> Tensor:
    """1 − ‖mean of projections of length one‖² [K], of [K, B, width]."""
    return 1 - directions.mean(1).square().sum(-1)


def _batch(drawn: dict[View, Drawn], noise: Tensor | None) -> TaskBatch:
    rows: dict[View, tuple[slice, Drawn]] = {}
    start = 0
    for view, seen in drawn.items():
        end = start + seen.x.shape[1]
        rows[view] = (slice(start, end), seen)
        start = end
    return TaskBatch(torch.cat([seen.x for seen in drawn.values()], dim=1), rows, noise)


@torch.no_grad()
def _follow(teacher: Model, student: Model, decay: float) -> None:
    """teacher ← decay·teacher + (1 − decay)·student, once a step."""
    for own, other in ((teacher.encoder, student.encoder), (teacher.head, student.head)):
        own.flat.lerp_(other.flat, 1 - decay)
