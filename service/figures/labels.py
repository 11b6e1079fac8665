"""Words for trials and parameters: what tells a trial from its neighbours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from service.figures.parameters import is_number, key_label
from service.store.views import StudyView


def config_label(config: dict[str, Any], varied: set[str]) -> str:
    """`β 0.01`: what tells this configuration from the arm's others."""
    return " · ".join(
        f"{key.split('.')[-1].replace('beta', 'β')} {value:.4g}"
        if is_number(value)
        else f"{key.split('.')[-1]} {value}"
        for key, value in config.items()
        if key in varied
    )


def key_labels(keys: Iterable[str]) -> dict[str, str]:
    """Names of parameters, in full where two would be called the same."""
    short = {key: key_label(key) for key in keys}
    names = list(short.values())
    return {key: key if names.count(label) > 1 else label for key, label in short.items()}


def label_of(config: dict[str, Any], seed: int, varied: set[str]) -> str:
    """`β 0.01 · seed 2`: what tells this trial from its neighbours."""
    return " · ".join(filter(None, [config_label(config, varied), f"seed {seed}"]))


def varied_by_arm(view: StudyView) -> dict[str, set[str]]:
    """The configuration keys that differ between the trials of each arm."""
    return view.memo("varied keys", lambda: _varied_by_arm(view))


def _varied_by_arm(view: StudyView) -> dict[str, set[str]]:
    first: dict[str, dict[str, Any]] = {}
    varied: dict[str, set[str]] = {arm.name: set() for arm in view.study.arms}
    for trial in view.trials.values():
        arm, config = trial.planned.arm, trial.planned.config
        seen, differ = first.setdefault(arm, dict(config)), varied[arm]
        for key, value in config.items():
            if key not in differ and seen.setdefault(key, value) != value:
                differ.add(key)
    return varied


def varied_keys(view: StudyView, arm: str) -> set[str]:
    return varied_by_arm(view)[arm]


def labels_of(view: StudyView, trials: Iterable[str] | None = None) -> dict[str, str]:
    """Labels of these trials, of all without any."""
    varied = varied_by_arm(view)
    chosen = view.trials if trials is None else trials
    plans = ((trial, view.trials[trial].planned) for trial in chosen)
    return {trial: label_of(plan.config, plan.seed, varied[plan.arm]) for trial, plan in plans}
