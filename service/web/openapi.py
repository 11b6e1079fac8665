"""What the OpenAPI schema says beyond what FastAPI can see: errors, and bodies and streams that are handled by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import fastapi_offline
from fastapi import FastAPI, Request
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import WithDefaultSchema
from starlette.types import Receive, Scope, Send

from service.contract.study.extension import Extension
from service.contract.study.study import Study
from service.contract.wire.answers.answer import DESCRIBED_BY
from service.contract.wire.answers.streams import SentEvent
from service.contract.wire.elsewhere import Ask
from service.contract.wire.errors import (
    ErrorAnswer,
    InvalidInput,
    NotFound,
    ParetoscopeError,
    TooLarge,
    TooSlow,
    UnsupportedType,
)
from service.contract.wire.events import Reports
from service.contract.wire.log_lines import about
from service.contract.wire.notes import StudyNote, TrialNote
from service.contract.wire.reading import CodeReading
from service.contract.wire.tokens import NewToken
from service.web.gauges import ROUTED
from service.web.policies import POLICY, of_docs
from service.web.scopes import needs, scope_of

STATIC = "/static-offline-docs"
REF = "#/components/schemas/{model}"
BY_HAND: dict[type, Literal["validation", "serialization"]] = {
    Study: "validation",
    Reports: "validation",
    Ask: "validation",
    NewToken: "validation",
    Extension: "validation",
    CodeReading: "validation",
    StudyNote: "validation",
    TrialNote: "validation",
    SentEvent: "serialization",
}
Fragment = dict[str, Any]  # of an OpenAPI document, in the shapes that FastAPI takes


def ref(model: type) -> Fragment:
    return {"schema": {"$ref": REF.format(model=model.__name__)}}


TEXT: Fragment = {"schema": {"type": "string"}}
FILE: Fragment = {"schema": {"type": "string", "format": "binary"}}


def takes(content: Fragment) -> Fragment:
    """`openapi_extra` of a route that reads its body by hand: what it takes, by content type."""
    return {"requestBody": {"required": True, "content": content}}


def answers(content: Fragment, json: type | None = None) -> dict[int | str, Fragment]:
    """`responses` of a route that makes its answer by hand: what it is, by content type, and where it is JSON."""
    return {200: {"content": content, **({"model": json} if json else {})}}


def refuses(*kinds: type[ParetoscopeError]) -> dict[int | str, Fragment]:
    """`responses` of a route that can raise these. As a model it would be built for each route and status."""
    content = {"application/json": ref(ErrorAnswer)}
    return {kind.status: {"description": kind.__doc__, "content": content} for kind in kinds}


class Route(APIRoute):
    """Documents the errors that follow from what it takes: an address with ids, parameters, a body.

    Says in the request's scope which address it has, as those who count answers cannot see it otherwise.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        addressed, takes_body = "{" in path, "requestBody" in (self.openapi_extra or {})
        asked = self.dependant.query_params or self.dependant.header_params
        possible: list[type[ParetoscopeError]] = [NotFound] if addressed else []
        possible += [TooLarge, TooSlow] if takes_body else []
        possible += [UnsupportedType] if takes_body and "application/json" in self._taken() else []
        possible += [InvalidInput] if addressed or asked or takes_body else []
        self.responses = {**refuses(*possible), **self.responses}
        self.openapi_extra = {**(self.openapi_extra or {}), **needs(scope_of(self))}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.get(ROUTED, []).append(self.path)
        ids = scope.get("path_params", {})
        with about(study=ids.get("study_id"), trial=ids.get("trial_id")):
            await super().handle(scope, receive, send)

    def _taken(self) -> Fragment:
        """What its body may be, by content type."""
        return dict((self.openapi_extra or {})["requestBody"]["content"])


def route_name(route: APIRoute) -> str:
    """The id of an operation, by which generated clients name their functions."""
    return route.name


class WithoutDefaultObjects(GenerateJsonSchema):
    """Generators of clients cannot write an object as a default; to leave the field out means the same."""

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        return {key: value for key, value in described.items() if key != "default" or not isinstance(value, dict)}


def _refer(part: Any) -> None:
    """Writes the references that pydantic could not, as it does not know of the schemas that are added by hand."""
    if isinstance(part, dict):
        if DESCRIBED_BY in part:
            part["$ref"] = REF.format(model=part.pop(DESCRIBED_BY))
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            _refer(inner)


class Service(FastAPI):
    """Its schema also has what is read and sent by hand; the page that shows it needs no other host."""

    def __init__(self, **options: Any) -> None:
        super().__init__(docs_url=None, redoc_url=None, **options)
        self.mount(STATIC, StaticFiles(directory=Path(fastapi_offline.__file__).parent / "static"))
        self.add_api_route("/docs", self._docs, include_in_schema=False)

    def openapi(self) -> Fragment:
        if self.openapi_schema is None:
            known = super().openapi()["components"]["schemas"]
            adapters = [(kind, mode, TypeAdapter[Any](kind)) for kind, mode in BY_HAND.items()]
            _, by_hand = TypeAdapter.json_schemas(adapters, ref_template=REF, schema_generator=WithoutDefaultObjects)
            for name, part in by_hand["$defs"].items():
                assert known.setdefault(name, part) == part, f"two schemas are called {name}"
            _refer(known)
        return self.openapi_schema or {}

    def _docs(self, request: Request) -> HTMLResponse:
        root = request.scope.get("root_path", "")
        page = get_swagger_ui_html(
            openapi_url=f"{root}{self.openapi_url}",
            title=self.title,
            swagger_js_url=f"{root}{STATIC}/swagger-ui-bundle.js",
            swagger_css_url=f"{root}{STATIC}/swagger-ui.css",
            swagger_favicon_url=f"{root}{STATIC}/favicon.png",
        )
        page.headers[POLICY] = of_docs(bytes(page.body).decode())
        return page
