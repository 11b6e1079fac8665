"""Members that go on without the others train as if the others had stayed: the stack shrinks, their numbers stay."""

from __future__ import annotations

from typing import Any, get_args

import pytest
import torch
from pytest import approx

from service.contract.methods.models import Mlp
from service.contract.methods.problems import Bottleneck
from service.contract.methods.weightings import Fixed, OfCurves
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Study, Training
from tests.planned import planned
from tests.workers.training.test_going_on import CPU, EPOCHS, NAMES, OF_TASKS, TASKS, left_after, study, weighted
from tests.workers.training.test_going_on import trained as trained_whole
from workers.training.loop import Progress, Rung, train
from workers.training.shrinking import shrunk

CURVES = {kind.model_fields["name"].default for kind in get_args(OfCurves)}
POINTS = [name for name in NAMES if name not in CURVES]
pytestmark = pytest.mark.filterwarnings("ignore:You are solving a parameterized problem")


def go_on_alike(one: Study, trials: list[PlannedTrial], chosen: list[PlannedTrial]) -> None:
    """Each report of the chosen equals that of the whole cohort, to float tolerance."""
    straight = trained_whole(one, trials)
    _, progress = left_after(one, trials, 2)
    after = trained_whole(one, chosen, shrunk(progress, trials, chosen))
    assert [report.epoch for report in after] == [3, 4]
    for report, whole in zip(after, straight[2:], strict=True):
        assert list(report.metrics) == [trial.id for trial in chosen]
        for trial, metrics in report.metrics.items():
            known = {name: value for name, value in whole.metrics[trial].items() if name != "seconds"}
            assert {name: metrics[name] for name in known} == approx(known, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", [name for name in POINTS if name != "single"])
def test_survivors_of_every_weighting_go_on_as_in_the_whole_cohort(name: str) -> None:
    one = study(seeds=[3, 7, 8], **weighted(name))
    first, _, last = planned(one)
    go_on_alike(one, planned(one), [last, first])


@pytest.mark.parametrize("name", [name for name in POINTS if name != "target-rate"])
def test_survivors_of_several_tasks_go_on_as_in_the_whole_cohort(name: str) -> None:
    arms = weighted(name, **TASKS)
    arms["arms"][0]["weighting"] |= OF_TASKS.get(name, {})
    one = study(**arms)
    go_on_alike(one, planned(one), planned(one)[1:])


def test_weightings_of_which_nobody_is_left_take_their_states_with_them() -> None:
    """Groups of a cohort are numbered by their first members: without these the numbers are others."""
    arms: list[dict[str, Any]] = [
        {"name": "a", "weighting": {"name": "fixed", "beta": 0.01}},
        {"name": "b", "weighting": {"name": "target-rate", "rate_bits": {"grid": [1.0, 4.0]}}},
        {"name": "c", "weighting": {"name": "uniform"}},
    ]
    one = study(seeds=[3], arms=arms)
    fixed, low, high, uniform = planned(one)
    go_on_alike(one, [fixed, low, high, uniform], [high])
    go_on_alike(one, [fixed, low, high, uniform], [uniform, high, fixed])


def test_survivors_take_their_share_of_the_seconds_with_them() -> None:
    one = study(seeds=[3, 7, 8, 9])
    trials = planned(one)
    _, progress = left_after(one, trials, 2)
    own = shrunk(progress._replace(seconds=100.0), trials, trials[:1])
    assert own.seconds == 25.0 and own.failed == ()
    ticks = iter(range(1000))
    last = list(train(trials[:1], one.data, one.evaluation, CPU, clock=lambda: float(next(ticks)), begun=own))[-1]
    assert last.metrics[trials[0].id]["seconds"] == 27.0


def test_a_cohort_rests_at_its_rung_measured_and_saved_before_it_says_so() -> None:
    one = study(evaluation={"samples": 1, "every": EPOCHS})
    trials, happened = planned(one), list[object]()
    rung = Rung(3, one.evaluation_at_rungs, lambda progress, report: happened.append((progress.epoch, report.rests)))
    reports = []
    for report in train(trials, one.data, one.evaluation, CPU, rung=rung):
        happened.append(report.epoch)
        reports.append(report)
    assert happened == [1, 2, (3, True), 3]
    measured = ["validation_i_xz_bits" in report.metrics[trials[0].id] for report in reports]
    assert measured == [False, False, True]
    assert [report.final for report in reports] == [False] * 3 and reports[-1].rests


def test_a_rung_at_the_last_epoch_is_none() -> None:
    one = study(seeds=[3])
    saved: list[Progress] = []
    rung = Rung(EPOCHS, one.evaluation_at_rungs, lambda progress, report: saved.append(progress))
    last = list(train(planned(one), one.data, one.evaluation, CPU, rung=rung))[-1]
    assert last.final and not last.rests and not saved


def test_the_optimisers_of_a_users_own_go_with_their_members() -> None:
    packed = {f"optimizer.own.{k}": torch.arange(5 + k, dtype=torch.uint8) for k in range(3)}
    trials = [PlannedTrial(f"t{k}", "a", k, {}, Bottleneck(), Fixed(), Mlp(), Training()) for k in range(3)]
    state = {**packed, "model.w": torch.arange(6.0).reshape(3, 2)}
    left = shrunk(Progress(2, 3.0, (), lambda: state), trials, [trials[2], trials[0]]).state()
    assert left["optimizer.own.0"].tolist() == list(range(7)) and left["optimizer.own.1"].tolist() == list(range(5))
    assert left.keys() == {"optimizer.own.0", "optimizer.own.1", "model.w"} and left["model.w"][0].tolist() == [
        4.0,
        5.0,
    ]
