"""Our own bottleneck, written again as a user's file, trains to the built-in's numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from service.contract.methods.attacks import Eotpgd, Fgsm
from service.contract.methods.data import Digits, OwnData
from service.contract.methods.models import Mlp
from service.contract.methods.own_description import Code
from service.contract.methods.problems import Bottleneck
from service.contract.methods.weightings import Arml, DbMtl, ExcessMtl, Fixed, Mgb, Modo
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Evaluation, Study, Training
from service.contract.wire.epoch_report import EpochReport
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
    def code(self, model, x):
        mean, rho = model["encoder"](x).chunk(2, -1)
        return mean, F.softplus(rho - 5)
    def decode(self, model, z):
        return model["head"](z)
    def losses(self, model, batch):
        x, y = batch
        mean, std = self.code(model, x)
        rate = 0.5 * (mean.square() + std.square() - 1) - std.log()
        z = mean + std * torch.randn_like(mean)
        return {"pred": F.cross_entropy(model["head"](z), y), "info": rate.sum(-1).mean()}
    def measure(self, model, batch):
        x, y = batch
        mean, _ = self.code(model, x)
        return {"acc": (model["head"](mean).argmax(-1) == y).float().mean()}
"""
SPEC = described("Vib", ("pred", "info"), acc="maximize").model_copy(update={"hooks": ["code", "decode"]})
HOW: dict[str, Any] = {"epochs": 3, "batch_size": 128, "learning_rate": 3e-3}
MEASURED = Evaluation(
    samples=3,
    estimators=["pairwise-lower", "pairwise-upper", "infonce"],
    estimator_samples=200,
    attacks=[Fgsm(epsilon=0.1), Eotpgd(epsilon=0.1, steps=2, eot=2)],
    attack_images=100,
    attack_every=2,
)


SEEDS = (0, 4)
TRIALS = [f"t{seed}" for seed in SEEDS]


def test_it_takes_under_sixty_lines() -> None:
    assert len(FILE.splitlines()) < 60


def both(
    folder: Path, weighting: Any, evaluation: Evaluation, training: dict[str, Any] | None = None
) -> tuple[list[EpochReport], list[EpochReport]]:
    """The reports of the file, and of the built-in with the same seeds."""
    how = {**HOW, **(training or {})}
    own = [trial(f"t{seed}", weighting, seed, of=SPEC, **how) for seed in SEEDS]
    ours = [
        PlannedTrial(t.id, t.arm, t.seed, {}, Bottleneck(), weighting, Mlp(widths=[32], latent=8), Training(**how))
        for t in own
    ]
    theirs = reports(written(folder, FILE), own, data=OwnData(validation_fraction=0), evaluation=evaluation)
    return theirs, list(train(ours, Digits(validation_fraction=0), evaluation, CPU))


# One of each kind: constant, by the Gram matrix, by halves of the batch, by the gradients, with averaged gradients.
SEVERAL = [Fixed(beta=0.01), Mgb(), Arml(gram="halves", normalize="none"), Modo(), ExcessMtl(warm_up=1), DbMtl()]


@pytest.mark.parametrize("weighting", SEVERAL, ids=lambda weighting: weighting.name)
def test_the_same_losses_weights_and_angles(tmp_path: Path, weighting: Any) -> None:
    are_alike(*both(tmp_path, weighting, Evaluation(gradients=True)))


@pytest.mark.parametrize(
    "training",
    [
        {"optimizer": "sgd", "learning_rate": 0.02, "momentum": 0.9, "nesterov": True, "clip": 1.0},
        {"optimizer": "adamw", "learning_rate": 3e-3, "beta1": 0.8, "schedule": "cosine", "warm_up": 1, "anneal": 2},
    ],
    ids=["momentum", "adamw"],
)
def test_the_same_with_every_setting_of_training(tmp_path: Path, training: dict[str, Any]) -> None:
    are_alike(*both(tmp_path, Fixed(beta=0.01), Evaluation(gradients=True), training))


def are_alike(theirs: list[EpochReport], built_in: list[EpochReport]) -> None:
    names = ["loss_pred", "loss_info", "weight_pred", "weight_info", "gradient_norm_pred", "cosine_pred_info"]
    for mine, known in zip(theirs, built_in, strict=True):
        for each in TRIALS:
            expected = {name: known.metrics[each][name] for name in names}
            assert {name: mine.metrics[each][name] for name in names} == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_the_same_information_estimates_and_accuracies_under_attack(tmp_path: Path) -> None:
    theirs, built_in = both(tmp_path, Fixed(beta=0.01), MEASURED)
    known = built_in[-1].metrics["t0"]
    assert {"i_xz_bits", "i_zy_bits", "i_xz_infonce_bits", "robust_eotpgd", "generalization_gap"} <= known.keys()
    for mine, ours in zip(theirs, built_in, strict=True):
        for each in TRIALS:
            expected = {name: value for name, value in ours.metrics[each].items() if name != "seconds"}
            measured = {name: mine.metrics[each][name] for name in expected}
            assert measured == pytest.approx(expected, rel=1e-3, abs=1e-4)


def test_a_study_knows_all_that_is_reported(tmp_path: Path) -> None:
    code = Code(hash="0" * 64, entry="mine.py", problems=[SPEC])
    arm = {"name": "a", "problem": {"name": "Vib"}, "weighting": {"name": "mgda"}}
    body = {"name": "s", "code": code, "arms": [arm], "evaluation": MEASURED.model_dump()}
    study = Study.model_validate(body)
    own = [trial("t0", Fixed(), 0, of=SPEC, epochs=1)]
    (report,) = reports(written(tmp_path, FILE), own, evaluation=MEASURED)
    assert not report.failures and report.metrics["t0"].keys() <= set(study.metrics_of(study.arms[0]))
