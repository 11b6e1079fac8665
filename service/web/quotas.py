"""How many studies and trials a token may have; its bytes are in `room`.

A study counts for the token that submitted it, or that let it go on since.
"""

from __future__ import annotations

from service.contract.study.expansion import count_trials, count_verifying
from service.contract.study.study import Study
from service.contract.wire.errors import Forbidden
from service.store.tokens import TokenRow, Tokens


def trials_of(study: Study) -> int:
    """As many as are planned, those that verify others included."""
    return sum(count_trials(study).values()) + sum(count_verifying(study).values())


def check_study(tokens: Tokens, token: TokenRow, trials: int, study_id: str | None = None) -> None:
    """Before a study is created, or goes on and is counted anew; the caller holds `tokens.admission()`."""
    used = tokens.used(token.id, besides=study_id)
    if token.studies_at_once is not None and used.studies >= token.studies_at_once:
        raise Forbidden(f"this token may have {token.studies_at_once} studies at once, and has {used.studies}")
    if token.trials is not None and used.trials + trials > token.trials:
        rest = f"{used.trials} of its studies under way and {trials} of this one"
        raise Forbidden(f"this token may have {token.trials} trials at once; with {rest} there would be more")
