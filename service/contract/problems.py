"""Parameters of the problems. A problem turns a batch into named loss terms: see workers/problems."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from service.contract.strict import Strict


class Bottleneck(Strict):
    """Information bottleneck with the terms `pred` (cross-entropy) and `info` (the rate), both in nats."""

    terms: ClassVar[tuple[str, ...]] = ("pred", "info")

    name: Literal["bottleneck"] = "bottleneck"
    rate: Literal["vib"] = Field("vib", description="vib: Gaussian code, KL to N(0, I) summed over latent dimensions")


Problem = Bottleneck
RATES = {"vib": "Gaussian encoder, KL to a standard normal prior, summed over latent dimensions (Alemi et al. 2017)"}
