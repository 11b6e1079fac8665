"""How many studies and trials a token may have; its bytes are in `room`."""

from __future__ import annotations

from service.contract.wire.errors import Forbidden
from service.store.tokens import TokenRow, Tokens


def check_study(tokens: Tokens, token: TokenRow, trials: int) -> None:
    """Before a study is created; the caller holds `tokens.admission`."""
    used = tokens.used(token.id)
    if token.studies_at_once is not None and used.studies >= token.studies_at_once:
        raise Forbidden(f"this token may have {token.studies_at_once} studies at once, and has {used.studies}")
    if token.trials is not None and used.trials + trials > token.trials:
        rest = f"{used.trials} of its studies under way and {trials} of this one"
        raise Forbidden(f"this token may have {token.trials} trials at once; with {rest} there would be more")
