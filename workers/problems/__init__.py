"""Problems turn a batch into named loss terms. `problems.<name>` holds a class named as in the contract."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, Protocol

from torch import Tensor

from service.contract.methods.models import Model as ModelSpec
from service.contract.methods.problems import Bottleneck
from service.contract.methods.problems import Problem as Spec
from service.contract.methods.weightings import Fvib, Weighting
from service.contract.study.study import Evaluation
from workers.data.split import Split
from workers.measures.coding import Columns
from workers.models import Model
from workers.models.components.modulation import Told
from workers.state import State

PartName = Literal["train", "validation"]


class Batch(NamedTuple):
    """What all terms are computed from, per member."""

    x: Tensor  # [K, B, features]
    y: Tensor  # [K, B], or [K, B, d] where labels are vectors
    noise: Tensor  # [K, B, latent]


class Problem(Protocol):
    """Loss terms of K members, the batches they are computed on, and what is measured."""

    terms: tuple[str, ...]
    by_beta: bool  # whether a β weighs the second term against the first; else a preference weighs all of them
    separable: bool  # whether each term is a mean of what every example has by itself
    place: str = ""  # of its losses in a user's file

    def model(self, spec: ModelSpec, split: Split, told: Told | None = None) -> Model:
        """What is trained, one member per seed; with layers that are modulated by what it is told, if by anything."""
        ...

    def steps(self, split: Split) -> int:
        """Batches of an epoch."""
        ...

    def batches(self, split: Split, epoch: int) -> Iterator[Any]:
        """One pass over the training split, each seed in its own order."""
        ...

    def losses(self, model: Model, s: tuple[Tensor, ...], batch: Any) -> list[Tensor]:
        """One loss [K] per term from the encoder's outputs s, for one of its own batches, whose x was encoded.

        These are what is optimised and what weightings see: a transformed term is u(r), not r.
        """
        ...

    def raw(self, losses: Tensor) -> Tensor:
        """The terms before any transform, from those of `losses` [..., n]: what is reported."""
        ...

    def evaluate(self, model: Model, split: Split, evaluation: Evaluation, epoch: int, last: bool) -> Columns:
        """The metrics of the test split, and of the validation split if there is one; `last` is the final epoch."""
        ...

    def mean_losses(self, model: Model, split: Split, part: PartName) -> Tensor | None:
        """The mean of each term before any transform [K, n], measured alike on the validation split and on as many
        training examples; none without such a split, or without terms for it."""
        ...

    def state(self) -> State:
        """What its batches change besides the model; most change nothing."""
        return {}

    def load(self, state: State) -> None:
        """Back into a problem whose model was just built."""
        return None


def build(spec: Spec, latent: int, weighting: Weighting | None = None) -> Problem:
    """The problem that an arm names, as its weighting wants it."""
    problem: Problem
    if isinstance(weighting, Fvib) and isinstance(spec, Bottleneck):
        problem = importlib.import_module(f"{__name__}.closed_form").ClosedForm(spec, weighting.confidence)
    else:
        module = importlib.import_module(f"{__name__}.{spec.name.replace('-', '_')}")
        problem = getattr(module, type(spec).__name__)(spec, latent)
    return problem
