"""The rows of `make bench ARGS=own` that need no Ray can be made; how large they are is not looked at here."""

from __future__ import annotations

import pytest
import torch

from findings.speed import load_speed
from tests.benchmarks import own_code


@pytest.mark.filterwarnings("ignore:There is a performance drop because we have not yet implemented the batching rule")
def test_every_row_is_made_in_one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_code, "EPOCHS", 1)
    monkeypatch.setattr(own_code, "NEVER", own_code.NEVER.model_copy(update={"every": 1}))
    threads = torch.get_num_threads()
    try:
        rows = [*own_code.own_rows(counted=1), *own_code.foreign_rows(counted=1)]
    finally:
        torch.set_num_threads(threads)
    told = {key for key, row in load_speed().rows.items() if row.group in ("own", "models")}
    assert told - {"own-tune", "own-tune-again", "own-check"} == {row.key for row in rows}, "which need a Ray"
    assert all(row.first > 0 for row in rows)
    *stacked, one_by_one = (row for row in rows if row.group == "models")
    assert len(stacked) == 4 and all(row.stacking and row.ratio and 0 < (row.apart or 0) < 1e-3 for row in stacked)
    assert one_by_one.key == "own-reviews" and (one_by_one.stacking or "").startswith("not stacked: RuntimeError")
    assert (one_by_one.second, one_by_one.ratio, one_by_one.apart) == (None, None, None)
