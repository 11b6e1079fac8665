"""A problem of your own can be halved: those who go on train as in the whole cohort."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytest import approx

from service.contract.methods.weightings import Arml, Uniform
from tests.workers.own_code.parts import reports, trial, two_heads, written
from workers.sending.cohort_state import packed, unpacked
from workers.training.loop import Progress
from workers.training.shrinking import shrunk


@pytest.mark.parametrize("middle", ["nn.Identity()", "nn.BatchNorm1d(width)", "nn.Dropout(0.3)"])
@pytest.mark.parametrize("weighting", [Uniform(), Arml(gradient_average=0.5)])
def test_survivors_of_an_own_problem_go_on_as_in_the_whole_cohort(tmp_path: Path, middle: str, weighting: Any) -> None:
    code = written(tmp_path, two_heads(middle))
    trials = [trial(f"t{seed}", weighting, seed=seed, epochs=4) for seed in range(3)]
    kept: list[bytes] = []

    def between(progress: Progress) -> bool:
        if progress.epoch == 2:
            kept.append(packed({each.id: {} for each in trials}, progress, []))
        return False

    whole = reports(code, trials, between=between)[2:]
    chosen = [trials[2], trials[0]]
    after = reports(code, chosen, begun=shrunk(unpacked(kept[0]).progress, trials, chosen))
    assert [report.epoch for report in after] == [3, 4]
    for report, straight in zip(after, whole, strict=True):
        for own in chosen:
            known = {name: value for name, value in straight.metrics[own.id].items() if name != "seconds"}
            assert {name: report.metrics[own.id][name] for name in known} == approx(known, rel=1e-4, abs=1e-5)
