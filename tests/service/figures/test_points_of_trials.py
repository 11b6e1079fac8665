"""What stands at a point is of the trial that a click on it opens: its place, its words and its arm."""

from __future__ import annotations

import re

import pytest

from service.contract.wire.events import Metrics
from service.contract.wording.numbers import number, setting
from service.figures import FIGURES
from service.figures.drawing.style import short
from service.figures.figure import Asked
from service.views.fold import StudyView
from service.views.trial import TrialView
from tests.service.studies import MANUAL, MIB, bottleneck_of, play

ATTACKED = {"attacks": [{"name": "pgd"}, {"name": "fgsm"}]}


@pytest.fixture
def view() -> StudyView:
    """No two trials have a number in common, whichever metric is looked at."""
    view = bottleneck_of(MANUAL, MIB, seeds=(0, 1, 2), evaluation=ATTACKED)
    for i, trial in enumerate(view.trials):
        test = 0.4 + 0.03 * i
        last: Metrics = {
            "i_xz_bits": 1.0 + i,
            "i_zy_bits": 0.5 + 0.1 * ((5 * i) % 12),
            "accuracy": test,
            "train_accuracy": test + 0.01 + 0.002 * i,
            "generalization_gap": 0.01 + 0.002 * i,
            "robust_pgd": test - 0.2 - 0.001 * i,
            "robust_fgsm": test - 0.1 - 0.002 * i,
            "robust_images": 100.0,
            "seconds": 3.0 + i,
        }
        play(view, trial, [{**last, "accuracy": 0.1}, last])
    return view


def places(name: str, view: StudyView, *coordinates: str) -> list[tuple[TrialView, str, str, tuple[float, ...]]]:
    """Trial, words, arm of the trace and place of every point that opens a trial; words are empty where it has none."""
    points = []
    for trace in FIGURES[name].build(Asked(view))["data"]:
        opened = trace.get("customdata", [])
        words = trace.get("text", [""] * len(opened))
        for i, trial in enumerate(opened):
            place = tuple(trace[coordinate][i] for coordinate in coordinates)
            points.append((view.trials[trial], words[i], trace["name"], place))
    return points


@pytest.mark.parametrize(
    ("name", "x", "y"),
    [
        ("pareto-front", "i_xz_bits", "i_zy_bits"),
        ("information-plane", "i_xz_bits", "i_zy_bits"),
        ("generalization-gap", "i_xz_bits", "generalization_gap"),
    ],
)
def test_a_point_of_two_metrics_stands_at_both_values_of_its_trial(view: StudyView, name: str, x: str, y: str) -> None:
    points = places(name, view, "x", "y")
    assert len(points) == len(view.trials)
    for trial, words, arm, place in points:
        assert place == (short(trial.metrics[x] or 0.0), short(trial.metrics[y] or 0.0))
        assert arm == trial.planned.arm and f"seed {trial.planned.seed}" in words
        assert all(re.search(rf"\D {number(trial.metrics[metric])}\b", words) for metric in (x, y)), words
        if arm == "manual β":
            assert f"β {setting(trial.planned.config['weighting.beta'])} " in words


def test_a_point_against_beta_stands_at_the_beta_of_its_trial(view: StudyView) -> None:
    points = places("beta-sensitivity", view, "x", "y")
    assert len(points) == 9, "of the arm that has a β"
    for trial, words, arm, place in points:
        assert place == (trial.planned.config["weighting.beta"], short(trial.metrics["accuracy"] or 0.0))
        said = f"β {setting(place[0])}: {number(trial.metrics['accuracy'])}, seed {trial.planned.seed}"
        assert (arm, words) == ("manual β", said)


def test_a_point_in_the_row_of_an_arm_is_a_seed_of_its_best_configuration(view: StudyView) -> None:
    points = places("accuracy-by-method", view, "x")
    assert [trial.planned.config.get("weighting.beta") for trial, *_ in points] == [1.0] * 3 + [None] * 3
    for trial, words, arm, place in points:
        accuracy = trial.metrics["accuracy"] or 0.0
        assert place == (short(accuracy),)
        assert (arm, words) == (trial.planned.arm, f"seed {trial.planned.seed}: {number(accuracy)}")


def test_a_point_under_an_attack_stands_in_the_row_of_that_attack(view: StudyView) -> None:
    drawn = FIGURES["robustness"].build(Asked(view))
    rows = dict(zip(drawn["layout"]["yaxis"]["tickvals"], drawn["layout"]["yaxis"]["ticktext"], strict=True))
    assert list(rows.values()) == ["clean", "pgd", "fgsm"]
    metrics = {"clean": "accuracy", "pgd": "robust_pgd", "fgsm": "robust_fgsm"}
    points = places("robustness", view, "x", "y")
    assert len(points) == 2 * 3 * 3
    for trial, words, arm, (x, y) in points:
        accuracy = trial.metrics[metrics[rows[round(y)]]] or 0.0
        assert x == short(accuracy)
        assert (arm, words) == (trial.planned.arm, f"seed {trial.planned.seed}: {number(accuracy)}")


def test_a_point_of_convergence_stands_at_the_epoch_of_its_trial(view: StudyView) -> None:
    points = places("convergence", view, "x")
    assert points and {place for *_, place in points} == {(2.0,)}
    assert all(words == f"seed {trial.planned.seed}: 2" for trial, words, *_ in points)


def test_a_point_in_space_stands_at_three_values_of_its_trial(view: StudyView) -> None:
    drawn = FIGURES["pareto-front"].build(Asked(view, z="accuracy"))["data"]
    shown = [(trial, i, trace) for trace in drawn for i, trial in enumerate(trace.get("customdata", []))]
    assert len(shown) == len(view.trials)
    for trial, i, trace in shown:
        values = [view.trials[trial].metrics[name] or 0.0 for name in ("i_xz_bits", "i_zy_bits", "accuracy")]
        assert [trace["x"][i], trace["y"][i], trace["z"][i]] == [short(value) for value in values]
        label, *lines = trace["text"][i].split("<br>")
        assert label.endswith(f"seed {view.trials[trial].planned.seed}")
        titles = ("I(X;Z) [bits]", "I(Z;Y) [bits]", "accuracy")
        assert lines == [f"{title} {number(value)}" for title, value in zip(titles, values, strict=True)]


def test_a_line_of_parallel_coordinates_goes_through_the_values_of_its_trial(view: StudyView) -> None:
    drawn = FIGURES["parallel-coordinates"].build(Asked(view))
    by_label = {axis["label"]: axis["values"] for axis in drawn["data"][0]["dimensions"]}
    trials = drawn["layout"]["meta"]["trials"]
    assert trials == list(view.trials)
    for i, trial in enumerate(trials):
        metrics = view.trials[trial].metrics
        assert by_label["I(Z;Y) [bits]"][i] == short(metrics["i_zy_bits"] or 0.0)
        assert by_label["accuracy"][i] == short(metrics["accuracy"] or 0.0)
