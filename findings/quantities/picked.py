"""What a picked point holds: its bound was kept on the split that chooses, what is shown is of the test split."""

from __future__ import annotations

from findings.expression import Question
from findings.quantities.metrics import over_seeds
from findings.quantities.quantity import Quantity
from findings.wording import Said, counted, mean
from service.analysis.candidates import candidates
from service.analysis.fronts import Point, axis_for, points_of
from service.analysis.picking import Bound, best, within


def picked(question: Question) -> list[Point]:
    """In each seed the trial with the best first objective among those whose metric is at least so much, on the axes
    of that objective and that metric."""
    (least,), study = question.given.numbers, question.view.study
    axes = [axis_for(study, study.objectives[0].metric), axis_for(study, question.metric)]
    own = [trial for trial in candidates(question.view) if trial.id in set(question.trials(*question.given.arms))]
    kept = within(points_of(own, axes), [Bound(1, True, least)])
    seeds = dict.fromkeys(point.seed for point in kept)
    return [best([point for point in kept if point.seed == seed], 0, axes[0].goal) for seed in seeds]


def _values(question: Question, axis: int) -> Said:
    return mean(over_seeds({point.seed: point.values[axis] for point in picked(question)}), question.seeds)


def keeping(question: Question) -> Said:
    """How many keep the bound on the test split too."""
    kept = [point.values[1] >= question.given.numbers[0] for point in picked(question)]
    return Said(counted(sum(kept), len(kept), [float(own) for own in kept]))


QUANTITIES = [
    Quantity(
        "picked(METRIC; NUMBER; [ARM…])",
        "the first objective where in each seed the metric is at least so much on the split that chooses and that "
        "objective is best, as the other split has it; mean over seeds",
        lambda q: _values(q, 0),
    ),
    Quantity("picked bound(METRIC; NUMBER; [ARM…])", "the metric there, on the other split", lambda q: _values(q, 1)),
    Quantity("picked keeping(METRIC; NUMBER; [ARM…])", "how many of these keep the bound there too", keeping),
]
