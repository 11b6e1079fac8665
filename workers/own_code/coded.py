"""What is measured of a user's problem that gives a code or logits: by the same measures as for ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from paretoscope.own import Problem
from service.contract.methods.own_problems import READ
from service.contract.metrics import VALIDATION
from service.contract.metrics.estimators import KSG_DIMENSIONS
from service.contract.study.study import Evaluation
from service.contract.wording.numbers import number
from workers.data.random_streams import Seeds, generator
from workers.data.split import Part
from workers.measures import coded
from workers.measures.attacks.steps.ascent import Target
from workers.measures.coding import Columns
from workers.measures.robustness import robustness
from workers.own_code import data
from workers.own_code.coding import OwnCoding
from workers.own_code.errors import at
from workers.own_code.running_members import OneByOne, Way


class CodedSplit:
    """The splits of a cohort as inputs (the first tensor of a batch) and labels (the second, if they are classes)."""

    def __init__(self, split: data.OwnSplit, problem: Problem, seeds: Seeds, folder: Path) -> None:
        hook = problem.decode or problem.logits or problem.code
        assert hook is not None
        self._hook, self._folder, self._seeds = hook, folder, seeds
        self._reads_classes = bool(problem.decode or problem.logits)
        self.shape = split.train.shapes[0]
        self.train, self.test = self._part(split.train, "train"), self._part(split.test, "test")
        held = split.validation
        self.validation = None if held is None else self._part(held, "validation")

    def held_out(self) -> list[tuple[Part, str, Callable[[str], str]]]:
        parts: list[tuple[Part, str, Callable[[str], str]]] = [(self.test, "test", str)]
        return parts if self.validation is None else [*parts, (self.validation, "validation", VALIDATION.of)]

    def some_training(self, count: int) -> Tensor:
        shuffled = torch.randperm(len(self.train), generator=generator(0, "train-subset"))
        return shuffled[:count].to(self._seeds.device)

    def check(self, evaluation: Evaluation, latent: int) -> None:
        """That what the study asks can be measured on these inputs."""
        features = self.test.inputs.features
        if "ksg" in evaluation.estimators and max(features, latent) > KSG_DIMENSIONS:
            rule = f"ksg needs at most {KSG_DIMENSIONS} dimensions of input and code, got {features} and {latent}"
            raise at(self._hook, self._folder, f"evaluation.estimators: {rule}")
        if not evaluation.attacks:
            return
        first = self.test.some(slice(evaluation.attack_images)).inputs[:]
        low, high = float(first.min()), float(first.max())
        if not self.shape[1].is_floating_point or low < 0 or high > 1:
            said = f"{str(self.shape[1]).removeprefix('torch.')} from {number(low)} to {number(high)}"
            rule = f"attacks change the first tensor of a batch, which must be floats in [0, 1], got {said}"
            raise at(self._hook, self._folder, f"evaluation.attacks: {rule}")

    def _part(self, part: data.Part, name: str) -> Part:
        inputs = part.column(0)
        if inputs is None:
            rule = f"needs data in memory, but data[{name!r}] is too large and read item by item"
            raise at(self._hook, self._folder, f"{self._hook.__name__} {rule}")
        return Part(inputs, self._labels(part, name), self._seeds)

    def _labels(self, part: data.Part, name: str) -> Tensor:
        """Classes [D, N], or numbers that nobody predicts [D, N, 1] where there is no method that reads them."""
        shapes = part.shapes
        if not self._reads_classes:
            return torch.zeros(part.draws, len(part), 1, device=self._seeds.device)
        shape, kind = shapes[1] if len(shapes) > 1 else (None, None)
        rows = part.column(1) if len(shapes) > 1 else None
        if rows is None or kind is not torch.long or shape != ():
            said = f"{kind} of shape {list(shape)}" if shape is not None else "no second tensor"
            rule = f"needs classes as the second tensor of a batch, whole numbers (torch.long), got {said}"
            raise at(self._hook, self._folder, f"{self._hook.__name__} {rule} in data[{name!r}]")
        return rows.pool[:, 0][rows.places]


class Coded:
    """The codes or logits of a cohort's members, and the examples they are measured on."""

    def __init__(
        self, problem: Problem, way: Way, alone: OneByOne, split: data.OwnSplit, seeds: Seeds, folder: Path
    ) -> None:
        self._problem = problem
        self.split = CodedSplit(split, problem, seeds, folder)
        self._coding = OwnCoding(problem, way, alone, seeds, self.split.shape, folder)
        self.target = Target(self._coding, self._coding)
        self._try()

    def evaluate(self, evaluation: Evaluation, epoch: int, last: bool) -> Columns:
        """Of a code all that is measured of ours; of logits the accuracy under attack."""
        split = self.split
        split.check(evaluation, self._coding.latent)
        self._coding.begin()
        if self._problem.code is None:
            return self._robust(evaluation) if evaluation.attacks_at(epoch, last) else {}
        columns = coded.evaluate(self.target, split, evaluation, epoch, last)
        unread = () if self._problem.decode else (*READ, *map(VALIDATION.of, READ))
        return {metric: values for metric, values in columns.items() if metric not in unread}

    def _robust(self, evaluation: Evaluation) -> Columns:
        return {
            name(metric): values
            for part, stream, name in self.split.held_out()
            for metric, values in robustness(self.target, part, stream, evaluation).items()
        }

    @torch.no_grad()
    def _try(self) -> None:
        """On some inputs, so that a fault is told before anything is trained, and the code's width is known."""
        coding, seeds = self._coding, self.split.test.seeds
        s = coding.encode(self.split.test.block(slice(2))[0])
        if self._problem.decode or self._problem.logits:
            coding.logits(coding, s, seeds.spread(seeds.noise("try", s[0].shape[1], coding.latent)))


def coded_of(
    problem: Problem, way: Way, alone: OneByOne, split: data.OwnSplit, seeds: Seeds, folder: Path
) -> Coded | None:
    """None where the problem gives neither a code nor logits, or logits of data that are read item by item."""
    streamed = not all(part.in_memory for part in (split.train, split.test))
    if problem.code is None and (problem.logits is None or streamed):
        return None
    return Coded(problem, way, alone, split, seeds, folder)
