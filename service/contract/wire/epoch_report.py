"""What a cohort says after an epoch: made by the training loop, carried by Ray Tune as one text, read by the driver."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from service.contract.wire.events import Curve, Metrics, cleaned, sendable


class EpochReport(BaseModel):
    """An epoch of a cohort. A trial in `failures` is in no later report; after `final` there is none."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    epoch: int = Field(ge=0, description="from 1 on; 0: the cohort raised, and there is none to tell of")
    metrics: dict[str, Annotated[Metrics, AfterValidator(cleaned)]] = Field(description="by trial")
    points: dict[str, Curve] = Field({}, description="by trial, of those with many points, where they were measured")
    failures: dict[str, Annotated[str, BeforeValidator(sendable)]] = Field(description="why, by trial")
    missing: dict[str, Annotated[str, BeforeValidator(sendable)]] = Field(
        {}, description="which files could not be kept, and why, by trial"
    )
    final: bool = Field(description="whether the cohort has said all")
    begins: bool = Field(False, description="whether the cohort starts here, after `epoch`: 0, or where it was left")
    rests: bool = Field(
        False, description="whether the cohort has saved its state and ends here, until its members are compared"
    )
    leaves: bool = Field(False, description="whether the cohort has saved its state and leaves: the study is paused")
    most: int = Field(0, ge=0, description="members that fit together; the cohort has more, and ends here. 0: it fits")
    log: list[str] = Field([], description="what the worker logged since the last report")
