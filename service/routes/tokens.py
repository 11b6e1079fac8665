"""Tokens: made, listed, revoked; and handed to a study's driver."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from starlette.concurrency import run_in_threadpool

from service.contract.wire.errors import Unauthorized
from service.contract.wire.tokens import CreatedToken, HandedToken, NewToken, TokenAnswer, TokenList
from service.routes.dependencies import PartsOf, StudyId
from service.store.tokens import TokenRow
from service.web.auth import given_token
from service.web.bodies import Body
from service.web.openapi import Route, ref, takes
from service.web.scopes import needs

router = APIRouter(tags=["tokens"], route_class=Route)

LARGEST = 10_000
ADMIN = needs("admin")
TokenId = Annotated[str, Path(max_length=16, description="a token's id, as in the list of tokens")]


def _answer(row: TokenRow) -> TokenAnswer:
    return TokenAnswer(
        id=row.id,
        name=row.name,
        scopes=list(row.scopes),  # type: ignore[arg-type]  # of a token that people made
        created_at=row.created_at,
        expires_at=row.expires_at,
        studies_at_once=row.studies_at_once,
        trials=row.trials,
        bytes=row.bytes,
    )


def _body(request: Request) -> Body:
    return Body(request, LARGEST)


@router.get("/tokens", openapi_extra=ADMIN)
def list_tokens(parts: PartsOf) -> TokenList:
    """All that are good, without their secrets, oldest first."""
    return TokenList(tokens=[_answer(row) for row in parts.tokens.listed()])


@router.post("/tokens", status_code=201, openapi_extra={**takes({"application/json": ref(NewToken)}), **ADMIN})
async def create_token(body: Annotated[Body, Depends(_body)], parts: PartsOf) -> CreatedToken:
    """Make a token. Its secret stands in this answer and nowhere else: only its hash is kept."""
    asked = await body.parsed(NewToken)
    row, secret = await run_in_threadpool(parts.tokens.create, asked)
    return CreatedToken(**_answer(row).fields(), token=secret)


@router.delete("/tokens/{token_id}", status_code=204, openapi_extra=ADMIN)
def revoke_token(token_id: TokenId, parts: PartsOf) -> None:
    """It is refused from now on; studies that it submitted stay."""
    parts.tokens.revoke(token_id)


@router.post("/studies/{study_id}/token", openapi_extra=needs("claim"))
def hand_over(study_id: StudyId, request: Request, parts: PartsOf) -> HandedToken:
    """What a driver on another machine calls first: its code, sent as a token, becomes a token of its study, once."""
    row = parts.tokens.find(given_token(request))
    if row is None:  # used or revoked in the meantime
        raise Unauthorized("this code is no longer good")
    return HandedToken(token=parts.tokens.claim(row))
