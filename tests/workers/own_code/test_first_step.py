"""The first step of an arm, really taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from service.contract.methods.own_description import Code
from service.contract.study.parsing import check_study
from service.contract.wire.errors import InvalidInput
from service.contract.wire.tried_arms import ArmBegins, ArmTried, Told
from tests.workers.own_code.parts import CPU, two_heads, written
from tests.workers.stand_ins import put_domains
from workers.check_study import tried
from workers.own_code.describing import describe
from workers.own_code.first_step import one_step, trials_of

SMALL: dict[str, Any] = {"name": "mlp", "widths": [8], "latent": 2}


def answers(body: dict[str, Any], folder: Path | None = None) -> list[ArmTried]:
    told: list[Told] = []
    tried(body, 60, told.append, folder, "mine.py" if folder else "")
    begun = [each for each in told if isinstance(each, ArmBegins)]
    arms = [each for each in told if isinstance(each, ArmTried)]
    assert told[::2] == begun and told[1::2] == arms and [a.arm for a in begun] == [a.arm for a in arms]
    return arms


def own(folder: Path, *arms: dict[str, Any], **changed: Any) -> list[ArmTried]:
    written(folder, two_heads())
    return answers({"name": "s", "arms": list(arms), "training": {"batch_size": 16}, **changed}, folder)


def test_a_misspelt_domain_is_told_before_any_arm_is_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    put_domains(tmp_path / "pictures", each=1)
    monkeypatch.setenv("PARETOSCOPE_DATA", str(tmp_path))
    problem = {"name": "multitask", "main": "domain-lft", "auxiliaries": ["domain-photo"]}
    arm = {"name": "a", "problem": problem, "weighting": {"name": "uniform"}}
    told: list[Told] = []
    with pytest.raises(InvalidInput, match=r"main: the folder has no domain for task 'domain-lft'; known: domain-art"):
        tried({"name": "s", "data": {"name": "image-folder", "path": "pictures"}, "arms": [arm]}, 60, told.append)
    assert told == []


def test_every_width_of_a_grid_is_tried(tmp_path: Path) -> None:
    problem = {"name": "Mine", "width": {"grid": [2, 4, 8, 16, 32]}}
    (arm,) = own(tmp_path, {"name": "a", "problem": problem, "weighting": {"name": "mgda"}})
    assert arm.outcome.settings == 4 and "1 other settings were not tried" in arm.outcome.words


def test_one_batch_is_trained_and_no_more(tmp_path: Path) -> None:
    code = written(tmp_path, two_heads())
    described = Code(hash="0" * 64, entry="mine.py", problems=describe(tmp_path, "mine.py"))
    arm = {"name": "a", "problem": {"name": "Mine"}, "weighting": {"name": "fixed", "beta": 0.5}}
    study = check_study({"name": "s", "arms": [arm], "code": described.model_dump(), "training": {"batch_size": 16}})
    cohort = code.cohort(trials_of(study, study.arms[0]), study.data, CPU)
    before = {name: tensor.clone() for name, tensor in cohort.model.named().items()}
    losses, weights = one_step(cohort)
    assert losses.shape == weights.shape == (1, 1, 2) and weights[0, 0].tolist() == [1, 0.5]
    assert all(bool((tensor != before[name]).any()) for name, tensor in cohort.model.named().items())
    assert cohort.train_epoch(2)[0].shape[0] == 4, "a whole epoch comes after it"


def test_a_loss_that_is_no_number_would_fail(tmp_path: Path) -> None:
    source = two_heads().replace('"price": F.mse_loss(b, p)}', '"price": F.mse_loss(b, p) / 0}')
    (tmp_path / "mine.py").write_text(source)
    arm = {"name": "a", "problem": {"name": "Mine"}, "weighting": {"name": "uniform"}}
    with pytest.raises(InvalidInput, match="arm 'a': loss_price is not finite in the first step"):
        answers({"name": "s", "arms": [arm]}, tmp_path)


@pytest.mark.parametrize("problem", ["bottleneck", "toy", "multitask"])
def test_ours_take_their_step_together_as_alone(problem: str) -> None:
    weightings = ("mgda", "dwa") if problem == "multitask" else ("fixed", "mgda")
    arms = [{"name": each, "problem": {"name": problem}, "weighting": {"name": each}} for each in weightings]
    for arm in answers({"name": "s", "model": SMALL, "seeds": [0, 1, 2], "arms": arms}):
        step = arm.outcome
        assert step.stacks and step.losses and step.first_metrics, arm
        assert step.apart is not None and 0 <= step.apart < 1e-3, arm


def test_a_search_is_tried_with_its_first_values(tmp_path: Path) -> None:
    beta = {"range": {"from": 0.25, "to": 1.0}}
    search = {"name": "optuna", "sampler": "random", "trials": 5}
    arm = {"name": "a", "problem": {"name": "Mine"}, "weighting": {"name": "fixed", "beta": beta}, "search": search}
    (said,) = own(tmp_path, arm)
    assert said.trials == 5 and said.outcome.weights and said.outcome.weights["price"] == 0.25
