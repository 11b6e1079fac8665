"""A study of two tasks with a single arm, played from numbers that a test chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from service.views.fold import StudyView
from service.views.trial import TrialView
from tests.service.studies import FIXED, Reported, play, study_of

SINGLE = {"name": "alone", "weighting": {"name": "single"}}
UNIFORM = {"name": "uniform", "weighting": {"name": "uniform"}}
MGB = {"name": "MGB", "weighting": {"name": "mgb"}}
GRID = {"name": "grid", "weighting": FIXED}
HELD = {"name": "overlaid", "validation_fraction": 0.2, "draw": "shared"}
PLAIN = {"name": "overlaid", "validation_fraction": 0.0, "draw": "shared"}
Told = Callable[[TrialView], Reported]


def hits(left: float, right: float, held: tuple[float, float] | None = None) -> dict[str, float]:
    """Accuracies of the test split, and what the validation split says if it says something else."""
    test = {"accuracy_left": left, "accuracy_right": right, "accuracy": left}
    low, high = held or (left, right)
    validation = {"accuracy_left": low, "accuracy_right": high, "accuracy": low}
    return {"seconds": 1.0, **test, **{f"validation_{name}": value for name, value in validation.items()}}


def always(left: float, right: float) -> Told:
    return lambda trial: hits(left, right)


def alone(trial: TrialView) -> Reported:
    """Alone, left reaches 0.8 and right 0.5."""
    return hits(0.8, 0.1) if trial.planned.config["weighting.task"] == "left" else hits(0.1, 0.5)


def played(*arms: dict[str, Any], told: dict[str, Told], seeds: int = 3, **spec: Any) -> StudyView:
    """Every trial ends with what `told` says of its arm; one of which nothing is said has failed."""
    view = study_of(*arms, seeds=range(seeds), data=spec.pop("data", HELD), **spec)
    for trial_id, trial in view.trials.items():
        last = told[trial.planned.arm](trial)
        play(view, trial_id, [last] if last else [], "trial_finished" if last else "trial_failed")
    return view


def usual(**spec: Any) -> StudyView:
    """Uniform reaches 0.72 of 0.80 and 0.45 of 0.50, nine tenths; MGB a fiftieth more with each seed."""

    def better(trial: TrialView) -> Reported:
        share = 0.9 + 0.02 * trial.planned.seed
        return hits(0.8 * share, 0.5 * share)

    return played(UNIFORM, MGB, SINGLE, told={"alone": alone, "uniform": always(0.72, 0.45), "MGB": better}, **spec)
