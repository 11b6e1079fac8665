"""How much a token's studies may take."""

from __future__ import annotations

from service.contract.wire.errors import Forbidden, TooLarge
from service.store.artifacts import Artifacts
from service.store.tokens import TokenRow, Tokens


def check_study(tokens: Tokens, token: TokenRow, trials: int) -> None:
    """Before a study is created; the caller holds `tokens.admission`."""
    used = tokens.used(token.id)
    if token.studies_at_once is not None and used.studies >= token.studies_at_once:
        raise Forbidden(f"this token may have {token.studies_at_once} studies at once, and has {used.studies}")
    if token.trials is not None and used.trials + trials > token.trials:
        rest = f"{used.trials} of its studies under way and {trials} of this one"
        raise Forbidden(f"this token may have {token.trials} trials at once; with {rest} there would be more")


def check_bytes(tokens: Tokens, artifacts: Artifacts, study_id: str, size: int) -> None:
    """Before a file is taken in."""
    owner = tokens.owner(study_id)
    most = owner[0].bytes if owner else None
    if owner is None or most is None:
        return
    kept = sum(artifacts.bytes_of(study) for study in owner[1])
    if kept + size > most:
        raise TooLarge(f"files of the token's studies may have {most:,} bytes, and {kept:,} are kept already")
