"""Studies for the tests of figures and analyses: views whose trials report what a test says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from service.contract.study.parsing import check_study
from service.contract.wire.events import KINDS, Curve, Event, StudyState
from service.store.protocol import Logged, StudyRow
from service.views.fold import StudyView

TASKS = {"name": "multitask", "main": "left", "auxiliaries": ["right"]}
FIXED = {"name": "fixed", "weights": {"right": {"grid": [0.5, 2.0]}}}
MANUAL = {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": [0.01, 0.1, 1.0]}}}
MIB = {"name": "MIB", "weighting": {"name": "mib"}}
ALL_BETAS = {"name": "all β", "weighting": {"name": "conditional", "points": 3}}
FILLED = {
    "name": "filled",
    "weighting": {"name": "fixed", "beta": {"range": {"from": 0.01, "to": 1.0, "scale": "log"}}},
    "search": {"name": "fill", "trials": 12, "tolerance": 0.3},
}
Reported = Mapping[str, float | None]
NOW = "2026-01-01T00:00:00+00:00"


def view_of(spec: dict[str, Any]) -> StudyView:
    """A study none of whose trials has begun."""
    study = check_study(spec)
    return StudyView(StudyRow("s1", study.model_dump(by_alias=True, mode="json"), StudyState.QUEUED, NOW))


def study_of(*arms: dict[str, Any], seeds: Sequence[int] = (0, 1), **spec: Any) -> StudyView:
    """A study of two tasks."""
    own = [{"problem": TASKS, **arm} for arm in arms or ({"name": "a", "weighting": {"name": "uniform"}},)]
    return view_of({"name": "s", "data": {"name": "overlaid"}, "seeds": list(seeds), "arms": own, **spec})


def bottleneck_of(*arms: dict[str, Any], seeds: Sequence[int] = (0, 1), **spec: Any) -> StudyView:
    """A study of the information bottleneck on digits: without arms, a grid of three βs and MIB."""
    return view_of({"name": "s", "seeds": list(seeds), "arms": list(arms or (MANUAL, MIB)), **spec})


def event(kind: str, **body: Any) -> Event:
    """An event whose uid does not matter."""
    return KINDS[kind](**{"uid": "u", **body})


def tell(view: StudyView, happened: Event, at: str = NOW) -> None:
    """The next event of the study's log."""
    view.apply(Logged(view.seq + 1, at, happened))


def play(view: StudyView, trial: str, reports: Sequence[Reported], end: str = "trial_finished") -> None:
    """The trial reports these, epochs 1, 2, … unless they say otherwise, and ends so."""
    tell(view, event("trial_started", trial=trial))
    for i, r in enumerate(reports, 1):
        tell(view, event("report", trial=trial, metrics={"epoch": i, **r}))
    if end:
        tell(view, event(end, trial=trial, **({"reason": "a reason"} if end == "trial_failed" else {})))


def curve(*places: tuple[float, float | None, float | None], **more: float | None) -> Curve:
    """Points (β, I(X;Z), I(Z;Y)) of a trial that has many; `more` is what all of them report besides."""
    return [{"where": {"beta": beta}, "metrics": {"i_xz_bits": x, "i_zy_bits": y, **more}} for beta, x, y in places]


def play_curves(view: StudyView, trial: str, *curves: Curve, end: str = "trial_finished", **metrics: float) -> None:
    """The trial reports a curve after each epoch, beside metrics of the middle of its range, and ends so."""
    tell(view, event("trial_started", trial=trial))
    for epoch, points in enumerate(curves, 1):
        middle = points[len(points) // 2]["metrics"]
        tell(view, event("report", trial=trial, metrics={"epoch": epoch, **middle, **metrics}, points=points))
    if end:
        tell(view, event(end, trial=trial, **({"reason": "a reason"} if end == "trial_failed" else {})))


def accuracy(*values: float | None) -> list[dict[str, float | None]]:
    return [{"accuracy": value} for value in values]


def weights(*values: float | None) -> list[dict[str, float | None]]:
    return [{"weight_left": 1.0, "weight_right": value} for value in values]


def bits(*places: tuple[float | None, float | None]) -> list[dict[str, float | None]]:
    """Reports of (I(X;Z), I(Z;Y)), one per epoch."""
    return [{"i_xz_bits": x, "i_zy_bits": y} for x, y in places]
