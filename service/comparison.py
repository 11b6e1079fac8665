"""The comparison of a study's arms, as the API answers it: from a view to plain values."""

from __future__ import annotations

from typing import Any

from service.analysis import Axis, baseline_of, compare, cost_curves, pairs_of, points_of
from service.analysis.comparison import Pair
from service.analysis.cost import Spent
from service.analysis.verdict import pair_words, verdict
from service.answers import candidates, look, objectives
from service.contract.events import TrialState
from service.contract.expansion import searched_keys
from service.contract.weightings import BY_HAND
from service.store.views import StudyView

DIFFERENT = "These studies were measured on different data: their arms are shown side by side, not compared."
OVER = (TrialState.FINISHED, TrialState.FAILED)


def lost_seeds(view: StudyView) -> set[tuple[str, int]]:
    """(arm, seed) whose trials are all over and none of which counts: failed or collapsed."""
    alive = {(t.planned.arm, t.planned.seed) for t in view.trials.values() if t.state not in OVER or t.counts_for_front}
    return {(t.planned.arm, t.planned.seed) for t in view.trials.values()} - alive


def spent_by_arm(view: StudyView, axes: list[Axis]) -> dict[str, list[Spent]]:
    """What each arm's trials cost and brought, in the order in which they ended."""
    points = {point.trial: point for point in points_of(candidates(view), axes)}
    found: dict[str, list[Spent]] = {arm.name: [] for arm in view.study.arms}
    for trial_id in view.ended:
        trial = view.trials[trial_id]
        seconds = trial.training_seconds or 0.0
        found[trial.planned.arm].append(Spent(trial.planned.seed, seconds, points.get(trial_id)))
    return found


def _pair_answer(pair: Pair, seconds: dict[str, float], tests: int) -> dict[str, Any]:
    test, reach = pair.paired, pair.reach
    return {
        "arm": pair.arm,
        "baseline": pair.baseline,
        "seeds": test.difference.seeds,
        "ratio": test.ratio._asdict(),
        "difference": test.difference._asdict(),
        "p_value": test.p_value,
        "p_adjusted": pair.p_adjusted,
        "effect_size": test.effect_size,
        "shown": pair.shown,
        "whole": pair.whole,
        "words": pair_words(pair, seconds, tests),
        "reach": {**reach._asdict(), "seconds": reach.seconds._asdict()},
    }


def comparison_answer(view: StudyView) -> dict[str, Any]:
    """Computed once for each state of the log."""
    answer: dict[str, Any] = view.memo("comparison", lambda: _compare(view))
    return answer


def _compare(view: StudyView) -> dict[str, Any]:
    study, axes = view.study, objectives(view)
    results = compare(candidates(view), [arm.name for arm in study.arms], study.seeds, axes, lost_seeds(view))
    counts = {arm.name: view.counts(arm.name) for arm in study.arms}
    by_hand = [arm.name for arm in study.arms if arm.weighting.name in BY_HAND]
    searched = searched_keys(study)
    spent = spent_by_arm(view, axes)
    curves = cost_curves(spent, axes, searched)
    trained = [t for t in view.trials.values() if t.training_seconds is not None]
    seconds = {
        arm.name: sum(t.training_seconds or 0.0 for t in trained if t.planned.arm == arm.name) for arm in study.arms
    }
    baseline = baseline_of(results, {name: each["planned"] for name, each in counts.items()}, by_hand)
    whole = [name for name, each in counts.items() if each["finished"] + each["failed"] == each["planned"]]
    # Laid over each other but measured on different data, arms can be looked at; to test them would mean nothing.
    pairs = pairs_of(results, baseline, spent, axes, searched, whole) if view.alike else []
    said = verdict(results, pairs, seconds, view.state.is_ended()) if view.alike else DIFFERENT
    return {
        "study": view.id,
        "state": view.state.value,
        "seeds": len(study.seeds),
        "objectives": [axis._asdict() for axis in axes],
        "baseline": baseline,
        "verdict": said,
        "arms": [
            {
                "name": result.name,
                **look(i),
                "automatic": result.name not in by_hand,
                "counts": counts[result.name],
                "best": result.best,
                "front_share": result.front_share,
                "on_front": result.on_front,
                "hypervolume": {
                    **result.hypervolume._asdict(),
                    "all_seeds": result.hypervolume_all_seeds,
                    "by_seed": {str(seed): volume for seed, volume in result.by_seed.items()},
                },
                "training_seconds": seconds[result.name],
                "trained_trials": len(spent[result.name]),
                "cost": curves[result.name]._asdict(),
            }
            for i, result in enumerate(results)
        ],
        "pairs": [_pair_answer(pair, seconds, len(pairs)) for pair in pairs],
    }
