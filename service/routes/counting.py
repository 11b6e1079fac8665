"""What lets a study go on counts for whoever wants it: resumed, retried or extended, it is under way again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from service.contract.study.extension import Extension, extended
from service.routes.dependencies import Parts
from service.web.doorkeeper import Caller
from service.web.quotas import check_study, trials_of


@contextmanager
def counted(parts: Parts, caller: Caller, study_id: str, wish: Extension | None = None) -> Iterator[None]:
    """Forbidden where the caller's token may not have the study beside its others; counted for it when all went well.

    The owner is not limited: the study still counts for whom it did, with the trials that it has then.
    """
    with parts.tokens.admission() if caller.token else nullcontext():
        with parts.views.read(study_id) as view:
            study = view.study
        trials = trials_of(study if wish is None else extended(study, wish))
        if caller.token:
            check_study(parts.tokens, caller.token, trials, study_id)
        yield
        parts.tokens.own(caller.token.id if caller.token else None, study_id, trials)
