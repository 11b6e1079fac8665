"""The OpenAPI schema, held to its word: whatever is sent to any route, the answer is one that is documented."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from service.contract.study.expansion import expand
from service.contract.study.parsing import check_study
from service.contract.wire.cohort_state import key_of
from service.store.artifacts import CHECKPOINT, LATENT_MAP
from service.store.database import Database
from service.store.tokens import DRIVES, Tokens
from tests.golden.logs import play_all
from tests.processes import Running, service_alone, short_home
from tests.service.elsewhere import far_study
from tests.service.figures.test_latent_figure import MAP
from tests.service.own_code import PROBLEM, SCRIPT, study_of
from tests.service.routes.test_artifacts import put
from tests.service.routes.test_cohorts import content as saved_state
from tests.service.routes.test_http import submit
from tests.service.web.test_openapi import OPERATIONS

SPEC: dict[str, Any] = {"name": "small", "seeds": [0], "arms": [{"name": "a", "weighting": {"name": "mib"}}]}
PYTHON = "text/x-python"
KINDS: dict[type, str] = {dict: "application/json", bytes: "application/octet-stream", str: "application/octet-stream"}
MEMBERS: dict[str, Any] = {trial.id: {} for trial in expand(check_study(SPEC))}
KEY = key_of(MEMBERS)
CLAIMED = "POST /api/studies/{study_id}/token"  # the one operation that its owner may not do
CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]


class Live(NamedTuple):
    """A service that asks for its token, as its owner sees it: with studies that have ended, so that their streams end
    too, and one with files."""

    service: Running
    operations: dict[str, Any]
    studies: list[str]
    trials: dict[str, str]  # one of each study
    with_files: str
    with_state: str
    with_code: str
    code: str
    far: str  # a study whose trials are trained elsewhere
    figures: list[str]

    def call(self, label: str, case: schemathesis.Case[Any], token: str | None = None) -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else self.service.headers
        return case.call_and_validate(base_url=self.service.url, checks=checks(label), headers=headers, timeout=60)


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """Without Ray: nothing that is submitted ever runs."""
    with short_home() as home, service_alone(home, PARETOSCOPE_TOKEN="owner-of-the-service") as alone:
        service = alone._replace(token="owner-of-the-service")
        studies = list(play_all(service).values())
        with_files = submit(service, SPEC)["id"]
        trials = {
            study: str(service.get(f"/api/studies/{study}/trials", limit=1).json()["trials"][0]["id"])
            for study in [*studies, with_files]
        }
        for name, content in ((CHECKPOINT, b"weights"), (LATENT_MAP, json.dumps(MAP).encode())):
            assert put(service, with_files, trials[with_files], content, name).status_code == 204
        service.post(f"/api/studies/{with_files}/cancel").raise_for_status()
        with_state = submit(service, SPEC)["id"]
        place = f"{service.url}/api/studies/{with_state}/cohorts/{KEY}/state"
        httpx.put(place, content=saved_state(MEMBERS), headers=service.headers, trust_env=False).raise_for_status()
        code = sent_code(service, b"# mine")
        service.post(f"/api/code/{code}/description", json={"problems": [PROBLEM, SCRIPT]}).raise_for_status()
        with_code = submit(service, {**study_of(), "code": code})["id"]
        far = submit(service, {**far_study(), "code": code})["id"]
        schema = schemathesis.openapi.from_url(f"{service.url}/openapi.json", headers=service.headers)
        parsed = [each.ok() for each in schema.get_all_operations() if isinstance(each, Ok)]
        operations = {operation.label: operation for operation in parsed}
        figures = [figure["name"] for figure in service.get("/api/figures").json()["figures"]]
        yield Live(service, operations, studies, trials, with_files, with_state, with_code, code, far, figures)
        log = service.log()
        assert "Traceback" not in log and "Warning" not in log


def sent_code(service: Running, content: bytes) -> str:
    return str(service.post("/api/code", content=content, headers={"Content-Type": PYTHON}).json()["hash"])


def checks(label: str) -> list[Any]:
    """All of them; a server error is one unless it is documented, as that of a service without Ray is."""
    documented = "503" in OPERATIONS[label]["responses"]
    return CHECKS if documented else [*CHECKS, not_a_server_error]


def addresses(live: Live, label: str) -> list[dict[str, str]]:
    """What stands in the places of the address, for something that exists: GET answers 200 to each."""
    if "{study_id}" not in label:
        return [{"code_hash": live.code} if "{code_hash}" in label else {}]
    if not label.startswith("GET"):  # for what changes a study, a new one
        study = submit(live.service, SPEC)["id"]
        trial = live.service.get(f"/api/studies/{study}/trials", limit=1).json()["trials"][0]["id"]
        return [{"study_id": study, "trial_id": trial, "name": CHECKPOINT, "key": KEY}]
    if "/figures/" in label:
        return [{"study_id": study, "name": name} for study in live.studies for name in live.figures]
    if "/artifacts/" in label or "/checkpoint" in label:
        files = {"study_id": live.with_files, "trial_id": live.trials[live.with_files]}
        return [{**files, "name": name} for name in (CHECKPOINT, LATENT_MAP)]
    if "{key}" in label or label.endswith("/code"):
        return [{"study_id": live.with_state, "key": KEY} if "{key}" in label else {"study_id": live.with_code}]
    return [{"study_id": study, "trial_id": live.trials[study]} for study in live.studies]


def named(label: str, known: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in known.items() if f"{{{name}}}" in label}


@pytest.mark.parametrize("label", OPERATIONS)
def test_whatever_is_sent_the_answer_is_a_documented_one(live: Live, label: str) -> None:
    """schemathesis' own pytest plugin does not work with this pytest."""
    operation = live.operations[label]
    known = addresses(live, label)

    @given(case=operation.as_strategy(), address=st.none() | st.sampled_from(known))
    @settings(
        max_examples=25,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def fuzz(case: schemathesis.Case[Any], address: dict[str, str] | None) -> None:
        if address:
            case.path_parameters = named(label, address)
        live.call(label, case)

    fuzz()


QUERIES: dict[str, list[dict[str, Any]]] = {
    "/export": [
        {"format": kind, "table": table}
        for kind in ("csv", "json", "parquet", "latex")
        for table in ("trials", "points", "reports")
    ],
    "/trials": [{"limit": 2, "sort": "-seed"}, {"front": True, "where": "seed >= 0"}],
    "/front": [{"x": "seconds", "y": "accuracy"}],
}


@pytest.mark.parametrize("label", [label for label in OPERATIONS if label.startswith("GET")])
def test_every_get_answers_as_documented_about_what_exists(live: Live, label: str) -> None:
    operation, studies = live.operations[label], ",".join(live.studies)
    overlay = (
        [{"studies": studies}] if "studies" in {p["name"] for p in OPERATIONS[label].get("parameters", [])} else []
    )
    queries = next((asked for end, asked in QUERIES.items() if label.endswith(end)), [])
    existing = addresses(live, label)
    assert existing
    for address in existing:
        for query in [{}, *queries, *overlay]:
            case = operation.Case(path_parameters=named(label, address), query=query)
            answer = live.call(label, case)
            assert answer.status_code == (503 if label == "GET /readyz" else 200), answer.text  # there is no Ray
            assert answer.content


def test_every_operation_that_changes_something_answers_as_documented_when_it_is_done(live: Live) -> None:
    study, trial = (addresses(live, "POST /{study_id}")[0][name] for name in ("study_id", "trial_id"))
    report = {"uid": "a", "kind": "report", "trial": trial, "metrics": {"epoch": 1, "accuracy": None}}
    failed = {"uid": "f", "kind": "trial_failed", "trial": trial, "reason": "no"}
    token = live.service.post("/api/tokens", json={"name": "lab", "scopes": ["read"]}).json()["id"]
    place = {"study_id": study, "trial_id": trial, "name": CHECKPOINT, "key": KEY, "code_hash": live.code}
    place |= {"token_id": token}
    far, unused = {"study_id": live.far}, {"code_hash": sent_code(live.service, b"# of nobody")}
    asked: list[tuple[str, Any, int] | tuple[str, Any, int, dict[str, str]]] = [
        ("POST /api/studies", SPEC, 201),
        ("POST /api/studies/check", SPEC, 200),
        ("POST /api/studies/check", {**SPEC, "seeds": []}, 200),
        ("POST /api/session", None, 204),
        ("POST /api/tokens", {"name": "lab", "scopes": ["read"], "days": 1}, 201),
        ("DELETE /api/tokens/{token_id}", None, 204),
        ("DELETE /api/tokens/{token_id}", None, 404),
        ("POST /api/studies/{study_id}/token", None, 403),
        ("POST /api/studies/{study_id}/reports", {"events": [{"uid": "s", "kind": "study_started"}, report]}, 200),
        ("POST /api/studies/{study_id}/ask", {}, 422),
        ("POST /api/studies/{study_id}/reports", {"events": [{"uid": "s", "kind": "study_started"}]}, 200, far),
        ("POST /api/studies/{study_id}/ask", {"lease_seconds": 60}, 200, far),
        ("POST /api/code", "# of your own", 201),
        ("POST /api/code/{code_hash}/description", {"refusal": {"message": "no"}}, 204),
        ("DELETE /api/code/{code_hash}", None, 409),
        ("DELETE /api/code/{code_hash}", None, 204, unused),
        ("PUT /api/studies/{study_id}/trials/{trial_id}/artifacts/{name}", b"weights", 204),
        ("PUT /api/studies/{study_id}/cohorts/{key}/state", b"no state", 422),
        ("PUT /api/studies/{study_id}/cohorts/{key}/state", saved_state(MEMBERS), 204),
        ("POST /api/studies/{study_id}/pause", None, 200),
        ("POST /api/studies/{study_id}/extend", {"seeds": [9]}, 200),
        ("PATCH /api/studies/{study_id}", {"notes": "seen", "tags": ["a"]}, 200),
        ("PATCH /api/studies/{study_id}/trials/{trial_id}", {"notes": "seen"}, 200),
        ("POST /api/studies/{study_id}/retry", None, 409),
        ("POST /api/studies/{study_id}/pause", None, 200),
        ("POST /api/studies/{study_id}/resume", None, 200),
        ("POST /api/studies/{study_id}/reports", {"events": [failed, {"uid": "e", "kind": "study_finished"}]}, 200),
        ("POST /api/studies/{study_id}/retry", None, 200),
        ("POST /api/studies/{study_id}/cancel", None, 200),
        ("POST /api/studies/{study_id}/cancel", None, 409),
        ("POST /api/studies/{study_id}/reports", {"events": [report, {**report, "uid": "b"}]}, 409),
        ("DELETE /api/studies/{study_id}", None, 204),
        ("DELETE /api/studies/{study_id}", None, 404),
    ]
    changing = {label for label in OPERATIONS if not label.startswith("GET")}
    assert {label for label, _, status, *_ in asked if status < 300} == changing - {CLAIMED}
    for label, body, status, *elsewhere in asked:
        given_body = {} if body is None else {"body": body, "media_type": KINDS[type(body)]}
        address = named(label, {**place, **(elsewhere[0] if elsewhere else {})})
        answer = live.call(label, live.operations[label].Case(path_parameters=address, **given_body))
        assert answer.status_code == status, (label, answer.text)


def test_a_drivers_code_is_exchanged_once_as_documented(live: Live) -> None:
    """The code of a driver on another machine, which the launcher makes, and nobody over HTTP."""
    study = submit(live.service, SPEC)["id"]
    with closing(Database(live.service.home)) as database:
        code = Tokens(database).code_for(study, DRIVES)
    case = live.operations[CLAIMED].Case(path_parameters={"study_id": study})
    first = live.call(CLAIMED, case, code)
    assert first.status_code == 200 and live.call(CLAIMED, case, code).status_code == 401
