"""Who may do what: every operation with no token, a wrong one, and one of each scope; and the table in docs/api.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.app import create_app
from service.contract.wire.tokens import SCOPES, NewToken
from service.settings import Settings
from service.store.schema import tokens as rows
from service.web.scopes import DRIVER, KEY, OPEN
from tests.processes import short_home
from tests.service.bench import Bench
from tests.service.web.test_authorization import VERBS, concrete

API = (Path(__file__).parents[3] / "docs" / "api.md").read_text()
PATHS: dict[str, Any] = create_app(Settings()).openapi()["paths"]
OPERATIONS = {
    (verb.upper(), path): str(verbs[verb][KEY]) for path, verbs in PATHS.items() for verb in VERBS if verb in verbs
}
REFUSED = (401, 403)


class Doors:
    """A service, a study, and a token of each scope, of a driver, of an admin who has expired, and a wrong one."""

    def __init__(self, home: Path) -> None:
        self.bench = Bench(home, token="the owner's", wrong_tokens_per_minute=100_000)
        self.study = self.bench.submit()
        tokens = self.bench.parts.tokens
        self.secrets: dict[str, str | None] = {
            scope: tokens.create(NewToken(name=scope, scopes=[scope]))[1] for scope in SCOPES
        }
        self.secrets |= {
            "owner": "the owner's",
            "driver": tokens.for_driver(self.study),
            "driver of another": tokens.for_driver(self.bench.submit()),
            "expired": self._expired(NewToken(name="expired", scopes=["admin"], days=1)),
            "wrong": "ps_wrong",
            "nobody": None,
        }

    def _expired(self, asked: NewToken) -> str:
        """Made, and then as if its days had passed."""
        row, secret = self.bench.parts.tokens.create(asked)
        assert self.bench.parts.tokens.find(secret) == row
        with self.bench.parts.tokens._database.transaction() as connection:
            past = rows.update().where(rows.c.id == row.id).values(expires_at="2020-01-01T00:00:00.000Z")
            assert connection.execute(past).rowcount == 1
        return secret

    def ask(self, who: str, method: str, path: str) -> int:
        secret = self.secrets[who]
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        address = concrete(path.replace("{study_id}", self.study))
        # A stream of a study that has not ended would not end; and the study is to stay.
        if path.endswith("/events") or OPERATIONS[method, path] == "write":
            address = concrete(path)
        return self.bench.ask(method, address, headers=headers, raise_errors=False).status_code


@pytest.fixture(scope="module")
def doors() -> Iterator[Doors]:
    with short_home() as home:
        doors = Doors(home)
        yield doors
        doors.bench.close()


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_an_operation_is_done_by_its_scope_and_by_no_other(doors: Doors, method: str, path: str) -> None:
    scope = OPERATIONS[method, path]
    allowed = {who for who in doors.secrets if doors.ask(who, method, path) not in REFUSED}
    if scope == OPEN:
        assert allowed == set(doors.secrets)
        return
    wanted = {scope, "owner"} - {DRIVER} if scope in (*SCOPES, DRIVER) else set()
    of_a_study = "{study_id}" in path and scope in ("read", "ingest", DRIVER) and not path.endswith("/events")
    assert allowed == wanted | ({"driver"} if of_a_study else set())
    assert [doors.ask(who, method, path) for who in ("nobody", "wrong", "expired")] == [401, 401, 401]


def test_a_driver_follows_its_own_study_and_no_other(doors: Doors) -> None:
    bench, secret = doors.bench, doors.secrets["driver"]
    headers = {"Authorization": f"Bearer {secret}"}
    other = bench.submit()
    for path in (f"/api/studies/{other}", f"/api/studies/{other}/events", "/api/studies", "/api/catalog", "/metrics"):
        assert bench.ask("GET", path, headers=headers).status_code == 403, path
    overlaid = f"/api/studies/{doors.study}/comparison?studies={other}"
    assert bench.ask("GET", overlaid, headers=headers).status_code == 403
    assert bench.ask("GET", f"/api/studies/{doors.study}", headers=headers).status_code == 200
    reports = bench.ask("POST", f"/api/studies/{other}/reports", json={"events": []}, headers=headers)
    assert reports.status_code == 403


def test_the_documented_table_is_the_one_that_holds() -> None:
    table = re.findall(r"^\| `(\w+)` \| (.*) \|$", API.partition("### Scopes")[2].partition("\n### ")[0], re.MULTILINE)
    documented = {
        (method, re.sub(r"{[^}]*}", "{}", path)): scope
        for scope, calls in table
        for method, path in re.findall(r"`([A-Z]+) (/[^` ]*)`", calls)
    }
    assert documented == {
        (method, re.sub(r"{[^}]*}", "{}", path)): scope for (method, path), scope in OPERATIONS.items()
    }


def test_without_a_token_nobody_runs_code_or_makes_tokens(bench: Bench) -> None:
    for (method, path), scope in OPERATIONS.items():
        if scope in ("code", "admin", "claim"):
            assert bench.ask(method, concrete(path)).status_code == 403, path
