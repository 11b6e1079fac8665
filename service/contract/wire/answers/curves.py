"""The curves of a study: trials that train many trade-offs at once, place by place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from service.contract.wire.answers.answer import Answer, SentConfig
from service.contract.wire.answers.comparison import OverSeeds
from service.contract.wire.events import Where


@dataclass(slots=True, kw_only=True)
class DrawnCurve(Answer):
    """A curve that can be asked for: that of a configuration, in all its seeds."""

    trial: Annotated[str, Field(description="the first trial of the configuration, by which it is asked for")]
    arm: Annotated[str, Field(description="whose curve it is")]
    config: Annotated[SentConfig, Field(description="the settings that tell it from the arm's others")]
    seeds: Annotated[int, Field(description="that have brought a curve so far")]


@dataclass(slots=True, kw_only=True)
class CurvePlace(Answer):
    """One place of a curve."""

    where: Annotated[Where, Field(description="as {beta: 0.01} or a preference per term")]
    metrics: Annotated[dict[str, OverSeeds], Field(description="what was measured there last, over seeds")]
    collapsed: Annotated[int, Field(description="seeds whose code carries nothing there")]
    nearest: Annotated[
        int | None,
        Field(description="which of the settings beside the curve lies nearest, counted from 0; null without any"),
    ]


@dataclass(slots=True, kw_only=True)
class ConstantSetting(Answer):
    """A setting of an arm whose weights are constant."""

    where: Annotated[Where, Field(description="where on a curve it would lie")]
    config: Annotated[SentConfig, Field(description="the settings that tell it from the arm's others")]
    metrics: Annotated[dict[str, OverSeeds], Field(description="what its trials measured last, over seeds")]


@dataclass(slots=True, kw_only=True)
class BesideCurve(Answer):
    """The arm of constant weights that a curve is seen beside."""

    arm: Annotated[str, Field(description="its name")]
    verifies: Annotated[bool, Field(description="whether these are the networks that verify the curve, of its own arm")]
    settings: Annotated[list[ConstantSetting], Field(description="in the order of the spec; those that have reported")]


@dataclass(slots=True, kw_only=True)
class CurvesAnswer(Answer):
    """The curves of a study, one of them place by place."""

    curves: Annotated[list[DrawnCurve], Field(description="in the order of the spec; empty before a trial brought one")]
    shown: Annotated[str | None, Field(description="which of them `places` are of, by its trial")]
    places: Annotated[list[CurvePlace], Field(description="along the curve")]
    beside: Annotated[
        BesideCurve | None,
        Field(
            description="separately trained networks to compare with: of an arm of constant weights, of the same "
            "problem if there is one, else those that verify the curve"
        ),
    ]
