"""The update of a user's problem, against the rule by hand; Gram matrices whole and in groups."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from service.contract.methods.data import OwnData
from service.contract.methods.weightings import Fixed, Mgb
from tests.workers.own_code.parts import CPU, described, trial, two_heads, written
from workers.own_code.errors import CodeError
from workers.own_code.loaded import LoadedCode
from workers.own_code.step import groups, step

QUADRATIC = """
import torch
from torch import nn
from paretoscope import Problem

class Point(nn.Module):
    def __init__(self):
        super().__init__()
        self.x, self.a, self.b = (nn.Parameter(torch.randn(2)) for _ in range(3))

class Quadratic(Problem):
    terms = ("first", "second")
    metrics = {"far": "minimize"}
    def data(self, seed):
        return {"train": torch.ones(4, 1), "test": torch.ones(2, 1)}
    def model(self):
        return Point()
    def losses(self, model, batch):
        one = batch.mean()
        return {"first": one * ((model.x - 1) ** 2).sum() + (model.a ** 2).sum(),
                "second": one * ((model.x + 1) ** 2).sum() + 3 * (model.b ** 2).sum()}
    def measure(self, model, batch):
        return {"far": model.x.norm()}
"""
SPEC = described("Quadratic", ("first", "second"), far="minimize")


@pytest.mark.parametrize("beta", [1.0, 0.25, 0.0])
@pytest.mark.parametrize(("members", "stacked"), [(1, False), (3, False), (3, True)])
def test_shared_parameters_descend_along_the_weighted_sum_and_others_along_their_own(
    tmp_path: Path, members: int, stacked: bool, beta: float
) -> None:
    """∇ first = 2(x − 1) over x and 2a over a; ∇ second = 2(x + 1) over x and 6b over b; w = (1, β)."""
    code = written(tmp_path, QUADRATIC)
    trials = [trial(f"t{k}", Fixed(beta=beta), k, of=SPEC, optimizer="sgd", learning_rate=0.1) for k in range(members)]
    cohort = code.cohort(trials, OwnData(validation_fraction=0), CPU)
    cohort._go(stacked)
    assert cohort.stacks == stacked
    start = {name: tensor.clone() for name, tensor in cohort.model.named().items()}
    losses, weights = cohort.train_epoch(1)
    x, a, b = start["x"], start["a"], start["b"]
    expected = {"x": x - 0.1 * (2 * (x - 1) + beta * 2 * (x + 1)), "a": a - 0.1 * 2 * a, "b": b - 0.1 * 6 * b}
    for name, tensor in cohort.model.named().items():
        torch.testing.assert_close(tensor, expected[name])
    torch.testing.assert_close(weights[0], torch.tensor([[1.0, beta]]).expand(members, 2))
    torch.testing.assert_close(losses[0, :, 0], ((x - 1) ** 2).sum(1) + (a**2).sum(1))


@pytest.mark.parametrize("text", [two_heads("nn.Dropout(0.2)"), two_heads(noise="h = h if h.sum() > 0 else 2 * h")])
def test_gram_matrices_in_groups_equal_those_held_whole(tmp_path: Path, text: str) -> None:
    cohort = written(tmp_path, text).cohort([trial(f"t{k}", Mgb(), k) for k in range(3)], OwnData(), CPU)
    cohort._go(stacked=True)  # where that is possible
    cohort.model.train(True)
    batch = next(cohort._passes.epoch(1))
    whole, groupwise = (
        step(cohort._way, cohort.model, cohort._losses, cohort.weighting, batch, held=held) for held in (2**20, 60)
    )
    assert whole[0].numel()
    for one, other in zip(whole, groupwise, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


def test_groups_are_neighbours_that_fit() -> None:
    assert groups([3, 3, 3], 6) == [slice(0, 2), slice(2, 3)]
    assert groups([9, 1, 1], 6) == [slice(0, 1), slice(1, 3)]
    assert groups([1], 6) == [slice(0, 1)]


def shared_of(folder: Path, text: str) -> set[str]:
    code: LoadedCode = written(folder, text)
    return set(code.cohort([trial("t", of=SPEC)], OwnData(validation_fraction=0), CPU).model.shared_names)


def test_shared_is_what_more_than_one_term_reaches(tmp_path: Path) -> None:
    assert shared_of(tmp_path, QUADRATIC) == {"x"}


@pytest.mark.parametrize("said", ["['x', 'a']", "[model.x, model.a]"])
def test_or_what_the_problem_says(tmp_path: Path, said: str) -> None:
    hook = f"    def shared(self, model):\n        return {said}\n    def measure"
    assert shared_of(tmp_path, QUADRATIC.replace("    def measure", hook)) == {"x", "a"}


def test_a_module_may_be_named_as_shared(tmp_path: Path) -> None:
    hook = "def shared(self, model):\n        return ['trunk']\n    width: int = 8"
    code = written(tmp_path, two_heads().replace("width: int = 8", hook))
    assert code.cohort([trial("t")], OwnData(), CPU).model.shared_names == ["trunk.0.weight", "trunk.0.bias"]


@pytest.mark.parametrize("said", ["['y']", "[]", "[torch.zeros(1)]"])
def test_what_is_no_parameter_is_refused(tmp_path: Path, said: str) -> None:
    hook = f"    def shared(self, model):\n        return {said}\n    def measure"
    with pytest.raises(CodeError, match="shared gave"):
        shared_of(tmp_path, QUADRATIC.replace("    def measure", hook))


def test_terms_that_share_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CodeError, match=r"mine\.py:18: the terms first, second share no parameter"):
        shared_of(tmp_path, QUADRATIC.replace("model.x + 1", "model.b + 1"))


def test_a_parameter_that_is_kept_twice_is_refused_rather_than_never_trained(tmp_path: Path) -> None:
    twice = "(nn.Parameter(torch.randn(2)) for _ in range(3))\n        self.all = [self.x]"
    text = QUADRATIC.replace("(nn.Parameter(torch.randn(2)) for _ in range(3))", twice).replace(
        "model.x", "model.all[0]"
    )
    with pytest.raises(CodeError, match=r"mine\.py:6: the model keeps its parameter x in a second place"):
        shared_of(tmp_path, text)
