"""Parameters of the problems. A problem turns a batch into named loss terms: see workers/problems."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from service.contract.axes import Axis, Grid
from service.contract.strict import Strict

USED_BY = {"exponent": ("power",), "eta": ("exp", "shifted-exp"), "shift_bits": ("shifted-exp",)}


class Bottleneck(Strict):
    """Information bottleneck with the terms `pred` (cross-entropy) and `info` (the rate), both in nats.

    `transform` replaces the information term by a convex u(r) of the rate r, the mean over the batch (Rodríguez
    Gálvez et al. 2020), so that each β has a point of its own where labels are deterministic. The weights multiply
    u(r); loss_info stays r.
    """

    terms: ClassVar[tuple[str, ...]] = ("pred", "info")

    name: Literal["bottleneck"] = "bottleneck"
    rate: Axis[Literal["vib", "nib", "none"]] = Field(
        "vib",
        description="vib: Gaussian code, KL to N(0, I) summed over latent dimensions; nib: one trained noise level, "
        "pairwise bound, at most ln(batch); none: deterministic code, no information term",
    )
    transform: Axis[Literal["identity", "square", "power", "exp", "shifted-exp"]] = Field(
        "identity",
        description="u(r), r in nats: r; r²; r^(1+exponent); e^(eta·r); e^(eta·(r − shift))/eta. "
        "Where the exponent exceeds 20 (exp) or 3 (shifted-exp) they go on as their tangent",
    )
    exponent: Axis[Annotated[float, Field(gt=0, le=10)]] = Field(
        1.0, description="a of the power r^(1+a); 1 is the square"
    )
    eta: Axis[Annotated[float, Field(gt=0, le=100)]] = Field(0.1, description="η of the exponentials, per nat")
    shift_bits: Axis[Annotated[float, Field(ge=0)]] = Field(
        0.0,
        description="the rate in bits at which the shifted exponential has slope 1, there β means what it always does",
    )

    @model_validator(mode="after")
    def _grids_are_used(self) -> Bottleneck:
        for field, transforms in USED_BY.items():
            unused = isinstance(self.transform, str) and self.transform not in transforms
            if unused and isinstance(getattr(self, field), Grid):
                raise ValueError(f"{field} has a grid but transform {self.transform!r} does not use it")
        return self


Problem = Bottleneck
RATES = {
    "vib": "Gaussian encoder, KL to a standard normal prior, summed over latent dimensions (Alemi et al. 2017)",
    "nib": "Nonlinear IB: f(x) + N(0, σ²I) with one trained σ², pairwise upper bound on I(X;Z) over the batch, "
    "never above ln(batch) (Kolchinsky et al. 2019)",
    "none": "Deterministic encoder, cross-entropy only; the information of a deterministic continuous code is not "
    "finite, so i_xz_bits is null",
}
