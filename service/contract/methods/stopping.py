"""Which trials end before their last epoch."""

from __future__ import annotations

from math import ceil
from typing import Annotated, Literal

from pydantic import Field

from service.contract.parameters.strict import Strict


class Halving(Strict):
    """Successive halving for several objectives (MO-ASHA, Schmucker et al. 2021), in step: at a rung the best share of
    an arm's configurations, by non-dominated rank over their seeds, trains on, and the others stop."""

    name: Literal["halving"] = "halving"
    keep: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.33,
        description="share of an arm's configurations that trains on from a rung. An arm that has fewer than 1/keep of "
        "them, as one automatic weighting, is never cut",
    )
    first: Annotated[int, Field(ge=1, le=10_000)] = Field(
        5, description="epoch of the first rung; the next ones are at first/keep, first/keep², … below the last epoch"
    )

    def rungs(self, epochs: int) -> list[int]:
        """The epochs after which trials are compared: round(first/keepᵏ), each above the one before."""
        rungs: list[int] = []
        exact = float(self.first)
        while max(exact, rungs[-1] + 1 if rungs else 0) < epochs:
            rung = max(round(exact), rungs[-1] + 1 if rungs else 0)
            if rung < epochs:
                rungs.append(rung)
            exact /= self.keep
        return rungs

    def going_on(self, count: int) -> int:
        """How many of so many configurations train on from a rung."""
        share = round(count * self.keep, 9)  # 100 · 0.07 is a little above 7
        return count if share < 1 else ceil(share)

    def epochs_from(self, count: int, epoch: int, epochs: int) -> int:
        """What so many configurations that have come to this epoch will train yet, all together."""
        total, here = 0, epoch
        for rung in [rung for rung in self.rungs(epochs) if rung > epoch]:
            total += count * (rung - here)
            count, here = self.going_on(count), rung
        return total + count * (epochs - here)
