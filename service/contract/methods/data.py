"""Parameters of the data sets."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from service.contract.methods.examples import Drawn, Fraction, Images
from service.contract.methods.task_data import (
    Celeba,
    CensusIncome,
    ImageFolder,
    MovieReviews,
    Overlaid,
    Svhn,
    Text,
    Yeast,
)

__all__ = [
    "Celeba",
    "CensusIncome",
    "Cifar10",
    "Data",
    "Digits",
    "FashionMnist",
    "Gaussian",
    "ImageFolder",
    "Images",
    "Mnist",
    "MovieReviews",
    "Overlaid",
    "OwnData",
    "Svhn",
    "Text",
    "Toy",
    "Yeast",
]


class Digits(Images):
    """scikit-learn's handwritten digits: 1,797 grey images of 8×8, ten classes, pixels in [0, 1]. Needs no download."""

    coarse: ClassVar[bool] = True

    name: Literal["digits"] = "digits"
    test_fraction: Fraction = Field(
        0.2, description="share of the images to measure on, the same in every draw, never trained on"
    )


class FashionMnist(Images):
    """Fashion-MNIST: 60,000 + 10,000 grey images of 28×28, ten kinds of clothing, pixels in [0, 1].

    Get it with `paretoscope data prepare fashion-mnist`.
    """

    coarse: ClassVar[bool] = True

    name: Literal["fashion-mnist"] = "fashion-mnist"


class Mnist(Images):
    """MNIST: 60,000 + 10,000 grey images of 28×28, handwritten digits, pixels in [0, 1].

    Get it with `paretoscope data prepare mnist`.
    """

    coarse: ClassVar[bool] = True

    name: Literal["mnist"] = "mnist"


class Cifar10(Images):
    """CIFAR-10: 50,000 + 10,000 colour images of 32×32, ten classes, pixels in [0, 1].

    Get it with `paretoscope data prepare cifar10`.
    """

    coarse: ClassVar[bool] = True

    name: Literal["cifar10"] = "cifar10"


class Gaussian(Drawn):
    """Jointly Gaussian X and Y with given canonical correlations: the one data set whose IB curve is known exactly.

    Y has one coordinate per correlation and is predicted by a Gaussian decoder; X is rotated. Made on the fly.
    """

    name: Literal["gaussian"] = "gaussian"
    correlations: list[Fraction] = Field(
        [0.95, 0.8, 0.6], min_length=1, max_length=64, description="canonical correlations of X and Y"
    )
    train_samples: Annotated[int, Field(ge=1, le=1_000_000)] = Field(20_000, description="examples to train on")
    test_samples: Annotated[int, Field(ge=2, le=1_000_000)] = Field(10_000, description="examples to measure on")


class Toy(Drawn):
    """Deterministic labels: X is one of `symbols` equally likely symbols (one-hot), Y = X mod `classes`.

    Its IB curve is the line I(Z;Y) = min(I(X;Z), H(Y)), on which every β in (0, 1) shares one corner. Made on the fly.
    """

    name: Literal["toy"] = "toy"
    symbols: Annotated[int, Field(ge=2, le=4096)] = Field(32, description="values of X, and features of its one-hot")
    classes: Annotated[int, Field(ge=2, le=1024)] = Field(8, description="values of Y; divides symbols")
    train_samples: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        2048, description="examples of an epoch: the symbols in turn"
    )

    @model_validator(mode="after")
    def _classes_divide_symbols(self) -> Toy:
        if self.symbols % self.classes:
            raise ValueError(f"classes must divide symbols, got {self.classes} and {self.symbols}")
        return self


class OwnData(Drawn):
    """What the study's own code gives: a training and a test split, and a validation split if it says so."""

    name: Literal["own"] = "own"


Data = Annotated[
    Digits
    | FashionMnist
    | Mnist
    | Cifar10
    | Svhn
    | Celeba
    | Overlaid
    | ImageFolder
    | Yeast
    | CensusIncome
    | MovieReviews
    | Text
    | Gaussian
    | Toy
    | OwnData,
    Field(discriminator="name"),
]
