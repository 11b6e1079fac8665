"""Every preset trains, at the smallest size that still means something."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from service.contract.errors import NotFound
from service.contract.expansion import expand
from service.contract.parsing import check_study
from service.presets import Preset, presets
from workers import data
from workers.cohorts import plan
from workers.training import train


def shrunk(preset: Preset) -> Any:
    spec: dict[str, Any] = {**preset.spec, "seeds": preset.spec["seeds"][:1]}
    spec["training"] = {**spec["training"], "epochs": 1}
    if spec["data"]["name"] != "digits":
        spec["data"] = {**spec["data"], "train_fraction": 0.005, "test_images": 100}
    spec["evaluation"] = {**spec.get("evaluation", {}), "samples": 2, "attack_images": 20}
    return check_study(spec)


@pytest.mark.parametrize("preset", presets(), ids=lambda preset: preset.name)
def test_a_preset_trains_every_arm(preset: Preset) -> None:
    study = shrunk(preset)
    try:
        data.load(study.data)
    except NotFound as error:
        pytest.skip(error.message)
    torch.set_num_threads(1)  # as in a worker with one CPU; more threads than cores are a hundred times slower
    seen: dict[str, dict[str, float | None]] = {}
    for cohort in plan(expand(study), slots=1):
        *_, last = train(cohort, study.data, study.evaluation, torch.device("cpu"))
        assert not last.failures
        seen |= last.metrics
    trials = expand(study)
    assert set(seen) == {trial.id for trial in trials}
    for trial in trials:
        assert (seen[trial.id]["accuracy"] or 0) >= 0
        assert seen[trial.id]["loss_pred"] is not None
