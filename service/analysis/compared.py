"""The comparison of a view's arms: the one value behind the API's answer, the figures, the page and the report."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from service.analysis.arm_places import ArmPlace, ExactFront, arm_places
from service.analysis.candidates import (
    arms_of_curves,
    candidates,
    chooser,
    choosing_axes,
    objectives,
    placed,
    settings_along,
    spent_by_arm,
)
from service.analysis.comparison import ArmResult, Drawn, Pair, baseline_of, compare, cost_curves, pairs_of
from service.analysis.cost import CostCurve
from service.analysis.delta_m import AgainstSingle, DeltaM
from service.analysis.equal_cost import budget_words, spent_it
from service.analysis.fronts import Axis, Point, turned
from service.analysis.gradient_angles import Angles
from service.analysis.identical import identical_arms
from service.analysis.infeasible_words import infeasible_words
from service.analysis.intervals import Interval
from service.analysis.lights import Lit, worst_lights
from service.analysis.place import Placed
from service.analysis.place_words import Rival
from service.analysis.single_tasks import against_single, reference_arms
from service.analysis.truth import exact_curve
from service.analysis.verdict import identical_words, rival_words, verdict
from service.analysis.verifying import Verified, verified
from service.analysis.watched import gradients_words, watched_arms
from service.contract.methods.weightings import BY_HAND
from service.contract.study.constraints import Constraint
from service.contract.study.expansion import searched_keys
from service.contract.wire.events import StudyState
from service.contract.wording.chosen_split import Chooser, flattery_words
from service.views.selectors import Counts, compared_counts, lost_seeds, training_epochs, training_seconds, whole_arms
from service.views.view import View

DIFFERENT = "These studies were measured on different data: their arms are shown side by side, not compared."


class ArmCompared(NamedTuple):
    """One arm: its result, and what it cost."""

    result: ArmResult
    place: ArmPlace
    automatic: bool  # finds its weights by itself
    counts: Counts
    training_seconds: float  # of all its trials
    trained_trials: int  # that have ended
    cost: CostCurve
    gradients: Angles | None  # where they were watched
    delta_m: DeltaM | None  # against single tasks, where it has them all
    mean_rank: Interval | None  # over these tasks
    verified: Verified | None  # where its curve is checked by networks that were trained separately

    @property
    def name(self) -> str:
        return self.result.name

    @property
    def against_single(self) -> tuple[Interval | None, Interval | None]:
        """Δm and mean rank."""
        return (None if self.delta_m is None else self.delta_m.mean, self.mean_rank)


class Comparison(NamedTuple):
    """Arms in the order of the study, and each other arm against the baseline."""

    study: str
    state: StudyState
    seeds: int
    objectives: list[Axis]
    chooser: Chooser | None  # the split that chose what is compared
    baseline: str | None
    verdict: str
    arms: list[ArmCompared]
    pairs: list[Pair]
    identical: list[list[str]]  # arms that did the same in every seed
    constraints: list[Constraint]  # that trials keep to count

    gradients: str | None  # whether those of the terms conflict, in a sentence; none where they were not watched

    single: AgainstSingle | None  # where tasks were trained alone
    words: dict[str, str]  # of each pair, by its arm: what is shown, in a sentence
    lights: dict[str, Lit]  # the worst of each objective that estimates I(X;Z)


def compared(view: View) -> Comparison:
    """Computed once for each state of the log."""
    return view.memo("comparison", lambda: _compare(view))


def _compare(view: View) -> Comparison:
    study, axes = view.study, objectives(view)
    lost = lost_seeds(view)
    results = compare(candidates(view), [arm.name for arm in study.arms], study.seeds, axes, lost)
    by_arm = {arm.name: compared_counts(view, arm.name) for arm in study.arms}
    by_hand = [arm.name for arm in study.arms if arm.weighting.name in BY_HAND]
    searched = searched_keys(study)
    spent, seconds = spent_by_arm(view, axes), training_seconds(view)
    curves = cost_curves(spent, axes, searched)
    planned = {name: each.planned for name, each in by_arm.items()}
    references = reference_arms(study)
    standing = [result for result in results if result.name not in references] or results
    baseline = baseline_of(standing, planned, by_hand, study.baseline)
    whole = whole_arms(view)
    places = _places(view, axes, baseline if view.alike else None, whole, references)
    paid = spent_it(study.limits.training_seconds, seconds)
    drawn = {arm: Drawn(size, places[arm].draws_front, arm in paid) for arm, size in _sizes(view).items()}
    # Laid over each other but measured on different data, arms can be looked at; to test them would mean nothing.
    pairs = pairs_of(standing, baseline, spent, axes, searched, whole, drawn) if view.alike else []
    identical = identical_arms(candidates(view), whole) if view.alike else []
    single = against_single(view)
    judged = _places(view, choosing_axes(view), baseline if view.alike else None, whole, references)
    of_curves, epochs = arms_of_curves(view), training_epochs(view)
    rivals = [
        Rival(
            pair,
            places[pair.arm],
            judged[pair.arm],
            places[pair.baseline],
            curves[pair.arm],
            curves[pair.baseline],
            sum(arm == pair.arm for arm, _ in lost),
            pair.arm in of_curves,
            pair.baseline in of_curves,
            (epochs[pair.arm], epochs[pair.baseline]),
            view.study.resources.cohort != 1,
        )
        for pair in pairs
    ]
    watched = {angles.arms[0]: angles for angles in watched_arms(view)}
    awaited = study.baseline if baseline is None else None
    drops = single.delta_m if single else {}
    ended = view.state.is_ended()
    checks = {arm.name: verified(view, arm.name, axes) for arm in study.arms}
    checked = [own.words for own in checks.values() if own is not None]
    said = verdict(standing, rivals, axes, ended, awaited, drops) if view.alike else DIFFERENT
    broken = {name: own.infeasible for name, own in by_arm.items()}
    unkept = infeasible_words(study.constraints, sum(own.finished for own in by_arm.values()), broken)
    split = chooser(view)
    flattering = flattery_words(split)
    flattered = f"Trials were {flattering}." if flattering and rivals else ""
    return Comparison(
        study=view.id,
        state=view.state,
        seeds=len(study.seeds),
        objectives=axes,
        chooser=split,
        baseline=baseline,
        verdict=" ".join(
            filter(
                None,
                [
                    said,
                    unkept,
                    budget_words(study.limits.training_seconds, seconds),
                    *checked,
                    *(f"{identical_words(group)}." for group in identical),
                    flattered,
                ],
            )
        ),
        arms=[
            ArmCompared(
                result=result,
                place=places[result.name],
                automatic=result.name not in by_hand,
                counts=by_arm[result.name],
                training_seconds=seconds[result.name],
                trained_trials=len(spent[result.name]),
                cost=curves[result.name],
                gradients=watched.get(result.name),
                delta_m=single.delta_m.get(result.name) if single else None,
                mean_rank=single.mean_rank.get(result.name) if single else None,
                verified=checks[result.name],
            )
            for result in results
        ],
        pairs=pairs,
        identical=identical,
        constraints=study.constraints,
        gradients=gradients_words(view),
        single=single,
        words={rival.pair.arm: _words(rival, axes, len(rivals), identical) for rival in rivals},
        lights=worst_lights(view),
    )


def _sizes(view: View) -> dict[str, float]:
    """Points of each arm per seed: trials, or places on their curves."""
    sizes = dict.fromkeys((arm.name for arm in view.study.arms), 0.0)
    for trial in view.trials.values():
        sizes[trial.planned.arm] += max(1, len(trial.points)) / len(view.study.seeds)
    return {arm: round(size, 1) for arm, size in sizes.items()}


def _words(rival: Rival, axes: list[Axis], tests: int, identical: list[list[str]]) -> str:
    """What is shown of one arm against the baseline, in a sentence."""
    both = [rival.pair.arm, rival.pair.baseline]
    if any(set(both) <= set(group) for group in identical):
        return identical_words(both)
    return rival_words(rival, axes, tests)


def _places(
    view: View, axes: list[Axis], baseline: str | None, whole: list[str], references: list[str]
) -> dict[str, ArmPlace]:
    trials, arms = placed(view, axes), [arm.name for arm in view.study.arms]
    varied = [] if baseline is None else settings_along(view, baseline)
    exact = _exact_front(view, axes, trials) if view.alike else None
    return arm_places(trials, arms, baseline, axes, varied, whole, exact, references)


def _exact_front(view: View, axes: list[Axis], trials: list[Placed]) -> ExactFront | None:
    metrics = [axis.metric for axis in axes]
    if not trials:
        return None
    most = dict(zip(metrics, np.max([trial.claimed.values for trial in trials], axis=0).tolist(), strict=True))
    curve = exact_curve(view.study, metrics, most)
    if curve is None:
        return None
    points = [Point("", "", 0, place) for place in zip(curve.x, curve.y, strict=True)]
    return ExactFront(curve.label, turned(points, axes))
