"""Members with different weightings in one cohort of a user's problem equal members alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.contract.methods.weightings import Fixed, Mgda
from tests.workers.own_code.parts import reports, trial, two_heads, written


@pytest.mark.parametrize("middle", ["nn.Dropout(0.2)", "nn.BatchNorm1d(width)"])
def test_by_hand_and_mgda_together_are_what_they_are_alone(tmp_path: Path, middle: str) -> None:
    code = written(tmp_path, two_heads(middle))
    kinds = [Fixed(beta=0.1), Mgda(), Fixed(beta=3.0), Mgda()]
    trials = [trial(f"t{k}", kind, seed=k // 2, learning_rate=0.01) for k, kind in enumerate(kinds)]
    together = reports(code, trials)
    assert together
    for each in trials:
        for mine, alone in zip(together, reports(code, [each]), strict=True):
            own, expected = ({k: v for k, v in r.metrics[each.id].items() if k != "seconds"} for r in (mine, alone))
            assert own == pytest.approx(expected, rel=1e-4, abs=1e-5)
