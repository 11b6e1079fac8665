"""Several tasks over one encoder: a main one and auxiliaries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from service.contract.methods.models import Model as ModelSpec
from service.contract.methods.problems import Multitask as Spec
from service.contract.metrics import (
    ACCURACY,
    MEAN_ACCURACY,
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
from workers.problems import PartName, Problem, tasks
from workers.problems.image_views import Views
from workers.problems.tasks.classes import labelled_by
from workers.problems.tasks.task import Drawn, Setting, SplitName, Task, View
from workers.state import State, copy_into


class TaskBatch(NamedTuple):
    """The views of a step, one below the other, so that one run through the encoder serves all tasks."""

    x: Tensor  # [K, R, features]
    drawn: dict[View, tuple[slice, Drawn]]


class Multitask(Problem):
    """One term per task: the mean loss over the examples that have a label for it. Heads act on ReLU(code)."""

    by_beta = False
    separable = True

    def __init__(self, spec: Spec, latent: int) -> None:
        self._spec, self._latent = spec, latent
        self.terms = spec.terms
        self._tasks: dict[str, Task] = {}
        self._views: Views | None = None
        self._teacher: Model | None = None

    def model(self, spec: ModelSpec, split: Split, told: Told | None = None) -> Model:
        data, seeds = split.data, split.seeds
        setting = Setting(self._spec, split, labelled_by(self._spec.main, split))
        self._tasks = {name: tasks.build(name, setting) for name in self.terms}
        self._views = Views(split, setting.labelled, self._spec.shift)
        first, *others = (task.outputs for task in self._tasks.values())
        sizes = models.Sizes(
            data.features, self._latent, self._latent, first, data.shape, (), tuple(others), data.vocabulary, told
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
            yield _batch({v: views.training(v, orders, epoch, step) for v in self._needed()})

    def losses(self, model: Model, s: tuple[Tensor, ...], batch: TaskBatch) -> list[Tensor]:
        if self._teacher is not None:
            _follow(self._teacher, model, self._spec.teacher_decay)
        return [self._mean(name, model, s[0], batch)[0] for name in self.terms]

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
        losses, hits = self._measure(model, split, count)
        columns = {TEST_LOSS.of(name): losses[i].tolist() for i, name in enumerate(self.terms)}
        columns |= {TASK_ACCURACY.of(name): values.tolist() for name, values in hits.items()}
        if self.terms[0] in hits:
            columns[ACCURACY] = hits[self.terms[0]].tolist()
        if hits:
            each = torch.stack(list(hits.values()))  # [tasks, K]
            columns |= {MEAN_ACCURACY: each.mean(0).tolist(), WORST_ACCURACY: each.amin(0).tolist()}
        return {**columns, TEST_EXAMPLES: [float(count)] * losses.shape[1]}

    def mean_losses(self, model: Model, split: Split, part: PartName) -> Tensor | None:
        if split.validation is None:
            return None
        return self._measure(model, part, min(len(split.train), len(split.validation)))[0].mT

    def state(self) -> State:
        return {} if self._teacher is None else self._teacher.named()

    def load(self, state: State) -> None:
        if self._teacher is not None:
            copy_into(self._teacher.named(), state, "teacher")

    @torch.no_grad()
    def _measure(self, model: Model, split: SplitName, count: int) -> tuple[Tensor, dict[str, Tensor]]:
        """Losses [n, K] of all tasks and hits [K] of those that have them, over so many examples of a split."""
        views = self._own_views()
        totals: dict[str, Tensor] = {}
        rights: dict[str, Tensor] = {}
        counts: dict[str, Tensor] = {}
        for start in range(0, count, ROWS):
            rows = slice(start, min(start + ROWS, count))
            batch = _batch({view: views.measured(view, split, rows) for view in self._needed()})
            (code, *_) = model.encode(batch.x)
            for name in self.terms:
                mean, right, known = self._mean(name, model, code, batch)
                for sums, value in ((totals, mean), (rights, right), (counts, torch.ones_like(mean))):
                    if value is not None:
                        sums[name] = sums.get(name, 0.0) + value.double() * known
        losses = torch.stack([totals[name] / counts[name].clamp_min(1) for name in self.terms])
        return losses, {name: right / counts[name].clamp_min(1) for name, right in rights.items()}

    def _mean(self, name: str, model: Model, code: Tensor, batch: TaskBatch) -> tuple[Tensor, Tensor | None, Tensor]:
        """A task's mean loss and mean hits [K] over the examples that have its label, and how many they are [K]."""
        task, head = self._tasks[name], self.terms.index(name)
        rows, drawn = batch.drawn[task.view]
        outputs = model.decode(code[:, rows].relu(), head, rows)
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
        """The teacher's, of the second view."""
        if self._teacher is None or drawn.extra is None:
            raise ValueError("exemplar needs a teacher and a second view")
        (code, *_) = self._teacher.encode(drawn.extra)
        return self._teacher.decode(code.relu(), head)

    def _needed(self) -> list[View]:
        return list(dict.fromkeys(task.view for task in self._tasks.values()))

    def _own_views(self) -> Views:
        if self._views is None:
            raise ValueError("multitask: build the model first")
        return self._views


def _batch(drawn: dict[View, Drawn]) -> TaskBatch:
    rows: dict[View, tuple[slice, Drawn]] = {}
    start = 0
    for view, seen in drawn.items():
        end = start + seen.x.shape[1]
        rows[view] = (slice(start, end), seen)
        start = end
    return TaskBatch(torch.cat([seen.x for seen in drawn.values()], dim=1), rows)


@torch.no_grad()
def _follow(teacher: Model, student: Model, decay: float) -> None:
    """teacher ← decay·teacher + (1 − decay)·student, once a step."""
    for own, other in ((teacher.encoder, student.encoder), (teacher.head, student.head)):
        own.flat.lerp_(other.flat, 1 - decay)
