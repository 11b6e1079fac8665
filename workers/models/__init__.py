"""Models with a leading member axis K. `workers.models.<name>` holds a class named as in the contract."""

from __future__ import annotations

import importlib
from typing import NamedTuple, Protocol, runtime_checkable

from torch import Tensor

from service.contract.methods.models import Model as Spec
from workers.balance import Pair
from workers.data.random_streams import Seeds
from workers.models.components.modulation import ALL as ALL
from workers.models.components.modulation import Told
from workers.models.components.stack import Stack


class Sizes(NamedTuple):
    """What data and problem ask of a model: inputs, encoder outputs, code dimensions, head outputs, image's shape.

    `scalars` are first values of numbers that train with the encoder, as its last leaves [K, 1, 1].
    """

    features: int
    outputs: int
    latent: int
    classes: int
    shape: tuple[int, int, int]
    scalars: tuple[float, ...] = ()
    more_heads: tuple[int, ...] = ()  # outputs of further heads
    vocabulary: int = 0  # of a text, whose features are numbers of words below it
    told: Told | None = None  # what modulates its layers, where something does
    sharpness: float | None = None  # of the closed form that gives code and decoder, where one does; only h is trained
    constants: int = 0  # last outputs of the first head, beyond its own, that are trained but do not read the code

    @property
    def heads(self) -> tuple[int, ...]:
        return (self.classes, *self.more_heads)


class Model(Protocol):
    """K models of one shape. The terms share the encoder; `head` holds all heads, each its own term's alone."""

    encoder: Stack
    head: Stack

    def train(self, on: bool) -> None:
        """On before an epoch of training, off before anything is measured; for models that differ between the two."""
        ...

    def encode(self, x: Tensor) -> tuple[Tensor, ...]: ...  # [K, B, features] -> ([K, B, outputs], *scalars)

    def decode(self, z: Tensor, head: int = 0, rows: slice = ALL) -> Tensor:
        """[K, B, latent] -> [K, B, outputs of this head]; z are these rows of what was encoded last."""
        ...

    def named(self) -> dict[str, Tensor]:
        """All that was trained by name, [K, …]: views of the model's own memory, laid out as torch.nn's modules."""
        ...

    def pairs(self, code: bool = False) -> list[Pair]:
        """Layers of hidden units that can be balanced, from the input on; with `code` those of the code are hidden too.

        A code is such a layer where heads read ReLU(code), and none where it is sampled.
        """
        ...


@runtime_checkable
class Conditioned(Model, Protocol):
    """A model whose layers are modulated by what it is told with each example."""

    def condition(self, t: Tensor) -> None:
        """What it is told from now on: t [K, G, numbers] in [−1, 1], each for one of G equal shares of the examples."""
        ...


def build(spec: Spec, sizes: Sizes, seeds: Seeds) -> Model:
    """The model that a study names, one member per seed."""
    module = importlib.import_module(f"{__name__}.{spec.name.replace('-', '_')}")
    model: Model = getattr(module, type(spec).__name__)(spec, sizes, seeds)
    if sizes.sharpness is None:
        return model
    closed_form = importlib.import_module(f"{__name__}.components.closed_form")
    around: Model = closed_form.ClosedForm(model, sizes.classes, sizes.sharpness)
    return around
