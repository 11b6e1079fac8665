"""Parameters of the models: encoder and head."""

from __future__ import annotations

import itertools
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from service.contract.parameters.axes import Axis, Range, largest, listed
from service.contract.parameters.strict import Strict

MOST_HEADS = 64
Width = Annotated[int, Field(ge=1, le=8192)]


class Mlp(Strict):
    """Multi-layer perceptron; members of a cohort are stacked and train together."""

    stacks: ClassVar[bool] = True  # whether trials of this model can share a cohort
    modulates: ClassVar[bool] = True  # whether its layers can be scaled and shifted by a condition

    name: Literal["mlp"] = "mlp"
    widths: list[Width] = Field([64, 64], max_length=16, description="hidden layers of the encoder")
    latent: Axis[Width] = Field(16, description="dimensions of the code Z")
    head: list[Width] = Field(
        [], max_length=16, description="hidden layers between code and classes; none: linear decoder"
    )
    activation: Axis[Literal["relu", "leaky-relu", "linear", "relu-squared"]] = Field(
        "relu", description="of all hidden units; leaky-relu has slope 0.01 below 0"
    )

    @property
    def balanced(self) -> list[str]:
        """Layers of the encoder with hidden units that can be balanced."""
        return [f"encoder-{i + 1}" for i in range(len(self.widths))]


class Cnn(Strict):
    """Convolutions with ReLU and 2×2 max-pooling, then dense layers; all but the convolutions is stacked."""

    stacks: ClassVar[bool] = True
    modulates: ClassVar[bool] = True

    name: Literal["cnn"] = "cnn"
    channels: list[Annotated[int, Field(ge=1, le=1024)]] = Field(
        [16, 32], min_length=1, max_length=6, description="output channels of the convolutions; each halves the image"
    )
    kernel: Axis[Literal[1, 3, 5, 7]] = Field(3, description="side of the convolutions' kernels")
    widths: list[Width] = Field([128], max_length=16, description="dense layers after the convolutions")
    latent: Axis[Width] = Field(16, description="dimensions of the code Z")
    head: list[Width] = Field(
        [], max_length=16, description="hidden layers between code and classes; none: linear decoder"
    )

    @property
    def balanced(self) -> list[str]:
        convolutions = [f"convolution-{i + 1}" for i in range(len(self.channels))]
        return [*convolutions, *(f"encoder-{i + 1}" for i in range(len(self.widths)))]


class Resnet18(Strict):
    """torchvision's ResNet-18, untrained, for any channels and size of image; every trial trains alone.

    The defaults are the MIB paper's: its own stem, latent 128 and a three-layer head.
    """

    stacks: ClassVar[bool] = False  # batch norm couples the examples of a batch
    modulates: ClassVar[bool] = False

    name: Literal["resnet18"] = "resnet18"
    small_images: Axis[bool] = Field(
        False,
        description="3×3 first convolution of stride 1 and no max-pooling, for images of about 32×32 (some eight times "
        "the work); off: torchvision's own 7×7 of stride 2 and pooling",
    )
    latent: Axis[Width] = Field(128, description="dimensions of the code Z")
    head: list[Width] = Field(
        [128, 128], max_length=16, description="hidden layers between code and classes; none: linear decoder"
    )

    @property
    def balanced(self) -> list[str]:
        return []


class Rnn(Strict):
    """Recurrent ReLU layers (Elman) over the words of a text or the rows of an image; the code reads their mean."""

    stacks: ClassVar[bool] = True
    modulates: ClassVar[bool] = False

    name: Literal["rnn"] = "rnn"
    embedding: Axis[Width] = Field(32, description="numbers that stand for a word, or for a row of an image")
    hidden: list[Width] = Field([64], min_length=1, max_length=8, description="units of the recurrent layers")
    latent: Axis[Width] = Field(16, description="dimensions of the code Z")
    head: list[Width] = Field(
        [], max_length=16, description="hidden layers between code and classes; none: linear decoder"
    )

    @property
    def balanced(self) -> list[str]:
        return [f"recurrent-{i + 1}" for i in range(len(self.hidden))]


class Transformer(Strict):
    """Transformer encoder over the words of a text or the rows of an image; the code reads the mean of its outputs."""

    stacks: ClassVar[bool] = True
    modulates: ClassVar[bool] = False

    name: Literal["transformer"] = "transformer"
    width: Axis[Width] = Field(
        32, description="numbers that stand for a word or a row in every layer; divided by the heads"
    )
    heads: Axis[Annotated[int, Field(ge=1, le=MOST_HEADS)]] = Field(4, description="attention heads of a layer")
    layers: Axis[Annotated[int, Field(ge=1, le=24)]] = Field(
        2, description="attention layers, each with a feed-forward pair"
    )
    feed_forward: Axis[Width] = Field(64, description="hidden ReLU units of the feed-forward pairs")
    latent: Axis[Width] = Field(16, description="dimensions of the code Z")
    head: list[Width] = Field(
        [], max_length=16, description="hidden layers between code and classes; none: linear decoder"
    )

    @model_validator(mode="after")
    def _heads_divide_width(self) -> Transformer:
        """Of an axis each value each of the other's, as a trial may have them together.

        Values of an axis that are no numbers of heads or widths are told of each by itself, later.
        """
        for name in ("width", "heads"):
            if isinstance(getattr(self, name), Range):
                raise ValueError(f"heads must divide width: give {name} as a value, a grid or a choice, got a range")
        possible = [heads for heads in listed(self.heads) if heads in range(1, MOST_HEADS + 1)]
        widths = [width for width in listed(self.width) if isinstance(width, int)]
        for width, heads in itertools.product(widths, possible):
            if width % heads:
                raise ValueError(f"heads must divide width, got {heads} and {width}")
        return self

    @property
    def balanced(self) -> list[str]:
        return [f"feed-forward-{i + 1}" for i in range(largest(self.layers))]


class OwnModel(Strict):
    """The network that the study's own code makes."""

    stacks: ClassVar[bool] = True
    modulates: ClassVar[bool] = False
    latent: ClassVar[int] = 0  # its code, if it has one, is not ours to size
    head: ClassVar[list[int]] = []

    name: Literal["own"] = "own"

    @property
    def balanced(self) -> list[str]:
        return []


Model = Annotated[Mlp | Cnn | Resnet18 | Rnn | Transformer | OwnModel, Field(discriminator="name")]
