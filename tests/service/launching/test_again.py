"""Retrying and extending: what is planned again, what stays, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import Any, Self

import pytest

from service.contract.study.extension import Extension
from service.contract.wire.cohort_state import key_of
from service.contract.wire.errors import Conflict
from service.launching import launcher
from service.launching.again import extension, retrial
from service.views.fold import StudyView
from tests.service.bench import Bench
from tests.service.routes.test_cohorts import content, saved
from tests.service.studies import MANUAL, bottleneck_of, event, play, tell

ARM = {"name": "a", "weighting": {"name": "fixed", "beta": {"grid": [0.1, 1.0]}}}


def ask(bench: Bench, study: str, wish: str, body: dict[str, Any] | None = None) -> Any:
    return bench.ask("POST", f"/api/studies/{study}/{wish}", json=body)


def trained(bench: Bench, study: str, trial: str, epochs: int = 1, name: str = "", end: str = "finished") -> None:
    name = name or trial
    told = [
        {"uid": f"{name}:{e}", "kind": "report", "trial": trial, "metrics": {"epoch": e}} for e in range(1, epochs + 1)
    ]
    reason = {"reason": "diverged"} if end == "failed" else {}
    bench.report(study, *told, {"uid": f"{name}:{end}", "kind": f"trial_{end}", "trial": trial, **reason})


def finished(bench: Bench, end: str = "finished", **spec: Any) -> tuple[str, list[str]]:
    """A study that has ended, its first trial in this way."""
    study = bench.submit(**spec)
    bench.launcher.tick()
    first, *others = bench.trials(study)
    trained(bench, study, first, end=end)
    for trial in others:
        trained(bench, study, trial)
    bench.finish(study)
    bench.cluster.end(study, "SUCCEEDED", None)
    return study, [first, *others]


def rows(bench: Bench, study: str) -> dict[str, Any]:
    return {trial["id"]: trial for trial in bench.get(f"/api/studies/{study}/trials")["trials"]}


def test_what_was_saved_before_a_trial_was_begun_anew_is_never_gone_on_from(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service killed between the two, and a backup taken then, have the retry and the state of before it."""
    study, (failed, done) = finished(bench, end="failed")
    for trial in (failed, done):
        with bench.parts.states.draft(study, key_of({trial: {}})) as draft:
            draft.file.write(content({trial: {}}, epoch=5))
            draft.settle()
    with monkeypatch.context() as killed:
        killed.setattr(bench.parts.states, "drop_with", lambda *_: None)
        ask(bench, study, "retry")
    bench.launcher.tick()
    assert [state.members for state in bench.parts.states.of(study)] == [{done: {}}]
    saved(bench, study, failed, epoch=1)
    bench.cluster.end(f"{study}-2")
    bench.launcher.tick()
    assert bench.cluster.started()[-1] == f"{study}-3"
    assert {failed: {}} in [state.members for state in bench.parts.states.of(study)], "what was saved since stays"


def test_failed_trials_are_begun_anew_and_the_others_stay(bench: Bench) -> None:
    study, (failed, done) = finished(bench, end="failed")
    answer = ask(bench, study, "retry")
    assert (answer.status_code, answer.json()["state"], answer.json()["ended_at"]) == (200, "running", None)
    trials = rows(bench, study)
    assert (trials[failed]["state"], trials[failed]["metrics"], trials[failed]["retries"]) == ("planned", {}, 1)
    assert (trials[done]["state"], trials[done]["retries"]) == ("finished", 0)
    bench.launcher.tick()
    assert bench.cluster.started() == [study, f"{study}-2"]
    trained(bench, study, failed, name=f"{failed}:retry1")
    bench.report(study, {"uid": "end2", "kind": "study_finished"})
    assert [trial["state"] for trial in rows(bench, study).values()] == ["finished", "finished"]
    assert [event["kind"] for event in bench.stream(study)][-1] == "study_finished"


def test_a_trial_is_retried_three_times_at_most_and_each_time_after_a_longer_wait(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, (failed, _) = finished(bench, end="failed")
    for retry, wait in ((1, 0), (2, 30), (3, 120)):
        assert ask(bench, study, "retry").status_code == 200
        assert bench.events(study)[-1]["wait_seconds"] == wait
        now = datetime.now(UTC)
        if wait:
            bench.launcher.tick()
            assert len(bench.cluster.started()) == retry, "not yet"

        class Later(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> Self:
                return cls.fromtimestamp(now.timestamp() + wait + 1, tz)  # noqa: B023

        monkeypatch.setattr(launcher, "datetime", Later)
        bench.launcher.tick()
        monkeypatch.undo()
        assert len(bench.cluster.started()) == retry + 1
        trained(bench, study, failed, name=f"{failed}:retry{retry}", end="failed")
        bench.report(study, {"uid": f"end{retry}", "kind": "study_finished"})
        bench.cluster.end(f"{study}-{retry + 1}", "SUCCEEDED", None)
    answer = ask(bench, study, "retry")
    assert answer.status_code == 409 and "retried 3 times already" in answer.json()["error"]["message"]


def failed_after(*retries: int | None) -> tuple[StudyView, list[str]]:
    """A study each of whose trials has failed after so many retries, or has finished."""
    view = bottleneck_of(MANUAL, seeds=range((len(retries) + 2) // 3))
    trials = list(view.all_trials)[: len(retries)]
    for trial, count in zip(trials, retries, strict=True):
        for _ in range(count or 0):
            play(view, trial, [], "trial_failed")
            tell(view, event("study_retried", trials=[trial]))
        play(view, trial, [{"accuracy": 0.5}], "trial_finished" if count is None else "trial_failed")
    return view, trials


@pytest.mark.parametrize(
    ("retries", "wait"),
    [((0, 0), 0.0), ((0, 1), 30.0), ((1, 0), 30.0), ((2, 0), 120.0), ((0, 1, 2), 120.0), ((1, 1), 30.0)],
)
def test_the_wait_is_that_of_the_trial_that_was_retried_most(retries: tuple[int, ...], wait: float) -> None:
    view, trials = failed_after(*retries)
    again = retrial(view, "u")
    assert (again.trials, again.wait_seconds) == (trials, wait)


def test_a_trial_that_was_retried_often_enough_stays_failed_and_no_other_waits_for_it() -> None:
    view, (_, first, _) = failed_after(3, 0, None)
    again = retrial(view, "u")
    assert (again.trials, again.wait_seconds) == ([first], 0.0)
    with pytest.raises(Conflict, match="every failed trial was retried 3 times already"):
        retrial(failed_after(3, None)[0], "u")


def test_a_study_without_failed_trials_has_nothing_to_retry(bench: Bench) -> None:
    study, _ = finished(bench)
    answer = ask(bench, study, "retry")
    assert answer.status_code == 409 and "no trial failed" in answer.json()["error"]["message"]
    assert answer.json()["error"]["details"] == [{"path": "state", "message": "finished"}]


def test_more_seeds_are_more_trials_and_what_has_finished_is_not_run_again(bench: Bench) -> None:
    study, before = finished(bench)
    answer = ask(bench, study, "extend", {"seeds": [5, 6]})
    assert (answer.status_code, answer.json()["spec"]["seeds"]) == (200, [0, 5, 6])
    trials = rows(bench, study)
    assert answer.json()["counts"]["planned"] == len(trials) == 6 and set(before) < set(trials)
    assert [trials[trial]["state"] for trial in before] == ["finished", "finished"]
    bench.launcher.tick()
    assert bench.events(study)[-1]["reason"] == "extended; 4 trials had not begun"
    new = next(trial for trial in trials if trial not in before)
    trained(bench, study, new)
    assert rows(bench, study)[new]["state"] == "finished"


def test_more_points_of_a_grid(bench: Bench) -> None:
    study, before = finished(bench)
    answer = ask(bench, study, "extend", {"grid": {"a": {"weighting.beta": [0.5]}}})
    assert answer.json()["spec"]["arms"][0]["weighting"]["beta"] == {"grid": [0.1, 1.0, 0.5]}
    new = rows(bench, study).keys() - set(before)
    assert [rows(bench, study)[trial]["config"]["weighting.beta"] for trial in new] == [0.5]


def test_more_epochs_let_finished_trials_go_on_and_keep_what_they_told(bench: Bench) -> None:
    study, (first, _) = finished(bench)
    answer = ask(bench, study, "extend", {"epochs": 3})
    assert answer.json()["spec"]["training"]["epochs"] == 3 and answer.json()["progress"] == pytest.approx(1 / 3)
    row = rows(bench, study)[first]
    assert (row["state"], row["metrics"]["epoch"], row["extensions"]) == ("planned", 1, 1)
    bench.launcher.tick()
    told = [{"uid": f"{first}:{e}", "kind": "report", "trial": first, "metrics": {"epoch": e}} for e in (1, 2, 3)]
    answer = bench.report(study, *told, {"uid": f"{first}:finished:1", "kind": "trial_finished", "trial": first})
    assert (answer["accepted"], answer["duplicates"]) == (3, 1)
    reports = bench.get(f"/api/studies/{study}/trials/{first}")["reports"]
    assert [report["epoch"] for report in reports] == [1, 2, 3]


@pytest.mark.parametrize("wish", ["extend", "retry"])
def test_a_study_that_is_still_pausing_has_a_driver_with_its_old_plan_and_takes_nothing_new(
    bench: Bench, wish: str
) -> None:
    """It might say that the study has finished, and would mean what it knew of."""
    study = bench.submit()
    bench.launcher.tick()
    trained(bench, study, bench.trials(study)[0], end="failed")
    ask(bench, study, "pause")
    body = {"seeds": [5]} if wish == "extend" else None
    answer = ask(bench, study, wish, body)
    assert answer.status_code == 409
    assert answer.json()["error"]["message"] == f"study {study} is still pausing: trials save their state and leave"
    assert bench.kinds(study)[-1] == "study_paused"
    bench.cluster.end(study, "SUCCEEDED", None)
    assert ask(bench, study, wish, body).status_code == 200


TASKS = {"problem": {"name": "multitask", "main": "class", "auxiliaries": ["rotation"]}}
STAGED = {"name": "a", "weighting": {"name": "arml", "form": {"grid": ["simplified", "two-stage"]}}, **TASKS}


def test_what_depends_on_the_number_of_epochs_is_trained_anew_and_the_event_says_so(bench: Bench) -> None:
    study, (simple, staged) = finished(bench, arms=[STAGED])
    ask(bench, study, "extend", {"epochs": 3})
    event = bench.events(study)[-1]
    assert (event["kind"], event["trials"], event["anew"]) == ("study_extended", [simple], [staged])
    trials = rows(bench, study)
    assert [trials[trial]["metrics"] for trial in (simple, staged)] == [{"epoch": 1}, {}]
    assert [trials[trial]["extensions"] for trial in (simple, staged)] == [1, 1]
    assert [trials[trial]["retries"] for trial in (simple, staged)] == [0, 0]
    bench.launcher.tick()
    words = "1 trial starts anew, as its training depends on the number of epochs"
    assert words in bench.read(study)["reason"]
    trained(bench, study, staged, epochs=3, name=f"{staged}:anew1")
    reports = bench.get(f"/api/studies/{study}/trials/{staged}")["reports"]
    assert [report["epoch"] for report in reports] == [1, 2, 3], "none of the earlier training is left"


def test_a_paused_training_that_depends_on_the_number_of_epochs_begins_anew_too(bench: Bench) -> None:
    study = bench.submit(arms=[STAGED], training={"epochs": 5})
    bench.launcher.tick()
    simple, staged = bench.trials(study)
    for trial in (simple, staged):
        bench.report(study, {"uid": f"{trial}:1", "kind": "report", "trial": trial, "metrics": {"epoch": 1}})
    ask(bench, study, "pause")
    bench.cluster.end(study, "SUCCEEDED", None)
    ask(bench, study, "extend", {"seeds": [4]})
    assert "anew" not in bench.events(study)[-1], "the number of its epochs is the same"
    ask(bench, study, "pause")
    ask(bench, study, "extend", {"epochs": 9})
    event = bench.events(study)[-1]
    assert (event["trials"], event["anew"]) == ([], [staged])
    assert rows(bench, study)[staged]["metrics"] == {}


@pytest.mark.parametrize("form", ["simplified", "two-stage"])
def test_more_epochs_plan_nothing_again_that_has_failed_or_not_begun(form: str) -> None:
    view = bottleneck_of({**STAGED, "weighting": {"name": "arml", "form": form}}, seeds=range(3))
    done, failed, _ = view.all_trials
    play(view, done, [{"accuracy": 0.5}])
    play(view, failed, [{"accuracy": 0.5}], "trial_failed")
    more = extension(view, Extension(epochs=view.study.training.epochs + 1), "u")
    assert (more.trials, more.anew) == (([done], None) if form == "simplified" else ([], [done]))
    assert not extension(view, Extension(seeds=[7]), "u").trials, "more seeds are none of theirs"


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({}, "name seeds, epochs or grid"),
        ({"seeds": [0]}, "seeds: the study has seed 0 already"),
        ({"epochs": 1}, "epochs: must be above the 1 epochs of training, got 1"),
        ({"grid": {"b": {}}}, "there is no arm 'b'; known: a"),
        ({"grid": {"a": {"weighting.beta": [0.1]}}}, "the grid has 0.1 already"),
        ({"grid": {"a": {"model.latent": [4]}}}, "model.latent is no grid of arm 'a'; its grids: weighting.beta"),
        ({"grid": {"a": {"weighting.beta": [-1]}}}, "weighting.beta"),
        ({"seeds": list(range(1, 900))}, "limits.trials"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_cannot_be_extended_is_refused_with_its_place(bench: Bench, wish: dict[str, Any], words: str) -> None:
    study, _ = finished(bench)
    answer = ask(bench, study, "extend", wish)
    assert answer.status_code == 422 and words in str(answer.json()["error"])
    assert bench.state(study) == "finished"


def test_a_study_that_searches_gets_no_more_seeds(bench: Bench) -> None:
    beta = {"range": {"from": 0.1, "to": 1.0}}
    search = {"name": "optuna", "sampler": "random", "trials": 2}
    study, _ = finished(bench, arms=[{"name": "a", "weighting": {"name": "fixed", "beta": beta}, "search": search}])
    answer = ask(bench, study, "extend", {"seeds": [1]})
    assert answer.status_code == 422 and "deals the seeds out in turn" in answer.json()["error"]["message"]


@pytest.mark.parametrize("state", ["queued", "running", "cancelled"])
def test_a_study_that_waits_runs_or_was_cancelled_is_not_extended(bench: Bench, state: str) -> None:
    study = bench.submit()
    if state == "running":
        bench.launcher.tick()
    if state == "cancelled":
        bench.cancel(study)
    answer = ask(bench, study, "extend", {"seeds": [7]})
    assert answer.status_code == 409
    assert answer.json()["error"]["message"] == f"study {study} is {state} and cannot be extended"


def test_a_view_that_was_folded_before_knows_what_an_extension_brought(bench: Bench) -> None:
    study, _ = finished(bench)
    ask(bench, study, "extend", {"seeds": [5]})
    again = Bench(bench.settings.home)
    assert again.read(study)["spec"]["seeds"] == [0, 5] and len(again.trials(study)) == 4
    again.close()


def test_a_point_of_a_grid_that_cannot_be_shown_is_refused_with_its_place(bench: Bench) -> None:
    study = bench.submit()
    bench.report(study, {"uid": "end", "kind": "study_finished"})
    answer = ask(bench, study, "extend", {"grid": {"a": {"weighting.beta": [0.5, "\x1b[2J"]}}})
    (detail,) = answer.json()["error"]["details"]
    assert (answer.status_code, detail["path"]) == (422, "grid.a.weighting.beta[1]")
    assert "control characters" in detail["message"]
