"""Trials that are trained elsewhere: handed out on leases, and taken back from holders that have fallen silent.

Two askers never get the same trial: the store takes `trial_leased` of a trial only while it is planned, and judges that
within the transaction that writes it, whichever process asks. Who came second looks for another.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from service.contract.methods.own_problems import OwnProblem
from service.contract.study.expansion import PlannedTrial, Slot, resolve, searched_keys
from service.contract.wire.elsewhere import FREE, Ask, HandedTrial, Later
from service.contract.wire.errors import Conflict, Detail, InvalidInput
from service.contract.wire.events import StudyState, TrialLeased, TrialReturned, TrialState
from service.contract.wording.numbers import plural, setting
from service.store.protocol import Store
from service.views.cache import Views
from service.views.fold import StudyView


def _now() -> datetime:
    return datetime.now(UTC)


class Leases:
    """Asks the views what is free, and the store for it."""

    def __init__(self, store: Store, views: Views, clock: Callable[[], datetime] = _now) -> None:
        self._store, self._views, self._clock = store, views, clock
        self._since = clock()  # nobody is called silent for the time in which nobody listened
        self._asking = threading.Lock()  # askers of one process do not run after the same trial

    def ask(self, study_id: str, wish: Ask, asker: str, token: str | None = None) -> HandedTrial:
        """A trial that nobody has; Conflict when there is none, InvalidInput for an arm that hands out none. Only
        the token with this id tells of it."""
        with self._asking:
            self.take_back(study_id)
            while True:
                with self._views.read(study_id) as view:
                    trial = _free(view, _arms(view, wish.arm))
                lease = secrets.token_hex(8)
                event = TrialLeased(
                    uid=f"service:leased:{lease}",
                    trial=trial.id,
                    arm=trial.arm,
                    lease=lease,
                    holder=wish.holder or asker,
                    seconds=wish.lease_seconds,
                    token=token,
                )
                with suppress(Conflict):  # it was paused or ended in between: the next look says so
                    if self._store.append(study_id, [event], _unless_running).accepted:
                        return _handed(trial, event)

    def take_back(self, study_id: str) -> None:
        """Trials whose holder has been silent for longer than its lease."""
        with self._views.read(study_id) as view:
            silent = list(self._silent(view)) if view.study.arms_elsewhere else []
        if silent:
            with suppress(Conflict):  # another process did, or the study has ended
                self._store.append(study_id, silent)

    def _silent(self, view: StudyView) -> Iterator[TrialReturned]:
        """Each with how often its holder was heard of: where that has changed meanwhile, it stays with them."""
        now = self._clock()
        for trial_id, trial in view.all_trials.items():
            if (lease := trial.lease) is None:
                continue
            heard = max(datetime.fromisoformat(lease.heard_at), self._since)
            if now - heard > timedelta(seconds=lease.seconds):
                why = f"{lease.holder} was silent for more than its lease of {setting(lease.seconds)} s"
                uid = f"service:returned:{lease.id}"
                yield TrialReturned(
                    uid=uid, trial=trial_id, arm=trial.planned.arm, lease=lease.id, heard=lease.heard, reason=why
                )


def _unless_running(state: StudyState) -> str | None:
    return None if state is StudyState.RUNNING else f"the study is {state.value} and hands out no trials"


def _arms(view: StudyView, asked: str | None) -> frozenset[str]:
    """Whose trials may be handed out."""
    elsewhere = view.study.arms_elsewhere
    if asked is None and elsewhere:
        return elsewhere
    if asked in elsewhere:
        return frozenset({asked})
    known = ", ".join(repr(arm.name) for arm in view.study.arms if arm.name in elsewhere) or "none"
    rule = f"only arms with run: elsewhere hand out trials, this study has {known}"
    raise InvalidInput(f"arm: {rule}, got {asked!r}", [Detail(path="arm", message=f"{rule}, got {asked!r}")])


def _free(view: StudyView, arms: frozenset[str]) -> PlannedTrial:
    """In the order of the spec, those of searches first, whose results are waited for; Conflict when there is none."""
    if view.state is not StudyState.RUNNING:
        later: Later = "never" if view.state.is_ended() else "later"
        raise _none(view, f"study {view.id} is {view.state.value} and hands out no trials", later)
    left = [t for t in view.all_trials.values() if t.planned.arm in arms and not t.is_over]
    planned = [trial for trial in left if trial.state is TrialState.PLANNED]
    keys = searched_keys(view.study)  # until its search has suggested values for these, a trial is not free
    free = [trial for trial in planned if trial.planned.config.keys() >= set(keys.get(trial.planned.arm, ()))]
    if free:
        chosen = next((trial for trial in free if isinstance(trial.planned, Slot)), free[0]).planned
        if not isinstance(chosen, Slot):
            return chosen
        return resolve(chosen, {key: chosen.config[key] for key in keys[chosen.arm]})
    if not left:
        raise _none(view, "every trial has been trained: none is handed out any more", "never")
    held, waiting = len(left) - len(planned), len(planned)
    why = [f"{plural(held, 'trial')} with others"] if held else []
    why += [f"{plural(waiting, 'trial')} whose search waits for results"] if waiting else []
    raise _none(view, f"no trial is free now ({', '.join(why)}): ask again later", "later")


def _none(view: StudyView, words: str, later: Later) -> Conflict:
    return Conflict(words, [Detail(path=FREE, message=later), Detail(path="state", message=view.state.value)])


def _handed(trial: PlannedTrial, event: TrialLeased) -> HandedTrial:
    script = trial.problem
    assert isinstance(script, OwnProblem), f"trial {trial.id} is of {script.name}, which is not trained elsewhere"
    return HandedTrial(
        trial=trial.id,
        arm=trial.arm,
        seed=trial.seed,
        config=trial.config,
        parameters=script.values(),
        metrics=[metric.name for metric in script.described.metrics],
        lease=event.lease,
        lease_seconds=event.seconds,
    )
