"""Our own bottleneck, written again as a user's file, trains to the built-in's numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from service.contract.methods.data import Digits, OwnData
from service.contract.methods.models import Mlp
from service.contract.methods.problems import Bottleneck
from service.contract.methods.weightings import Arml, Fixed, Mgb
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Evaluation, Training
from tests.workers.own_code.parts import CPU, described, reports, trial, written
from workers.training.loop import train

FILE = """
import torch
from torch import nn
from torch.nn import functional as F
from paretoscope import Problem
from service.contract.methods.data import Digits
from workers.data import load
from workers.data.random_streams import generator

def layers(stream, *widths):
    \"\"\"Weights as the built-in model draws them for the seed.\"\"\"
    g, own = generator(torch.initial_seed(), stream), []
    for i, o in zip(widths, widths[1:]):
        drawn = (torch.rand((i + 1) * o, generator=g) * 2 - 1) * i**-0.5
        layer = nn.Linear(i, o)
        layer.weight.data, layer.bias.data = drawn[: i * o].view(i, o).T.contiguous(), drawn[i * o :]
        own += [layer, nn.ReLU()]
    return nn.Sequential(*own[:-1])

class Vib(Problem):
    terms = ("pred", "info")
    metrics = {"acc": "maximize"}

    def data(self, seed):
        d = load(Digits(validation_fraction=0), seed=seed)
        return {"train": (d.x_train[:], d.y_train), "test": (d.x_test[:], d.y_test)}
    def model(self):
        return nn.ModuleDict({"encoder": layers("init/encoder", 64, 32, 16), "head": layers("init/head", 8, 10)})
    def losses(self, model, batch):
        x, y = batch
        mean, rho = model["encoder"](x).chunk(2, -1)
        std = F.softplus(rho - 5)
        rate = 0.5 * (mean.square() + std.square() - 1) - std.log()
        z = mean + std * torch.randn_like(mean)
        return {"pred": F.cross_entropy(model["head"](z), y), "info": rate.sum(-1).mean()}
    def measure(self, model, batch):
        x, y = batch
        mean, _ = model["encoder"](x).chunk(2, -1)
        return {"acc": (model["head"](mean).argmax(-1) == y).float().mean()}
"""
SPEC = described("Vib", ("pred", "info"), acc="maximize")


@pytest.mark.parametrize("weighting", [Fixed(beta=0.01), Mgb(), Arml(gram="halves", normalize="none")])
def test_the_same_losses_weights_and_angles(tmp_path: Path, weighting: Any) -> None:
    how: dict[str, Any] = {"epochs": 3, "batch_size": 128, "learning_rate": 3e-3}
    watched = Evaluation(gradients=True)
    own = [trial(f"t{seed}", weighting, seed, of=SPEC, **how) for seed in (0, 4)]
    ours = [
        PlannedTrial(t.id, t.arm, t.seed, {}, Bottleneck(), weighting, Mlp(widths=[32], latent=8), Training(**how))
        for t in own
    ]
    code = written(tmp_path, FILE)
    theirs = reports(code, own, data=OwnData(validation_fraction=0), evaluation=watched)
    built_in = list(train(ours, Digits(validation_fraction=0), watched, CPU))
    names = ["loss_pred", "loss_info", "weight_pred", "weight_info", "gradient_norm_pred", "cosine_pred_info"]
    for mine, known in zip(theirs, built_in, strict=True):
        for each in own:
            expected = {name: known.metrics[each.id][name] for name in names}
            assert {name: mine.metrics[each.id][name] for name in names} == pytest.approx(expected, rel=1e-4, abs=1e-5)
