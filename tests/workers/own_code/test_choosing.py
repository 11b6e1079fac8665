"""Which way a cohort goes: by the clock where both ways agree, one by one where they do not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partialmethod
from math import nan
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from service.contract.methods.data import OwnData
from tests.workers.own_code.parts import CPU, trial, two_heads, written
from workers.own_code import choosing
from workers.own_code.cohort import OwnCohort
from workers.own_code.functions import Function
from workers.own_code.running_members import Batch, OneByOne, Stacked, Way


@pytest.fixture
def cohort(tmp_path: Path) -> OwnCohort:
    code = written(tmp_path, two_heads("nn.BatchNorm1d(width)"))
    made = code.cohort([trial(f"t{k}", seed=k) for k in range(3)], OwnData(), CPU)
    made.model.train(True)
    return made


def chosen(cohort: OwnCohort, alone: float = 1.0, stacked: float = 1.0) -> choosing.Choice:
    """By a clock on which a pass of each way takes so long."""

    def times() -> Iterator[float]:
        now = 0.0
        for seconds in (alone, stacked):
            for _ in range(choosing.TIMED):
                yield now
                now += seconds
                yield now

    ticks = times()
    return choosing.choose(cohort.model, cohort._losses, next(cohort._passes.epoch(1)), lambda: next(ticks))


def test_the_faster_way_is_taken(cohort: OwnCohort) -> None:
    choosing_stacked, choosing_alone = chosen(cohort, 0.02, 0.01), chosen(cohort, 0.01, 0.02)
    assert choosing_stacked.stacks and choosing_stacked.words == "stacked: 3 members together are 2.00 times as fast"
    assert (
        not choosing_alone.stacks and choosing_alone.words == "not stacked: 3 members together take 2.00 times as long"
    )


def test_trying_changes_nothing(cohort: OwnCohort) -> None:
    before = {name: tensor.clone() for name, tensor in cohort.state().items()}
    chosen(cohort)
    assert all(torch.equal(tensor, before[name]) for name, tensor in cohort.state().items())


@pytest.mark.parametrize(("what", "words"), [("losses", "losses differ"), ("buffers", "the buffer trunk.2.")])
def test_stacked_numbers_that_differ_are_not_used(
    cohort: OwnCohort, monkeypatch: pytest.MonkeyPatch, what: str, words: str
) -> None:
    run = Stacked.run

    def wrong(self: Stacked, function: Function, batch: Batch) -> list[Tensor]:
        values = run(self, function, batch)
        if what == "buffers":
            cohort.model.buffers["trunk.2.running_mean"].data.add_(1e-3)
            return values
        self._values = [value * 1.0001 for value in values]
        return self._values

    monkeypatch.setattr(Stacked, "run", wrong)
    choice = chosen(cohort)
    assert choice.stacked is None and not choice.stacks and choice.words.startswith(f"not stacked: {words}")


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("what", ["losses", "gradients"])
def test_what_is_no_number_in_one_way_only_is_not_used(
    cohort: OwnCohort, monkeypatch: pytest.MonkeyPatch, what: str, both: bool
) -> None:
    """In both ways it is no reason: a member may well be broken from the start."""
    for way in (Stacked, OneByOne) if both else (Stacked,):
        name = "run" if what == "losses" else "pull"
        monkeypatch.setattr(way, name, partialmethod(_broken, getattr(way, name)))
    choice = chosen(cohort)
    assert (choice.stacked is not None) is both
    assert both or choice.words == f"not stacked: {what} are finite in one way and not in the other"


def _broken(way: Way, whole: Any, *args: Any, **how: Any) -> list[Tensor]:
    """Without the numbers of the second member."""
    second = torch.tensor([1.0, nan, 1.0])
    return [tensor * second.view(-1, *[1] * (tensor.dim() - 1)) for tensor in whole(way, *args, **how)]


def test_gradients_that_differ_are_not_used(cohort: OwnCohort, monkeypatch: pytest.MonkeyPatch) -> None:
    pull = Stacked.pull
    monkeypatch.setattr(Stacked, "pull", lambda *args, **options: [1.001 * g for g in pull(*args, **options)])
    assert chosen(cohort).words.startswith("not stacked: gradients differ from those of members alone by up to 0.00100")


def test_a_batch_that_cannot_be_stacked_after_all_is_computed_one_by_one(
    cohort: OwnCohort, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not cohort.stacks:
        cohort._go(stacked=True)

    def fails(self: Stacked, function: Function, batch: Batch) -> list[Tensor]:
        raise RuntimeError("vmap: no\nmore words")

    monkeypatch.setattr(Stacked, "run", fails)
    cohort.train_epoch(1)
    assert isinstance(cohort._way, OneByOne) and cohort.stacking == "not stacked any more: vmap: no"
