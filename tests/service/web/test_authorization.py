"""Everything below /api needs the token: every operation that is documented, and every route that is mounted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Mount, Route

from service.app import create_app
from service.settings import Settings
from tests.processes import short_home
from tests.service.bench import Bench

TOKEN = "secret"
OPEN = ("/", "/new", "/compare", "/studies/{study_id}", "/healthz", "/readyz", "/openapi.json")
OPEN_BELOW = ("/assets", "/docs", "/static-offline-docs")
VERBS = ("get", "post", "put", "patch", "delete")


@pytest.fixture(scope="module")
def guarded() -> Iterator[Bench]:
    with short_home() as home:
        bench = Bench(home, token=TOKEN, wrong_tokens_per_minute=100_000)
        yield bench
        bench.close()


def mounted(routes: list[BaseRoute], prefix: str = "") -> Iterator[tuple[str, str]]:
    """(method, path) of everything an app answers to, documented or not."""
    for route in routes:
        if isinstance(route, (APIRoute, Route)):
            yield from ((method, prefix + route.path) for method in sorted(route.methods or {"GET"}))
        elif isinstance(route, Mount) and route.routes:
            yield from mounted(list(route.routes), prefix + route.path)
        elif isinstance(route, Mount):
            yield "GET", prefix + route.path
        else:  # FastAPI keeps an included router whole
            router, context = getattr(route, "original_router", None), getattr(route, "include_context", None)
            assert router is not None and context is not None, f"this test knows no {type(route).__name__}"
            yield from mounted(list(router.routes), prefix + context.prefix)


def concrete(path: str) -> str:
    return re.sub(r"{\w+(:\w+)?}", "nope", path)


def documented(app: FastAPI) -> list[tuple[str, str]]:
    paths: dict[str, Any] = app.openapi()["paths"]
    return [(verb.upper(), path) for path, verbs in paths.items() for verb in VERBS if verb in verbs]


APP = create_app(Settings(token=TOKEN))
OPERATIONS = [operation for operation in documented(APP) if operation[1].startswith("/api")]


def test_there_are_operations_to_walk() -> None:
    assert len(OPERATIONS) >= 20
    assert {path for _, path in OPERATIONS} >= {
        "/api/studies",
        "/api/studies/{study_id}/export",
        "/api/studies/{study_id}/reports",
        "/api/studies/{study_id}/trials/{trial_id}/artifacts/{name}",
        "/api/catalog",
    }


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_an_operation_needs_the_token(guarded: Bench, method: str, path: str) -> None:
    refused: list[dict[str, str]] = [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer "},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": f"Bearer {TOKEN}{TOKEN}"},
        {"Cookie": "paretoscope_token=wrong"},
        {"Cookie": f"other={TOKEN}"},
    ]
    for headers in refused:
        answer = guarded.ask(method, concrete(path), headers=headers)
        assert answer.status_code == 401, (headers, answer.text)
        error = answer.json()["error"]
        assert (set(error), error["code"]) == ({"code", "message", "details"}, "unauthorized")
        assert "PARETOSCOPE_TOKEN" in error["message"] and TOKEN not in answer.text
    for headers in ({"Authorization": f"Bearer {TOKEN}"}, {"Cookie": f"paretoscope_token={TOKEN}"}):
        assert guarded.ask(method, concrete(path), headers=headers).status_code != 401


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_what_is_no_reading_is_no_strangers_to_ask_and_leaves_a_line(guarded: Bench, method: str, path: str) -> None:
    known = {"Authorization": f"Bearer {TOKEN}"}
    foreign = guarded.ask(method, concrete(path), headers={**known, "Origin": "http://evil.example"})
    guarded.ask(method, concrete(path), headers=known)
    audit = guarded.settings.home / "audit.log"
    lines = [json.loads(line) for line in audit.read_text().splitlines()] if audit.exists() else []
    told = [line for line in lines if (line["method"], line["path"]) == (method, concrete(path))]
    if method == "GET":
        assert foreign.status_code != 403 and not told
    else:
        assert foreign.status_code == 403 and "evil.example" in foreign.text
        assert told


def test_every_mounted_route_needs_the_token_or_is_open_by_design(guarded: Bench) -> None:
    """By the app's own routes: a router that is not documented, or is mounted elsewhere, is seen too."""
    routes = list(mounted(list(APP.routes)))
    assert len(routes) > len(OPERATIONS)
    for method, path in routes:
        if path in OPEN or path.startswith(OPEN_BELOW):
            assert guarded.ask(method, concrete(path), headers={}).status_code != 401, path
        else:
            assert path.startswith("/api/") or path == "/metrics", f"{path} is neither below /api nor among the pages"
            if method not in ("HEAD", "OPTIONS"):
                assert guarded.ask(method, concrete(path), headers={}).status_code == 401, path


def test_every_route_of_the_api_is_documented() -> None:
    below = {(method, path) for method, path in mounted(list(APP.routes)) if path.startswith("/api")}
    assert below == set(OPERATIONS)


def test_a_wrong_token_is_refused_before_anything_else_is_looked_at(guarded: Bench) -> None:
    headers = {"Authorization": "Bearer wrong", "Content-Type": "application/json"}
    for path, body in (("", b"{"), ("/check", b"{"), ("/nope/reports", b'{"events": 3}')):
        assert guarded.ask("POST", f"/api/studies{path}", headers=headers, content=body).status_code == 401
    assert guarded.ask("GET", "/api/studies", headers=headers, params={"limit": "x"}).status_code == 401


@pytest.mark.parametrize("given", [b"Bearer g\xe9heim", "Bearer géheim".encode(), b"Bearer \xff", b"\xe9"])
def test_a_wrong_token_with_an_accent_is_refused_like_any_other(guarded: Bench, given: bytes) -> None:
    assert guarded.ask("GET", "/api/catalog", headers={b"Authorization": given}).status_code == 401
    assert guarded.ask("GET", "/api/catalog", headers={b"Cookie": b"paretoscope_token=" + given}).status_code == 401


def test_a_token_with_an_accent_lets_in_who_has_it() -> None:
    with short_home() as home:
        bench = Bench(home, token="géheim")
        for given, status in (("géheim", 200), ("geheim", 401)):
            header = {b"Authorization": f"Bearer {given}".encode("latin-1")}  # as headers are read
            assert bench.ask("GET", "/api/studies", headers=header).status_code == status
        bench.close()


def test_the_header_counts_where_a_cookie_says_otherwise(guarded: Bench) -> None:
    """A page keeps the cookie of the token that was typed last."""
    for header, cookie, status in ((TOKEN, "wrong", 200), ("wrong", TOKEN, 401)):
        headers = {"Authorization": f"Bearer {header}", "Cookie": f"paretoscope_token={cookie}"}
        assert guarded.ask("GET", "/api/studies", headers=headers).status_code == status


def test_without_a_token_set_nobody_needs_one(bench: Bench) -> None:
    for headers in ({}, {"Authorization": "Bearer whatever"}):
        assert bench.ask("GET", "/api/studies", headers=headers).status_code == 200


def test_health_and_pages_are_open_as_designed(guarded: Bench) -> None:
    for path, status in (("/healthz", 200), ("/readyz", 200), ("/", 200), ("/new", 200), ("/compare", 200)):
        assert guarded.ask("GET", path, headers={}).status_code == status, path
    page = guarded.ask("GET", "/studies/nope", headers={})
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert TOKEN not in page.text


def test_ready_means_that_ray_answers(guarded: Bench) -> None:
    assert guarded.ask("GET", "/readyz").json() == {"status": "ready", "instance": guarded.parts.instance}
    guarded.cluster.answers = False
    try:
        answer = guarded.ask("GET", "/readyz")
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == "unavailable"
        assert "http://ray:8265" in answer.json()["error"]["message"]
        assert guarded.ask("GET", "/healthz").json() == {"status": "ok"}
    finally:
        guarded.cluster.answers = True
