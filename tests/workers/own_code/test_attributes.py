"""What losses keep on `self` or in a module from batch to batch is each member's own, whichever way members train."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.contract.methods.data import OwnData
from tests.workers.own_code.parts import CPU, reports, trial, two_heads, written
from workers.own_code import choosing
from workers.own_code.running_members import OneByOne

RETURN = 'return {"class": F.cross_entropy(a, y), "price": F.mse_loss(b, p)}'
RUNNING = """self.mean = 0.9 * getattr(self, "mean", 1.0) + 0.1 * F.mse_loss(b, p).detach()
        return {"class": F.cross_entropy(a, y), "price": F.mse_loss(b, p) / self.mean}"""
WARM = """model.calls = getattr(model, "calls", 0) + 1
        return {"class": F.cross_entropy(a, y), "price": F.mse_loss(b, p) * min(1, model.calls / 4)}"""
CACHED = """model.code = a
        return {"class": F.cross_entropy(model.code, y), "price": F.mse_loss(b, p)}"""
LATER = """model.calls = getattr(model, "calls", 0) + 1
        return {"class": F.cross_entropy(a, y), "price": F.mse_loss(b, p) * (1 if model.calls < 4 else 2)}"""
WAYS = {"a running mean": RUNNING, "a count": WARM, "a count for later": LATER, "a code": CACHED}
STACKED = {RUNNING: False, WARM: False, LATER: True, CACHED: True}


@pytest.mark.parametrize("losses", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("ratio", [0.5, 2.0], ids=["one by one", "stacked where it can be"])
def test_members_equal_members_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, losses: str, ratio: float
) -> None:
    monkeypatch.setattr(choosing, "_timed", lambda way, *rest: ratio if isinstance(way, OneByOne) else 1.0)
    code = written(tmp_path, two_heads().replace(RETURN, losses))
    trials = [trial(f"t{k}", seed=k) for k in range(3)]
    together, alone = reports(code, trials), reports(code, trials[1:2])
    assert alone
    for a, b in zip(together, alone, strict=True):
        own = {name: value for name, value in b.metrics["t1"].items() if name != "seconds"}
        assert {name: a.metrics["t1"][name] for name in own} == pytest.approx(own, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("losses", WAYS.values(), ids=WAYS)
def test_they_stack_where_what_is_kept_does_not_change_the_losses(tmp_path: Path, losses: str) -> None:
    code = written(tmp_path, two_heads().replace(RETURN, losses))
    cohort = code.cohort([trial(f"t{k}", seed=k) for k in range(3)], OwnData(), CPU)
    assert (cohort._stacked is not None) is STACKED[losses]
    if not STACKED[losses]:
        assert cohort.stacking == "not stacked: the losses change with what the code keeps on its objects"


def test_measuring_does_not_count(tmp_path: Path) -> None:
    code = written(tmp_path, two_heads().replace(RETURN, LATER))
    cohort = code.cohort([trial("t0"), trial("t1", seed=1)], OwnData(), CPU)
    for stacked in (True, False):
        cohort._go(stacked)
        before = getattr(cohort.model.model, "calls", 0)
        cohort._means(cohort._losses, "test", cohort.split.test)
        assert getattr(cohort.model.model, "calls", 0) == before
