"""Points beside the exact curve of Gaussian data, one by one."""

from __future__ import annotations

import pytest

from findings.finding import Finding
from service.analysis.truth import gaussian_at_rate
from service.contract.methods.data import Gaussian
from tests.findings.played import finding
from tests.findings.quantities.test_quantities import FIVE, said
from tests.service.studies import bottleneck_of, event, play, tell

BELOW: dict[float | None, float] = {0.01: 0.0625, 0.1: 0.25, 1.0: 0.0}  # bits under the curve, by β


def beside_the_curve() -> Finding:
    view = bottleneck_of(seeds=[0, 1, 2], data={"name": "gaussian", "validation_fraction": 0.0, "draw": "shared"})
    tell(view, event("study_started"))
    for trial_id, trial in view.trials.items():
        rate = 2.0 + trial.planned.seed
        label = gaussian_at_rate(Gaussian().correlations, rate) - BELOW.get(
            trial.planned.config.get("weighting.beta"), 0
        )
        last = {"i_xz_bits": rate, "i_zy_bits": label, "accuracy": 0.5, "seconds": 0.5, "test_examples": 360}
        play(view, trial_id, [last], "trial_finished")
    tell(view, event("study_finished"))
    return finding(view)


def test_the_worst_point_and_how_many_lie_near_are_told() -> None:
    near = beside_the_curve()
    assert said("worst exact gap(manual β)", near) == "−0.250 (3 seeds)"
    assert said("within exact(0.1; manual β)", near) == "6 of 9 (3 seeds)"
    assert said("within exact(0.1; MIB)", near) == "3 of 3 (3 seeds)"


def test_without_an_exact_curve_there_is_no_gap() -> None:
    with pytest.raises(ValueError, match="of data gaussian, got data digits"):
        said("worst exact gap(MIB)", FIVE)
