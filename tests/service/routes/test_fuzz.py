"""The OpenAPI schema, held to its word: whatever is sent to any route, the answer is one that is documented."""

from __future__ import annotations

import json
from collections.abc import Iterator
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
from tests.golden.logs import play_all
from tests.processes import Running, service_alone, short_home
from tests.service.figures.test_latent_figure import MAP
from tests.service.own_code import PROBLEM, study_of
from tests.service.routes.test_artifacts import put
from tests.service.routes.test_cohorts import content as saved_state
from tests.service.routes.test_http import submit
from tests.service.web.test_openapi import OPERATIONS

SPEC: dict[str, Any] = {"name": "small", "seeds": [0], "arms": [{"name": "a", "weighting": {"name": "mib"}}]}
PYTHON = "text/x-python"
KINDS: dict[type, str] = {dict: "application/json", bytes: "application/octet-stream", str: "application/octet-stream"}
MEMBERS: dict[str, Any] = {trial.id: {} for trial in expand(check_study(SPEC))}
KEY = key_of(MEMBERS)
CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]


class Live(NamedTuple):
    """A service with studies that have ended, so that their streams end too, and one with files."""

    service: Running
    operations: dict[str, Any]
    studies: list[str]
    trials: dict[str, str]  # one of each study
    with_files: str
    with_state: str
    with_code: str
    code: str
    figures: list[str]


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """Without Ray: nothing that is submitted ever runs."""
    with short_home() as home, service_alone(home, PARETOSCOPE_ALLOW_CODE="true") as service:
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
        httpx.put(place, content=saved_state(MEMBERS), trust_env=False).raise_for_status()
        code = str(service.post("/api/code", content=b"# mine", headers={"Content-Type": PYTHON}).json()["hash"])
        service.post(f"/api/code/{code}/description", json={"problems": [PROBLEM]}).raise_for_status()
        with_code = submit(service, {**study_of(), "code": code})["id"]
        schema = schemathesis.openapi.from_url(f"{service.url}/openapi.json")
        parsed = [each.ok() for each in schema.get_all_operations() if isinstance(each, Ok)]
        operations = {operation.label: operation for operation in parsed}
        figures = [figure["name"] for figure in service.get("/api/figures").json()["figures"]]
        yield Live(service, operations, studies, trials, with_files, with_state, with_code, code, figures)
        log = service.log()
        assert "Traceback" not in log and "Warning" not in log


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
        case.call_and_validate(base_url=live.service.url, checks=checks(label), timeout=20)

    fuzz()


# What hands out, takes or needs tokens, of which this service has none: tests of their own.
WITH_TOKENS = {
    "POST /api/session",
    "POST /api/tokens",
    "DELETE /api/tokens/{token_id}",
    "POST /api/studies/{study_id}/token",
}
QUERIES: dict[str, list[dict[str, Any]]] = {
    "/export": [
        {"format": kind, "table": table}
        for kind in ("csv", "json", "parquet")
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
    for address in addresses(live, label):
        for query in [{}, *queries, *overlay]:
            case = operation.Case(path_parameters=named(label, address), query=query)
            answer = case.call_and_validate(base_url=live.service.url, checks=checks(label), timeout=60)
            other = {"GET /readyz": 503, "GET /api/tokens": 403}  # there is no Ray, and nobody here is an administrator
            assert answer.status_code == other.get(label, 200), answer.text
            assert answer.content


def test_every_post_and_put_answers_as_documented_when_it_is_done(live: Live) -> None:
    study, trial = (addresses(live, "POST /{study_id}")[0][name] for name in ("study_id", "trial_id"))
    report = {"uid": "a", "kind": "report", "trial": trial, "metrics": {"epoch": 1, "accuracy": None}}
    place = {"study_id": study, "trial_id": trial, "name": CHECKPOINT, "key": KEY, "code_hash": live.code}
    asked: list[tuple[str, Any, int]] = [
        ("POST /api/studies", SPEC, 201),
        ("POST /api/studies/check", SPEC, 200),
        ("POST /api/studies/check", {**SPEC, "seeds": []}, 200),
        ("POST /api/studies/{study_id}/reports", {"events": [{"uid": "s", "kind": "study_started"}, report]}, 200),
        ("POST /api/studies/{study_id}/ask", {}, 422),
        ("POST /api/code", "# of one's own", 201),
        ("POST /api/code/{code_hash}/description", {"refusal": {"message": "no"}}, 204),
        ("DELETE /api/code/{code_hash}", None, 409),
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
        ("POST /api/studies/{study_id}/cancel", None, 200),
        ("POST /api/studies/{study_id}/cancel", None, 409),
        ("POST /api/studies/{study_id}/reports", {"events": [report, {**report, "uid": "b"}]}, 409),
        ("DELETE /api/studies/{study_id}", None, 204),
        ("DELETE /api/studies/{study_id}", None, 404),
    ]
    changing = {label for label in OPERATIONS if not label.startswith("GET")}
    assert {label for label, _, _ in asked} == changing - WITH_TOKENS
    for label, body, status in asked:
        given_body = {} if body is None else {"body": body, "media_type": KINDS[type(body)]}
        case = live.operations[label].Case(path_parameters=named(label, place), **given_body)
        answer = case.call_and_validate(base_url=live.service.url, checks=checks(label), timeout=20)
        assert answer.status_code == status, (label, answer.text)
