"""The comparison of a study's arms, as the API answers it."""

from __future__ import annotations

from service.analysis import Pair
from service.analysis.compared import ArmCompared, compared
from service.contract.wire.answers.comparison import (
    ComparedArm,
    ComparedPair,
    ComparisonAnswer,
    CostSoFar,
    CostToReach,
    HypervolumeOverSeeds,
    ObjectiveAxis,
    OverSeeds,
)
from service.contract.wire.answers.studies import TrialCounts
from service.contract.wording.palette import arm_style
from service.views.view import View


def _pair(pair: Pair, words: str) -> ComparedPair:
    test, reach = pair.paired, pair.reach
    return ComparedPair(
        arm=pair.arm,
        baseline=pair.baseline,
        seeds=test.difference.seeds,
        ratio=OverSeeds(**test.ratio._asdict()),
        difference=OverSeeds(**test.difference._asdict()),
        p_value=test.p_value,
        p_adjusted=pair.p_adjusted,
        effect_size=test.effect_size,
        shown=pair.shown,
        whole=pair.whole,
        words=words,
        reach=CostToReach(
            seconds=OverSeeds(**reach.seconds._asdict()), trials=reach.trials, reached=reach.reached, of=reach.of
        ),
    )


def _arm(arm: ArmCompared, index: int) -> ComparedArm:
    result = arm.result
    colour, symbol = arm_style(index)
    return ComparedArm(
        name=result.name,
        colour=colour,
        symbol=symbol,
        automatic=arm.automatic,
        counts=TrialCounts(**arm.counts._asdict()),
        best=result.best,
        front_share=result.front_share,
        on_front=result.on_front,
        hypervolume=HypervolumeOverSeeds(
            **result.hypervolume._asdict(),
            all_seeds=result.hypervolume_all_seeds,
            by_seed={str(seed): volume for seed, volume in result.by_seed.items()},
        ),
        training_seconds=arm.training_seconds,
        trained_trials=arm.trained_trials,
        cost=CostSoFar(**arm.cost._asdict()),
    )


def comparison_answer(view: View) -> ComparisonAnswer:
    comparison = compared(view)
    return ComparisonAnswer(
        study=comparison.study,
        state=comparison.state,
        seeds=comparison.seeds,
        objectives=[ObjectiveAxis(**axis._asdict()) for axis in comparison.objectives],
        baseline=comparison.baseline,
        verdict=comparison.verdict,
        arms=[_arm(arm, i) for i, arm in enumerate(comparison.arms)],
        pairs=[_pair(pair, comparison.words(pair)) for pair in comparison.pairs],
    )
