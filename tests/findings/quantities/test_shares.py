"""How many more trials fulfil something, seed by seed."""

from __future__ import annotations

import pytest

from findings.finding import Finding
from findings.quantities import shares
from findings.replay import view_of
from tests.findings.played import finding, view
from tests.findings.quantities.test_quantities import FIVE, said


def broken() -> Finding:
    """Of the first seed no trial came to its end."""
    return finding(view(fails=lambda trial: trial.planned.seed == 0))


def test_shares_are_compared_seed_by_seed() -> None:
    """Of three βs two are above; of MIB's single trials every second one, none, or all."""
    assert said("share difference(manual β; MIB; accuracy > 0.72)") == "+0.667 ± 0.000"
    assert said("share difference(MIB; manual β; accuracy > 0.72)") == "−0.667 ± 0.000"
    assert said("share difference(manual β; MIB; accuracy > 0.71)") == "+0.27 ± 0.68"
    assert said("share difference(MIB; MIB; accuracy > 0.72)") == "–"


def test_an_arm_is_held_against_itself_in_another_study(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "other_study", lambda name: view_of({"same": FIVE, "broken": broken()}[name]))
    assert said("share difference to study(same; manual β; accuracy > 0.72)") == "0"
    assert said("share difference to study(broken; manual β; accuracy > 0.72; state = finished)").startswith("+0.13")
