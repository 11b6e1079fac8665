"""What a view tells of the terms' gradients: of each arm that was watched, and of all of them in a sentence."""

from __future__ import annotations

import math
from collections.abc import Callable

from service.analysis.gradient_angles import Angles, BySeed, Path, by_seed_of
from service.analysis.gradient_words import gradients_sentence
from service.contract.methods.weightings import REFERENCES
from service.contract.metrics import COSINE, GRADIENT_NORM
from service.contract.metrics.gradients import mean_cosine, watched_pairs
from service.contract.study.study import Arm
from service.views.trial import TrialView
from service.views.view import View


def gradients_words(view: View) -> str | None:
    """Whether they conflict, and when; none where nothing was watched, or arms learned from different data."""
    arms = [arm.name for arm in view.study.arms if arm.weighting.name not in REFERENCES]
    said = gradients_sentence(watched_arms(view), arms) if view.alike else None
    return said if said is None or view.state.is_ended() else f"So far: {said}"


def watched_arms(view: View) -> list[Angles]:
    """Each arm whose gradients were watched, in the order of the study; tasks that are trained alone are left out."""
    weighed = [arm for arm in view.study.arms if arm.weighting.name not in REFERENCES]
    return view.memo("gradients", lambda: [a for arm in weighed if (a := angles_of(view, arm)) is not None])


def angles_of(view: View, arm: Arm) -> Angles | None:
    """Of one arm, over its trials that neither failed nor collapsed; none where nothing was watched."""
    terms, mean = arm.problem.terms, mean_cosine(arm.problem.terms)
    trials = [t for t in view.trials.values() if t.planned.arm == arm.name and t.counts_for_front]

    def read(path: Callable[[TrialView], Path]) -> BySeed:
        return by_seed_of((trial.planned.seed, path(trial)) for trial in trials)

    def cosine(metric: str) -> BySeed:
        return read(lambda trial: trial.path(metric))

    # Most studies watch nothing: one look at the last metrics spares reading every report.
    if mean is None or not any(mean in trial.metrics for trial in trials) or not (of_all := cosine(mean)):
        return None
    pairs = {pair: cosine(COSINE.of(*pair)) for pair in watched_pairs(terms)}
    ratio = read(lambda trial: log_ratio(trial, terms[1], terms[0])) if len(terms) == 2 else {}
    return Angles(terms, [arm.name], of_all, pairs, ratio)


def log_ratio(trial: TrialView, term: str, to: str) -> Path:
    """log ‖g_term‖/‖g_to‖ by epoch, where both are above 0."""
    own, other = trial.path(GRADIENT_NORM.of(term)), trial.path(GRADIENT_NORM.of(to))
    return {e: math.log(own[e] / other[e]) for e in own if own[e] > 0 and other.get(e, 0.0) > 0}
