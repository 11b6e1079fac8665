"""Files of a user, written to a folder, and trials of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import torch

from service.contract.methods.data import OwnData
from service.contract.methods.models import OwnModel
from service.contract.methods.own_description import Described, OwnMetric
from service.contract.methods.own_problems import of_trial
from service.contract.methods.weightings import Fixed
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Evaluation, Training
from service.contract.wire.epoch_report import EpochReport
from workers.own_code.loaded import LoadedCode
from workers.training.loop import train

CPU = torch.device("cpu")

TWO_HEADS = """
import torch
from torch import nn
from torch.nn import functional as F
from paretoscope import Problem

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, width), nn.ReLU(), {middle})
        self.kind, self.price = nn.Linear(width, 3), nn.Linear(width, 1)
    def forward(self, x):
        h = self.trunk(x)
        {noise}
        return self.kind(h), self.price(h)[..., 0]

class Mine(Problem):
    terms = ("class", "price")
    metrics = {{"acc": "maximize", "mae": "minimize"}}
    width: int = 8

    def data(self, seed):
        g = torch.Generator().manual_seed(7)
        x = torch.randn(100, 6, generator=g)
        y, p = x[:, :3].argmax(-1), x.sum(1)
        return {{"train": (x[:70], y[:70], p[:70]), "test": (x[70:], y[70:], p[70:])}}
    def model(self):
        return Net(self.width)
    def losses(self, model, batch):
        x, y, p = batch
        a, b = model(x)
        return {{"class": F.cross_entropy(a, y), "price": F.mse_loss(b, p)}}
    def measure(self, model, batch):
        x, y, p = batch
        a, b = model(x)
        return {{"acc": (a.argmax(-1) == y).float().mean(), "mae": (b - p).abs().mean()}}
"""


def two_heads(middle: str = "nn.Identity()", noise: str = "") -> str:
    """A problem of two terms over one trunk, with something in the middle of it."""
    return TWO_HEADS.format(middle=middle, noise=noise or "pass")


def written(folder: Path, text: str, name: str = "mine.py") -> LoadedCode:
    (folder / name).write_text(dedent(text))
    return LoadedCode(folder, name)


def described(name: str = "Mine", terms: Sequence[str] = ("class", "price"), **metrics: Any) -> Described:
    goals = metrics or {"acc": "maximize", "mae": "minimize"}
    own = [OwnMetric(name=metric, goal=goal) for metric, goal in goals.items()]
    return Described(name=name, kind="problem", terms=list(terms), metrics=own)


def trial(
    name: str, weighting: Any = None, seed: int = 0, of: Described | None = None, **training: Any
) -> PlannedTrial:
    """With few epochs of small batches, unless told otherwise."""
    problem = of_trial(of or described())(name=(of or described()).name)
    how = Training(**{"epochs": 3, "batch_size": 32, **training})
    return PlannedTrial(name, "arm", seed, {}, problem, weighting or Fixed(), OwnModel(), how)


def reports(code: LoadedCode, trials: Sequence[PlannedTrial], **options: Any) -> list[EpochReport]:
    data = options.pop("data", OwnData())
    evaluation = options.pop("evaluation", Evaluation())
    return list(train(trials, data, evaluation, CPU, code=code, **options))
