"""Trials as the API answers them."""

from __future__ import annotations

from service.answers.trials import trial_rows
from tests.service.analysis.test_lights import FAR, NEAR, grid


def test_rows_of_trials_carry_lights() -> None:
    view = grid(NEAR, FAR, {})
    lights = [{name: lit.light for name, lit in row.lights.items()} for row in trial_rows(view, view.trials)]
    assert lights == [{"i_xz_bits": "near"}, {"i_xz_bits": "far"}, {}]
