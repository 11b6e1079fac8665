"""Everything about a study in one JSON value."""

from __future__ import annotations

from typing import Any

from service.answers import front_ids, study_answer
from service.comparison import comparison_answer
from service.exports.version import VERSION
from service.store.views import StudyView, public_trial


def whole(view: StudyView) -> dict[str, Any]:
    """The study with its spec, the comparison, and every trial with every report."""
    on_front = front_ids(view)
    trials = [
        {**public_trial(view, trial_id, trial_id in on_front), "reports": list(trial.reports)}
        for trial_id, trial in view.trials.items()
    ]
    return {
        "paretoscope": VERSION,
        "study": study_answer(view),
        "comparison": comparison_answer(view),
        "trials": trials,
    }
