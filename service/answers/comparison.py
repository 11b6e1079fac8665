"""The comparison of a study's arms, as the API answers it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from service.analysis import Interval, Pair
from service.analysis.amounts import Amount
from service.analysis.arm_places import ArmPlace
from service.analysis.compared import ArmCompared, compared
from service.analysis.delta_m import AgainstSingle, DeltaM
from service.analysis.gradient_angles import Angles
from service.analysis.gradient_words import conflict_words
from service.analysis.place import ExactPlace
from service.analysis.place_words import standing_words
from service.analysis.single_words import note_words
from service.analysis.spread import Spread
from service.analysis.verifying import Verified
from service.contract.wire.answers.comparison import (
    AgainstExactFront,
    AgainstFront,
    AgainstSingleTasks,
    AmountOverSeeds,
    ComparedArm,
    ComparedPair,
    ComparisonAnswer,
    CostSoFar,
    CostToReach,
    CurveAtPlace,
    GradientsOfTerms,
    HypervolumeOverSeeds,
    ObjectiveAxis,
    OverSeeds,
    ShareOverSeeds,
    SingleTasks,
    VerifiedCurve,
)
from service.contract.wire.answers.studies import TrialCounts
from service.contract.wire.answers.trials import MetricLight
from service.contract.wording.chosen_split import selection_words
from service.contract.wording.palette import arm_style
from service.views.view import View


def _over_seeds(interval: Interval) -> OverSeeds:
    return OverSeeds(**interval._asdict())


def _amount(amount: Amount) -> AmountOverSeeds:
    mean, half, seeds, lower, upper, log = amount
    scale: Literal["log", "linear"] = "log" if log else "linear"
    return AmountOverSeeds(mean=mean, half_width=half, seeds=seeds, lower=lower, upper=upper, scale=scale)


def _against_front(spread: Spread) -> AgainstFront:
    return AgainstFront(**spread.told._asdict(), step=_over_seeds(spread.step), line=_over_seeds(spread.line))


def _exact(exact: ExactPlace | None) -> AgainstExactFront | None:
    if exact is None:
        return None
    matched = {metric: _over_seeds(gap) for metric, gap in exact.matched.items()}
    distance = _over_seeds(exact.distance)
    return AgainstExactFront(label=exact.label, distance=distance, standing=exact.standing, matched=matched)


def _delta_m(drop: DeltaM | None) -> AgainstSingleTasks | None:
    if drop is None:
        return None
    by_metric = {metric: _over_seeds(own) for metric, own in drop.by_axis.items()}
    by_seed = {str(seed): own for seed, own in drop.by_seed.items()}
    return AgainstSingleTasks(**drop.mean._asdict(), by_seed=by_seed, by_metric=by_metric)


def _single(against: AgainstSingle | None) -> SingleTasks | None:
    if against is None:
        return None
    arms, measures, without = against.arms, against.measures, against.without
    return SingleTasks(arms=arms, measures=measures, without=without, words=note_words(against))


def _pair(pair: Pair, place: ArmPlace, words: str) -> ComparedPair:
    test, reach = pair.paired, pair.reach
    return ComparedPair(
        arm=pair.arm,
        baseline=pair.baseline,
        seeds=test.difference.seeds,
        ratio=_over_seeds(test.ratio),
        difference=_over_seeds(test.difference),
        p_value=test.p_value,
        p_adjusted=pair.p_adjusted,
        effect_size=test.effect_size,
        shown=pair.shown,
        whole=pair.whole,
        standing=place.standing,
        standing_words=standing_words(place),
        distance_p_value=place.test.p_value,
        distance_p_adjusted=place.p_adjusted,
        matched_p_adjusted={metric: gap.p_adjusted for metric, gap in place.gaps.items()},
        words=words,
        reach=CostToReach(seconds=_over_seeds(reach.seconds), trials=reach.trials, reached=reach.reached, of=reach.of),
    )


def _gradients(angles: Angles | None) -> GradientsOfTerms | None:
    if angles is None:
        return None
    cosine, words = _over_seeds(angles.cosine), conflict_words(angles)
    return GradientsOfTerms(cosine=cosine, negative=angles.negative, ratio=angles.ratio, words=words)


def _verified(own: Verified | None) -> VerifiedCurve | None:
    if own is None:
        return None
    gaps = own.gaps
    return VerifiedCurve(
        places=[CurveAtPlace(where=where, differences=_by_metric(own)) for where, own in gaps.places],
        differences=_by_metric(gaps.differences),
        matched=_by_metric(gaps.matched),
        distance=_over_seeds(gaps.distance),
        reached=gaps.reached,
        counts=TrialCounts(**own.counts._asdict()),
        training_seconds=own.training_seconds,
        words=own.words,
    )


def _by_metric(intervals: Mapping[str, Interval]) -> dict[str, OverSeeds]:
    return {metric: _over_seeds(own) for metric, own in intervals.items()}


def _arm(arm: ArmCompared, index: int) -> ComparedArm:
    result, place = arm.result, arm.place.place
    colour, symbol = arm_style(index)
    return ComparedArm(
        name=result.name,
        colour=colour,
        symbol=symbol,
        automatic=arm.automatic,
        counts=TrialCounts(**arm.counts._asdict()),
        best=result.best,
        best_over_seeds=_by_metric(result.best_over_seeds),
        optimism=result.optimism,
        front_share=result.front_share,
        on_front=result.on_front,
        hypervolume=HypervolumeOverSeeds(
            **result.hypervolume._asdict(),
            all_seeds=result.hypervolume_all_seeds,
            by_seed={str(seed): volume for seed, volume in result.by_seed.items()},
        ),
        epsilon=arm.place.indicators.epsilon.mean,
        epsilon_over_seeds=_over_seeds(arm.place.indicators.epsilon),
        igd_plus=arm.place.indicators.igd_plus.mean,
        igd_plus_over_seeds=_over_seeds(arm.place.indicators.igd_plus),
        distance=_against_front(place.distance),
        matched={metric: _against_front(gap) for metric, gap in place.matched.items()},
        dominated=place.dominated,
        dominated_over_seeds=ShareOverSeeds(**place.domination._asdict(), method="wilson"),
        beyond=place.beyond,
        amounts_to=place.amounts_to,
        amounts_to_over_seeds={key: _amount(amount) for key, amount in place.amounts.items()},
        lands_between={key: [_amount(end) for end in ends] for key, ends in place.between.items()},
        exact=_exact(arm.place.exact),
        draws_front=arm.place.draws_front,
        delta_m=_delta_m(arm.delta_m),
        mean_rank=None if arm.mean_rank is None else _over_seeds(arm.mean_rank),
        training_seconds=arm.training_seconds,
        trained_trials=arm.trained_trials,
        cost=CostSoFar(**arm.cost._asdict()),
        gradients=_gradients(arm.gradients),
        verified=_verified(arm.verified),
    )


def comparison_answer(view: View) -> ComparisonAnswer:
    comparison = compared(view)
    places = {arm.name: arm.place for arm in comparison.arms}
    return ComparisonAnswer(
        study=comparison.study,
        state=comparison.state,
        seeds=comparison.seeds,
        objectives=[ObjectiveAxis(**axis._asdict()) for axis in comparison.objectives],
        selection=comparison.chooser,
        selection_words=selection_words(comparison.chooser),
        lights={name: MetricLight(light=lit.light.name, words=lit.words) for name, lit in comparison.lights.items()},
        baseline=comparison.baseline,
        verdict=comparison.verdict,
        gradients=comparison.gradients,
        single=_single(comparison.single),
        arms=[_arm(arm, i) for i, arm in enumerate(comparison.arms)],
        pairs=[_pair(pair, places[pair.arm], comparison.words[pair.arm]) for pair in comparison.pairs],
        budget_seconds=view.study.limits.training_seconds,
    )
