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
    told = {key for key, row in load_speed().rows.items() if row.group == "own"}
    assert {row.key for row in rows} == told - {"own-tune"}, "which needs a Ray"
    assert all(row.first > 0 and row.second > 0 and row.ratio > 0 and row.group == "own" for row in rows)
