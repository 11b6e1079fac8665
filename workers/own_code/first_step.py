"""The first step of an arm, really taken: some members together and the first of them alone; of a script, its first
report."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import torch
from torch import Tensor

from service.contract.methods.own_problems import OwnProblem
from service.contract.parameters.axes import Choice
from service.contract.study.expansion import PlannedTrial, Slot, expand, resolve, searched
from service.contract.study.study import Arm, Evaluation, Study
from service.contract.wire.errors import InvalidInput
from service.contract.wire.tried_arms import Outcome
from service.contract.wording.numbers import number
from workers.own_code.cohort import OwnCohort
from workers.own_code.loaded import LoadedCode
from workers.own_code.script import run_script
from workers.own_code.time_limit import TookTooLong, within
from workers.planning.cohorts import plan
from workers.training.loop import Trained, cohort_of

MEMBERS = 4  # that take a step together, at most
SETTINGS = 4  # of problem, model and training, each a cohort of its own, that are tried of an arm, at most
FEW = {"samples": 2, "estimator_samples": 100, "attack_images": 16}  # it is tried, not measured
SMALL = 1e-3  # below which a difference is counted as it is, in thousandths
CPU = torch.device("cpu")


def trials_of(study: Study, arm: Arm) -> list[PlannedTrial]:
    """Of a search with the first value of each of its ranges."""
    return [
        trial if isinstance(trial, PlannedTrial) else resolve(trial, _first(trial))
        for trial in expand(study)
        if trial.arm == arm.name
    ]


def _first(slot: Slot) -> dict[str, object]:
    """Of a choice of weightings the first, with the first of its own."""
    values: dict[str, object] = {}
    while axes := {key: axis for key, axis in searched(slot, values).items() if key not in values}:
        values |= {key: axis.choice[0] if isinstance(axis, Choice) else axis.ends()[0] for key, axis in axes.items()}
    return values


def tried_script(code: LoadedCode, trial: PlannedTrial, seconds: int) -> Outcome:
    """Its first report, if it makes one in time. InvalidInput where it fails before."""
    reports = run_script(code, trial)
    try:
        with within(seconds):
            report = next(reports)
    except TookTooLong:
        return Outcome(words=f"a script: it had made no report after {seconds} s, and was ended")
    finally:
        reports.close()  # type: ignore[attr-defined]  # a generator
    if report.failures:
        raise InvalidInput(f"arm {trial.arm!r}: {report.failures[trial.id]}")
    metrics = {name: value for name, value in report.metrics[trial.id].items() if name in trial.problem.metrics}
    words = ", ".join(f"{name} {number(value)}" for name, value in metrics.items())
    return Outcome(words=f"a script: it reports {words}", first_metrics=metrics)


def tried_arm(study: Study, trials: Sequence[PlannedTrial], code: LoadedCode | None) -> Outcome:
    """What the first step of each of its settings gave; of the first in numbers too."""
    begun = time.perf_counter()
    settings: dict[str, list[PlannedTrial]] = {}
    for cohort in plan(trials, slots=1):
        settings.setdefault(_setting(cohort[0]), cohort[:MEMBERS])
    outcomes = [_taken(study, members, code) for members in islice(settings.values(), SETTINGS)]
    words = "; ".join(dict.fromkeys(outcome.words for outcome in outcomes))
    if len(settings) > SETTINGS:
        words += f"; {len(settings) - SETTINGS} other settings were not tried"
    measured = {"words": words, "settings": len(outcomes), "took": time.perf_counter() - begun}
    return outcomes[0].model_copy(update=measured)


def _setting(trial: PlannedTrial) -> str:
    parts = (trial.problem, trial.model, trial.training.model_copy(update={"learning_rate": 1.0}))
    return "\n".join(part.model_dump_json() for part in parts)


class Taken(NamedTuple):
    """The first member's losses and weights of a step [n], and what was measured of it afterwards."""

    losses: list[float]
    weights: list[float]
    measured: dict[str, float]


def _taken(study: Study, members: Sequence[PlannedTrial], code: LoadedCode | None) -> Outcome:
    first = members[0]
    cohort = _cohort(study, members, code)
    together, terms = taken(cohort, study.evaluation), cohort.problem.terms
    for term, loss in zip(terms, together.losses, strict=True):
        if not math.isfinite(loss):
            raise InvalidInput(f"arm {first.arm!r}: loss_{term} is not finite in the first step: it would fail")
    apart = apart_from(together, taken(_cohort(study, members[:1], code), study.evaluation)) if members[1:] else 0.0
    own = first.problem.metrics if isinstance(first.problem, OwnProblem) else first.problem.objectives
    shown = {name: value for name, value in together.measured.items() if name in own}
    weighed = zip(terms, together.losses, together.weights, strict=True)
    step = ", ".join(f"{term} {number(loss)} × {number(weight)}" for term, loss, weight in weighed)
    as_alone = f"{len(members)} members together as alone to {number(apart)}" if members[1:] else "one member"
    then = ", ".join(f"{name} {number(value)}" for name, value in shown.items())
    return Outcome(
        words=f"{cohort}; a step was taken ({step}), {as_alone}; then {then}",
        stacks=cohort.stacks if isinstance(cohort, OwnCohort) else len(members) > 1,
        apart=apart,
        losses=dict(zip(terms, together.losses, strict=True)),
        weights=dict(zip(terms, together.weights, strict=True)),
        first_metrics=shown,
    )


def taken(cohort: Trained, evaluation: Evaluation) -> Taken:
    """A step, and all that the study measures, of few examples."""
    losses, weights = (tensor[0, 0].tolist() for tensor in one_step(cohort))
    few = evaluation.model_copy(update=FEW)
    measured = {name: column[0] for name, column in cohort.evaluate(few, 1, last=True).items()}
    return Taken(losses, weights, measured)


def apart_from(together: Taken, alone: Taken) -> float:
    """The largest difference of anything in them, in units of its size."""
    pairs = [
        *zip(together.losses + together.weights, alone.losses + alone.weights, strict=True),
        *((together.measured[name], value) for name, value in alone.measured.items()),
    ]
    known = [(a, b) for a, b in pairs if math.isfinite(a) and math.isfinite(b)]
    return max((abs(a - b) / max(abs(b), SMALL) for a, b in known), default=0.0)


def _cohort(study: Study, members: Sequence[PlannedTrial], code: LoadedCode | None) -> Trained:
    return cohort_of(members, study.data, CPU, study.evaluation.gradients, code)


def one_step(cohort: Trained) -> tuple[Tensor, Tensor]:
    """Losses and weights [1, K, n] of an epoch whose first batch is its last: schedule, weighting and optimiser."""
    source, name = (cohort._passes, "epoch") if isinstance(cohort, OwnCohort) else (cohort.problem, "batches")
    whole = getattr(source, name)
    setattr(source, name, lambda *how: islice(whole(*how), 1))
    try:
        return cohort.train_epoch(1)
    finally:
        setattr(source, name, whole)
