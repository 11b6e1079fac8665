"""Hypervolumes seed by seed, against another arm, the exact front, all arms together and another study."""

from __future__ import annotations

import pytest

from findings.finding import Finding
from findings.quantities import volumes
from findings.quantities.volumes import exact_volume
from findings.replay import view_of
from service.analysis.truth import FRONTS
from tests.findings.played import finding
from tests.findings.quantities.test_quantities import FIVE, said
from tests.service.studies import event, play, tell
from tests.service.studies import view_of as begun


def toy(front: str = "convex", seeds: int = 5) -> Finding:
    """Two arms on the exact front: one with both ends and the middle, one with the middle alone."""
    arms = [
        {"name": name, "weighting": {"name": "fixed", "beta": {"grid": grid}}}
        for name, grid in (("three", [0.1, 1.0, 10.0]), ("one", [1.0]))
    ]
    problem = {"name": "toy", "front": front}
    view = begun({"name": "s", "data": {"name": "toy"}, "problem": problem, "seeds": list(range(seeds)), "arms": arms})
    tell(view, event("study_started"))
    for trial, own in view.trials.items():
        f1, f2 = FRONTS[front]({0.1: 1.0, 1.0: 0.0, 10.0: -1.0}[own.planned.config["weighting.beta"]])
        play(view, trial, [{"f1": f1 + own.planned.seed / 1000, "f2": f2, "seconds": 1.0}])
    tell(view, event("study_finished"))
    return finding(view)


def test_the_exact_volume_is_the_area_to_the_reference_point() -> None:
    assert exact_volume(view_of(toy())) == pytest.approx(5 / 6, abs=1e-4)
    assert exact_volume(view_of(toy("concave"))) == pytest.approx(0.34212, abs=1e-4)
    with pytest.raises(ValueError, match="the exact front of this study is not known"):
        exact_volume(view_of(FIVE))


def test_shares_are_told_over_seeds_and_of_the_worst() -> None:
    """The middle, (1/4, 1/4), dominates 9/16 in the first seed, 27/40 of the exact 5/6; the ends add nothing."""
    whole = toy()
    assert said("exact share(one)", whole) == "0.673 ± 0.002"
    assert said("least exact share(one)", whole) == "0.671"
    assert said("joint share(three)", whole) == "1.00 ± 0.00"
    assert said("volume difference(three; one)", whole) == "0"
    assert said("volume ratio(three; one)", whole) == "1.00 ± 0.00"


def test_two_arms_are_compared_seed_by_seed() -> None:
    assert said("volume difference(manual β; MIB)").startswith("+") and said("volume p(manual β; MIB)") == "p < 0.001"
    assert said("joint share(manual β)") == "1.00 ± 0.00"


def test_what_an_arm_lacks_of_another_s_hypervolume_is_said_in_percent() -> None:
    """Above 0 where it has less, below where it has more."""
    assert said("volume ratio(MIB; manual β)") == "0.680 ± 0.002"
    assert said("volume short of(MIB; manual β)") == "32.01 ± 0.23 %"
    assert said("volume short of(manual β; MIB)") == "−47.08 ± 0.51 %"
    assert said("volume short of(three; one)", toy()) == "0 %"


def test_an_arm_is_held_against_itself_in_another_study(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(volumes, "other_study", lambda name: view_of({"toy": toy()}[name]))
    assert said("share of study(toy; one)", toy()) == "1.00 ± 0.00"
    assert said("least share of study(toy; three)", toy()) == "1.00"
