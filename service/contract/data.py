"""Parameters of the data sets."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from service.contract.strict import Strict

Fraction = Annotated[float, Field(gt=0, lt=1)]


class Digits(Strict):
    """scikit-learn's handwritten digits: 1,797 grey images of 8×8, ten classes, pixels in [0, 1]. Needs no download."""

    name: Literal["digits"] = "digits"
    test_fraction: Fraction = Field(0.2, description="share of the images kept for the figures, never trained on")


Data = Digits
