"""Kept studies for the tests: played as views, exported as the product exports them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from findings.finding import Finding, kept
from service.answers.whole import whole
from service.views.fold import StudyView
from tests.service.studies import bottleneck_of, event, play, tell

SPLIT = {"data": {"name": "digits", "validation_fraction": 0.0, "draw": "shared"}}
RATES = {0.01: 12.0, 0.1: 6.0, 1.0: 3.0}


def bits_of(trial: Any) -> tuple[float, float, float]:
    """(I(X;Z), I(Z;Y), accuracy) of a trial at its end: the grid draws a front, MIB lies under it."""
    beta, seed = trial.planned.config.get("weighting.beta"), trial.planned.seed
    rate = RATES.get(beta, 8.0) + 0.125 * seed
    label = {0.01: 3.0, 0.1: 2.5, 1.0: 1.5}.get(beta, 2.25) + 0.0625 * (seed % 2)
    return rate, label, 0.25 + label / 5


def view(seeds: Sequence[int] = range(5), fails: Callable[[Any], bool] = lambda trial: False) -> StudyView:
    """Three βs and MIB; each trial reports two epochs."""
    view = bottleneck_of(seeds=list(seeds), **SPLIT)
    tell(view, event("study_started"))
    for trial_id, trial in view.trials.items():
        rate, label, accuracy = bits_of(trial)
        last = {"i_xz_bits": rate, "i_zy_bits": label, "accuracy": accuracy, "seconds": 0.5, "test_examples": 360}
        first = {**last, "accuracy": accuracy / 2, "seconds": 0.25}
        play(view, trial_id, [first, last], "trial_failed" if fails(trial) else "trial_finished")
    tell(view, event("study_finished"))
    return view


def finding(of: StudyView | None = None, curves: Sequence[str] = ()) -> Finding:
    export = orjson.loads(orjson.dumps(whole(of or view())))
    return kept(export, "2 cores, no GPU", list(curves), version="0.1.0")
