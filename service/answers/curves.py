"""The curves of a study, as the API answers them."""

from __future__ import annotations

from collections.abc import Mapping

from service.analysis import Interval
from service.analysis.curve_places import Beside, curve_places
from service.contract.wire.answers.comparison import OverSeeds
from service.contract.wire.answers.curves import BesideCurve, ConstantSetting, CurvePlace, CurvesAnswer, DrawnCurve
from service.views.view import View


def _over_seeds(metrics: Mapping[str, Interval]) -> dict[str, OverSeeds]:
    return {name: OverSeeds(**interval._asdict()) for name, interval in metrics.items()}


def _beside(beside: Beside) -> BesideCurve:
    settings = [
        ConstantSetting(where=own.where, config=own.config, metrics=_over_seeds(own.metrics)) for own in beside.settings
    ]
    return BesideCurve(arm=beside.arm, verifies=beside.verifies, settings=settings)


def curves_answer(view: View, trial: str | None) -> CurvesAnswer:
    own = curve_places(view, trial)
    return CurvesAnswer(
        curves=[DrawnCurve(**curve._asdict()) for curve in own.curves],
        shown=own.shown,
        places=[
            CurvePlace(
                where=place.where,
                metrics=_over_seeds(place.metrics),
                collapsed=place.collapsed,
                nearest=place.nearest,
            )
            for place in own.places
        ],
        beside=None if own.beside is None else _beside(own.beside),
    )
