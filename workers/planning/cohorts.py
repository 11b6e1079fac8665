"""Which trials train together: a pure plan from trials and slots to cohorts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise
from math import ceil

from service.contract.methods.own_problems import OwnProblem
from service.contract.methods.weightings import Arml, DbMtl, OfCurves, Weighting
from service.contract.study.expansion import PlannedTrial
from service.contract.study.extension import depends_on_epochs
from service.contract.study.study import Training

# From 16 members on a step costs about the same per member; larger cohorts only make first results and losses bigger.
LARGEST = 32

Cohort = list[PlannedTrial]


class TooLarge(Exception):
    """A cohort whose members do not fit together where it was to train; nothing of it has been trained."""

    def __init__(self, message: str, most: int) -> None:
        super().__init__(message)
        self.most = most  # members that do


def plan(trials: Sequence[PlannedTrial], slots: int, size: int | None = None) -> list[Cohort]:
    """Cohorts of trials that can train together, those with the most work first.

    Sizes are even and such that every slot has work. `size`, the study's own wish, is the most members of a
    cohort; without it the plan fills all slots in as few rounds as `LARGEST` allows.
    A trial whose model does not stack is a cohort of one.
    """
    if slots < 1:
        raise ValueError(f"slots must be at least 1, got {slots}")
    if not trials:
        return []
    groups: dict[Hashable, Cohort] = {}
    for trial in trials:
        groups.setdefault(_shape(trial), []).append(trial)
    wanted = 0 if size else min(len(trials), slots * ceil(len(trials) / (slots * LARGEST)))
    most = size or ceil(len(trials) / wanted)
    parts = {shape: ceil(len(group) / most) for shape, group in groups.items()}
    while sum(parts.values()) < wanted:
        parts[max(groups, key=lambda shape: len(groups[shape]) / parts[shape])] += 1
    cohorts = [cohort for shape, group in groups.items() for cohort in _cut(group, parts[shape])]
    return sorted(cohorts, key=_work, reverse=True)


USUAL_BETAS = (Training.model_fields["beta1"].default, Training.model_fields["beta2"].default)


def _shape(trial: PlannedTrial) -> Hashable:
    """What the members of a cohort share. Weightings of different cost stay apart: the cheap ones must
    not pay for what they do not use, or the arms' costs could not be compared."""
    training = trial.training
    return (
        trial.problem.model_dump_json(),
        trial.model.model_dump_json(),
        (training.epochs, training.batch_size, training.optimizer, training.feedback, training.best),
        (
            training.momentum > 0,
            (training.beta1, training.beta2) == USUAL_BETAS,
            training.clip is None,
            training.average > 0,
            training.flip or training.shift > 0,
        ),  # cost of a step
        training.balance and training.balance.model_dump_json(),
        _cost_class(trial.weighting),
        told_class(trial.weighting),
        depends_on_epochs(trial),  # more epochs begin these anew, and let the others go on from their common state
        trial.id if runs_alone(trial) or not trial.model.stacks else None,
    )


def smaller(cohort: Cohort, most: int) -> list[Cohort]:
    """The same members in cohorts of at most this many."""
    return _cut(cohort, ceil(len(cohort) / most))


def are_alike(one: Cohort, other: Cohort) -> bool:
    """Whether what fits for one fits for the other."""
    return _shape(one[0]) == _shape(other[0])


def runs_alone(trial: PlannedTrial) -> bool:
    """Whether it is a script of the study's own code, which trains by itself."""
    return isinstance(trial.problem, OwnProblem) and trial.problem.is_script


def _cost_class(weighting: Weighting) -> Hashable:
    """Weightings whose steps cost about the same: ours by the Gram matrix they need, torchjd's each by its name."""
    if hasattr(weighting, "adapter"):
        return weighting.name, getattr(weighting, "method", None)  # of CR-MOGM, which costs what it smooths
    halves = isinstance(weighting, Arml) and weighting.gram == "halves"
    return weighting.needs_gram, halves, isinstance(weighting, DbMtl)  # which averages gradients


def told_class(weighting: Weighting) -> Hashable:
    """What decides the layers of a model that is told where it is, and how many points it reports."""
    if not isinstance(weighting, OfCurves):
        return None
    return weighting.model_dump_json(exclude={"beta": {"from_", "to"}, "mu": True, "verify": True})


def _cut(group: Cohort, parts: int) -> list[Cohort]:
    """`parts` pieces whose sizes differ by at most one."""
    bounds = [i * len(group) // parts for i in range(parts + 1)]
    return [group[start:end] for start, end in pairwise(bounds)]


def _work(cohort: Cohort) -> int:
    return len(cohort) * cohort[0].training.epochs
