"""Where a study ends: in any case, or because more would bring too little."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from service.contract.parameters.strict import Strict

MAX_TRIALS = 20_000
PATIENCE = 2
PERCENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")


def _share(value: Any) -> Any:
    """`0.5 %` is 0.005; what is no such text is checked as it is."""
    percent = PERCENT.fullmatch(value) if isinstance(value, str) else None
    return float(percent.group(1)) / 100 if percent else value


class Limits(Strict):
    """Where the study ends in any case, and when an arm has enough."""

    seconds: Annotated[float, Field(gt=0)] | None = Field(
        None,
        description="wall time from the study's start, pauses left out; anew when it goes on after its end; none: no "
        "limit",
    )
    trials: Annotated[int, Field(ge=1, le=MAX_TRIALS)] = Field(
        500, description="a study that expands to more is refused"
    )
    gain: Annotated[float, BeforeValidator(_share), Field(gt=0, lt=1)] | None = Field(
        None,
        description="an arm trains no more batches when another would gain less than this share of its hypervolume, "
        "by the upper end of a 95 % interval: 0.005, or the text '0.5 %'; none: it trains all its trials. A grid is "
        "then trained in batches too, its configurations in random order. A search by fill ends by its own tolerance",
        exclude_if=lambda gain: gain is None,
    )
    patience: Annotated[int, Field(ge=1, le=100)] | None = Field(
        None,
        description=f"batches in a row after which the expected gain must be below limits.gain; none: {PATIENCE}",
        exclude_if=lambda patience: patience is None,
    )
    training_seconds: Annotated[float, Field(gt=0)] | None = Field(
        None,
        description="of each arm, all its trials together: with them spent it starts no more trials, and those under "
        "way stop at their next report and keep no weights. Arms that both came to within a tenth of it are compared "
        "at equal cost; none: no limit",
        exclude_if=lambda seconds: seconds is None,
    )

    @property
    def batches_in_a_row(self) -> int:
        return PATIENCE if self.patience is None else self.patience
