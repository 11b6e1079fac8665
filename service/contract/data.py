"""Parameters of the data sets."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from service.contract.strict import Strict

Fraction = Annotated[float, Field(gt=0, lt=1)]
Share = Annotated[float, Field(ge=0, le=1)]


class Images(Strict):
    """What every data set of labelled images can be asked for: fewer images, wrong training labels."""

    name: str
    train_fraction: Annotated[float, Field(gt=0, le=1)] = Field(
        1.0, description="share of the training images used, by class; a smaller share is part of a larger one"
    )
    label_noise: Share = Field(
        0.0, description="share of the training labels replaced by another class, the same in every trial"
    )
    test_images: Annotated[int, Field(ge=1)] | None = Field(
        None, description="at most so many test images, by class; none: all of them"
    )


class Digits(Images):
    """scikit-learn's handwritten digits: 1,797 grey images of 8×8, ten classes, pixels in [0, 1]. Needs no download."""

    name: Literal["digits"] = "digits"
    test_fraction: Fraction = Field(0.2, description="share of the images kept for the figures, never trained on")


class FashionMnist(Images):
    """Fashion-MNIST: 60,000 + 10,000 grey images of 28×28, ten kinds of clothing, pixels in [0, 1].

    To be had with `paretoscope data prepare fashion-mnist`.
    """

    name: Literal["fashion-mnist"] = "fashion-mnist"


class Mnist(Images):
    """MNIST: 60,000 + 10,000 grey images of 28×28, handwritten digits, pixels in [0, 1].

    To be had with `paretoscope data prepare mnist`.
    """

    name: Literal["mnist"] = "mnist"


class Cifar10(Images):
    """CIFAR-10: 50,000 + 10,000 colour images of 32×32, ten classes, pixels in [0, 1].

    To be had with `paretoscope data prepare cifar10`.
    """

    name: Literal["cifar10"] = "cifar10"


Data = Annotated[Digits | FashionMnist | Mnist | Cifar10, Field(discriminator="name")]
