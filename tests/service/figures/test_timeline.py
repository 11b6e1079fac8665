"""When trials ran, and in which lanes."""

from __future__ import annotations

from datetime import UTC, datetime

import plotly.graph_objects as go
import pytest

from service.contract.wire.events import TrialState
from service.figures.figure import Asked
from service.figures.timeline import FIGURE, Bar, Host, TimelineData, draw_timeline, lanes_of, timeline_data
from service.store.protocol import Logged
from service.views.fold import StudyView
from tests.service.studies import bottleneck_of, event


def at(seconds: int) -> str:
    return f"2026-01-01T00:{seconds // 60:02}:{seconds % 60:02}.000Z"


NOW = datetime.fromisoformat(at(100))


def tell(view: StudyView, seconds: int, kind: str, trial: str | None = None, **body: str) -> None:
    view.apply(Logged(view.seq + 1, at(seconds), event(kind, **({"trial": trial} if trial else {}), **body)))


def test_lanes_are_used_again_as_soon_as_they_are_free() -> None:
    assert lanes_of([(0, 4), (1, 3), (3, 6), (4, 5), (4, 9)]) == [0, 1, 1, 0, 2]
    assert lanes_of([(5, 6), (0, 1)]) == [0, 0], "by start, not by place"
    assert lanes_of([]) == []


def test_a_lane_that_was_freed_counts_when_all_others_are_busy() -> None:
    assert lanes_of([(0, 2), (0, 9), (3, 4), (3, 4)]) == [0, 1, 0, 2]


def played() -> tuple[StudyView, list[str]]:
    """Two hosts; on the first two trials at once, then one more; one fails, one is under way."""
    view = bottleneck_of()
    trials = list(view.trials)
    tell(view, 10, "study_started")
    for trial, start, host in (
        (0, 12, "a/10.0.0.1"),
        (1, 12, "a/10.0.0.1"),
        (2, 20, "b/10.0.0.2"),
        (3, 30, "a/10.0.0.1"),
    ):
        tell(view, start, "trial_started", trials[trial], host=host)
        if trial == 2:
            tell(view, 30, "trial_finished", trials[0])
            tell(view, 40, "trial_failed", trials[1], reason="x")
            tell(view, 50, "trial_finished", trials[2])
    return view, trials


def test_a_bar_reaches_from_start_to_end_in_a_lane_of_its_host() -> None:
    view, trials = played()
    data = timeline_data(view, NOW)
    (manual, bars), (mib, none) = data.arms
    assert (manual, mib, none) == ("manual β", "MIB", [])
    assert [(bar.trial, bar.lane, bar.start, bar.end) for bar in bars] == [
        (trials[0], 0, 2.0, 20.0),
        (trials[1], 1, 2.0, 30.0),
        (trials[3], 0, 20.0, 90.0),  # under way: until now
        (trials[2], 2, 10.0, 40.0),
    ]
    assert [bar.state for bar in bars] == [
        TrialState.FINISHED, TrialState.FAILED, TrialState.RUNNING, TrialState.FINISHED,
    ]  # fmt: skip
    assert data.hosts == [Host("a", 0, 2), Host("b", 2, 1)]


def test_a_trial_that_was_stopped_ends_with_its_study() -> None:
    view, _ = played()
    tell(view, 70, "study_cancelled")
    stopped = [bar for _, own in timeline_data(view, NOW).arms for bar in own if bar.state is TrialState.STOPPED]
    assert [bar.end for bar in stopped] == [60.0]


def test_a_trial_that_waits_to_run_again_has_no_bar() -> None:
    view, trials = played()
    tell(view, 60, "study_started")
    assert trials[3] not in [bar.trial for _, own in timeline_data(view, NOW).arms for bar in own]


def test_bars_carry_their_trials_and_failures_are_hatched() -> None:
    view, trials = played()
    drawn = draw_timeline(timeline_data(view, NOW), "s1")
    go.Figure(drawn)
    manual, mib = drawn["data"]
    assert manual["customdata"] == [trials[0], trials[1], trials[3], trials[2]] and mib["x"] == []
    assert (manual["base"], manual["x"]) == ([2.0, 2.0, 20.0, 10.0], [18.0, 28.0, 70.0, 30.0])
    assert manual["marker"]["pattern"]["shape"] == ["", "/", "", ""]
    assert manual["marker"]["opacity"] == [1.0, 1.0, 0.45, 1.0]
    axis = drawn["layout"]["yaxis"]
    assert (axis["tickvals"], axis["ticktext"], axis["range"]) == ([0.5, 2.0], ["a", "b"], [7.5, -0.5])
    assert drawn["layout"]["xaxis"]["title"]["text"] == "time since the study's start [s]"
    assert drawn["layout"]["meta"]["subtitle"].startswith("1 running, 2 finished, 1 failed")
    assert drawn["layout"]["meta"]["summary"] == "4 trials on 2 hosts within 1 m 30 s, at most 3 at once"


def test_long_studies_are_told_in_minutes() -> None:
    view, _ = played()
    drawn = draw_timeline(timeline_data(view, datetime.fromisoformat(at(10 + 240))), "s1")
    assert drawn["layout"]["xaxis"]["title"]["text"].endswith("[min]")
    assert drawn["data"][0]["base"][2] == 0.3333


def test_a_study_that_has_not_begun_has_no_bar() -> None:
    drawn = FIGURE.build(Asked(bottleneck_of()))
    go.Figure(drawn)
    assert all(trace["x"] == [] for trace in drawn["data"]) and drawn["layout"]["meta"]["empty"]


def test_a_thousand_trials_are_one_trace_per_arm() -> None:
    view = bottleneck_of(seeds=range(250), limits={"trials": 1000})
    for trial in view.trials:
        tell(view, 1, "trial_started", trial)
    data = timeline_data(view, NOW)
    assert data.hosts == [Host("unknown host", 0, 1000)]
    assert [len(trace["x"]) for trace in draw_timeline(data, "s")["data"]] == [750, 250]


@pytest.mark.parametrize(
    ("seconds", "unit", "length"),
    [(179.0, "s", 179.0), (180.0, "min", 3.0), (10_799.0, "min", 180.0), (10_800.0, "h", 3.0)],
)
def test_times_are_told_in_a_unit_of_which_there_are_three_or_more(seconds: float, unit: str, length: float) -> None:
    bar = Bar("t", "seed 0", 0, 0.0, seconds, TrialState.FINISHED)
    drawn = draw_timeline(TimelineData([("a", [bar])], [Host("h", 0, 1)]), "r")
    assert drawn["layout"]["xaxis"]["title"]["text"] == f"time since the study's start [{unit}]"
    assert drawn["data"][0]["x"] == [pytest.approx(length, rel=1e-3)]
    assert "1 host " in drawn["layout"]["meta"]["summary"]


def test_more_than_eight_lanes_make_the_figure_wider() -> None:
    for lanes, end in ((8, 7.5), (9, 8.5)):
        drawn = draw_timeline(TimelineData([("a", [])], [Host("h", 0, lanes)]), "r")
        assert drawn["layout"]["yaxis"]["range"] == [end, -0.5]


def test_now_is_when_a_figure_is_drawn() -> None:
    view = bottleneck_of(seeds=[0])
    started = datetime.now(UTC).timestamp() - 7200
    moment = datetime.fromtimestamp(started, UTC).isoformat()
    view.apply(Logged(1, moment, event("study_started")))
    view.apply(Logged(2, moment, event("trial_started", trial=next(iter(view.trials)))))
    drawn = FIGURE.build(Asked(view))
    assert drawn["data"][0]["x"] == [pytest.approx(120.0, abs=1.0)] and drawn["data"][0]["base"] == [0.0]
