"""Every weighting of the catalog trains a problem of your own, stacked; which do not, and that the docs name them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from service.contract.catalog import catalog
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.errors import InvalidInput
from tests.planned import planned
from tests.service.own_code import CODE
from tests.workers.own_code.parts import CPU, two_heads, written
from tests.workers.weightings.test_torchjd_weightings import FEW_SOLUTIONS
from workers.training.loop import train

pytestmark = pytest.mark.filterwarnings("ignore:You are solving a parameterized problem")  # Nash-MTL's, from cvxpy

ROOT = Path(__file__).parents[3]
REFUSED = {"conditional", "fvib"}
NAMES = [entry.name for entry in catalog([]).weightings]


def study_of(name: str) -> Study:
    arm = {"name": "a", "problem": {"name": "Mine"}, "weighting": {"name": name, **FEW_SOLUTIONS.get(name, {})}}
    code = {**CODE, "problems": [{**CODE["problems"][0], "parameters": []}]}
    body: dict[str, Any] = {"name": "s", "code": code, "arms": [arm], "seeds": [0, 1]}
    return check_study({**body, "training": {"epochs": 1, "batch_size": 20}})


@pytest.mark.parametrize("name", [name for name in NAMES if name not in REFUSED])
def test_it_trains_two_members_stacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    code, study = written(tmp_path, two_heads()), study_of(name)
    trials = planned(study)
    cohort = code.cohort(trials, study.data, CPU)
    cohort._go(stacked=True)
    assert cohort.stacks
    monkeypatch.setattr(code, "cohort", lambda *how: cohort)
    (report,) = train(trials, study.data, study.evaluation, CPU, code=code)
    assert not report.failures
    for metrics in report.metrics.values():
        weights = [metrics["weight_class"], metrics["weight_price"]]
        assert all(weight is not None and math.isfinite(weight) for weight in weights), weights
        assert metrics["acc"] is not None


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_those_that_cannot_are_refused_and_named_in_the_docs(name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        study_of(name)
    assert refused.value.details[0].path == "arms[0].weighting.name"
    for page in ("README.md", "docs/own-code.md"):
        assert f"`{name}`" in (ROOT / page).read_text(), page
