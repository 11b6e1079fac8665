"""Which configuration a figure shows, where a failed trial must have no say, and where lines between arms begin."""

from __future__ import annotations

import pytest

from service.contract.wire.events import TrialState
from service.figures import FIGURES
from service.figures.accuracy_by_method import accuracy_data
from service.figures.convergence import convergence_data, draw_convergence
from service.figures.drawing.configurations import at_places, best_by, best_of
from service.figures.figure import Asked
from service.figures.hypervolume_cost import cost_data, draw_cost
from service.views.fold import StudyView
from tests.service.studies import ALL_BETAS, MIB, accuracy, bottleneck_of, curve, play, play_curves

GRID = {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": [0.01, 0.1]}}}
SEVERAL = {"name": "MIB", "weighting": {"name": "mib", "mu": {"grid": [0.1, 0.2, 0.3]}}}


def with_failed_best(seeds: int = 2) -> StudyView:
    """β 0.01 failed with an accuracy of 0.9 in every seed, β 0.1 finished with 0.5."""
    view = bottleneck_of(GRID, seeds=range(seeds))
    for trial, t in view.trials.items():
        failed = t.planned.config["weighting.beta"] == 0.01
        play(view, trial, accuracy(0.3, 0.9 if failed else 0.5), "trial_failed" if failed else "trial_finished")
    return view


def test_a_failed_configuration_is_not_chosen_for_convergence() -> None:
    view = with_failed_best()
    (arm,) = convergence_data(view, None, None).arms
    assert (arm.best.label, arm.best.of) == ("", 1) and len(arm.reached) == 2
    assert {view.trials[trial].planned.config["weighting.beta"] for trial in arm.best.trials} == {0.1}
    assert convergence_data(view, None, None).threshold == pytest.approx(0.95 * 0.5), "of what did not fail"


def test_failed_trials_do_not_lift_a_configuration_in_convergence() -> None:
    """Of β 0.01 one seed failed at 0.99: its other one has 0.2, less than β 0.1 in both."""
    view = bottleneck_of(GRID, seeds=range(2))
    for trial, t in view.trials.items():
        first = t.planned.config["weighting.beta"] == 0.01
        value = (0.99 if t.planned.seed else 0.2) if first else 0.5
        play(view, trial, accuracy(value), "trial_failed" if first and t.planned.seed else "trial_finished")
    (arm,) = convergence_data(view, "0.4", None).arms
    assert arm.best.label == "β 0.1" and set(arm.reached.values()) == {1}


@pytest.mark.parametrize("along", [True, False])
def test_a_failed_configuration_is_chosen_nowhere(along: bool) -> None:
    view = with_failed_best()
    best = best_of(view, "manual β", "accuracy", along=along)
    assert set(best.values.values()) == {0.5} and best.of == 1
    assert best_by(view, "manual β", lambda m: m.get("accuracy"), along=along).mean.mean == 0.5
    (shown,) = accuracy_data(view, None).arms
    assert shown.mean.mean == 0.5
    failed = [trial for trial, t in view.trials.items() if t.state is TrialState.FAILED]
    assert at_places(view, failed) == []


def test_of_trials_with_many_points_convergence_goes_by_what_is_reported_over_epochs() -> None:
    """The best point of the curve has 0.9, the middle, whose path is shown, 0.6."""
    view = bottleneck_of(ALL_BETAS, seeds=[0])
    (trial,) = view.trials
    points = curve((0.01, 9, 2), (0.1, 6, 2), (1.0, 2, 1))
    for point, value in zip(points, (0.9, 0.6, 0.1), strict=True):
        point["metrics"]["accuracy"] = value
    play_curves(view, trial, points, accuracy=0.6)
    data = convergence_data(view, None, None)
    assert data.threshold == pytest.approx(0.95 * 0.6) and data.arms[0].best.mean.mean == 0.6
    assert data.curves and data.arms[0].best.where is None


def test_the_best_of_several_is_named_where_convergence_is_pointed_at() -> None:
    view = bottleneck_of(GRID, seeds=[0])
    for trial, value in zip(view.trials, (0.4, 0.5), strict=True):
        play(view, trial, accuracy(value))
    drawn = draw_convergence(convergence_data(view, "0.3", None), "r")
    words = " ".join(text for trace in drawn["data"] for text in trace.get("text", []))
    assert "1.00 epochs<br>best of 2 by final accuracy on the test split<br>β 0.1" in words


def test_while_one_is_below_and_still_training_there_is_no_mean() -> None:
    view = bottleneck_of(MIB, seeds=range(3))
    for trial, end in zip(view.trials, ("trial_finished", "trial_finished", ""), strict=True):
        play(view, trial, accuracy(0.5 if end else 0.1), end)
    (arm,) = convergence_data(view, "0.4", None).arms
    assert (arm.never, arm.pending, len(arm.reached)) == (0, 1, 2) and arm.mean.mean is None


def costly() -> StudyView:
    """Of a seed, MIB's three trials take 1, 2 and 4 s and bring 0, 22·1.5 and 22·1.8; the grid has 22·2 after 12."""
    view = bottleneck_of(GRID, SEVERAL, seeds=[0])
    played = {"manual β": iter([(5.0, 10.0, 1.0), (7.0, 10.0, 2.0)])}
    played["MIB"] = iter([(1.0, 32.0, 3.0), (2.0, 10.0, 1.5), (4.0, 10.0, 1.8)])
    for trial, t in view.trials.items():
        seconds, rate, label = next(played[t.planned.arm])
        play(view, trial, [{"seconds": seconds, "i_xz_bits": rate, "i_zy_bits": label}])
    return view


@pytest.mark.parametrize(("by", "cost"), [("seconds", 7.0), ("trials", 3.0)])
def test_the_dotted_line_of_an_arm_with_several_trials_starts_where_the_arm_ends(by: str, cost: float) -> None:
    data = cost_data(costly(), by)
    _, mib = data.arms
    (reach,) = data.reached
    assert mib.place is None and len(mib.cost) == 3 and mib.cost[-1] == cost > mib.cost[0]
    assert reach.start == cost and reach.hypervolume == pytest.approx(22 * 1.8), "all that it spent, all that it has"
    dotted = next(t for t in draw_cost(data, "r")["data"] if t.get("line", {}).get("dash") == "dot")
    assert dotted["x"][0] == cost and dotted["y"] == [pytest.approx(39.6)] * 2


def test_words_of_a_dotted_line_stand_where_there_is_room() -> None:
    """At the right end of the figure to the left of it, at the left end to the right."""
    tuned = {"name": "MIB", "weighting": {"name": "mib", "mu": {"grid": [0.1, 0.2]}}}
    view = bottleneck_of(GRID, tuned, {**tuned, "name": "early"}, seeds=[0])
    grid, mib, early = [(1.0, 10.0, 1.0), (9.0, 10.0, 2.0)], [(0.5, 10.0, 1.9)], [(0.5, 10.0, 0.5)]
    nothing = (0.5, 32.0, 3.0)  # a second point of their fronts, at the reference point
    for trial, (seconds, rate, label) in zip(view.trials, [*grid, *mib, nothing, *early, nothing], strict=True):
        play(view, trial, [{"seconds": seconds, "i_xz_bits": rate, "i_zy_bits": label}])
    data = cost_data(view, None)
    drawn = draw_cost(data, "r")["data"]
    sides = {t["name"]: (t["x"][1], t["textposition"]) for t in drawn if t.get("line", {}).get("dash") == "dot"}
    (late, at_late), (early, at_early) = (sides[f"manual β with {name}’s hypervolume"] for name in ("MIB", "early"))
    assert late > early and (at_late, at_early) == ("bottom left", "bottom right")


def test_the_band_of_a_cost_curve_goes_out_below_and_comes_back_above() -> None:
    view = bottleneck_of(GRID, MIB, seeds=range(3))
    for trial, t in view.trials.items():
        play(view, trial, [{"seconds": 1.0, "i_xz_bits": 10.0, "i_zy_bits": 1.0 + 0.1 * t.planned.seed}])
    drawn = draw_cost(cost_data(view, None), "r")["data"]
    band = next(trace for trace in drawn if "fill" in trace)
    line = next(trace for trace in drawn if "shape" in trace["line"])
    half = len(band["x"]) // 2
    assert band["x"][:half] == band["x"][half:][::-1]
    assert all(low < high for low, high in zip(band["y"][:half], band["y"][half:][::-1], strict=True))
    assert line["line"]["shape"] == "hv"
    low, high = (float(word.replace("−", "-")) for word in line["text"][0].rpartition("95 % ")[2].split(" … "))
    assert low < high


def test_a_place_of_several_trials_opens_none_of_them() -> None:
    for seeds, opened in ((1, 1), (2, 0)):
        view = bottleneck_of(MIB, seeds=range(seeds))
        for trial in view.trials:
            play(view, trial, [{"seconds": 1.0, "i_xz_bits": 10.0, "i_zy_bits": 1.0}])
        (mark,) = draw_cost(cost_data(view, None), "r")["data"]
        assert len(mark.get("customdata", [])) == opened


def test_accuracy_counts_what_waits_behind_it_and_names_the_split_that_is_shown() -> None:
    view = bottleneck_of(GRID, seeds=[0])
    for trial, value in zip(view.trials, (0.4, 0.5), strict=True):
        play(view, trial, accuracy(value))
    drawn = FIGURES["accuracy-by-method"].build(Asked(view))
    assert drawn["layout"]["xaxis"]["title"]["text"] == "accuracy, test split"
    words = " ".join(text for trace in drawn["data"] for text in trace.get("text", []))
    assert "best of 2, chosen on the test split<br>β 0.1" in words
    marks = str(drawn)
    assert "best of 2" in marks.replace(words, "")
