"""What is kept of a study is enough to say everything that the page says of it."""

from __future__ import annotations

import orjson
import pytest

from findings.finding import Finding, finding_text, kept, rounded
from findings.replay import view_of
from service.analysis.compared import compared
from service.answers.whole import whole
from service.contract.wire.events import Event, TrialState
from tests.findings.played import finding, view
from tests.service.studies import ALL_BETAS, MANUAL, bottleneck_of, curve, event, play, play_curves, tell
from tests.service.studies import view_of as begun


def test_a_kept_study_is_compared_as_the_study_itself() -> None:
    played = view(fails=lambda trial: trial.planned.seed == 3 and "weighting.beta" not in trial.planned.config)
    again = view_of(Finding.model_validate_json(finding_text(finding(played))))
    assert again.ended == played.ended and len(again.ended) == 20
    assert compared(again) == compared(played)
    assert compared(again).verdict.startswith("MIB is not shown to lie off manual β’s front")


def test_reports_are_kept_of_the_curves_that_are_asked_for() -> None:
    without, having = view_of(finding()), view_of(finding(curves=["accuracy"]))
    (trial, *_) = having.trials.values()
    assert [report["accuracy"] for report in trial.reports] == [0.425, 0.85]
    assert [report["epoch"] for report in trial.reports] == [1, 2]
    assert all(len(trial.reports) == 1 for trial in without.trials.values())
    assert compared(without) == compared(having)
    with pytest.raises(ValueError, match="no trial reported 'acuracy'; reported: epoch, i_xz_bits"):
        finding(curves=["acuracy"])


def test_some_metrics_can_be_kept_alone_and_reports_without_a_curve_are_not_kept() -> None:
    played = bottleneck_of(MANUAL, seeds=[0])
    tell(played, event("study_started"))
    every = {"i_xz_bits": 2.0, "i_zy_bits": 1.0, "seconds": 1.0}
    for trial in played.trials:
        play(played, trial, [{"seconds": 0.5}, {**every, "accuracy": 0.5}, {"seconds": 0.75}, every])
    tell(played, event("study_finished"))
    export = orjson.loads(orjson.dumps(whole(played)))
    own = kept(export, "a machine", ["accuracy"], only=["epoch", "i_xz_bits", "i_zy_bits"])
    assert own.metrics == ["epoch", "i_xz_bits", "i_zy_bits"]
    assert [trial.curves for trial in own.trials] == [[[2, 4], [0.5, None]]] * 3
    with pytest.raises(ValueError, match="metrics: no trial reported 'acuracy'"):
        kept(export, "a machine", [], only=["acuracy"])


def test_the_points_of_a_trial_are_kept_and_count_as_they_did() -> None:
    played = bottleneck_of(MANUAL, ALL_BETAS, seeds=[0, 1, 2])
    tell(played, event("study_started"))
    for i, (trial, own) in enumerate(played.trials.items()):
        if own.planned.arm == "all β":
            play_curves(played, trial, curve((1e-4, 9.0, 3.0 + i / 8), (1e-2, 4.0, None), (1.0, 1.0, 1.0)), seconds=2.0)
        else:
            play(played, trial, [{"i_xz_bits": 2.0 + i, "i_zy_bits": 1.0 + i / 4, "seconds": 1.0}])
    tell(played, event("study_finished"))
    again = view_of(Finding.model_validate_json(finding_text(finding(played))))
    assert compared(again) == compared(played)
    assert [len(trial.points) for trial in again.trials.values()] == [0] * 9 + [3] * 3


def test_what_a_search_suggested_is_kept() -> None:
    search = {"name": "optuna", "sampler": "random", "trials": 2}
    weighting = {"name": "fixed", "beta": {"range": {"from": 1e-3, "to": 1.0}}}
    played = begun({"name": "s", "arms": [{"name": "tuned", "weighting": weighting, "search": search}]})
    tell(played, event("study_started"))
    for trial, beta in zip(played.trials, (0.25, 0.5), strict=True):
        tell(played, event("trial_started", trial=trial, config={"weighting.beta": beta}))
        play(played, trial, [{"i_xz_bits": 3.0, "i_zy_bits": 1.0}])
    tell(played, event("study_finished"))
    assert [t.planned.config for t in view_of(finding(played)).trials.values()] == [
        t.planned.config for t in played.trials.values()
    ]


def test_a_trial_that_was_stopped_or_failed_stays_so() -> None:
    played = view(seeds=[0], fails=lambda trial: "weighting.beta" not in trial.planned.config)
    again = view_of(finding(played))
    states = [trial.state for trial in again.trials.values()]
    assert states == [TrialState.FINISHED] * 3 + [TrialState.FAILED]
    assert list(again.trials.values())[-1].reason == "a reason"


def test_a_trial_that_was_stopped_at_a_rung_stays_off_the_front() -> None:
    played = bottleneck_of(MANUAL, seeds=[0, 1, 2], stopping={"name": "halving", "keep": 0.5})
    tell(played, event("study_started"))
    for i, trial in enumerate(played.trials):
        play(played, trial, [{"i_xz_bits": 2.0 + i, "i_zy_bits": 1.0 + i / 4, "seconds": 1.0}], end="")
        stopped = i >= 6
        tell(played, event("trial_stopped", trial=trial, epoch=5, reason="why") if stopped else _finished(trial))
    tell(played, event("study_finished"))
    again = view_of(Finding.model_validate_json(finding_text(finding(played))))
    assert [trial.stopped_after for trial in again.trials.values()] == [None] * 6 + [5] * 3
    assert compared(again) == compared(played) and again.ended == played.ended


def _finished(trial: str) -> Event:
    return event("trial_finished", trial=trial)


def test_trials_that_the_spec_does_not_plan_are_refused() -> None:
    whole = finding()
    with pytest.raises(ValueError, match="the spec plans 20 trials, in another order than the 19 that are kept"):
        view_of(whole.model_copy(update={"trials": whole.trials[1:]}))


def test_a_number_keeps_six_digits_and_a_count_all() -> None:
    assert (rounded(0.123456789), rounded(1234567), rounded(None)) == (0.123457, 1234567, None)


def test_a_trial_is_a_line() -> None:
    lines = finding_text(finding()).splitlines()
    assert sum('"arm":"MIB"' in line and '"seed"' in line and line.startswith('  {"arm"') for line in lines) == 5
