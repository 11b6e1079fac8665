"""The comparison of a view's arms: the one value behind the API's answer, the figures, the page and the report."""

from __future__ import annotations

from typing import NamedTuple

from service.analysis.candidates import candidates, objectives, spent_by_arm
from service.analysis.comparison import ArmResult, Pair, baseline_of, compare, cost_curves, pairs_of
from service.analysis.cost import CostCurve
from service.analysis.fronts import Axis
from service.analysis.identical import identical_arms
from service.analysis.verdict import identical_words, pair_words, verdict
from service.contract.methods.weightings import BY_HAND
from service.contract.study.expansion import searched_keys
from service.contract.wire.events import StudyState
from service.views.selectors import Counts, counts, lost_seeds, training_seconds
from service.views.view import View

DIFFERENT = "These studies were measured on different data: their arms are shown side by side, not compared."


class ArmCompared(NamedTuple):
    """One arm: its result, and what it cost."""

    result: ArmResult
    automatic: bool  # finds its weights by itself
    counts: Counts
    training_seconds: float  # of all its trials
    trained_trials: int  # that have ended
    cost: CostCurve

    @property
    def name(self) -> str:
        return self.result.name


class Comparison(NamedTuple):
    """Arms in the order of the study, and each other arm against the baseline."""

    study: str
    state: StudyState
    seeds: int
    objectives: list[Axis]
    baseline: str | None
    verdict: str
    arms: list[ArmCompared]
    pairs: list[Pair]
    identical: list[list[str]]  # arms that did the same in every seed

    def words(self, pair: Pair) -> str:
        """What is shown of one arm against the baseline, in a sentence."""
        if any({pair.arm, pair.baseline} <= set(group) for group in self.identical):
            return identical_words([pair.arm, pair.baseline])
        seconds = {arm.name: arm.training_seconds for arm in self.arms}
        return pair_words(pair, seconds, len(self.pairs))


def compared(view: View) -> Comparison:
    """Computed once for each state of the log."""
    return view.memo("comparison", lambda: _compare(view))


def _compare(view: View) -> Comparison:
    study, axes = view.study, objectives(view)
    results = compare(candidates(view), [arm.name for arm in study.arms], study.seeds, axes, lost_seeds(view))
    by_arm = {arm.name: counts(view, arm.name) for arm in study.arms}
    by_hand = [arm.name for arm in study.arms if arm.weighting.name in BY_HAND]
    searched = searched_keys(study)
    spent, seconds = spent_by_arm(view, axes), training_seconds(view)
    curves = cost_curves(spent, axes, searched)
    baseline = baseline_of(results, {name: each.planned for name, each in by_arm.items()}, by_hand)
    whole = [name for name, each in by_arm.items() if each.finished + each.failed == each.planned]
    # Laid over each other but measured on different data, arms can be looked at; to test them would mean nothing.
    pairs = pairs_of(results, baseline, spent, axes, searched, whole) if view.alike else []
    identical = identical_arms(candidates(view), whole) if view.alike else []
    words = verdict(results, pairs, seconds, view.state.is_ended()) if view.alike else DIFFERENT
    return Comparison(
        study=view.id,
        state=view.state,
        seeds=len(study.seeds),
        objectives=axes,
        baseline=baseline,
        verdict=" ".join([words, *(f"{identical_words(group)}." for group in identical)]),
        arms=[
            ArmCompared(
                result=result,
                automatic=result.name not in by_hand,
                counts=by_arm[result.name],
                training_seconds=seconds[result.name],
                trained_trials=len(spent[result.name]),
                cost=curves[result.name],
            )
            for result in results
        ],
        pairs=pairs,
        identical=identical,
    )
