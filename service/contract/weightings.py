"""Parameters of the weightings. Each turns losses (and their Gram matrix) into weights: see workers/weightings."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from service.contract.axes import Axis
from service.contract.strict import Strict

Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]


class Fixed(Strict):
    """Constant weights (1, β): the manual grid. β multiplies the information term (nats, summed over dimensions)."""

    needs_gram: ClassVar[bool] = False

    name: Literal["fixed"] = "fixed"
    beta: Axis[NonNegative] = Field(1e-2, description="weight of the information term")


class Mib(Strict):
    """Multi-objective IB: min-norm weights, a power, and the Smooth-IB term, each of which can be switched off.

    `info_scale` and `normalize` decide how far MIB compresses: they are its hidden β, so they are explicit here.
    """

    needs_gram: ClassVar[bool] = True

    name: Literal["mib"] = "mib"
    automatic: Axis[bool] = Field(True, description="min-norm weights; off: one half each (paper's 'w.o. aw')")
    power: Axis[Literal[1, 2]] = Field(2, description="exponent of the min-norm weights; 2 is the paper's sqrted")
    smoothing: Axis[bool] = Field(True, description="add the Smooth-IB term μ·logsumexp(ℓ/μ) (eq. 13)")
    mu: Axis[Positive] = Field(0.2, description="temperature μ of the Smooth-IB term")
    info_scale: Axis[Literal["sum", "dimension"] | Positive] = Field(
        "dimension",
        description="scale of the information term inside MIB: the sum, per latent dimension, or a number",
    )
    normalize: Axis[Literal["none", "l2", "loss", "loss+"]] = Field(
        "loss",
        description="divide each gradient by its length (l2), its loss, or both (loss+) before the min-norm step",
    )
    solver: Axis[Literal["exact", "frank-wolfe"]] = Field(
        "exact",
        description="exact: closed form, line search for more terms; frank-wolfe: the paper's steps 2/(t+2)",
    )


Weighting = Annotated[Fixed | Mib, Field(discriminator="name")]
