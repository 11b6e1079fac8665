"""A problem of your own trains like ours: members equal members alone, whatever is in the model."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from service.contract.methods.data import OwnData
from service.contract.methods.weightings import Arml, Blending, Fixed, Mgb, Uniform
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Evaluation
from service.contract.wire.epoch_report import EpochReport
from tests.workers.own_code.parts import CPU, described, reports, trial, two_heads, written
from workers.own_code import choosing
from workers.own_code.loaded import LoadedCode
from workers.own_code.running_members import Stacked
from workers.training.loop import Progress

IMAGES = """
import torch
from torch import nn
from torch.nn import functional as F
from paretoscope import Problem

class Pictures(Problem):
    terms = ("class", "copy")
    metrics = {"acc": "maximize"}

    def data(self, seed):
        g = torch.Generator().manual_seed(seed)
        x = torch.randn(60, 1, 6, 6, generator=g)
        split = (x, x.mean((1, 2, 3)).gt(0).long())
        return {"train": tuple(t[:40] for t in split), "test": tuple(t[40:] for t in split)}
    def model(self):
        trunk = nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.ReLU(), nn.Dropout2d(0.2))
        return nn.ModuleDict({"trunk": trunk, "kind": nn.Linear(108, 2), "copy": nn.Conv2d(3, 1, 1)})
    def losses(self, model, batch):
        x, y = batch
        h = model["trunk"](x)
        return {"class": F.cross_entropy(model["kind"](h.flatten(1)), y), "copy": F.mse_loss(model["copy"](h), x)}
    def measure(self, model, batch):
        x, y = batch
        return {"acc": (model["kind"](model["trunk"](x).flatten(1)).argmax(-1) == y).float().mean()}
"""

STACKED = {
    "plain": two_heads(),
    "dropout": two_heads("nn.Dropout(0.3)"),
    "noise": two_heads(noise="h = h + torch.randn_like(h)"),
    "distribution": two_heads(noise="h = torch.distributions.Normal(h, h.abs() + 0.1).rsample()"),
    "mask": two_heads(noise="h = h * torch.bernoulli(torch.full_like(h, 0.5))"),
    "weights with noise": two_heads(noise="h = h * torch.rand(h.shape[-1])"),
    "batch norm": two_heads("nn.BatchNorm1d(width)"),
    "convolution": IMAGES,
    "a buffer that is replaced": two_heads(
        "Centred(width)",
    ).replace(
        "class Net",
        """class Centred(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
    def forward(self, x):
        if self.training:
            self.mean = 0.9 * self.mean + 0.1 * x.detach().mean(0)
        return x - self.mean

class Net""",
    ),
}
ALONE = {
    "a branch on values": two_heads(noise="h = h if h.sum() > 0 else 2 * h"),
    "a random function that is not answered": two_heads(
        noise="h = h * torch.multinomial(torch.ones(5), h.shape[0], True)[:, None]"
    ),
    "a number of numpy's": two_heads(noise="h = h * float(__import__('numpy').random.beta(2.0, 2.0))"),
    "a number of Python's": two_heads(noise="h = h * __import__('random').random()"),
    "a number taken out": two_heads(noise="h = h * float(h.detach().abs().mean())"),
}


def own_trial(code: LoadedCode, name: str, weighting: Any, seed: int, **training: Any) -> PlannedTrial:
    pictures = described("Pictures", ("class", "copy"), acc="maximize")
    return trial(name, weighting, seed, of=pictures if hasattr(code.module, "Pictures") else None, **training)


def told(report: EpochReport, name: str) -> dict[str, Any]:
    """All but the clock's."""
    return {metric: value for metric, value in report.metrics[name].items() if metric != "seconds"}


def assert_equal_to_alone(code: LoadedCode, members: list[PlannedTrial], within: float = 1e-4, **options: Any) -> None:
    together = reports(code, members, **options)
    for each in members:
        for epoch, alone in zip(together, reports(code, [each], **options), strict=True):
            assert told(epoch, each.id) == pytest.approx(told(alone, each.id), rel=within, abs=1e-6)


@pytest.fixture(autouse=True)
def stacking_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the clock says, so that it is stacked members that are compared."""
    monkeypatch.setattr(choosing, "_timed", lambda way, *rest: 1.0 if isinstance(way, Stacked) else 2.0)


@pytest.mark.parametrize("text", [*STACKED.values(), *ALONE.values()], ids=[*STACKED, *ALONE])
def test_members_equal_members_alone(tmp_path: Path, text: str) -> None:
    code = written(tmp_path, text)
    weightings: list[Any] = [Fixed(beta=0.5), Mgb(), Fixed(beta=0.0), Uniform()]
    seeds = [0, 0, 1, 2]
    assert_equal_to_alone(code, [own_trial(code, f"t{k}", weightings[k], seeds[k]) for k in range(4)])


@pytest.mark.parametrize("which", ["a number of numpy's", "a number of Python's"])
def test_numbers_of_numpy_and_python_are_the_seeds_and_the_process_keeps_its_own(tmp_path: Path, which: str) -> None:
    code, members = written(tmp_path, ALONE[which]), [trial("t0"), trial("t1", seed=1)]
    numpy.random.seed(3)
    random.seed(3)
    first = reports(code, members)
    then = float(numpy.random.rand()), random.random()
    numpy.random.seed(3)
    random.seed(3)
    assert then == (float(numpy.random.rand()), random.random())
    again = reports(code, members)  # from another place
    assert [told(report, "t0") for report in first] == [told(report, "t0") for report in again]
    losses = [[report.metrics[name]["loss_class"] for report in first] for name in ("t0", "t1")]
    assert losses[0] != losses[1]
    told_why = code.cohort(members, OwnData(), CPU).stacking
    assert told_why == "not stacked: random numbers of numpy or Python were drawn, which stacked members would share"


def test_numbers_of_numpy_in_a_later_batch_end_the_stacking(tmp_path: Path) -> None:
    later = """if self.training and torch.is_grad_enabled():
            self.calls = getattr(self, "calls", 0) + 1
        if getattr(self, "calls", 0) > 60: h = h * __import__('random').random()"""
    cohort = written(tmp_path, two_heads(noise=later)).cohort([trial("t0"), trial("t1", seed=1)], OwnData(), CPU)
    cohort._go(True)
    for epoch in range(1, 60):
        cohort.train_epoch(epoch)
    assert not cohort.stacks and cohort.stacking.startswith("not stacked any more: random numbers of numpy or Python")


@pytest.mark.parametrize(
    ("text", "stacks"), [(t, True) for t in STACKED.values()] + [(t, False) for t in ALONE.values()]
)
def test_what_cannot_be_stacked_says_why(tmp_path: Path, text: str, stacks: bool) -> None:
    code = written(tmp_path, text)
    cohort = code.cohort([own_trial(code, f"t{seed}", Fixed(), seed) for seed in range(3)], OwnData(), CPU)
    assert cohort.stacks == stacks
    why = "random numbers of numpy or Python" if "__import__" in text else "RuntimeError: "
    assert cohort.stacking.startswith("stacked: 3 members" if stacks else f"not stacked: {why}")
    assert cohort.stacking in str(cohort)


def test_a_member_starts_where_its_seed_alone_says(tmp_path: Path) -> None:
    code = written(tmp_path, two_heads())
    cohort = code.cohort([trial(f"t{seed}", seed=seed) for seed in (3, 5)], OwnData(), CPU)
    torch.manual_seed(5)
    own = code.module.Mine().model().state_dict()
    assert cohort.model.named().keys() == own.keys()
    assert all(torch.equal(tensor[1], own[name]) for name, tensor in cohort.model.named().items())


def test_reports_have_losses_weights_and_metrics_of_both_splits(tmp_path: Path) -> None:
    last = reports(written(tmp_path, two_heads()), [trial("t")], evaluation=Evaluation(gradients=True))[-1]
    held_out = ["acc", "mae", "test_loss_class", "test_loss_price"]
    training = [f"{what}_{term}" for what in ("loss", "weight", "gradient_norm") for term in ("class", "price")]
    assert set(last.metrics["t"]) == {
        *("epoch", "seconds", "cosine_class_price"),
        *(*training, *held_out, *(f"validation_{name}" for name in held_out)),
    }
    assert last.final and not last.failures


def test_without_a_share_to_hold_out_there_is_no_validation(tmp_path: Path) -> None:
    (*_, last) = reports(written(tmp_path, two_heads()), [trial("t")], data=OwnData(validation_fraction=0))
    assert not [name for name in last.metrics["t"] if name.startswith("validation_")]


def test_a_weighting_that_learns_from_the_validation_split_is_told_of_it(tmp_path: Path) -> None:
    members = [trial(f"t{seed}", Blending(warm_up=1), seed, epochs=4) for seed in (0, 1)]
    code = written(tmp_path, two_heads("nn.Dropout(0.1)"))
    assert_equal_to_alone(code, members, within=1e-3)  # ratios of small differences show rounding
    weights = [report.metrics["t0"]["weight_class"] for report in reports(code, members)]
    assert weights[0] == 0.5 != weights[-1]


def test_members_have_learning_rates_of_their_own_and_a_schedule(tmp_path: Path) -> None:
    schedule = "def schedule(self, epoch, epochs):\n        return 1.0 if epoch < 2 else 0.0\n    width: int = 8"
    code = written(tmp_path, two_heads().replace("width: int = 8", schedule))
    members = [trial(f"t{rate}", learning_rate=rate, l2=0.1) for rate in (1e-3, 1e-2)]
    assert_equal_to_alone(code, members)
    first, second, third = (report.metrics["t0.01"]["test_loss_class"] for report in reports(code, members))
    assert second == third == first


@pytest.mark.parametrize("text", [two_heads("nn.Dropout(0.3)"), two_heads("nn.BatchNorm1d(width)"), *ALONE.values()])
def test_a_cohort_that_was_killed_goes_on_as_if_it_had_not_been(tmp_path: Path, text: str) -> None:
    code = written(tmp_path, text)
    members = [trial(f"t{k}", [Mgb(), Blending(warm_up=1)][k % 2], k, epochs=4) for k in range(3)]
    states: dict[int, tuple[Progress, Mapping[str, torch.Tensor]]] = {}

    def copy(progress: Progress) -> bool:
        states[progress.epoch] = progress, {name: tensor.clone() for name, tensor in progress.state().items()}
        return False

    whole = reports(code, members, between=copy)
    progress, state = states[2]
    rest = reports(code, members, begun=progress._replace(state=lambda: dict(state)))
    assert len(rest) == 2
    for before, after in zip(whole[2:], rest, strict=True):
        for each in members:
            assert told(after, each.id) == pytest.approx(told(before, each.id), rel=1e-6)


def test_a_loss_that_is_no_number_fails_its_member_alone(tmp_path: Path) -> None:
    members = [trial("good", optimizer="sgd"), trial("bad", learning_rate=1e20, optimizer="sgd")]
    both = reports(written(tmp_path, two_heads()), members)
    assert [set(report.failures) for report in both] == [{"bad"}, set(), set()]
    assert set(both[-1].metrics) == {"good"} and "non-finite in epoch 1" in both[0].failures["bad"]


@pytest.mark.parametrize("stacked", [True, False])
def test_what_a_forward_pass_puts_in_the_place_of_a_buffer_stays_there(tmp_path: Path, stacked: bool) -> None:
    code = written(tmp_path, STACKED["a buffer that is replaced"])
    cohort = code.cohort([trial(f"t{seed}", seed=seed) for seed in (0, 1)], OwnData(), CPU)
    cohort._go(stacked)
    cohort.train_epoch(1)
    assert (cohort.model.named()["trunk.2.mean"].abs().sum(1) > 0.01).all()


def test_parameter_noise_is_new_in_every_step_and_that_of_the_seed(tmp_path: Path) -> None:
    code = written(tmp_path, two_heads())
    members = [
        trial(f"t{k}", Arml(form="two-stage", stage=0.9, noise=0.1), seed, learning_rate=1e-9, batch_size=64)
        for k, seed in enumerate((0, 0, 1))
    ]
    cohort = code.cohort(members, OwnData(), CPU)
    places = [cohort.model.shared.flat.clone()]
    for epoch in (1, 2):
        cohort.train_epoch(epoch)
        places.append(cohort.model.shared.flat.clone())
    first, second = places[1] - places[0], places[2] - places[1]
    assert torch.allclose(first[0], first[1], atol=1e-6) and (first[0] - first[2]).abs().max() > 1e-3
    assert torch.cosine_similarity(first, second).max() < 0.9  # the noise shrinks, so lengths tell nothing


def test_averaged_weights_are_what_is_measured_of_the_same_steps(tmp_path: Path) -> None:
    code = written(tmp_path, two_heads())
    members = [own_trial(code, str(d), Fixed(beta=0.5), 0, epochs=3, learning_rate=0.05, average=d) for d in (0, 0.95)]
    last = reports(code, members)[-1].metrics
    assert last["0.95"]["loss_class"] == pytest.approx(last["0"]["loss_class"], rel=1e-5)
    assert last["0.95"]["mae"] != pytest.approx(last["0"]["mae"], abs=1e-3)
    assert_equal_to_alone(code, members)


def test_the_best_epoch_by_the_codes_own_metric_is_kept(tmp_path: Path) -> None:
    code = written(tmp_path, two_heads())
    members = [own_trial(code, "m", Fixed(beta=0.5), 0, epochs=6, learning_rate=rate, best="mae") for rate in (0.3,)]
    told = [report.metrics["m"] for report in reports(code, members)]
    held = [float(each["validation_mae"] or 0) for each in told[:-1]]
    best = held.index(min(held))
    assert told[-1]["best_epoch"] == best + 1 < 6, "a rate at which the last epoch is not the best"
    assert told[-1]["validation_mae"] == pytest.approx(min(held))
    assert told[-1]["mae"] == pytest.approx(told[best]["mae"])


SLOPES = """x = x.clone().requires_grad_(True)
        a, b = model(x)
        (slope,) = torch.autograd.grad(b.sum(), x, create_graph=True)
        return {"class": F.cross_entropy(a, y), "price": F.mse_loss(b, p) + slope.square().mean()}"""


def test_losses_may_differentiate_by_their_inputs(tmp_path: Path) -> None:
    """As for a differential equation; also where they are measured without gradients."""
    whole = 'a, b = model(x)\n        return {"class": F.cross_entropy(a, y), "price": F.mse_loss(b, p)}'
    assert whole in two_heads()
    code = written(tmp_path, two_heads("nn.Tanh()").replace(whole, SLOPES))
    trials = [trial(f"t{k}", seed=k) for k in range(2)]
    together, alone = reports(code, trials)[-1], reports(code, trials[1:])[-1]
    own = {name: value for name, value in alone.metrics["t1"].items() if name != "seconds"}
    assert {name: together.metrics["t1"][name] for name in own} == pytest.approx(own, rel=1e-4, abs=1e-6)


def test_a_metric_that_is_no_number_at_the_end_fails_its_member_at_the_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Before the end it is told, and null."""
    text = two_heads().replace('"mae": (b - p).abs().mean()', '"mae": (b - p).abs().mean() / 0 * 0')
    members = [trial(f"t{k}", seed=k) for k in range(2)]
    with caplog.at_level("WARNING"):
        *before, last = reports(written(tmp_path, text), members)
    line = next(i for i, each in enumerate(text.splitlines(), 1) if "def measure" in each)
    why = f"mine.py:{line}: measure gave nan for mae on the test split in the last epoch"
    assert last.failures == {"t0": why, "t1": why} and not any(report.failures for report in before)
    assert last.metrics["t0"]["acc"] is not None and last.metrics["t0"]["mae"] is None and last.final
    assert "measure gave no finite mae for 2 of 2 members on test in epoch 3" in caplog.text


def test_a_metric_that_is_no_number_for_one_member_fails_that_one_alone(tmp_path: Path) -> None:
    """The other's weights are kept."""
    whole, made = '"mae": (b - p).abs().mean()', "nn.Linear(width, 1)\n"
    text = two_heads().replace(whole, f"{whole} / (model.price.bias - model.start).abs().sum()")
    text = text.replace(made, f'{made}        self.register_buffer("start", self.price.bias.detach().clone())\n')
    members = [trial("good", optimizer="sgd"), trial("bad", optimizer="sgd", learning_rate=1e-20)]
    kept: list[str] = []

    def keeping(cohort: Any, alive: Mapping[int, PlannedTrial]) -> None:
        kept.extend(each.id for each in alive.values())

    last = reports(written(tmp_path, text), members, at_end=keeping)[-1]
    assert set(last.failures) == {"bad"} and kept == ["good"] and last.metrics["good"]["mae"] is not None
