"""Events: the states they lead to, what travels of them, and what may not."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from service.contract.wire.events import (
    KINDS,
    Event,
    FromDriver,
    FromHolder,
    Report,
    Reports,
    StudyEvent,
    StudyFinished,
    StudyStarted,
    StudyState,
    TrialFailed,
    TrialStarted,
    TrialState,
    body_of,
    event_of,
    sendable,
    sent_batch,
)

FULL: dict[str, dict[str, Any]] = {
    "study_queued": {},
    "study_started": {"job": "s1-2", "attempt": 2, "reason": "the driver was lost"},
    "study_paused": {},
    "study_resumed": {},
    "study_retried": {"trials": ["t1"], "wait_seconds": 30.0},
    "study_extended": {"spec": {"name": "s"}, "version": 2, "trials": ["t1"]},
    "study_finished": {"reason": "time limit"},
    "study_failed": {"reason": "why"},
    "study_cancelled": {},
    "trial_started": {"trial": "t1", "arm": "a", "host": "node", "config": {"weighting.beta": 0.5}},
    "report": {"trial": "t1", "arm": "a", "metrics": {"epoch": 1, "accuracy": None}, "log": ["line"]},
    "study_interrupted": {"reason": "why"},
    "study_reconnected": {},
    "trial_finished": {"trial": "t1", "arm": "a", "log": ["line"]},
    "trial_failed": {"trial": "t1", "arm": "a", "reason": "why", "log": ["line"], "lease": "l1"},
    "trial_stopped": {"trial": "t1", "arm": "a", "epoch": 5, "reason": "why"},
    "trial_suggested": {"trial": "t1", "arm": "a", "config": {"problem.depth": 3}},
    "trial_leased": {"trial": "t1", "arm": "a", "lease": "l1", "holder": "laptop:17", "seconds": 60.0},
    "trial_alive": {"trial": "t1", "arm": "a", "lease": "l1"},
    "trial_returned": {"trial": "t1", "arm": "a", "lease": "l1", "heard": 3, "reason": "silent"},
    "study_noted": {"notes": "# why\n- beta", "tags": ["paper"], "name": "s", "pinned": True, "archived": False},
    "trial_noted": {"notes": "odd", "tags": ["outlier"], "trial": "t1"},
}
ANY: TypeAdapter[Event] = TypeAdapter(Event)


def batch(*events: dict[str, Any]) -> Reports:
    return Reports.model_validate({"events": [{"uid": "u", **event} for event in events]})


def test_a_study_has_ended_when_nothing_more_will_happen_to_it() -> None:
    assert {state.value for state in StudyState if state.is_ended()} == {"finished", "failed", "cancelled"}


def test_a_stopped_trial_is_not_over_so_that_a_resumed_study_trains_it() -> None:
    assert {state.value for state in TrialState if state.is_over()} == {"finished", "failed"}


def test_every_event_of_a_study_leads_to_its_state() -> None:
    led = {kind: own.leads_to.value for kind, own in KINDS.items() if issubclass(own, StudyEvent)}
    assert led == {
        "study_queued": "queued",
        "study_started": "running",
        "study_interrupted": "running",
        "study_reconnected": "running",
        "study_paused": "paused",
        "study_resumed": "running",
        "study_retried": "running",
        "study_extended": "running",
        "study_finished": "finished",
        "study_failed": "failed",
        "study_cancelled": "cancelled",
    }


@pytest.mark.parametrize("kind", FULL)
def test_an_event_comes_back_from_the_log_as_it_was_written(kind: str) -> None:
    event = event_of("u", kind, dict(FULL[kind]))
    assert type(event) is KINDS[kind] and body_of(event) == FULL[kind]
    (sent,) = json.loads(sent_batch([event]))["events"]
    assert sent == {"uid": "u", "kind": kind, **FULL[kind]}
    assert ANY.validate_python(sent) == event


def test_counts_of_an_old_log_are_whole_numbers() -> None:
    """It has every number as a float; a report need not tell its epoch."""
    counts = {"test_examples": 360.0, "validation_test_examples": 90.0, "robust_images": 8.0}
    others = {"accuracy": 1.0, "seconds": 2.0, "i_xz_bits": None, "unknown": 3.0}
    for written in ({"epoch": 1.0, **counts}, counts):
        event = event_of("u", "report", {"trial": "t1", "metrics": {**written, **others}})
        assert isinstance(event, Report) and event.metrics == {**written, **others}
        types = {name: type(value) for name, value in event.metrics.items()}
        assert {types[name] for name in written} == {int}
        assert [types[name] for name in others] == [float, float, type(None), float]


def test_every_kind_is_looked_at_here() -> None:
    assert FULL.keys() == KINDS.keys()


def test_what_is_empty_or_zero_is_said_and_what_is_open_is_not() -> None:
    assert body_of(Report(uid="u", trial="t", metrics={})) == {"trial": "t", "metrics": {}}
    assert body_of(Report(uid="u", trial="t", metrics={"accuracy": 0.0}, log=[]))["log"] == []
    assert body_of(TrialFailed(uid="u", trial="t", reason="")) == {"trial": "t", "reason": ""}
    assert body_of(StudyFinished(uid="u")) == body_of(StudyStarted(uid="u")) == {}
    assert body_of(TrialStarted(uid="u", trial="t", config={})) == {"trial": "t", "config": {}}


def test_nobody_sends_a_wish_of_people_or_hands_out_a_trial() -> None:
    own = {kind for kind, event in KINDS.items() if event in (*get_args(FromDriver), *get_args(FromHolder))}
    wishes = {"study_paused", "study_resumed", "study_retried", "study_extended", "study_cancelled"}
    notes = {"study_noted", "trial_noted"}
    ours = {"study_queued", "study_interrupted", "study_reconnected", "trial_leased"}
    assert KINDS.keys() - own == {*ours, *wishes, *notes}
    for kind, body in FULL.items():
        if kind in own:
            assert batch({"kind": kind, **body}).events[0].kind == kind
        else:
            with pytest.raises(ValidationError, match="does not match any of the expected tags"):
                batch({"kind": kind, **body})


def test_a_batch_keeps_its_order_and_has_at_most_5000_events() -> None:
    many = [{"uid": str(i), "kind": "trial_finished", "trial": "t"} for i in range(5000)]
    assert [event.uid for event in batch(*many).events] == [event["uid"] for event in many]
    with pytest.raises(ValidationError, match="at most 5000 items"):
        batch(*many, *many[:1])


@pytest.mark.parametrize(
    ("longest", "more"),
    [
        ({"uid": "x" * 200}, {"uid": "x" * 201}),
        ({"uid": "x"}, {"uid": ""}),
        ({"trial": "x" * 64}, {"trial": "x" * 65}),
        ({"trial": "x"}, {"trial": ""}),
        ({"reason": "x" * 4000}, {"reason": "x" * 4001}),
        ({"log": ["x"] * 200}, {"log": ["x"] * 201}),
        ({"log": ["x" * 500]}, {"log": ["x" * 501]}),
        ({}, {"more": 1}),
    ],
)
def test_an_event_is_taken_up_to_its_limits(longest: dict[str, Any], more: dict[str, Any]) -> None:
    event = {"uid": "u", "kind": "trial_failed", "trial": "t", "reason": "why"}
    assert batch({**event, **longest})
    with pytest.raises(ValidationError):
        batch({**event, **more})


@pytest.mark.parametrize(
    ("most", "more"),
    [
        ({f"m{i}": 1.0 for i in range(500)}, {f"m{i}": 1.0 for i in range(501)}),
        ({"x" * 100: 1.0}, {"x" * 101: 1.0}),
        ({"accuracy": None}, {"accuracy": "0.5 bits"}),
    ],
    ids=["many", "long", "words"],
)
def test_metrics_are_taken_up_to_their_limits(most: dict[str, Any], more: dict[str, Any]) -> None:
    assert batch({"kind": "report", "trial": "t", "metrics": most})
    with pytest.raises(ValidationError):
        batch({"kind": "report", "trial": "t", "metrics": more})


def test_metrics_are_cleaned_where_they_arrive() -> None:
    (report,) = batch({"kind": "report", "trial": "t", "metrics": {"epoch": 3.0, "accuracy": float("nan")}}).events
    assert isinstance(report, Report)
    assert report.metrics == {"epoch": 3, "accuracy": None} and type(report.metrics["epoch"]) is int


def test_the_first_attempt_is_number_one() -> None:
    assert batch({"kind": "study_started", "attempt": 1})
    with pytest.raises(ValidationError):
        batch({"kind": "study_started", "attempt": 0})


def test_a_text_is_cut_by_characters_and_its_halves_become_question_marks() -> None:
    assert sendable("ä" * 5000) == "ä" * 4000 and sendable("abc", 2) == "ab"
    assert sendable("a\ud83d😀\udc00b") == "a?😀?b"
