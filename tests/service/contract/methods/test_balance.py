"""Balance, regularisers and feedback in a study: what they report, where they are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.contract.metrics import metric
from service.contract.study.expansion import expand
from service.contract.study.parsing import check_study
from service.contract.wire.errors import InvalidInput

ARM: dict[str, Any] = {"name": "a", "weighting": {"name": "fixed"}}


def study(arm: dict[str, Any], **parts: Any) -> Any:
    return check_study({"name": "s", "arms": [{**ARM, **arm}], **parts})


def refused(arm: dict[str, Any], **parts: Any) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        study(arm, **parts)
    return [detail.path for detail in caught.value.details]


def test_every_field_of_a_balance_may_be_a_grid() -> None:
    balance = {"p": {"grid": [1.0, 2.0]}, "tied": {"grid": [True, False]}, "mode": "full"}
    trials = expand(study({"training": {"balance": balance, "l2": {"grid": [0.0, 1e-4]}}}))
    assert len(trials) == len({t.id for t in trials}) == 8
    assert {(t.training.balance.p, t.training.balance.tied) for t in trials if t.training.balance} == {
        (p, tied) for p in (1.0, 2.0) for tied in (True, False)
    }
    assert trials[0].config["training.balance.p"] == 1.0
    json.dumps([t.config for t in trials])


def test_a_balanced_arm_reports_its_layers_and_others_do_not() -> None:
    arms = [{**ARM, "training": {"balance": {}}, "model": {"head": [8]}}, {**ARM, "name": "b"}]
    found = check_study({"name": "s", "arms": arms, "model": {"name": "mlp", "widths": [9]}})
    own, other = (set(found.metrics_of(arm)) for arm in found.arms)
    assert own - other == {"balance_encoder-1", "balance_head-1", "power_sum"}
    assert all(metric(name) for name in own)


@pytest.mark.parametrize("layer", ["encoder-1", "feed-forward-12", "code"])
def test_imbalance_is_a_metric(layer: str) -> None:
    found = metric(f"balance_{layer}")
    assert found and found.goal == "minimize" and layer in found.label


@pytest.mark.parametrize(
    ("arm", "parts", "path"),
    [
        ({"training": {"balance": {"p": 0.0}}}, {}, "arms[0].training.balance"),
        ({"training": {"balance": {"q": 1.0}}}, {}, "arms[0].training.balance.q"),
        ({}, {"training": {"balance": {"mode": "often"}}}, "training.balance.mode"),
        ({"training": {"balance": {"p": {"grid": [1.0, -1.0]}}}}, {}, "arms[0].training.balance.p.grid[1]"),
        ({"training": {"l2": -1.0}}, {}, "arms[0].training.l2"),
        ({"training": {"balance": {}}, "model": {"widths": []}}, {}, "arms[0].training.balance"),
        ({"problem": {"name": "toy"}}, {"training": {"balance": {}}}, "training.balance"),
        ({}, {"training": {"feedback": "dfa"}, "model": {"name": "cnn"}}, "training.feedback"),
        ({"problem": {"name": "toy"}, "training": {"feedback": "dfa"}}, {}, "arms[0].training.feedback"),
        ({"weighting": {"name": "mib"}}, {"training": {"feedback": "dfa"}}, "arms[0].weighting.name"),
        ({}, {"model": {"name": "transformer", "width": 10, "heads": 4}}, "model"),
    ],
)
def test_what_cannot_be_is_refused_with_its_path(arm: dict[str, Any], parts: dict[str, Any], path: str) -> None:
    assert path in refused(arm, **parts)
