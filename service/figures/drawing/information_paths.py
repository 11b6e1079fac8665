"""What the information plane shows: paths of trials over epochs, their ends, and the mean of an arm's seeds."""

from __future__ import annotations

import math
from typing import NamedTuple

from service.analysis import Interval, mean_interval
from service.analysis.lights import worst_light
from service.analysis.truth import Curve, curves, label_entropy
from service.contract.metrics import EPOCH, I_XZ, I_ZY
from service.contract.wire.events import Where
from service.contract.wording.lights import Light
from service.figures.drawing.configurations import finite
from service.figures.drawing.shades import Shading, shading_of
from service.figures.drawing.style import short
from service.figures.drawing.trial_labels import labels_of, point_label
from service.views.selectors import varied_by_arm
from service.views.trial import TrialView
from service.views.view import View

X, Y = I_XZ, I_ZY
SMALLEST_BITS = 1e-2  # a log axis needs x above 0
MANY = 300  # trials; of more, a sample of paths is drawn
SAMPLE = 150
PATH_POINTS = 6_000  # of all paths together


class Path(NamedTuple):
    """Over a trial's epochs; of a trial with many points, along its last curve."""

    trial: str
    x: list[float]
    y: list[float]


class End(NamedTuple):
    """Where a trial ended; a trial with many points ends at each of them."""

    trial: str
    label: str
    epoch: int
    x: float
    y: float
    where: Where | None = None


class Mean(NamedTuple):
    """Of the ends of an arm's seeds."""

    x: Interval
    y: Interval


class ArmPlane(NamedTuple):
    name: str
    paths: list[Path]  # those drawn
    ends: list[End]  # of all trials that did not fail
    mean: Mean | None  # where the trials differ in nothing but their seed
    shading: Shading | None


class PlaneData(NamedTuple):
    arms: list[ArmPlane]
    trials: int  # that reported both
    drawn: int  # of which a path is drawn
    thinned: bool  # some epochs of the paths are left out
    curves: int  # trials with many points, whose line goes along their curve
    seeds: int
    truth: list[Curve]
    entropy: float | None  # H(Y) in bits, where it is known
    light: Light | None = None  # the worst of the estimates of I(X;Z)


def step_of(trials: int, arms: int, all_trials: int) -> int:
    """Every how many of an arm's planned trials a path is drawn; by the plan, so that no path goes as others come."""
    return 1 if all_trials <= MANY else math.ceil(trials / max(1, SAMPLE // arms))


def few(count: int, most: int) -> list[int]:
    """Places of a path that are drawn: the step doubles, so that they change rarely as epochs come; the last is one."""
    step = 1
    while count > most * step:
        step *= 2
    return [i for i in range(count) if i % step == 0 or i == count - 1]


def _steps(trial: TrialView, only_last: bool) -> list[tuple[int, float, float]]:
    """Evaluated epochs with finite values: (epoch, x, y)."""
    steps = []
    for report in reversed(trial.reports) if only_last else trial.reports:
        x, y, epoch = report.get(X), report.get(Y), report.get(EPOCH)
        if finite(x) and finite(y):
            steps.append((int(epoch) if finite(epoch) else 0, max(x, SMALLEST_BITS), y))
            if only_last:
                break
    return steps


def _curve(trial_id: str, trial: TrialView, label: str) -> list[End]:
    """A trial's last curve, as far as it was measured, in order."""
    epoch = trial.reports[max(trial.curves)].get(EPOCH)
    measured = [(point["where"], point["metrics"].get(X), point["metrics"].get(Y)) for point in trial.points]
    return [
        End(trial_id, point_label(where, label), int(epoch or 0), max(x, SMALLEST_BITS), y, where)
        for where, x, y in measured
        if finite(x) and finite(y)
    ]


def _path_along(trial_id: str, curve: list[End]) -> Path:
    return Path(trial_id, [short(end.x) for end in curve], [short(end.y) for end in curve])


def _arm(view: View, name: str, own: dict[str, TrialView], most: int) -> tuple[ArmPlane, int, bool]:
    """An arm, how many of its trials reported, and whether epochs were left out."""
    step = step_of(len(own), len(view.study.arms), len(view.trials))
    paths: list[Path] = []
    ends: list[End] = []
    reported, thinned = 0, False
    labels = labels_of(view, own)
    for i, (trial_id, trial) in enumerate(own.items()):
        if trial.points and (curve := _curve(trial_id, trial, labels[trial_id])):
            reported += 1
            paths += [_path_along(trial_id, curve)] if i % step == 0 else []
            ends += curve if not trial.cut_short else []
            continue
        steps = _steps(trial, only_last=i % step > 0)
        if not steps:
            continue
        reported += 1
        epoch, x, y = steps[-1]
        if i % step == 0:
            kept = [steps[place] for place in few(len(steps), most)]
            thinned |= len(kept) < len(steps)
            paths.append(Path(trial_id, [short(x) for _, x, _ in kept], [short(y) for _, _, y in kept]))
        if not trial.cut_short:
            ends.append(End(trial_id, labels[trial_id], epoch, x, y))
    alone = not varied_by_arm(view)[name] and len(ends) > 1 and not any(end.where for end in ends)
    mean = Mean(mean_interval([end.x for end in ends]), mean_interval([end.y for end in ends])) if alone else None
    return ArmPlane(name, paths, ends, mean, shading_of(view, name)), reported, thinned


def plane_data(view: View) -> PlaneData:
    """A failed trial keeps the path it had and has no end."""
    by_arm: dict[str, dict[str, TrialView]] = {arm.name: {} for arm in view.study.arms}
    for trial_id, trial in view.trials.items():
        by_arm[trial.planned.arm][trial_id] = trial
    drawn = min(len(view.trials), SAMPLE if len(view.trials) > MANY else MANY)
    most = max(8, PATH_POINTS // max(1, drawn))
    parts = [_arm(view, name, own, most) for name, own in by_arm.items()]
    arms = [arm for arm, _, _ in parts]
    farthest = max((end.x for arm in arms for end in arm.ends), default=1.0)
    return PlaneData(
        arms,
        sum(reported for _, reported, _ in parts),
        sum(len(arm.paths) for arm in arms),
        any(thinned for _, _, thinned in parts),
        sum(bool(trial.points) for trial in view.trials.values()),
        len({trial.planned.seed for trial in view.trials.values()}),
        curves(view.study, X, Y, farthest) if view.alike else [],
        label_entropy(view.study.data) if view.alike else None,
        worst_light(view, X),
    )
