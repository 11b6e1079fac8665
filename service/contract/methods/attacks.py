"""Parameters of the L∞ attacks on inputs in [0, 1]: see workers/measures/attacks.

Default budget ε 8/255, α 10/255: the nearer of the MIB paper's two budgets to its Fashion-MNIST numbers (see
docs/robustness-fashion.md). Its appendix gives that data set ε 1/255, α 2/255 and CIFAR-10 the larger one; the two look
swapped, which we have not checked on CIFAR-10.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from service.contract.metrics import ROBUST, ROBUST_IMAGES
from service.contract.parameters.strict import Strict

Share = Annotated[float, Field(gt=0, le=1)]
Count = Annotated[int, Field(ge=1, le=1000)]
Decay = Annotated[float, Field(ge=0, le=10)]
Label = Annotated[str, Field(pattern=r"^[a-z0-9-]+$", max_length=40)]

EPSILON = 8 / 255
STEP_SIZE = 10 / 255


class Budgeted(Strict):
    """What every attack has: its budget and its name in the metrics."""

    epsilon: Share = Field(EPSILON, description="largest change of a pixel, ε; inputs are in [0, 1]")
    label: Label | None = Field(
        None, description=f"the metric is {ROBUST.of('<label>')}; none: the attack's name. Unique in the study"
    )

    @field_validator("label")
    @classmethod
    def _is_free(cls, label: str | None) -> str | None:
        if label is not None and ROBUST.of(label) == ROBUST_IMAGES:
            raise ValueError(f"{ROBUST_IMAGES} is the number of attacked images: choose another label than {label!r}")
        return label


class Stepped(Budgeted):
    """What an attack of several steps has."""

    step_size: Share = Field(STEP_SIZE, description="change of a pixel in one step, α")
    steps: Count = Field(10, description="gradient steps")


class Fgsm(Budgeted):
    """Fast gradient sign (Goodfellow et al. 2015): one step of ε."""

    name: Literal["fgsm"] = "fgsm"


class Pgd(Stepped):
    """Projected gradient descent (Madry et al. 2018): steps of α along the gradient's sign, from a random start."""

    name: Literal["pgd"] = "pgd"
    random_start: bool = Field(True, description="start uniformly in the ε-ball instead of at the image")


class Mifgsm(Stepped):
    """Momentum iterative FGSM (Dong et al. 2018): d ← g/mean|g| + decay·d."""

    name: Literal["mifgsm"] = "mifgsm"
    decay: Decay = Field(1.0, description="how much of the last direction stays")


class Nifgsm(Stepped):
    """Nesterov iterative FGSM (Lin et al. 2020): MIFGSM with the gradient taken at x + decay·α·d."""

    name: Literal["nifgsm"] = "nifgsm"
    decay: Decay = Field(1.0, description="how much of the last direction stays, and how far the gradient looks ahead")


class Eotpgd(Stepped):
    """PGD on the gradient summed over passes of the stochastic model (expectation over transformation).

    For a stochastic encoder this is the number to trust: single-sample gradients give false robustness.
    """

    name: Literal["eotpgd"] = "eotpgd"
    eot: Count = Field(10, description="latent samples per gradient")
    random_start: bool = Field(True, description="start uniformly in the ε-ball instead of at the image")


class Upgd(Stepped):
    """Ultimate PGD: MIFGSM with a choice of loss and an optional random start."""

    name: Literal["upgd"] = "upgd"
    decay: Decay = Field(1.0, description="how much of the last direction stays")
    random_start: bool = Field(False, description="start uniformly in the ε-ball instead of at the image")
    loss: Literal["ce", "margin", "dlr"] = Field(
        "ce",
        description="ce: cross-entropy; margin: best other logit − true logit; dlr: the margin over the span of the "
        "three largest logits (three classes or more)",
    )


class Jitter(Stepped):
    """Jitter (Schwinn et al. 2021): squared error of a noisy, rescaled softmax to the one-hot label.

    softmax(10 z/‖z‖∞) + 0.1·N(0, 1); where the model is already wrong the loss is divided by ‖δ‖∞.
    """

    name: Literal["jitter"] = "jitter"
    random_start: bool = Field(True, description="start uniformly in the ε-ball instead of at the image")


Attack = Annotated[Fgsm | Pgd | Mifgsm | Nifgsm | Eotpgd | Upgd | Jitter, Field(discriminator="name")]


def label_of(attack: Attack) -> str:
    """What an attack is called: its label, else its name."""
    return attack.label or attack.name


def metric_of(attack: Attack) -> str:
    """The metric in which an attack reports the accuracy that it leaves."""
    return ROBUST.of(label_of(attack))
