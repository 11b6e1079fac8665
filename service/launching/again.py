"""What is planned again: failed trials once more, finished ones with more epochs, and what a study gets on top."""

from __future__ import annotations

from service.contract.study.earlier import SPEC_VERSION
from service.contract.study.expansion import expand
from service.contract.study.extension import Extension, depends_on_epochs, extended
from service.contract.wire.errors import Conflict, Detail
from service.contract.wire.events import StudyExtended, StudyRetried, TrialState
from service.contract.wording.numbers import plural
from service.views.fold import StudyView

MOST_RETRIES = 3  # of a trial
FIRST_WAIT_SECONDS = 30.0  # before the second retry, and four times as long before the next


def retrial(view: StudyView, uid: str) -> StudyRetried:
    """Conflict when no trial has failed, or all that have were retried often enough."""
    failed = {trial_id: trial for trial_id, trial in view.all_trials.items() if trial.state is TrialState.FAILED}
    chosen = {trial_id: trial.retries for trial_id, trial in failed.items() if trial.retries < MOST_RETRIES}
    if not chosen:
        why = f"every failed trial was retried {plural(MOST_RETRIES, 'time')} already" if failed else "no trial failed"
        raise Conflict(f"study {view.id} has nothing to retry: {why}", [Detail(path="state", message=view.state.value)])
    before = max(chosen.values())
    wait = FIRST_WAIT_SECONDS * 4 ** (before - 1) if before else 0.0
    return StudyRetried(uid=uid, trials=list(chosen), wait_seconds=wait)


def extension(view: StudyView, wish: Extension, uid: str) -> StudyExtended:
    """InvalidInput when the study cannot have what is wished for."""
    more = extended(view.study, wish)
    epochs = {trial.id: trial.training.epochs for trial in expand(more)}
    longer = {
        trial_id: trial
        for trial_id, trial in view.all_trials.items()
        if epochs[trial_id] > trial.planned.training.epochs and trial.state is not TrialState.FAILED
    }
    anew = [own for own, trial in longer.items() if trial.reports and depends_on_epochs(trial.planned)]
    again = [own for own, trial in longer.items() if trial.state is TrialState.FINISHED and own not in anew]
    spec = more.model_dump(by_alias=True, mode="json")
    return StudyExtended(uid=uid, spec=spec, version=SPEC_VERSION, trials=again, anew=anew or None)
