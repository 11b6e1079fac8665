"""Everything about a study in one JSON value."""

from __future__ import annotations

from paretoscope import __version__
from service.answers.comparison import comparison_answer
from service.answers.studies import study_answer
from service.answers.trials import trials_with_reports
from service.contract.wire.answers.exports import WholeStudy
from service.views.view import View


def whole(view: View) -> WholeStudy:
    """The study with its spec, the comparison, and every trial with every report."""
    return WholeStudy(
        paretoscope=__version__,
        study=study_answer(view),
        comparison=comparison_answer(view),
        trials=trials_with_reports(view),
    )
