"""A cohort that was saved and is built anew goes on as if nothing had happened, whatever it trains."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, get_args

import pytest
import torch

from service.contract.methods.weightings import Weighting
from service.contract.study.expansion import PlannedTrial
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.epoch_report import EpochReport
from tests.planned import planned
from workers.sending.cohort_state import packed, unpacked
from workers.training.loop import Progress, train

CPU = torch.device("cpu")
NAMES = [kind.model_fields["name"].default for kind in get_args(get_args(Weighting)[0])]
SOLVERS = {"upgrad": "quadprog", "dualproj": "quadprog", "cagrad": "cvxpy", "nash-mtl": "ecos"}  # extras of torchjd
PARAMETERS: dict[str, dict[str, Any]] = {
    "nash-mtl": {"optim_niter": 2, "update_weights_every": 3},
    "arml": {"gram": "halves", "gradient_average": 0.5, "every": 2},
    "blending": {"window": 4, "warm_up": 2, "tolerance": 0},
    "target-rate": {"rate_bits": 2.0},
    "conditional": {"points": 2},
    "excess-mtl": {"warm_up": 1},
}
TASKS: dict[str, dict[str, Any]] = {
    "problem": {"name": "multitask", "main": "class", "auxiliaries": ["rotation", "exemplar"]}
}
OF_TASKS: dict[str, dict[str, Any]] = {"single": {"task": "rotation"}, "fixed": {"weights": {"rotation": 0.5}}}
EPOCHS = 4

pytestmark = pytest.mark.filterwarnings("ignore:You are solving a parameterized problem")  # Nash-MTL's, from cvxpy


def study(**parts: Any) -> Study:
    base: dict[str, Any] = {
        "name": "s",
        "data": {"name": "digits", "train_fraction": 0.1, "test_images": 40},
        "model": {"name": "mlp", "widths": [12], "latent": 4},
        "training": {"epochs": EPOCHS, "batch_size": 64, "learning_rate": 0.005},
        "seeds": [3, 7],
        "evaluation": {"samples": 1},
        "arms": [{"name": "a", "weighting": {"name": "fixed", "beta": 0.01}}],
    }
    return check_study({**base, **parts})


def weighted(name: str, **more: Any) -> dict[str, Any]:
    if not find_spec(SOLVERS.get(name, "torchjd")):
        pytest.skip(f"{name} needs {SOLVERS[name]}, an extra of torchjd")
    return {"arms": [{"name": "a", "weighting": {"name": name, **PARAMETERS.get(name, {})}, **more}]}


def trained(study: Study, trials: list[PlannedTrial], begun: Progress | None = None) -> list[EpochReport]:
    return list(train(trials, study.data, study.evaluation, CPU, begun=begun))


def left_after(study: Study, trials: list[PlannedTrial], epoch: int) -> tuple[list[EpochReport], Progress]:
    """Trained to this epoch, and what was saved there, through a file's content."""
    kept: list[bytes] = []

    def between(progress: Progress) -> bool:
        if progress.epoch == epoch:
            kept.append(packed({trial.id: {} for trial in trials}, progress, []))
        return bool(kept)

    reports = list(train(trials, study.data, study.evaluation, CPU, between=between))
    return reports, unpacked(kept[0]).progress


def plain(report: EpochReport) -> dict[str, Any]:
    return {
        trial: {name: value for name, value in metrics.items() if name != "seconds"}
        for trial, metrics in report.metrics.items()
    }


def goes_on(study: Study) -> None:
    trials = planned(study)
    straight = trained(study, trials)
    before, progress = left_after(study, trials, 2)
    after = trained(study, trials, progress)
    assert [report.epoch for report in before + after] == [1, 2, 3, 4]
    assert [plain(report) for report in before + after] == [plain(report) for report in straight]
    assert [report.points for report in before + after] == [report.points for report in straight]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "single"])
def test_every_weighting_goes_on_as_if_it_had_not_been_left(name: str) -> None:
    goes_on(study(**weighted(name)))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("target-rate", "fvib")])
def test_every_weighting_of_several_tasks_goes_on(name: str) -> None:
    # A teacher knows nothing of preferences: conditional has no task with one.
    tasks = TASKS if name != "conditional" else {"problem": {**TASKS["problem"], "auxiliaries": ["rotation"]}}
    arms = weighted(name, **tasks)
    arms["arms"][0]["weighting"] |= OF_TASKS.get(name, {})
    goes_on(study(seeds=[3], **arms))


@pytest.mark.parametrize(
    "parts",
    [
        {"model": {"name": "cnn", "channels": [4], "latent": 4}},
        {"model": {"name": "transformer", "latent": 4}},
        {"model": {"name": "rnn", "latent": 4}},
        {"arms": [{"name": "a", "problem": {"name": "toy"}, "weighting": {"name": "uniform"}}]},
        {"arms": [{"name": "a", "problem": {"name": "bottleneck", "rate": "nib"}, "weighting": {"name": "mib"}}]},
        {"training": {"epochs": EPOCHS, "balance": {"mode": "both", "order": "random"}}},
        {"training": {"epochs": EPOCHS, "optimizer": "sgd", "l2": 0.01}},
        {"training": {"epochs": EPOCHS, "feedback": "dfa", "l1": 0.001}},
        {
            "training": {
                "epochs": EPOCHS,
                "optimizer": "sgd",
                "momentum": 0.9,
                "nesterov": True,
                "clip": 0.5,
                "anneal": 3,
            }
        },
        {"training": {"epochs": EPOCHS, "optimizer": "adamw", "beta1": 0.5, "schedule": "cosine", "warm_up": 1}},
        {"training": {"epochs": EPOCHS, "average": {"grid": [0.0, 0.9]}, "best": "accuracy"}},
    ],
    ids=["cnn", "transformer", "rnn", "toy", "nib", "balance", "sgd", "dfa", "momentum", "adamw", "average"],
)
def test_every_part_of_a_study_goes_on(parts: dict[str, Any]) -> None:
    goes_on(study(**parts))


def test_running_statistics_of_a_resnet_go_on() -> None:
    """Its batch norms have means and counts that no gradient changes."""
    model = {"name": "resnet18", "latent": 4, "small_images": True}
    goes_on(study(model=model, seeds=[0], data={"name": "digits", "train_fraction": 0.02, "test_images": 10}))


def test_members_that_failed_stay_so_and_the_others_go_on() -> None:
    arm = {"name": "a", "weighting": {"name": "fixed", "beta": 0.01}}
    rates = {"learning_rate": {"grid": [0.05, 1e8]}}
    base = {"training": {"epochs": EPOCHS, "batch_size": 16, "optimizer": "sgd"}, "arms": [{**arm, "training": rates}]}
    one = study(**base, seeds=[0])
    trials = planned(one)
    straight = trained(one, trials)
    before, progress = left_after(one, trials, 2)
    assert len(progress.failed) == 1
    after = trained(one, trials, progress)
    assert [plain(report) for report in before + after] == [plain(report) for report in straight]
    assert sum(len(report.failures) for report in before + after) == 1


def test_seconds_of_training_are_counted_on() -> None:
    one = study(seeds=[0])
    trials, ticks = planned(one), iter(range(1000))
    _, progress = left_after(one, trials, 3)
    begun = progress._replace(seconds=100.0)
    last = list(train(trials, one.data, one.evaluation, CPU, clock=lambda: float(next(ticks)), begun=begun))[-1]
    assert last.metrics[trials[0].id]["seconds"] == 101.0


def test_a_state_of_another_model_is_refused_in_words() -> None:
    small, large = study(seeds=[0]), study(seeds=[0], model={"name": "mlp", "widths": [12, 12], "latent": 4})
    _, progress = left_after(small, planned(small), 2)
    with pytest.raises(ValueError, match="the saved state is of another model: it lacks"):
        trained(large, planned(large), progress)
