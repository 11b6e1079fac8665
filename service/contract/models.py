"""Parameters of the models: encoder and head."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from service.contract.axes import Axis
from service.contract.strict import Strict

Width = Annotated[int, Field(ge=1, le=8192)]


class Mlp(Strict):
    """ReLU multi-layer perceptron; members of a cohort are stacked and train together."""

    stacks: ClassVar[bool] = True  # whether trials of this model can share a cohort

    name: Literal["mlp"] = "mlp"
    widths: list[Width] = Field([64, 64], max_length=16, description="hidden layers of the encoder")
    latent: Axis[Width] = Field(16, description="dimensions of the code Z")
    head: list[Width] = Field(
        [], max_length=16, description="hidden layers between code and classes; none: linear decoder"
    )


class Cnn(Strict):
    """Convolutions with ReLU and 2×2 max-pooling, then dense layers; all but the convolutions is stacked."""

    stacks: ClassVar[bool] = True

    name: Literal["cnn"] = "cnn"
    channels: list[Annotated[int, Field(ge=1, le=1024)]] = Field(
        [16, 32], min_length=1, max_length=6, description="output channels of the convolutions; each halves the image"
    )
    kernel: Literal[1, 3, 5, 7] = Field(3, description="side of the convolutions' kernels")
    widths: list[Width] = Field([128], max_length=16, description="dense layers after the convolutions")
    latent: Axis[Width] = Field(16, description="dimensions of the code Z")
    head: list[Width] = Field(
        [], max_length=16, description="hidden layers between code and classes; none: linear decoder"
    )


class Resnet18(Strict):
    """torchvision's ResNet-18, untrained, for any channels and size of image; every trial trains alone.

    The defaults are the MIB paper's: its own stem, latent 128 and a three-layer head.
    """

    stacks: ClassVar[bool] = False  # batch norm couples the examples of a batch

    name: Literal["resnet18"] = "resnet18"
    small_images: bool = Field(
        False,
        description="3×3 first convolution of stride 1 and no max-pooling, for images of about 32×32 (some eight times "
        "the work); off: torchvision's own 7×7 of stride 2 and pooling",
    )
    latent: Axis[Width] = Field(128, description="dimensions of the code Z")
    head: list[Width] = Field(
        [128, 128], max_length=16, description="hidden layers between code and classes; none: linear decoder"
    )


Model = Annotated[Mlp | Cnn | Resnet18, Field(discriminator="name")]
