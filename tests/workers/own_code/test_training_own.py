"""A problem of one's own trains like ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from service.contract.methods.weightings import Fixed, Mgb
from tests.workers.own_code.parts import reports, trial, two_heads, written


@pytest.mark.parametrize("weighting", [Fixed(beta=0.5), Mgb()])
def test_members_equal_members_alone(tmp_path: Path, weighting: Any) -> None:
    code = written(tmp_path, two_heads())
    members = [trial(f"t{seed}", weighting, seed) for seed in range(4)]
    together = reports(code, members)[-1]
    assert not together.failures
    for each in members:
        alone = reports(code, [each])[-1]
        own = {name: value for name, value in alone.metrics[each.id].items() if name != "seconds"}
        assert {n: v for n, v in together.metrics[each.id].items() if n != "seconds"} == pytest.approx(own, rel=1e-4)
