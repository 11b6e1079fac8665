"""Where a study goes on when its driver is started again."""

from __future__ import annotations

from collections.abc import Sequence

from service.contract.wire.cohort_state import CohortState
from service.contract.wording.numbers import plural
from service.views.fold import StudyView


def where_it_goes_on(view: StudyView, states: Sequence[CohortState]) -> str:
    """In words: how many trials under way go on, and after which epoch; how many start over, how many had not begun."""
    left = {trial_id: trial for trial_id, trial in view.all_trials.items() if not trial.state.is_over()}
    saved = {trial: state.epoch for state in states for trial in state.members if trial in left}
    over = sum(trial.started_at is not None for trial_id, trial in left.items() if trial_id not in saved)
    parts = []
    if saved:
        first, last = min(saved.values()), max(saved.values())
        epochs = f"epoch {first}" if first == last else f"epochs {first} to {last}"
        parts.append(f"{plural(len(saved), 'trial')} {'goes' if len(saved) == 1 else 'go'} on after {epochs}")
    if over:
        parts.append(f"{plural(over, 'trial')} {'starts' if over == 1 else 'start'} over")
    if new := len(left) - len(saved) - over:
        parts.append(f"{plural(new, 'trial')} had not begun")
    return ", ".join(parts) or "no trial is left to train"
