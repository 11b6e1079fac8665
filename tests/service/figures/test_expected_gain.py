"""The expected gain as a figure: the curve that the driver decides by, the next batch, the limit."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import pytest

from service.contract.study.batches import batches_of
from service.contract.study.outcomes import objective_values
from service.contract.study.parsing import check_study
from service.contract.wire.events import TrialState
from service.figures import figures_of, named
from service.figures.expected_gain import draw_gain, gain_data, gain_words
from service.figures.figure import Asked
from service.views.fold import StudyView
from service.views.overlay import Overlay
from service.views.trial import TrialView
from tests.service.studies import bottleneck_of, curve, event, play, play_curves, tell
from workers.planning.enough import UntilEnough
from workers.planning.past import Past
from workers.planning.supply import searches_of

TUNED: dict[str, Any] = {
    "name": "tuned",
    "weighting": {"name": "fixed", "beta": {"range": {"from": 1e-3, "to": 1.0}}},
    "search": {"name": "optuna", "sampler": "random", "trials": 30, "batch": 2},
}
GRID: dict[str, Any] = {
    "name": "grid",
    "weighting": {"name": "fixed", "beta": {"grid": {"from": 0.001, "to": 1.0, "count": 10, "scale": "log"}}},
}
LIMITS = {"gain": "1 %", "patience": 2}


def reached(i: int) -> dict[str, float]:
    """The driver knows the validation split alone; by the test split others would be the best."""
    x, y = 8 - (i * 5) % 7, 3 - ((i * 5) % 7) ** 2 / 20
    return {"i_xz_bits": 9 - x, "i_zy_bits": y / 2, "validation_i_xz_bits": x, "validation_i_zy_bits": y}


def played(arm: dict[str, Any], trials: int, seeds: tuple[int, ...] = (0, 1, 2)) -> StudyView:
    """The first so many trials have finished, every seventh has failed."""
    view = bottleneck_of(arm, seeds=seeds, limits=LIMITS)
    ends = cycle(["trial_finished"] * 6 + ["trial_failed"])
    for i, trial in enumerate(list(view.trials)[:trials]):
        play(view, trial, [reached(i)], next(ends))
    return view


def told(trial: TrialView) -> list[float] | None:
    """What a search hears of it."""
    chosen = ["validation_i_xz_bits", "validation_i_zy_bits"]
    return objective_values(trial.metrics, chosen) if trial.state is TrialState.FINISHED else None


def test_the_figure_expects_what_the_driver_does() -> None:
    view = played(TUNED, 26)
    (arm,) = gain_data(view).arms
    assert len(arm.volumes) == 4 and not arm.last, "24 trials are four whole batches of three seeds"
    past = {
        own: Past({"weighting.beta": 0.5}, True, told(trial))
        for own, trial in view.trials.items()
        if trial.state.is_over()
    }
    (driver,) = searches_of(check_study(view.spec), past)
    assert isinstance(driver, UntilEnough) and arm.expected is not None
    assert driver.gains[-1] == pytest.approx(arm.expected)


def test_a_grid_is_read_in_the_order_in_which_it_is_trained() -> None:
    (arm,) = gain_data(played(GRID, 30)).arms
    assert len(arm.volumes) == 5 and arm.last and arm.volumes[-1].mean == max(v.mean or 0 for v in arm.volumes)


def test_one_curve_beside_a_grid_has_the_hypervolume_of_all_its_points() -> None:
    """To (32, 0): 28 times 1, and 12 times another 2."""
    view = bottleneck_of(GRID, {"name": "all β", "weighting": {"name": "conditional"}}, seeds=[0, 1], limits=LIMITS)
    points = curve((0.01, 20.0, 3.0), (0.1, 4.0, 1.0), (1.0, 0.0, 0.0))
    for point in points:
        point["metrics"] |= {f"validation_{name}": value for name, value in point["metrics"].items()}
    for trial, own in view.trials.items():
        if own.planned.arm == "all β":
            play_curves(view, trial, points)
    one = gain_data(view).arms[1]
    assert [volume.mean for volume in one.volumes] == pytest.approx([28 * 1 + 12 * 2]) and one.expected is None


def test_the_next_batch_and_the_limit_are_drawn_and_told() -> None:
    data = gain_data(played(TUNED, 24))
    drawn = draw_gain(data, "r")
    dotted = next(trace for trace in drawn["data"] if trace.get("line", {}).get("dash") == "dot")
    assert dotted["x"] == [4.0, 5.0] and dotted["error_y"]["array"][1] > 0
    assert any(trace["name"] == "1 % more" for trace in drawn["data"])
    assert drawn["layout"]["meta"]["summary"] == gain_words(data.arms[0])


@pytest.mark.parametrize(("trials", "seeds"), [(0, (0, 1, 2)), (1, (0,)), (6, (0, 1)), (30, (0,))])
def test_few_trials_and_few_seeds_draw_what_is_known(trials: int, seeds: tuple[int, ...]) -> None:
    view = played(TUNED, trials, seeds)
    drawn = named("expected-gain").with_words(Asked(view))
    assert (drawn.empty is not None) == (trials < 2)


def test_studies_laid_over_each_other_keep_their_curves() -> None:
    both = Overlay([played(TUNED, 24), played(GRID, 30)])
    assert [len(arm.volumes) for arm in gain_data(both).arms] == [4, 5]


def test_it_is_offered_where_there_is_a_limit() -> None:
    assert "expected-gain" in figures_of(played(TUNED, 0))
    assert "expected-gain" not in figures_of(bottleneck_of(TUNED))


def test_batches_stay_those_of_the_driver_when_the_rest_was_spared() -> None:
    betas = [0.001 * (i + 1) for i in range(40)]
    view = played({**GRID, "weighting": {"name": "fixed", "beta": {"grid": betas}}}, 0)
    first = [trial.id for own in batches_of(view.study)["grid"].values() for batch in own[:3] for trial in batch]
    for i, trial in enumerate(first):
        play(view, trial, [reached(i)])
    before = gain_data(view).arms[0].volumes
    tell(view, event("study_finished", spared=[own for own in view.trials if own not in first]))
    assert len(before) == 3 and gain_data(view).arms[0].volumes == before and len(view.trials) == len(first)
