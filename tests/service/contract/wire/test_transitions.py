"""What may follow what: by random sequences of events, and the rows of the tables that matter most."""

from __future__ import annotations

from collections import Counter
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.contract.wire.events import (
    KINDS,
    Event,
    FromReaders,
    NoteEvent,
    Report,
    StudyCancelled,
    StudyEvent,
    StudyExtended,
    StudyFailed,
    StudyFinished,
    StudyInterrupted,
    StudyNoted,
    StudyPaused,
    StudyReconnected,
    StudyResumed,
    StudyRetried,
    StudyStarted,
    StudyState,
    TrialAlive,
    TrialEvent,
    TrialFailed,
    TrialFinished,
    TrialLeased,
    TrialNoted,
    TrialReturned,
    TrialStarted,
    TrialSuggested,
)
from service.contract.wire.transitions import STUDY_MOVES, TRIAL_MOVES, Ledger

TRIALS = st.sampled_from(["a", "b"])
LEASES = st.sampled_from(["l1", "l2"])
HELD = (TrialLeased, TrialAlive, TrialReturned)
MAY_BE_HELD = (Report, TrialFinished, TrialFailed)
REOPEN: dict[StudyState, tuple[type[Event], ...]] = {
    StudyState.FINISHED: (StudyRetried, StudyExtended),
    StudyState.FAILED: (StudyRetried, StudyExtended, StudyResumed),
}
GO = StudyStarted(uid="go", job="s1")


def report(epoch: Any, trial: str = "a") -> Report:
    return Report(uid=f"{trial}:{epoch}", trial=trial, metrics={"epoch": epoch})


def leased(lease: str) -> TrialLeased:
    return TrialLeased(uid=f"leased:{lease}", trial="a", lease=lease, holder="h", seconds=9.0)


def alive(lease: str) -> TrialAlive:
    return TrialAlive(uid=f"alive:{lease}", trial="a", lease=lease)


def _event(kind: type[Event]) -> st.SearchStrategy[Event]:
    given: dict[str, Any] = {"trial": TRIALS} if issubclass(kind, TrialEvent | TrialNoted) else {}
    if "reason" in KINDS_WITH_REASON.get(kind, ()):
        given["reason"] = st.just("why")
    if kind in (StudyRetried, StudyExtended):
        given["trials"] = st.lists(TRIALS, max_size=2)
        given |= {"spec": st.just({}), "version": st.just(2)} if kind is StudyExtended else {}
    if kind is Report:
        given["metrics"] = st.fixed_dictionaries({}, optional={"epoch": st.sampled_from([-1, 0, 1, 2, 3, 2.5, None])})
    if kind in (*HELD, *MAY_BE_HELD):
        given["lease"] = LEASES if kind in HELD else st.none() | LEASES
    if kind is TrialLeased:
        given |= {"holder": st.just("h"), "seconds": st.just(9.0)}
    elif kind is TrialReturned:
        given["heard"] = st.none() | st.integers(0, 2)
    elif kind is TrialSuggested:
        given["config"] = st.just({})
    return st.builds(kind, uid=st.just("u"), **given)


KINDS_WITH_REASON: dict[type[Event], tuple[str, ...]] = {
    kind: ("reason",) for name, kind in KINDS.items() if name in ("trial_failed", "study_failed")
}
SEQUENCES = st.lists(st.one_of([_event(kind) for kind in get_args(Event)]), max_size=40)


def test_every_kind_of_event_has_its_row() -> None:
    assert {*STUDY_MOVES, *TRIAL_MOVES, *get_args(FromReaders)} == set(get_args(Event))


def test_people_may_say_something_in_any_state_and_nothing_follows_from_it() -> None:
    end = StudyFinished(uid="end")
    lives: list[list[Event]] = [[], [GO], [GO, report(1), end], [StudyCancelled(uid="end")]]
    for said in (StudyNoted(uid="u", archived=True), TrialNoted(uid="v", trial="a", notes="odd")):
        for before in lives:
            ledger = Ledger()
            assert not ledger.judge(before)[1]
            state = ledger.state
            assert ledger.judge([said]) == ([said], []) and ledger.state is state


@settings(max_examples=300, deadline=None)
@given(SEQUENCES)
def test_whatever_is_sent_what_is_taken_is_the_life_of_a_study(sent: list[Event]) -> None:
    taken, refused = Ledger().judge(sent)
    assert Counter(map(id, sent)) == Counter(map(id, [*taken, *(event for event, _ in refused)]))
    state, ended, last = StudyState.QUEUED, Counter[str](), dict[str, float]()
    for event in taken:
        if isinstance(event, NoteEvent):
            continue
        assert not state.is_ended() or type(event) in REOPEN.get(state, ()), "nothing else follows the end"
        if isinstance(event, (StudyRetried, StudyExtended)):
            for trial in event.trials:
                ended[trial] = 0
                if isinstance(event, StudyRetried):
                    last.pop(trial, None)
        if isinstance(event, StudyEvent):
            state = event.leads_to
            continue
        assert state in (StudyState.RUNNING, StudyState.PAUSED), "trials of a study that waits tell nothing"
        assert not ended[event.trial], "nor does a trial that has ended"
        ended[event.trial] += isinstance(event, TrialFinished | TrialFailed)
        if isinstance(event, TrialLeased):
            last.pop(event.trial, None)
        epoch = event.metrics.get("epoch") if isinstance(event, Report) else None
        if epoch is not None:
            assert epoch == int(epoch) >= 0 and epoch > last.get(event.trial, -1), "epochs go up"
            last[event.trial] = epoch


OF_ONE = st.one_of([_event(kind) for kind in (*HELD, *MAY_BE_HELD, TrialStarted, StudyPaused, StudyResumed)])


@settings(max_examples=300, deadline=None)
@given(st.lists(OF_ONE | st.just(GO), max_size=40))
def test_only_who_holds_a_trial_is_heard_and_nobody_holds_it_twice(sent: list[Event]) -> None:
    taken, _ = Ledger().judge([GO, *sent])
    assert taken[0] == GO
    holder: dict[str, str | None] = {}
    heard: Counter[str] = Counter()
    for event in taken:
        if not isinstance(event, TrialEvent):
            continue  # neither a pause nor another driver takes a trial from whoever trains it elsewhere
        held = holder.get(event.trial)
        if isinstance(event, TrialLeased):
            assert held is None, "it is free before it is handed out"
            holder[event.trial], heard[event.trial] = event.lease, 0
            continue
        assert getattr(event, "lease", None) == held, "what is told comes from its holder"
        if isinstance(event, TrialReturned):
            assert event.heard in (None, heard[event.trial]), "who was heard of meanwhile keeps it"
        heard[event.trial] += 1
        if isinstance(event, TrialReturned | TrialFinished | TrialFailed):
            holder[event.trial] = None


@settings(max_examples=100, deadline=None)
@given(SEQUENCES, st.integers(0, 40))
def test_a_batch_is_judged_as_its_events_would_be_one_by_one(sent: list[Event], cut: int) -> None:
    whole, parts = Ledger(), Ledger()
    taken = whole.judge(sent)[0]
    assert [*parts.judge(sent[:cut])[0], *parts.copy().judge(sent[cut:])[0]] == taken
    replayed = Ledger()
    for event in taken:
        assert replayed.refusal(event) is None
        replayed.add(event)
    for event in sent:
        assert (replayed.refusal(event) is None) == (whole.refusal(event) is None), "the log alone decides"


def test_a_copy_goes_its_own_way() -> None:
    ledger = Ledger()
    ledger.judge([GO])
    ledger.copy().judge([StudyCancelled(uid="c"), report(1)])
    assert ledger.refusal(report(1)) is None and ledger.state is StudyState.RUNNING


def reasons(*events: Event) -> list[str]:
    return [refusal.reason for _, refusal in Ledger().judge(events)[1]]


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([report(1)], "the study is queued, its trials tell nothing"),
        ([GO, report(-1)], "metrics.epoch of a report is a whole number from 0 on, got -1"),
        ([GO, report(1.5)], "metrics.epoch of a report is a whole number from 0 on, got 1.5"),
        ([GO, report(2), report(2)], "epoch 2 of trial a comes after its epoch 2, which was reported"),
        ([GO, report(2), report(1)], "epoch 1 of trial a comes after its epoch 2, which was reported"),
        ([GO, TrialFinished(uid="f", trial="a"), report(1)], "report does not follow in trial a, which is finished"),
        ([GO, StudyFinished(uid="f"), report(1)], "the study is finished, its trials tell nothing"),
        ([StudyFinished(uid="f")], "study_finished does not follow in a study that is queued"),
        ([GO, leased("l1"), leased("l2")], "trial_leased does not follow in trial a, which is running"),
        ([GO, leased("l1"), report(1)], "trial a is trained elsewhere: report has to carry its lease"),
        ([GO, alive("l1")], "lease l1 of trial a is over: the trial went back to be asked for again"),
        ([GO, leased("l2"), alive("l1")], "lease l1 of trial a is over: another has it now"),
        (
            [GO, leased("l1"), TrialFinished(uid="f", trial="a", lease="l1"), alive("l1")],
            "lease l1 of trial a is over: the trial is finished",
        ),
        (
            [GO, leased("l1"), alive("l1"), TrialReturned(uid="r", trial="a", lease="l1", heard=0)],
            "the holder of trial a was heard of in the meantime",
        ),
    ],
)
def test_a_refusal_names_the_rule_and_the_value(events: list[Event], reason: str) -> None:
    assert reasons(*events) == [reason]


PAUSED, RESUMED, CANCELLED = StudyPaused(uid="p"), StudyResumed(uid="r"), StudyCancelled(uid="c")
FINISHED, FAILED = StudyFinished(uid="f"), StudyFailed(uid="x", reason="why")
RETRIED, EXTENDED = StudyRetried(uid="a", trials=["a"]), StudyExtended(uid="e", spec={}, version=2, trials=["a"])
LOST, BACK = StudyInterrupted(uid="i", reason="why"), StudyReconnected(uid="b")


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ([GO, PAUSED, FINISHED], StudyState.FINISHED),  # its last trial ended while a pause was asked for
        ([GO, PAUSED, FAILED], StudyState.FAILED),  # so did its driver
        ([GO, PAUSED, CANCELLED], StudyState.CANCELLED),
        ([FAILED], StudyState.FAILED),  # what cannot be started
        ([CANCELLED], StudyState.CANCELLED),
        ([PAUSED, RESUMED, GO], StudyState.RUNNING),
        ([GO, GO], StudyState.RUNNING),
        ([GO, LOST, BACK], StudyState.RUNNING),
        ([GO, FAILED, RESUMED], StudyState.RUNNING),
        *(
            ([GO, end, again], StudyState.RUNNING)
            for end in (PAUSED, FINISHED, FAILED)
            for again in (RETRIED, EXTENDED)
        ),
    ],
    ids=lambda given: "-".join(event.kind for event in given) if isinstance(given, list) else given.value,
)
def test_a_study_takes_these_events_one_after_the_other(events: list[Event], state: StudyState) -> None:
    ledger = Ledger()
    assert ledger.judge(events) == (events, []) and ledger.state is state


@pytest.mark.parametrize(
    "events",
    [
        [FINISHED],  # before anything was started
        [GO, RESUMED],  # nobody has paused it
        [GO, FINISHED, RESUMED],
        [GO, CANCELLED, RESUMED],
        [GO, CANCELLED, RETRIED],
        [GO, CANCELLED, EXTENDED],
        [GO, CANCELLED, FINISHED],
        [GO, FINISHED, FAILED],
        [GO, FINISHED, CANCELLED],
        [GO, FINISHED, PAUSED],
        [GO, PAUSED, PAUSED],
        [GO, PAUSED, GO],
        [GO, PAUSED, LOST],
        [GO, RETRIED],  # a driver that runs has its plan
        [GO, EXTENDED],
        [LOST],
        [BACK],
    ],
    ids=lambda given: "-".join(event.kind for event in given),
)
def test_a_study_refuses_the_last_of_these_events(events: list[Event]) -> None:
    taken, refused = Ledger().judge(events)
    assert (taken, [event for event, _ in refused]) == (events[:-1], events[-1:])
    assert all(refusal.by_state for _, refusal in refused)


def test_what_is_on_its_way_when_a_study_is_paused_comes_in() -> None:
    paused: list[Event] = [
        GO,
        TrialStarted(uid="s", trial="a"),
        StudyPaused(uid="p"),
        report(1),
        TrialFinished(uid="f", trial="a"),
    ]
    assert reasons(*paused, StudyResumed(uid="r"), GO, report(1, "b")) == []


def test_a_driver_that_starts_again_tells_on_where_the_log_ends() -> None:
    before: list[Event] = [GO, TrialStarted(uid="s", trial="a"), report(1), report(2)]
    again: list[Event] = [StudyStarted(uid="again", job="s1-2"), TrialStarted(uid="s2", trial="a"), report(3)]
    assert reasons(*before, *again, TrialFinished(uid="f", trial="a")) == []


def test_who_trains_elsewhere_goes_on_through_a_pause_and_another_driver() -> None:
    through: list[Event] = [StudyPaused(uid="p"), StudyResumed(uid="r"), StudyStarted(uid="again", job="s1-2")]
    assert reasons(GO, leased("l1"), alive("l1"), *through, alive("l1")) == []


def test_the_end_of_a_study_ends_every_lease() -> None:
    again = StudyExtended(uid="e", spec={}, version=2, trials=[])
    ended: list[Event] = [GO, leased("l1"), StudyFinished(uid="f"), again, GO]
    (reason,) = reasons(*ended, alive("l1"))
    assert reason == "lease l1 of trial a is over: the trial went back to be asked for again"
    assert reasons(*ended, leased("l2"), alive("l2")) == []


def test_who_begins_anew_elsewhere_reports_from_the_first_epoch_on() -> None:
    first = Report(uid="1", trial="a", metrics={"epoch": 1}, lease="l1")
    again = Report(uid="2", trial="a", metrics={"epoch": 1}, lease="l2")
    assert reasons(GO, leased("l1"), first, TrialReturned(uid="r", trial="a", lease="l1"), leased("l2"), again) == []
