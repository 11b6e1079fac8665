"""How far a trial's estimates of I(X;Z) can be trusted, by what their estimators missed where it is known."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from service.contract.metrics import BIAS, KNOWN_BITS, MISS, described, metric
from service.contract.study.expansion import PlannedTrial
from service.contract.wire.events import Metrics
from service.contract.wording.lights import Light, error_words, light_of, worst_of, worst_words
from service.views.selectors import counting
from service.views.trial import TrialView
from service.views.view import View


class Lit(NamedTuple):
    """A light, and why it is that one."""

    light: Light
    words: str


class _Names(NamedTuple):
    """The metrics that tell of an estimate."""

    estimate: str
    known: str
    bias: str
    miss: str
    examples: str


@lru_cache(maxsize=4096)
def _names(name: str) -> _Names | None:
    """By the metric that a calibration has in any case; asked for thousands of trials."""
    row = metric(name)
    of = row.calibrates if row else None
    if row is None or of is None or name != MISS.of(of):
        return None
    return _Names(of, KNOWN_BITS.of(of), BIAS.of(of), name, row.examples or "")


def lights_of(trial: TrialView) -> dict[str, Lit]:
    """By metric; nothing before the end of training, and nothing for what has no finite estimate."""
    return _lights(trial, trial.metrics)


def _lights(trial: TrialView, metrics: Metrics) -> dict[str, Lit]:
    lights: dict[str, Lit] = {}
    for name in metrics:
        if (names := _names(name)) and (lit := _lit(trial, metrics, names)):
            lights[names.estimate] = lit
    return lights


def _lit(trial: TrialView, metrics: Metrics, names: _Names) -> Lit | None:
    known, bias, miss, count = (metrics.get(name) for name in names[1:])
    if known is None or bias is None or miss is None or count is None or not isinstance(trial.planned, PlannedTrial):
        return None
    latent = trial.planned.model.latent
    return Lit(light_of(miss, known), error_words(miss, bias, known, count, int(latent)))


def worst_light(view: View, name: str) -> Light | None:
    """Of a metric over all trials, all their points, that are neither failed nor collapsed; none where none has one."""

    def computed() -> Light | None:
        names = _names(MISS.of(name))
        if names is None:
            return None
        each = ((trial, own.metrics) for trial in counting(view).values() for own in trial.measured())
        lit = [_lit(trial, metrics, names) for trial, metrics in each if names.miss in metrics]
        return worst_of([own.light for own in lit if own])

    return view.memo(f"light of {name}", computed)


def worst_lights(view: View) -> dict[str, Lit]:
    """Of the objectives that estimate I(X;Z), in words as `I(X;Z) ● at worst, within 5 % on …`."""
    names = [objective.metric for objective in view.study.objectives]
    worst = {name: light for name in names if (light := worst_light(view, name))}
    return {name: Lit(light, f"{described(name).label} {worst_words(light)}") for name, light in worst.items()}
