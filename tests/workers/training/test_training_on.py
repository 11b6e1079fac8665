"""A cohort that has finished trains on to more epochs as if it had been asked for them from the start."""

from __future__ import annotations

from typing import Any

import pytest

from service.contract.study.extension import Extension, depends_on_epochs, extended
from service.contract.study.study import Study
from tests.planned import planned
from tests.workers.training.test_going_on import CPU, NAMES, OF_TASKS, TASKS, plain, study, trained, weighted
from workers.sending.cohort_state import Saved, packed, unpacked
from workers.training.loop import train

BEFORE, AFTER = 2, 4
SHORT = {"epochs": BEFORE, "batch_size": 64, "learning_rate": 0.005}

pytestmark = pytest.mark.filterwarnings("ignore:You are solving a parameterized problem")  # Nash-MTL's, from cvxpy


def finished(short: Study) -> Saved:
    """What is kept of a cohort that was trained to its end, through a file's content."""
    kept: list[bytes] = []
    trials = planned(short)
    members: dict[str, dict[str, Any]] = {trial.id: {} for trial in trials}
    reports = list(
        train(
            trials,
            short.data,
            short.evaluation,
            CPU,
            at_last=lambda progress, report: kept.append(packed(members, progress, [report])),
        )
    )
    (content,) = kept
    saved = unpacked(content)
    assert saved.progress.epoch == BEFORE and saved.reports == reports[-1:], "the last report is in it"
    return saved


def trains_on(short: Study) -> bool:
    """Whether the epochs after an extension are those of a training that was that long from the start."""
    long = extended(short, Extension(epochs=AFTER))
    trials = planned(long)
    straight = trained(long, trials)
    after = trained(long, trials, finished(short).progress)
    assert [report.epoch for report in after] == [3, 4] and after[-1].final
    same = [plain(report) for report in after] == [plain(report) for report in straight[BEFORE:]]
    return same and after[-1].points == straight[-1].points


@pytest.mark.parametrize("name", [name for name in NAMES if name != "single"])
def test_every_weighting_trains_on_as_if_it_had_not_ended(name: str) -> None:
    assert trains_on(study(training=SHORT, **weighted(name)))


@pytest.mark.parametrize("name", ["single", "conditional", "arml", "blending", "uw", "dwa", "famo"])
def test_weightings_of_several_tasks_train_on(name: str) -> None:
    tasks = TASKS if name != "conditional" else {"problem": {**TASKS["problem"], "auxiliaries": ["rotation"]}}
    arms = weighted(name, **tasks)
    arms["arms"][0]["weighting"] |= OF_TASKS.get(name, {})
    assert trains_on(study(training=SHORT, seeds=[3], **arms))


@pytest.mark.parametrize(
    "parts",
    [
        {"training": {**SHORT, "balance": {"mode": "both", "order": "random"}}},
        {"training": {**SHORT, "optimizer": "sgd", "l2": 0.01, "feedback": "dfa"}},
        {"evaluation": {"samples": 2, "every": 3, "estimators": ["infonce"], "attacks": [{"name": "fgsm"}]}},
        {"model": {"name": "cnn", "channels": [4], "latent": 4}},
    ],
    ids=["balance", "sgd-dfa", "measured-at-the-end", "cnn"],
)
def test_every_part_of_a_study_trains_on(parts: dict[str, Any]) -> None:
    assert trains_on(study(**{"training": SHORT, **parts}))


@pytest.mark.parametrize("form", ["simplified", "two-stage"])
def test_the_number_of_epochs_changes_only_what_is_known_to_depend_on_it(form: str) -> None:
    """Two-stage ARML moves its weights in a share of all steps, which begins anew when there are more of them."""
    arm = {"name": "a", "weighting": {"name": "arml", "form": form}, **TASKS}
    short = study(training=SHORT, seeds=[3], arms=[arm])
    depends = {depends_on_epochs(trial) for trial in planned(short)}
    assert depends == {form == "two-stage"} and trains_on(short) == (form == "simplified")


def test_members_that_failed_are_not_trained_on() -> None:
    arm = {"name": "a", "weighting": {"name": "fixed", "beta": 0.01}}
    rates = {"learning_rate": {"grid": [0.05, 1e8]}}
    training = {"epochs": BEFORE, "batch_size": 16, "optimizer": "sgd"}
    short = study(training=training, arms=[{**arm, "training": rates}], seeds=[0])
    saved = finished(short)
    long = extended(short, Extension(epochs=AFTER))
    good, bad = planned(long)
    assert saved.progress.failed == (bad.id,)
    after = trained(long, [good, bad], saved.progress)
    assert [list(report.metrics) for report in after] == [[good.id], [good.id]]
    assert not any(report.failures for report in after)
