"""Of learning curves, reported epoch by epoch; the finding must have kept the metric's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from findings.expression import Question
from findings.quantities.metrics import BySeed, best_points, over_seeds, times, title
from findings.quantities.quantity import Quantity
from findings.wording import Said, mean
from service.contract.wording.numbers import number, setting
from service.figures.convergence import epochs_to_reach
from service.views.trial import TrialView


def _check_kept(question: Question, metric: str) -> None:
    if metric not in question.finding.curves:
        kept = ", ".join(question.finding.curves) or "none"
        raise ValueError(f"the reports of {metric} were not kept (curves: {kept}); name it under `curves`")


def _of_seeds(question: Question, of_trial: Callable[[TrialView], float | None], *arms: str) -> dict[int, float | None]:
    """Means over the trials of each seed; none where a trial of it has none."""
    _check_kept(question, question.metric)
    groups: dict[int, list[float | None]] = {}
    for trial_id in question.alike(*arms):
        trial = question.view.trials[trial_id]
        groups.setdefault(trial.planned.seed, []).append(of_trial(trial))
    return {
        seed: None if None in own else float(np.mean([value for value in own if value is not None]))
        for seed, own in groups.items()
    }


def _reached(question: Question, arm: str) -> dict[int, float | None]:
    (threshold,) = question.given.numbers
    return _of_seeds(question, lambda trial: epochs_to_reach(trial, question.metric, threshold), arm)


def _reached_by_choice(question: Question, arm: str) -> dict[int, float | None]:
    """In each seed of the trial whose metric is best in the end by what the study chooses by, as `best` has it."""
    (threshold,) = question.given.numbers
    _check_kept(question, question.metric)
    trials = {seed: question.view.trials[point.trial] for seed, point in best_points(question, arm).items()}
    return {seed: epochs_to_reach(trial, question.metric, threshold) for seed, trial in trials.items()}


def epochs(question: Question) -> Said:
    return _mean_epochs(_reached(question, question.arm), question)


def chosen_epochs(question: Question) -> Said:
    return _mean_epochs(_reached_by_choice(question, question.arm), question)


def _mean_epochs(by_seed: dict[int, float | None], question: Question) -> Said:
    """Over all seeds or not at all: without those that never reach it, the mean would flatter."""
    never = sum(value is None for value in by_seed.values())
    if never:
        return Said(f"never in {never} of {len(by_seed)} seeds")
    return mean(over_seeds(_known(by_seed)), question.seeds)


def epochs_by_seed(question: Question) -> Said:
    by_seed = _reached(question, question.arm)
    return Said(" ".join("never" if value is None else number_of(value) for value in by_seed.values()))


def number_of(value: float) -> str:
    return str(int(value)) if value.is_integer() else number(value)


def fewer(question: Question) -> Said:
    return _times_fewer(question, _reached)


def chosen_fewer(question: Question) -> Said:
    return _times_fewer(question, _reached_by_choice)


def _times_fewer(question: Question, reached: Callable[[Question, str], dict[int, float | None]]) -> Said:
    one, other = (reached(question, arm) for arm in question.given.arms)
    if None in {*one.values(), *other.values()}:
        raise ValueError(f"{question.metric} {setting(question.given.numbers[0])} is not reached in every seed by both")
    return times(_known(other), _known(one), question.seeds)


def _known(by_seed: dict[int, float | None]) -> BySeed:
    return {seed: value for seed, value in by_seed.items() if value is not None}


def _series(question: Question, trial: TrialView, wanted: Callable[[float], bool]) -> float | None:
    """Mean of the metric over the reports of the epochs that are wanted."""
    known = [value for epoch, value in trial.path(question.metric).items() if wanted(epoch)]
    return float(np.mean(known)) if known else None


def over_epochs(question: Question) -> Said:
    by_seed = _of_seeds(question, lambda trial: _series(question, trial, lambda _: True), *question.given.arms)
    return mean(over_seeds(_known(by_seed)), question.seeds)


def at_epoch(question: Question) -> Said:
    (epoch,) = question.given.numbers
    by_seed = _of_seeds(question, lambda trial: _series(question, trial, lambda e: e == epoch), *question.given.arms)
    if not _known(by_seed):
        raise ValueError(f"no report of epoch {setting(epoch)} has {question.metric}")
    return mean(over_seeds(_known(by_seed)), question.seeds)


def _to(question: Question) -> str:
    return f"epochs to {title(question)} {setting(question.given.numbers[0])}"


QUANTITIES = [
    Quantity(
        "epochs(METRIC; NUMBER; ARM; [CONDITION…]; [all])",
        "until the metric is at least so much, mean over seeds",
        epochs,
        _to,
    ),
    Quantity(
        "epochs by seed(METRIC; NUMBER; ARM; [CONDITION…]; [all])", "the same, one value per seed", epochs_by_seed, _to
    ),
    Quantity(
        "times fewer epochs(METRIC; NUMBER; ARM; ARM; [CONDITION…]; [all])",
        "epochs of the second arm over those of the first, geometric mean over seeds and 95 % interval",
        fewer,
    ),
    Quantity(
        "chosen epochs(METRIC; NUMBER; ARM; [CONDITION…])",
        "the same, in each seed of the configuration that is best in the end by the split that chooses",
        chosen_epochs,
        _to,
    ),
    Quantity(
        "times fewer chosen epochs(METRIC; NUMBER; ARM; ARM; [CONDITION…])",
        "of these, as times fewer epochs",
        chosen_fewer,
    ),
    Quantity(
        "over epochs(METRIC; [ARM]; [CONDITION…]; [all])",
        "mean over all epochs, then over seeds",
        over_epochs,
        lambda q: f"{title(q)}, mean over epochs",
    ),
    Quantity(
        "at epoch(METRIC; NUMBER; [ARM]; [CONDITION…]; [all])",
        "mean over seeds after that epoch",
        at_epoch,
        lambda q: f"{title(q)} after epoch {setting(q.given.numbers[0])}",
    ),
]
