"""Studies in which nothing is as it should be: failed, collapsed, running and waiting trials, seeds that are lost, arms
with one trial beside arms with many, names that are markup. Played in this process, from fixed numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from service.contract.wire.events import Curve, Event
from service.store.protocol import Logged
from service.views.fold import StudyView
from service.views.overlay import Overlay
from service.views.view import View
from tests.service.studies import TASKS, bottleneck_of, event, study_of, view_of

START = datetime(2026, 1, 1, tzinfo=UTC)
Metrics = dict[str, float | None]
ENDS = ("trial_finished",) * 9
HELD = {"name": "digits", "validation_fraction": 0.2}


def grid(*betas: float, name: str = "manual β") -> dict[str, Any]:
    return {"name": name, "weighting": {"name": "fixed", "beta": {"grid": list(betas)}}}


def mib(*mus: float, name: str = "MIB") -> dict[str, Any]:
    own = {"mu": {"grid": list(mus)}} if mus else {}
    return {"name": name, "weighting": {"name": "mib", **own}}


class Play:
    """Tells a study's log, half a second between two events."""

    def __init__(self, view: StudyView) -> None:
        self.view, self.now = view, START
        self.tell(event("study_started"))

    def tell(self, happened: Event) -> None:
        self.now += timedelta(seconds=0.5)
        self.view.apply(Logged(self.view.seq + 1, self.now.isoformat(), happened))

    def trial(self, trial: str, reports: list[Metrics], end: str, curves: Mapping[int, Curve] | None = None) -> None:
        self.tell(event("trial_started", trial=trial, host="a" if len(trial) % 2 else "b"))
        for epoch, metrics in enumerate(reports, 1):
            points = {"points": (curves or {})[epoch]} if curves and epoch in curves else {}
            self.tell(event("report", trial=trial, metrics={"epoch": epoch, **metrics}, **points))
        if end:
            self.tell(event(end, trial=trial, **({"reason": "loss became <nan> & so on"} if "failed" in end else {})))


def bits(i: int, epoch: int, held: bool = True) -> Metrics:
    """Of the i-th trial: a rate, what it says of the label, accuracies, and what the held-out split shows of them."""
    chance = random.Random(1000 * i + epoch)
    rate = 40.0 / (1 + i % 6) ** 1.5 + 4.0 / epoch + chance.uniform(0, 2)
    label = 2.9 * rate / (rate + 5) - 0.2 * chance.random()
    accuracy = 0.2 + 0.22 * label
    shown = {"i_xz_bits": rate, "i_zy_bits": label, "accuracy": accuracy}
    own: Metrics = {
        **shown,
        "seconds": (0.2 + 0.1 * (i % 7)) * epoch,
        "i_xz_bits_stderr": 0.1,
        "i_zy_bits_stderr": 0.02,
        "test_examples": 360,
        "train_accuracy": accuracy + 0.05 * chance.random(),
        "generalization_gap": 0.04 * chance.random() - 0.01 * (i % 3),
        "loss_pred": 2.3 - 0.6 * label,
        "loss_info": 0.7 * rate,
        "weight_pred": 1.0 + 0.1 * (i % 2),
        "weight_info": 0.02 * (1 + i % 5) / epoch,
        "robust_pgd": accuracy * (0.5 + 0.1 * chance.random()),
        "robust_fgsm": accuracy * (0.6 + 0.1 * chance.random()),
        "robust_images": 200,
        "gradient_norm_pred": 0.5 + chance.random(),
        "gradient_norm_info": 2.0 * chance.random() + 0.1,
        "cosine_pred_info": chance.uniform(-1, 0.6),
        "balance_encoder-1": 0.4 / epoch,
        "balance_encoder-2": chance.random(),
    }
    if held:
        own |= {f"validation_{name}": value + 0.05 * chance.uniform(-1, 2) for name, value in shown.items()}
    return own


def play_bits(view: StudyView, ends: tuple[str, ...] = ENDS, epochs: int = 3, held: bool = True) -> StudyView:
    """The i-th trial ends as the i-th of `ends` says; `wait` has not begun, `collapse` carries nothing."""
    played = Play(view)
    for i, (trial, t) in enumerate(view.trials.items()):
        end = ends[i % len(ends)]
        if end == "wait":
            continue
        reports = [bits(i, epoch, held) for epoch in range(1, epochs + 1)]
        if end == "collapse":
            reports[-1] |= {"i_xz_bits": 0.01, "validation_i_xz_bits": 0.01, "i_zy_bits": -0.02}
        if i % 11 == 5:
            reports[-1] |= {"accuracy": None, "train_accuracy": None}
        if t.planned.arm == "no rate":
            reports = [{**report, "i_xz_bits": None, "validation_i_xz_bits": None} for report in reports]
        if end == "trial_failed":  # failed where it was best
            reports[-1] |= {"accuracy": 0.99, "validation_accuracy": 0.99, "i_zy_bits": 3.2, "i_xz_bits": 1.0}
        played.trial(trial, reports, {"collapse": "trial_finished", "run": ""}.get(end, end))
    return view


def troubled() -> View:
    evaluation = {"attacks": [{"name": "pgd"}, {"name": "fgsm"}], "gradients": True, "every": 2}
    none = {
        "name": "no rate",
        "problem": {"name": "bottleneck", "rate": "none"},
        "weighting": {"name": "fixed", "beta": 0},
    }
    arms = [grid(0.001, 0.01, 0.1, 1.0), mib(0.1, 0.2), {"name": "found", "weighting": {"name": "target-rate"}}, none]
    view = bottleneck_of(*arms, seeds=range(4), data=HELD, evaluation=evaluation, training={"balance": {}, "epochs": 3})
    ends = ("trial_finished", "trial_finished", "collapse", "trial_finished", "trial_failed", "run", "trial_finished")
    return play_bits(view, (*ends, "trial_finished", "wait", "trial_finished", "trial_finished"))


def finished(seeds: int, *arms: dict[str, Any], **spec: Any) -> View:
    view = bottleneck_of(
        *(arms or (grid(0.01, 0.1, 1.0), mib(), mib(0.1, 0.3, name="tuned MIB"))), seeds=range(seeds), **spec
    )
    play_bits(view, held="data" not in spec)
    view.apply(Logged(view.seq + 1, START.isoformat(), event("study_finished")))
    return view


def three_objectives() -> View:
    goals = [("i_xz_bits", "minimize"), ("i_zy_bits", "maximize"), ("accuracy", "maximize")]
    objectives = [{"metric": metric, "goal": goal} for metric, goal in goals]
    return finished(2, grid(0.01, 0.1, 1.0), mib(), objectives=objectives)


def many_arms() -> View:
    arms = [mib(name=f"<b>arm {i}</b> & co %{{x}}") for i in range(7)]
    return finished(3, grid(0.001, 0.1), *arms)


def long() -> View:
    """So many βs that bars are an area, from 0 on; so many epochs that some are left out."""
    betas = [0.0, *(10 ** (-3 + i / 12) for i in range(42))]
    view = bottleneck_of(grid(*betas), {"name": "zero", "weighting": {"name": "fixed", "beta": 0}}, seeds=range(2))
    return play_bits(view, epochs=2)


def epochs() -> View:
    return play_bits(bottleneck_of(mib(0.1, 0.2), grid(0.1), seeds=range(3)), epochs=140)


def searched() -> View:
    betas = {"range": {"from": 1e-4, "to": 1.0, "scale": "log"}}
    tuned = {"name": "tuned", "weighting": {"name": "fixed", "beta": betas}, "search": {"name": "optuna", "trials": 5}}
    view = bottleneck_of(grid(0.01, 0.1), tuned, seeds=range(2))
    played = Play(view)
    for i, (trial, t) in enumerate(view.trials.items()):
        if t.planned.arm == "tuned":
            played.tell(event("trial_started", trial=trial, config={"weighting.beta": 10.0 ** (-4 + i / 3)}))
        played.trial(trial, [bits(i, epoch) for epoch in (1, 2)], "trial_failed" if i == 6 else "trial_finished")
    return view


def tasks() -> View:
    three = {**TASKS, "auxiliaries": ["right", "rotation"]}
    arms = [
        {"name": "by hand", "problem": three, "weighting": {"name": "fixed", "weights": {"right": {"grid": [0.5, 2]}}}},
        {"name": "mixed", "problem": three, "weighting": {"name": "fixed", "simplex": 2}},
        {"name": "uniform", "problem": three, "weighting": {"name": "uniform"}},
        {"name": "MGB", "problem": three, "weighting": {"name": "mgb"}},
        {"name": "single", "problem": three, "weighting": {"name": "single"}},
    ]
    view = study_of(
        *arms, seeds=range(3), data={"name": "overlaid", "validation_fraction": 0}, evaluation={"gradients": True}
    )
    played = Play(view)
    for i, trial in enumerate(view.trials):
        chance = random.Random(i)
        each: dict[str, float | None] = {"seconds": 1.0 + i % 5}
        for task in ("left", "right", "rotation"):
            hit = 0.4 + 0.5 * chance.random()
            each |= {f"accuracy_{task}": hit, f"test_loss_{task}": 2 - hit, f"loss_{task}": 1.8 - hit}
            each |= {f"weight_{task}": chance.random(), f"gradient_norm_{task}": 0.2 + chance.random()}
        for pair in ("left_right", "left_rotation", "right_rotation", "mean"):
            each[f"cosine_{pair}"] = chance.uniform(-1, 1)
        each |= {"accuracy": each["accuracy_left"], "mean_accuracy": 0.5, "worst_accuracy": 0.4}
        played.trial(trial, [each, {**each, "seconds": 2.0}], "trial_failed" if i == 4 else "trial_finished")
    return view


def curves() -> View:
    every = {"name": "all β", "weighting": {"name": "conditional", "points": 4}}
    view = bottleneck_of(grid(0.01, 0.1, 1.0), every, seeds=range(3))
    played = Play(view)
    for i, (trial, t) in enumerate(view.trials.items()):
        own: dict[int, Curve] | None = None
        if t.planned.arm == "all β":
            own = {2: [{"where": {"beta": 10.0 ** (k - 3)}, "metrics": bits(i + k, 2)} for k in range(4)]}
        played.trial(trial, [bits(i, 1), bits(i, 2)], "trial_failed" if i == 10 else "trial_finished", own)
    return view


def known_front() -> View:
    data = {"name": "gaussian", "correlations": [0.95, 0.8]}
    view = bottleneck_of(grid(0.02, 0.2), mib(), seeds=range(3), data=data)
    played = Play(view)
    for i, trial in enumerate(view.trials):
        rate = 1.0 + i % 4
        played.trial(trial, [{"seconds": 1.0, "i_xz_bits": rate, "i_zy_bits": 0.5 * rate - 0.01 * i}], "trial_finished")
    return view


def toy() -> View:
    arm = {
        "name": "t",
        "problem": {"name": "toy"},
        "weighting": {"name": "fixed", "weights": {"f2": {"grid": [0.5, 2]}}},
    }
    view = view_of({"name": "s", "data": {"name": "digits"}, "seeds": [0, 1], "arms": [arm]})
    played = Play(view)
    for i, trial in enumerate(view.trials):
        played.trial(trial, [{"seconds": 1.0, "f1": 0.2 * i, "f2": 1 - 0.3 * i}], "trial_finished")
    return view


STUDIES: dict[str, Callable[[], View]] = {
    "troubled": troubled,
    "one-seed": lambda: finished(1, data={"name": "digits", "validation_fraction": 0}),
    "two-seeds": lambda: finished(2),
    "five-seeds": lambda: finished(5),
    "three-objectives": three_objectives,
    "many-arms": many_arms,
    "many-betas": long,
    "many-epochs": epochs,
    "search": searched,
    "tasks": tasks,
    "curves": curves,
    "known-front": known_front,
    "toy": toy,
    "waiting": lambda: bottleneck_of(grid(0.01, 0.1), mib()),
    "overlaid": lambda: Overlay([finished(2), searched()]),
}
