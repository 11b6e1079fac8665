"""Parameters of the models: encoder and head."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from service.contract.axes import Axis
from service.contract.strict import Strict

Width = Annotated[int, Field(ge=1, le=8192)]


class Mlp(Strict):
    """ReLU multi-layer perceptron; members of a cohort are stacked and train together."""

    name: Literal["mlp"] = "mlp"
    widths: list[Width] = Field([64, 64], max_length=16, description="hidden layers of the encoder")
    latent: Axis[Width] = Field(16, description="dimensions of the code Z")
    head: list[Width] = Field(
        [], max_length=16, description="hidden layers between code and classes; none: linear decoder"
    )


class Cnn(Strict):
    """Convolutions with ReLU and 2×2 max-pooling, then dense layers; all but the convolutions is stacked."""

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


Model = Annotated[Mlp | Cnn, Field(discriminator="name")]
