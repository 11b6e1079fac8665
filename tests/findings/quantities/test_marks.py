"""An estimate of I(X;Z) never stands without its light, where its study has lights."""

from __future__ import annotations

import pytest

from findings.finding import Finding
from service.views.fold import StudyView
from tests.findings.played import SPLIT, bits_of, finding
from tests.findings.quantities.test_quantities import said
from tests.service.studies import bottleneck_of, event, play, tell

SHARES = {0.01: 0.01, 0.1: 0.1, 1.0: 0.5}  # error of the estimator over the information, by β


def lit() -> Finding:
    """Three βs whose estimates get ●, ◐ and ○, and MIB with ●."""
    view: StudyView = bottleneck_of(seeds=list(range(5)), **SPLIT)
    tell(view, event("study_started"))
    for trial_id, trial in view.trials.items():
        rate, label, accuracy = bits_of(trial)
        miss = 4 * SHARES.get(trial.planned.config.get("weighting.beta", 0.0), 0.02)
        light = {"i_xz_bits_known": 4.0, "i_xz_bits_bias": miss, "i_xz_bits_miss": miss, "test_examples": 360}
        play(view, trial_id, [{"i_xz_bits": rate, "i_zy_bits": label, "accuracy": accuracy, **light}])
    tell(view, event("study_finished"))
    return finding(view)


LIT = lit()


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("mean(i_xz_bits; MIB)", "8.25 ± 0.25 ●"),
        ("mean(i_xz_bits; manual β; weighting.beta = 0.1)", "6.25 ± 0.25 ◐"),
        ("mean(i_xz_bits; MIB; seed < 3)", "8.13 ± 0.31 ● (3 of 5 seeds)"),
        ("by seed(i_xz_bits; MIB)", "8.00, 8.13, 8.25, 8.38, 8.50 ●"),
        ("least(i_xz_bits; manual β)", "3.00 ○"),
        ("largest(i_xz_bits; manual β)", "12.5 ●"),
        ("widest gap(i_xz_bits; 5; 20; manual β)", "7.75 ± 0.25 ◐"),
        ("trust(i_xz_bits)", "○ (off by more than 20 %)"),
        ("trust(i_xz_bits; MIB)", "● (within 5 %)"),
        ("mean(accuracy; MIB)", "0.705 ± 0.009"),
    ],
)
def test_the_worst_mark_of_the_trials_behind_it_is_said(asked: str, answer: str) -> None:
    assert said(asked, LIT) == answer


def test_a_study_without_lights_has_none() -> None:
    assert said("mean(i_xz_bits; MIB)") == "8.25 ± 0.25"
    with pytest.raises(ValueError, match="no trial has a light of i_xz_bits"):
        said("trust(i_xz_bits)")
