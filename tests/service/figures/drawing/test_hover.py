"""Words where a reader points: numbers in them are written as everywhere, from the values as they were measured."""

from __future__ import annotations

import pytest

from service.figures import FIGURES
from service.figures.drawing.hover import hover, value_lines
from service.figures.figure import Asked
from service.views.fold import StudyView
from tests.service.studies import MANUAL, MIB, bottleneck_of, play


def test_each_point_has_its_words_and_the_arm_stands_beside_them() -> None:
    assert hover(["a", "b"]) == {"text": ["a", "b"], "hovertemplate": "%{text}<extra>%{fullData.name}</extra>"}
    assert hover([], beside="")["hovertemplate"] == "%{text}<extra></extra>"


def test_measured_values_stand_below_each_other() -> None:
    assert value_lines(["I(X;Z) [bits]", "gap"], [1234.5, -1.234e-5]) == "I(X;Z) [bits] 1,230<br>gap −1.23e−5"


@pytest.fixture
def view() -> StudyView:
    """Every trial of both arms ended at values that four digits round up to a tie."""
    view = bottleneck_of(MANUAL, MIB)
    for trial in view.trials:
        last = {"i_xz_bits": 1.2346, "i_zy_bits": 1234.6, "accuracy": 0.12346, "generalization_gap": 0.12346}
        play(view, trial, [{**last, "train_accuracy": 0.12346, "seconds": 1.0}])
    return view


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pareto-front", "seed 0<br>I(X;Z) [bits] 1.23<br>I(Z;Y) [bits] 1,230"),
        ("information-plane", "seed 0 · epoch 1<br>I(X;Z) 1.23 bits<br>I(Z;Y) 1,230 bits"),
        ("attainment", "half of 2 seeds attain<br>I(X;Z) [bits] 1.23<br>I(Z;Y) [bits] 1,230"),
        ("attainment-difference", "half of the seeds attain<br>I(X;Z) [bits] 1.23<br>I(Z;Y) [bits] 1,230"),
        ("beta-sensitivity", "β 0.01: 0.123, seed 0"),
        ("generalization-gap", "seed 0<br>I(X;Z) 1.23 bits, gap 0.123"),
        ("generalization-gap", "mean<br>I(X;Z) 1.23 bits, gap 0.123, mean over seeds"),
        ("accuracy-by-method", "seed 0: 0.123"),
        ("convergence", "seed 0: 1"),
        ("learning-curves", "epoch 1: 0.123, training split"),
    ],
)
def test_a_value_is_rounded_once_from_what_was_measured(view: StudyView, name: str, words: str) -> None:
    said = [text for trace in FIGURES[name].drawn(Asked(view))["data"] for text in trace.get("text", [])]
    assert words in said, said
