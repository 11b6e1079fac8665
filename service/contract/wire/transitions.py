"""Which event may follow which: one table for studies, one for trials, and the ledger that goes by them.

Whoever adds a kind of event adds its row, and nothing else: the store asks no other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from service.contract.metrics import EPOCH
from service.contract.wire.events import (
    Event,
    FromHolder,
    NoteEvent,
    OfTrials,
    Report,
    StudyCancelled,
    StudyEvent,
    StudyExtended,
    StudyFailed,
    StudyFinished,
    StudyInterrupted,
    StudyPaused,
    StudyQueued,
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
    TrialReturned,
    TrialStarted,
    TrialState,
    TrialStopped,
    TrialSuggested,
)

QUEUED, RUNNING, PAUSED = StudyState.QUEUED, StudyState.RUNNING, StudyState.PAUSED
FINISHED, FAILED = StudyState.FINISHED, StudyState.FAILED

# The states of a study in which an event of the study may come. Where it leads is written with the event.
STUDY_MOVES: Mapping[type[StudyEvent], frozenset[StudyState]] = {
    StudyQueued: frozenset(),  # the first event of every log, written when the study is made
    StudyStarted: frozenset({QUEUED, RUNNING}),  # again after a driver's death
    StudyInterrupted: frozenset({RUNNING}),
    StudyReconnected: frozenset({RUNNING}),
    StudyPaused: frozenset({QUEUED, RUNNING}),
    StudyResumed: frozenset({PAUSED, FAILED}),  # what was cancelled stays so
    StudyRetried: frozenset({PAUSED, FINISHED, FAILED}),
    StudyExtended: frozenset({PAUSED, FINISHED, FAILED}),  # a driver that runs has its plan already
    StudyFinished: frozenset({RUNNING, PAUSED}),  # the last trial may end while others ask for a pause
    StudyFailed: frozenset({QUEUED, RUNNING, PAUSED}),
    StudyCancelled: frozenset({QUEUED, RUNNING, PAUSED}),
}

# The states of a study in which its trials may tell anything: in a pause what is on its way still comes in.
TRIALS_TELL = frozenset({RUNNING, PAUSED})


class TrialMove(NamedTuple):
    """From which states of the trial, and to which."""

    before: frozenset[TrialState]
    after: TrialState


UNDER_WAY = frozenset({TrialState.PLANNED, TrialState.RUNNING})
TRIAL_MOVES: Mapping[type[TrialEvent], TrialMove] = {
    TrialStarted: TrialMove(UNDER_WAY, TrialState.RUNNING),  # again when its worker died
    Report: TrialMove(UNDER_WAY, TrialState.RUNNING),
    TrialFinished: TrialMove(UNDER_WAY, TrialState.FINISHED),
    TrialFailed: TrialMove(UNDER_WAY, TrialState.FAILED),
    TrialStopped: TrialMove(UNDER_WAY, TrialState.STOPPED),
    TrialSuggested: TrialMove(frozenset({TrialState.PLANNED}), TrialState.PLANNED),
    TrialLeased: TrialMove(frozenset({TrialState.PLANNED}), TrialState.RUNNING),  # so that no two hold it
    TrialAlive: TrialMove(frozenset({TrialState.RUNNING}), TrialState.RUNNING),
    TrialReturned: TrialMove(frozenset({TrialState.RUNNING}), TrialState.PLANNED),
}

# What an event of the study does to trials that are in a state.
RESETS: Mapping[type[StudyEvent], Mapping[TrialState, TrialState]] = {
    **{
        anew: {TrialState.RUNNING: TrialState.PLANNED, TrialState.STOPPED: TrialState.PLANNED}
        for anew in (StudyStarted, StudyPaused, StudyResumed, StudyRetried, StudyExtended)
    },
    **{end: {TrialState.RUNNING: TrialState.STOPPED} for end in (StudyFinished, StudyFailed, StudyCancelled)},
}


class Held(NamedTuple):
    """The lease under which a trial is trained elsewhere, and how often its holder has told something."""

    lease: str
    heard: int = 0


class Told(NamedTuple):
    """What the log has of a trial."""

    state: TrialState = TrialState.PLANNED
    epoch: int | None = None  # the last one reported
    held: Held | None = None
    cut: bool = False  # by the study's `stopping`, and so for good

    def reset(self, resets: Mapping[TrialState, TrialState]) -> Told:
        """After an event of its study. Who trains it elsewhere goes on, whatever happens to the driver."""
        after = resets.get(self.state, self.state)
        if after is self.state or self.cut or (self.held and after is TrialState.PLANNED):
            return self
        return self._replace(state=after, held=None)


class Refusal(NamedTuple):
    """Why an event is not taken: the study takes none of its kind now, its sender's lease is over, or neither."""

    reason: str
    by_state: bool = False
    by_lease: bool = False


class Ledger:
    """As much of a log as it takes to judge the next event. Of a trial that it does not know nothing was told."""

    def __init__(
        self, state: StudyState = QUEUED, job: str | None = None, trials: Mapping[str, Told] | None = None
    ) -> None:
        self.state, self.job = state, job
        self._trials = dict(trials or {})

    def copy(self) -> Ledger:
        return Ledger(self.state, self.job, self._trials)

    def refusal(self, event: Event) -> Refusal | None:
        """None when the event may come next."""
        if isinstance(event, NoteEvent):  # whatever becomes of the study, people may say something about it
            return None
        if isinstance(event, StudyEvent):
            allowed = self.state in STUDY_MOVES[type(event)]
            words = f"{event.kind} does not follow in a study that is {self.state.value}"
            return None if allowed else Refusal(words, by_state=True)
        if self.state not in TRIALS_TELL:
            return Refusal(f"the study is {self.state.value}, its trials tell nothing", by_state=True)
        told, move = self._trials.get(event.trial, Told()), TRIAL_MOVES[type(event)]
        if refusal := _wrong_holder(event, told):
            return refusal
        if told.state not in move.before:
            return Refusal(f"{event.kind} does not follow in trial {event.trial}, which is {told.state.value}")
        return _wrong_epoch(event, told) if isinstance(event, Report) else None

    def judge(self, events: Sequence[Event]) -> tuple[list[Event], list[tuple[Event, Refusal]]]:
        """Judged one after the other, each with those before it that were taken; and those that were not."""
        taken, refused = [], []
        for event in events:
            if refusal := self.refusal(event):
                refused.append((event, refusal))
            else:
                taken.append(event)
                self.add(event)
        return taken, refused

    def add(self, event: Event) -> None:
        """The event is in the log: what comes next is judged with it."""
        if isinstance(event, NoteEvent):
            return
        if isinstance(event, StudyEvent):
            self.state = event.leads_to
            if isinstance(event, StudyStarted):
                self.job = event.job
            resets = RESETS.get(type(event))
            if resets:
                for trial, told in self._trials.items():
                    self._trials[trial] = told.reset(resets)
            self._plan_again(event)
            return
        before, after = self._trials.get(event.trial, Told()), TRIAL_MOVES[type(event)].after
        if isinstance(event, TrialLeased):  # it begins anew
            self._trials[event.trial] = Told(after, held=Held(event.lease))
            return
        held = before.held._replace(heard=before.held.heard + 1) if before.held else None
        going = after is TrialState.RUNNING
        told = before._replace(state=after, held=held if going else None, cut=isinstance(event, TrialStopped))
        epoch = event.metrics.get(EPOCH) if isinstance(event, Report) else None
        self._trials[event.trial] = told if epoch is None else told._replace(epoch=int(epoch))

    def _plan_again(self, event: StudyEvent) -> None:
        """A retried trial begins anew, one that has more epochs to go goes on, unless they change its training."""
        if isinstance(event, StudyRetried):
            self._trials |= dict.fromkeys(event.trials, Told())
        elif isinstance(event, StudyExtended):
            known = {trial: self._trials.get(trial, Told()) for trial in event.trials}
            self._trials |= {trial: told._replace(state=TrialState.PLANNED) for trial, told in known.items()}
            self._trials |= dict.fromkeys(event.anew or (), Told())


def _wrong_holder(event: OfTrials | FromHolder | TrialLeased, told: Told) -> Refusal | None:
    """Only who holds a trial tells of it. One that is found silent has told nothing since it was looked at."""
    if isinstance(event, TrialLeased):
        return None
    given: str | None = getattr(event, "lease", None)
    if given != (told.held.lease if told.held else None):
        if given is None:
            return Refusal(f"trial {event.trial} is trained elsewhere: {event.kind} has to carry its lease")
        where = "went back to be asked for again" if told.state is TrialState.PLANNED else f"is {told.state.value}"
        what = "another has it now" if told.held else f"the trial {where}"
        return Refusal(f"lease {given} of trial {event.trial} is over: {what}", by_lease=True)
    if isinstance(event, TrialReturned) and told.held and event.heard not in (None, told.held.heard):
        return Refusal(f"the holder of trial {event.trial} was heard of in the meantime")
    return None


def _wrong_epoch(event: Report, told: Told) -> Refusal | None:
    """Epochs only go up. Who trains one again, after a death, sends it under the uid that it had: a duplicate."""
    if EPOCH not in event.metrics:
        return None
    epoch = event.metrics[EPOCH]
    if not isinstance(epoch, int) or epoch < 0:
        return Refusal(f"metrics.epoch of a report is a whole number from 0 on, got {json.dumps(epoch)}")
    if told.epoch is not None and epoch <= told.epoch:
        return Refusal(f"epoch {epoch} of trial {event.trial} comes after its epoch {told.epoch}, which was reported")
    return None
