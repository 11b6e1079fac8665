"""Words for trials and parameters: what tells a trial from its neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from service.contract.wire.events import Where
from service.contract.wording.keys import key_label, weight_keys
from service.contract.wording.lists import listed
from service.contract.wording.numbers import setting
from service.views.selectors import varied_by_arm
from service.views.view import View

MOST_NAMED = 4  # parameters of a group that are named one by one
AT_THE_MIDDLE = "trials with many points: at the middle of their range"  # where one value stands for all of theirs


def config_label(config: Mapping[str, object], varied: set[str]) -> str:
    """`β 0.01`: what tells this configuration from the arm's others."""
    return " · ".join(f"{key_label(key)} {setting(value)}" for key, value in config.items() if key in varied)


def key_labels(keys: Iterable[str]) -> dict[str, str]:
    """Names of parameters, in full where two would be called the same."""
    short = {key: key_label(key) for key in keys}
    names = list(short.values())
    return {key: key if names.count(label) > 1 else label for key, label in short.items()}


def joint_labels(groups: Iterable[Sequence[str]]) -> dict[str, Sequence[str]]:
    """Groups of parameters by a name each: `β`, `weights of left and right`."""
    groups = list(groups)
    labels = key_labels([key for group in groups for key in group])
    return {_joint_label([labels[key] for key in group]): group for group in groups}


def _joint_label(labels: Sequence[str]) -> str:
    start = "weight of "
    if len(labels) > 1 and all(label.startswith(start) for label in labels):
        return f"weights of {_joint_label([label.removeprefix(start) for label in labels])}"
    more = len(labels) - MOST_NAMED
    return listed([*labels[:MOST_NAMED], f"{more} more"] if more > 0 else labels)


def place_label(where: Where | None) -> str:
    """`β 0.01`, `left 0.3 · right 0.7`: where on its trial's curve; empty for a trial that is a single point."""
    return _place_label(tuple(where.items())) if where else ""


@lru_cache(maxsize=4096)  # curves of many trials have the same places
def _place_label(where: tuple[tuple[str, float], ...]) -> str:
    return " · ".join(f"{key_label(key)} {setting(value)}" for key, value in where)


def point_label(where: Where | None, label: str) -> str:
    """`β 0.01 · seed 2`: where a point lies on its trial's curve, and which trial that is."""
    return " · ".join(filter(None, [place_label(where), label]))


def label_of(config: Mapping[str, object], seed: int, varied: set[str]) -> str:
    """`β 0.01 · seed 2`: what tells this trial from its neighbours."""
    return " · ".join(filter(None, [config_label(config, varied), f"seed {seed}"]))


def labels_of(view: View, trials: Iterable[str] | None = None) -> dict[str, str]:
    """Labels of these trials, of all that are compared without any; what verifies a curve by its place."""
    varied = varied_by_arm(view)
    chosen = view.trials if trials is None else dict.fromkeys(trials)  # of a curve each point has its trial
    plans = ((trial, view.all_trials[trial].planned) for trial in chosen)
    return {
        t: label_of(plan.config, plan.seed, varied[plan.arm] | (weight_keys(plan.config) if plan.verifies else set()))
        for t, plan in plans
    }
