"""The arms of a view against training each of their tasks alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from service.analysis.candidates import of_trials
from service.analysis.delta_m import AgainstSingle, Alone, alone_in, chosen_by_seed, delta_m, mean_ranks
from service.analysis.fronts import Axis, Trial, points_of
from service.contract.methods.problems import Multitask
from service.contract.methods.weightings import REFERENCES
from service.contract.metrics import Kind, Metric, metric
from service.contract.study.study import Arm, Study
from service.views.selectors import lost_seeds
from service.views.trial import TrialView
from service.views.view import View

TASK = "weighting.task"  # of a single trial's configuration


def single_arms(study: Study) -> list[str]:
    """Arms that others are measured against task by task."""
    return [arm.name for arm in study.arms if arm.weighting.name in REFERENCES]


def reference_arms(study: Study) -> list[str]:
    """Those of them that are no rivals on the front either, since they draw none: all but a named baseline."""
    return [name for name in single_arms(study) if name != study.baseline]


def against_single(view: View) -> AgainstSingle | None:
    """None without a single arm, and where studies were measured on different data."""
    return view.memo("single tasks", lambda: _against_single(view))


def _against_single(view: View) -> AgainstSingle | None:
    study, single = view.study, single_arms(view.study)
    trials = [(trial_id, trial) for trial_id, trial in view.trials.items() if trial.planned.arm in single]
    tasks = list(dict.fromkeys(task for _, trial in trials if (task := trial.planned.config.get(TASK)) is not None))
    if not tasks or not view.alike:
        return None
    measured = [arm for arm in study.arms if arm.name not in single and _has_all(arm, tasks)]
    concerned = [*measured, *(arm for arm in study.arms if arm.name in single)]
    axes = [_axis(study, task, concerned) for task in tasks]
    alone = dict(_alone(study, trials, tasks, axes))
    names = [arm.name for arm in measured]
    points = points_of([each for each in _ended(view.trials.items()) if each.arm in names], axes)
    chosen = chosen_by_seed(points, alone, axes)
    return AgainstSingle(
        arms=single,
        measures={task: axis.metric for task, axis in zip(tasks, axes, strict=True)},
        without=[seed for seed in study.seeds if seed not in alone and _over(trials, seed)],
        delta_m={name: delta_m(chosen.get(name, {}), alone, axes) for name in names},
        mean_rank=mean_ranks(chosen, names, alone, axes, lost_seeds(view)),
    )


def _has_all(arm: Arm, tasks: Sequence[str]) -> bool:
    """Δm over fewer tasks would be another quantity: an arm that lacks one has none."""
    return isinstance(arm.problem, Multitask) and set(tasks) <= set(arm.problem.terms)


def measure_of(study: Study, arm: Arm, task: str) -> Metric:
    """How a task is measured on the test split: by its accuracy where it has one, else by its loss."""
    rows = [row for name in study.metrics_of(arm) if (row := metric(name)) and row.measured and row.quantity == task]
    by_kind = {row.kind: row for row in reversed(rows)}
    return by_kind.get(Kind.ACCURACY) or by_kind[Kind.LOSS]


def _axis(study: Study, task: str, arms: Sequence[Arm]) -> Axis:
    """Chosen by the validation split where there is one; better is what the metric says, whatever the study's goals."""
    own = [arm for arm in arms if task in arm.problem.terms]
    row = measure_of(study, own[0], task)
    chooser = study.chosen_by(row.name, own)
    return Axis(row.name, row.goal, None, None if chooser == row.name else chooser)


def _ended(trials: Iterable[tuple[str, TrialView]]) -> list[Trial]:
    """Of trials that were trained to their end: half a training is no drop."""
    return list(of_trials((trial_id, trial) for trial_id, trial in trials if trial.state.is_over()))


def _alone(
    study: Study, trials: Sequence[tuple[str, TrialView]], tasks: Sequence[str], axes: Sequence[Axis]
) -> Iterator[tuple[int, Alone]]:
    by_task = [_ended([each for each in trials if each[1].planned.config.get(TASK) == task]) for task in tasks]
    points = [points_of(own, [axis]) for own, axis in zip(by_task, axes, strict=True)]
    for seed in study.seeds:
        if alone := alone_in([[point for point in own if point.seed == seed] for own in points], axes):
            yield seed, alone


def _over(trials: Sequence[tuple[str, TrialView]], seed: int) -> bool:
    """All single trials of the seed have ended."""
    return all(trial.is_over for _, trial in trials if trial.planned.seed == seed)
