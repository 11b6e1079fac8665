"""Where a study goes on when its driver is started again."""

from __future__ import annotations

from collections.abc import Sequence

from service.contract.study.extension import depends_on_epochs
from service.contract.wire.cohort_state import CohortState
from service.contract.wording.numbers import plural
from service.views.fold import StudyView


def where_it_goes_on(view: StudyView, states: Sequence[CohortState]) -> str:
    """In words: how many trials under way go on, and after which epoch; how many start over, how many had not begun."""
    open_ = {trial_id: trial for trial_id, trial in view.all_trials.items() if not trial.is_over}
    left = {trial_id: trial for trial_id, trial in open_.items() if trial.lease is None}
    saved = {trial: state.epoch for state in states for trial in state.living if trial in left}
    rest = [trial for trial_id, trial in left.items() if trial_id not in saved]
    over = sum(trial.started_at is not None for trial in rest)
    anew = sum(trial.started_at is None and trial.extensions > 0 and depends_on_epochs(trial.planned) for trial in rest)
    parts = []
    if saved:
        first, last = min(saved.values()), max(saved.values())
        epochs = f"epoch {first}" if first == last else f"epochs {first} to {last}"
        parts.append(f"{plural(len(saved), 'trial')} {'goes' if len(saved) == 1 else 'go'} on after {epochs}")
    if over:
        parts.append(f"{plural(over, 'trial')} {'starts' if over == 1 else 'start'} over")
    if anew:
        starts, their = ("starts", "its") if anew == 1 else ("start", "their")
        parts.append(f"{plural(anew, 'trial')} {starts} anew, as {their} training depends on the number of epochs")
    if new := len(left) - len(saved) - over - anew:
        parts.append(f"{plural(new, 'trial')} had not begun")
    if held := len(open_) - len(left):
        parts.append(f"{plural(held, 'trial')} {'is' if held == 1 else 'are'} trained elsewhere")
    return ", ".join(parts) or "no trial is left to train"
