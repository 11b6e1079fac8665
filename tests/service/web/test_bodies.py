"""What may be sent: how much of it to which route, as what, and what is refused before it is read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.web import lingering
from tests.processes import short_home
from tests.service.bench import SPEC, Bench
from tests.service.figures.test_latent_figure import MAP
from tests.service.web.test_openapi import OPERATIONS

# Each of its own size, so that a route that takes another's is seen.
LIMITS = {"max_study_bytes": 2000, "max_report_bytes": 3000, "max_artifact_bytes": 4000, "max_code_bytes": 5000}
STUDY, TRIAL = "/api/studies/{study_id}", "/api/studies/{study_id}/trials/{trial_id}"
# Which of them each operation that takes a body has; a new one belongs here.
LIMIT_OF = {
    "POST /api/studies": LIMITS["max_study_bytes"],
    "POST /api/studies/check": LIMITS["max_study_bytes"],
    f"POST {STUDY}/extend": LIMITS["max_study_bytes"],
    f"POST {STUDY}/ask": LIMITS["max_study_bytes"],
    f"PATCH {STUDY}": LIMITS["max_study_bytes"],
    f"PATCH {TRIAL}": LIMITS["max_study_bytes"],
    f"POST {STUDY}/reports": LIMITS["max_report_bytes"],
    f"PUT {STUDY}/cohorts/{{key}}/state": LIMITS["max_artifact_bytes"],
    f"PUT {TRIAL}/artifacts/{{name}}": LIMITS["max_artifact_bytes"],
    "POST /api/code": LIMITS["max_code_bytes"],
    "POST /api/code/{code_hash}/description": LIMITS["max_study_bytes"],
    "POST /api/tokens": 10_000,
}


@pytest.fixture(scope="module")
def limited() -> Iterator[Bench]:
    with short_home() as home:
        bench = Bench(home, None, token="secret", keep_free_bytes=0, **LIMITS)
        yield bench
        bench.close()


@pytest.fixture(scope="module")
def trial(limited: Bench) -> str:
    """The address of a trial."""
    study = limited.submit()
    return f"/api/studies/{study}/trials/{limited.trials(study)[0]}"


def padded(body: Any, size: int) -> bytes:
    """JSON may end in spaces, as many as it likes."""
    return json.dumps(body).encode().ljust(size)


def routes(trial: str) -> list[tuple[str, str, Any, int, int]]:
    """Method, address, a body that is taken, the limit, and the status when it is taken."""
    study = trial.partition("/trials/")[0]
    return [
        ("POST", "/api/studies", SPEC, LIMITS["max_study_bytes"], 201),
        ("POST", "/api/studies/check", SPEC, LIMITS["max_study_bytes"], 200),
        ("POST", f"{study}/reports", {"events": []}, LIMITS["max_report_bytes"], 200),
        ("PUT", f"{trial}/artifacts/latent-map.json", MAP, LIMITS["max_report_bytes"], 204),
        ("PUT", f"{trial}/artifacts/checkpoint.safetensors", {}, LIMITS["max_artifact_bytes"], 204),
    ]


def send(bench: Bench, method: str, path: str, content: Any, **headers: str) -> httpx.Response:
    given = {"Authorization": "Bearer secret", "Content-Type": "application/json", **headers}
    return bench.ask(method, path, content=content, headers=given)


@pytest.fixture
def thrown_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing, where else the rest of a refused body would be: to see what the route itself reads."""
    monkeypatch.setattr(lingering, "MOST_BYTES", 0)


class Source:
    """A body that does not say how long it is, and counts what is taken of it."""

    def __init__(self, content: bytes, step: int = 500, wait: float = 0.0) -> None:
        self.content, self.step, self.taken, self.wait = content, step, 0, wait

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self.content), self.step):
            self.taken += 1
            await asyncio.sleep(self.wait)
            yield self.content[start : start + self.step]


@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("announced", [True, False])
def test_a_route_takes_a_body_up_to_its_own_limit(limited: Bench, trial: str, place: int, announced: bool) -> None:
    method, path, body, limit, status = routes(trial)[place]
    for size, wanted in ((limit, status), (limit + 1, 413)):
        content = padded(body, size)
        answer = send(limited, method, path, content if announced else Source(content))
        assert answer.status_code == wanted, (path, size, answer.text)
    error = answer.json()["error"]
    assert (error["code"], error["details"]) == ("too_large", [])
    assert error["message"] == f"the body is over the limit of {limit:,} bytes"


@pytest.mark.parametrize("place", range(5))
@pytest.mark.usefixtures("thrown_away")
def test_what_announces_too_much_is_refused_unread(limited: Bench, trial: str, place: int) -> None:
    method, path, body, limit, _ = routes(trial)[place]
    source = Source(padded(body, 100))
    answer = send(limited, method, path, source, **{"Content-Length": str(limit + 1)})
    assert (answer.status_code, source.taken) == (413, 0)
    assert answer.json()["error"]["code"] == "too_large"


@pytest.mark.parametrize("place", range(5))
@pytest.mark.usefixtures("thrown_away")
def test_a_stranger_is_refused_before_the_body_is_looked_at(limited: Bench, trial: str, place: int) -> None:
    method, path, _, limit, _ = routes(trial)[place]
    assert send(limited, method, path, b"x" * (limit + 1), Authorization="Bearer wrong").status_code == 401
    source = Source(b"{")
    answer = send(limited, method, path, source, Authorization="Bearer wrong")
    assert (answer.status_code, source.taken) == (401, 0)


@pytest.mark.parametrize(
    ("token", "seconds", "rate", "status", "is_heard_out"),
    [("secret", 10.0, 1000, 413, True), ("secret", 0.2, 100_000, 413, False), ("wrong", 10.0, 1000, 401, False)],
)
def test_the_rest_of_a_refused_body_may_be_as_slow_as_any_body_of_somebody_known(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    token: str,
    seconds: float,
    rate: int,
    status: int,
    is_heard_out: bool,
) -> None:
    """A connection that is closed while one still sends is reset, and the refusal is lost."""
    monkeypatch.setattr(lingering, "LONGEST_SECONDS", 0.2)
    limits: dict[str, Any] = {"body_seconds": seconds, "body_bytes_per_second": rate, "max_study_bytes": 1000}
    bench = Bench(tmp_path, token="secret", **limits)
    source = Source(b"x" * 10_000, wait=0.05)  # 10 kB a second
    headers = {"Authorization": f"Bearer {token}", "Content-Length": "10000"}
    assert send(bench, "POST", "/api/studies", source, **headers).status_code == status
    bench.close()
    assert (source.taken == 20) == is_heard_out, source.taken


def test_every_operation_that_takes_a_body_has_a_limit() -> None:
    assert {label for label, operation in OPERATIONS.items() if "requestBody" in operation} == set(LIMIT_OF)


@pytest.mark.parametrize("label", LIMIT_OF)
@pytest.mark.usefixtures("thrown_away")
def test_an_operation_refuses_what_announces_too_much_and_strangers_unread(
    limited: Bench, trial: str, label: str
) -> None:
    method, path = label.split()
    study = trial.split("/")[3]
    names = {"study_id": study, "trial_id": trial.rpartition("/")[2], "name": "checkpoint.safetensors"}
    address = path.format(**names, key="c" + "0" * 16, code_hash="0" * 64)
    source = Source(b"{}")
    answer = send(limited, method, address, source, **{"Content-Length": str(LIMIT_OF[label] + 1)})
    assert (answer.status_code, source.taken) == (413, 0), answer.text
    assert answer.json()["error"]["message"] == f"the body is over the limit of {LIMIT_OF[label]:,} bytes"
    answer = send(limited, method, address, source, Authorization="Bearer wrong")
    assert (answer.status_code, source.taken) == (401, 0)


def test_what_takes_no_body_reads_none(limited: Bench, trial: str) -> None:
    big = b"x" * (LIMITS["max_artifact_bytes"] + 1)
    assert send(limited, "GET", "/api/studies", big).status_code == 200
    assert send(limited, "GET", trial, big).status_code == 200


SENT_WITHOUT_ASKING = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data")


@pytest.mark.parametrize(
    "kind",
    [
        *SENT_WITHOUT_ASKING,
        *(f"{kind}; charset=json" for kind in SENT_WITHOUT_ASKING),
        *(f"{kind};application/json" for kind in SENT_WITHOUT_ASKING),
        *("", "application/yaml", "application/json-lines"),
    ],
)
def test_reports_are_taken_as_json_only(limited: Bench, trial: str, kind: str) -> None:
    """A page of another site can send these types without asking first."""
    path = f"{trial.partition('/trials/')[0]}/reports"
    answer = send(limited, "POST", path, b'{"events": []}', **{"Content-Type": kind})
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "unsupported_type")
    assert "application/json" in answer.json()["error"]["message"]
    for taken in ("application/json; charset=utf-8", "Application/JSON", "application/json ;charset=utf-8"):
        assert send(limited, "POST", path, b'{"events": []}', **{"Content-Type": taken}).status_code == 200


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b"[]", b'{"events": 3}', b'{"events": [], "more": 1}', b"[" * 2500]
)
def test_a_bad_batch_is_refused_with_its_place(limited: Bench, trial: str, body: bytes) -> None:
    answer = send(limited, "POST", f"{trial.partition('/trials/')[0]}/reports", body)
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["code"] == "invalid_input" and error["details"][0]["message"] and len(error["message"]) < 400


def test_a_broken_event_is_named_by_its_place(limited: Bench, trial: str) -> None:
    path, name = f"{trial.partition('/trials/')[0]}/reports", trial.rpartition("/")[2]
    good = {"uid": "a", "kind": "trial_started", "trial": name}
    unknown = {**good, "uid": "b", "trial": "nope"}
    answer = send(limited, "POST", path, json.dumps({"events": [unknown]}).encode())
    assert [detail["path"] for detail in answer.json()["error"]["details"]] == ["events[0].trial"]
    bad = {**good, "uid": ""}
    answer = send(limited, "POST", path, json.dumps({"events": [good, bad]}).encode())
    assert answer.json()["error"]["details"][0]["path"] == "events[1].trial_started.uid"
    assert limited.read(path.split("/")[3])["counts"]["running"] == 0, "nothing of such a batch is kept"


def test_numbers_larger_than_the_log_can_keep_are_kept_as_they_can_be(limited: Bench) -> None:
    study = limited.submit()
    trial = limited.trials(study)[0]
    huge = {"epoch": 1, "robust_images": 1e300, "seconds": 10**30, "accuracy": 0.5}
    report = {"uid": "r", "kind": "report", "trial": trial, "metrics": huge}
    started = {"uid": "t", "kind": "trial_started", "trial": trial, "config": {"weighting.beta": 10**30}}
    limited.report(study, {"uid": "s", "kind": "study_started", "attempt": 2}, started, report)
    assert limited.get(f"/api/studies/{study}/trials/{trial}")["metrics"] == {**huge, "seconds": 1e30}
    again = limited.send(study, {"uid": "s2", "kind": "study_started", "attempt": 10**30})
    assert again.status_code == 422
    half = json.dumps({**SPEC, "name": "\ud800"}).encode()
    for path, status in (("", 422), ("/check", 200)):
        answer = send(limited, "POST", f"/api/studies{path}", half)
        assert answer.status_code == status and "half of a character" in answer.json()["error"]["message"]


def test_a_study_is_what_its_type_says_and_no_other_type_is_taken(limited: Bench) -> None:
    yaml = b"name: s\nseeds: [0]\narms:\n  - name: a\n    weighting: {name: mib}\n"
    for kind in ("application/yaml", "text/yaml; charset=utf-8", "application/x-yaml"):
        assert send(limited, "POST", "/api/studies", yaml, **{"Content-Type": kind}).status_code == 201
    refused = send(limited, "POST", "/api/studies", yaml, **{"Content-Type": "application/json"})
    assert refused.status_code == 422 and "is not JSON" in refused.json()["error"]["message"]
    assert "line" in refused.json()["error"]["details"][0]
    before = len(limited.get("/api/studies")["studies"])
    for path in ("/api/studies", "/api/studies/check"):
        for kind in (
            *SENT_WITHOUT_ASKING,
            *(f"{kind}; yaml" for kind in SENT_WITHOUT_ASKING),
            "",
            "yaml",
            "image/json",
        ):
            refused = send(limited, "POST", path, json.dumps(SPEC).encode(), **{"Content-Type": kind})
            assert refused.status_code == 415 and "application/yaml" in refused.json()["error"]["message"], kind
    assert len(limited.get("/api/studies")["studies"]) == before


def test_only_yaml_has_lines(limited: Bench) -> None:
    broken = {**SPEC, "seeds": []}
    as_json = send(limited, "POST", "/api/studies", json.dumps(broken).encode()).json()["error"]["details"]
    assert [sorted(detail) for detail in as_json] == [["message", "path"]]
    as_yaml = send(
        limited, "POST", "/api/studies", json.dumps(broken, indent=1).encode(), **{"Content-Type": "text/yaml"}
    ).json()["error"]["details"]
    assert [(detail["path"], detail["line"]) for detail in as_yaml] == [("seeds", 3)]
    checked = send(limited, "POST", "/api/studies/check", json.dumps(broken).encode()).json()
    assert checked["error"]["details"] == as_json


def test_a_check_of_what_is_no_text_says_so(limited: Bench) -> None:
    answer = send(limited, "POST", "/api/studies/check", b"\xff\xfe")
    assert answer.status_code == 200
    assert answer.json()["valid"] is False and answer.json()["spec"] is None
    assert "UTF-8" in answer.json()["error"]["message"]
