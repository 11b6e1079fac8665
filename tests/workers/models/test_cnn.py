from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from service.contract.methods.models import Cnn
from service.contract.study.parsing import check_study
from service.contract.wire.epoch_report import EpochReport
from tests.planned import planned
from workers import models
from workers.data.random_streams import Seeds
from workers.training.loop import train

CPU = torch.device("cpu")


def test_a_member_computes_what_torch_nn_computes_with_its_weights() -> None:
    sizes = models.Sizes(2 * 8 * 8, 6, 3, 10, (2, 8, 8))
    model = models.build(Cnn(channels=[4, 5], widths=[7], latent=3), sizes, Seeds([0, 1], CPU))
    x = torch.rand(2, 3, 128)
    (out,) = model.encode(x)
    for k in range(2):
        leaves = [leaf[k].detach() for leaf in model.encoder.leaves]
        plain = nn.Sequential(
            nn.Conv2d(2, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(4, 5, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(20, 7), nn.ReLU(), nn.Linear(7, 6),
        )  # fmt: skip
        with torch.no_grad():
            for own, leaf in zip(plain.parameters(), leaves, strict=True):
                own.copy_(leaf.T if own.dim() == 2 else leaf.reshape(own.shape))
        torch.testing.assert_close(out[k], plain(x[k].view(3, 2, 8, 8)))


def test_convolutions_start_as_those_of_torch_nn_conv2d() -> None:
    model = models.build(Cnn(channels=[64]), models.Sizes(192, 6, 3, 10, (3, 8, 8)), Seeds([0], CPU))
    weight, bias = (leaf.detach() for leaf in model.encoder.leaves[:2])
    bound = 27**-0.5
    for leaf in (weight, bias):
        assert leaf.abs().max() <= bound
    assert weight.std() == pytest.approx(bound / 3**0.5, rel=0.05)


def test_an_image_too_small_for_its_layers_is_refused_with_the_rule() -> None:
    with pytest.raises(ValueError, match="at least 16×16 pixels, got 8×8"):
        models.build(Cnn(channels=[4] * 4), models.Sizes(64, 6, 3, 10, (1, 8, 8)), Seeds([0], CPU))


def last_report(seeds: list[int], epochs: int, weightings: list[dict[str, Any]]) -> EpochReport:
    study = check_study(
        {
            "name": "cnn",
            "model": {"name": "cnn", "channels": [8, 16], "widths": [32], "latent": 8},
            "training": {"epochs": epochs, "learning_rate": 5e-3},
            "seeds": seeds,
            "arms": [{"name": f"a{i}", "weighting": w} for i, w in enumerate(weightings)],
        }
    )
    *_, last = train(planned(study), study.data, study.evaluation, CPU)
    return last


def test_members_of_a_cohort_equal_members_alone() -> None:
    fixed = {"name": "fixed", "beta": 0.01}
    together = last_report([0, 1, 2], 2, [fixed, {"name": "mib"}]).metrics
    alone = last_report([1], 2, [fixed]).metrics
    ((trial, metrics),) = alone.items()
    own = {name: value for name, value in metrics.items() if name != "seconds"}
    assert {name: together[trial][name] for name in own} == pytest.approx(own, rel=1e-4, abs=1e-6)


def test_a_cnn_learns_digits() -> None:
    (metrics,) = last_report([0], 25, [{"name": "fixed", "beta": 1e-3}]).metrics.values()
    assert metrics["accuracy"] is not None and metrics["accuracy"] > 0.93
