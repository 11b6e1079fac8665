"""The toy problem: two objectives of a vector, with a known front."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from service.contract.methods.models import Model as ModelSpec
from service.contract.methods.problems import ToyProblem as Spec
from service.contract.study.study import Evaluation
from workers.balance import Pair
from workers.data.random_streams import Seeds
from workers.data.split import Split
from workers.measures.coding import Columns
from workers.models import ALL, Model
from workers.models.components.modulation import Told
from workers.models.components.stack import Stack
from workers.problems import Batch, PartName, Problem


class ToyProblem(Problem):
    """f1 and f2 of x [K, d], with u = 1/√d: ‖x ∓ u‖²/4 (convex) or 1 − exp(−‖x ∓ u‖²) (concave)."""

    terms = Spec.terms
    by_beta = False
    separable = True

    def __init__(self, spec: Spec, latent: int) -> None:
        self._spec, self._dimensions = spec, latent

    def model(self, spec: ModelSpec, split: Split, told: Told | None = None) -> Model:
        return Vector(self._dimensions, self._spec.spread, split.seeds)

    def steps(self, split: Split) -> int:
        return self._spec.steps

    def batches(self, split: Split, epoch: int) -> Iterator[Batch]:
        nothing = torch.zeros(split.seeds.members, 1, 0, device=split.seeds.device)
        for _ in range(self._spec.steps):
            yield Batch(nothing, nothing, nothing)

    def losses(self, model: Model, s: tuple[Tensor, ...], batch: Batch) -> list[Tensor]:
        u = self._dimensions**-0.5
        squares = [(s[0] - sign * u).square().sum(-1) for sign in (1, -1)]
        if self._spec.front == "convex":
            return [q / 4 for q in squares]
        return [-torch.expm1(-q) for q in squares]

    def raw(self, losses: Tensor) -> Tensor:
        return losses

    @torch.no_grad()
    def evaluate(self, model: Model, split: Split, evaluation: Evaluation, epoch: int, last: bool) -> Columns:
        batch = next(self.batches(split, epoch))
        values = self.losses(model, model.encode(batch.x), batch)
        return dict(zip(self.terms, (v.tolist() for v in values), strict=True))

    def mean_losses(self, model: Model, split: Split, part: PartName) -> Tensor | None:
        return None


class Vector:
    """The vector itself as the shared parameters; there is no head."""

    def __init__(self, dimensions: int, spread: float, seeds: Seeds) -> None:
        start = seeds.draw("init/vector", lambda g: torch.randn(dimensions, generator=g) * spread)
        self.encoder = Stack(seeds.spread(start).clone(memory_format=torch.contiguous_format), [(dimensions,)])
        self.head = Stack(torch.zeros(seeds.members, 1, device=seeds.device), [(1,)])

    def encode(self, x: Tensor) -> tuple[Tensor, ...]:
        return (self.encoder.leaves[0],)  # [K, d]

    def decode(self, z: Tensor, head: int = 0, rows: slice = ALL) -> Tensor:
        return z

    def named(self) -> dict[str, Tensor]:
        return {"encoder.vector": self.encoder.leaves[0].detach()}

    def pairs(self, code: bool = False) -> list[Pair]:
        return []

    def train(self, on: bool) -> None:
        pass
