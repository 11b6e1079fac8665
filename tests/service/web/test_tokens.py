"""Tokens: shown once, kept as a hash, good for a time, with limits; what they did is written down."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.contract.wire.errors import NotFound
from service.contract.wire.events import StudyPaused, StudyStarted
from service.web import audit
from service.web.audit import Audit
from service.web.rates import Rate
from tests.processes import short_home
from tests.service.bench import SPEC, Bench

OWNER = "the owner's"


@pytest.fixture
def guarded() -> Iterator[Bench]:
    with short_home() as home:
        bench = Bench(home, token=OWNER, wrong_tokens_per_minute=5, submissions_per_minute=6, keep_free_bytes=0)
        yield bench
        bench.close()


def create(bench: Bench, **asked: Any) -> dict[str, Any]:
    answer = bench.ask("POST", "/api/tokens", json={"name": "ada", "scopes": ["read"], **asked})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def ask(bench: Bench, token: str, method: str = "GET", path: str = "/api/studies", **more: Any) -> httpx.Response:
    return bench.ask(method, path, headers={"Authorization": f"Bearer {token}", **more.pop("headers", {})}, **more)


def test_a_token_is_shown_once_and_kept_as_a_hash(guarded: Bench) -> None:
    made = create(guarded, scopes=["write", "read"], days=2)
    secret = made.pop("token")
    assert len(secret) >= 40 and made["scopes"] == ["read", "write"] and made["expires_at"] > made["created_at"]
    assert guarded.get("/api/tokens") == {"tokens": [made]}
    files = [path for path in guarded.settings.home.rglob("*") if path.is_file()]
    assert any(path.suffix == ".db" for path in files)
    assert not [path for path in files if secret.encode() in path.read_bytes()]
    assert ask(guarded, secret).status_code == 200
    cookie = {"Cookie": f"paretoscope_token={secret}"}
    assert guarded.ask("GET", "/api/studies", headers=cookie).status_code == 200


def test_a_revoked_token_is_refused_from_then_on(guarded: Bench) -> None:
    made, other = create(guarded), create(guarded)
    assert ask(guarded, made["token"]).status_code == 200
    assert guarded.ask("DELETE", f"/api/tokens/{made['id']}").status_code == 204
    assert (ask(guarded, made["token"]).status_code, ask(guarded, other["token"]).status_code) == (401, 200)
    assert guarded.ask("DELETE", f"/api/tokens/{made['id']}").status_code == 404


def test_a_token_is_refused_when_its_time_is_over(guarded: Bench) -> None:
    made = create(guarded, days=1e-9)
    assert ask(guarded, made["token"]).status_code == 401 and guarded.get("/api/tokens") == {"tokens": []}


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\u001b[2Jb"}, "name"),
        ({"name": "x" * 81}, "name"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["root"]}, "scopes[0]"),
        ({"days": 0}, "days"),
        ({"days": 1e9}, "days"),
        ({"trials": -1}, "trials"),
        ({"bytes": "1"}, "bytes"),
        ({"more": 1}, "more"),
    ],
)
def test_what_breaks_a_rule_is_refused_with_its_place(guarded: Bench, asked: dict[str, Any], path: str) -> None:
    answer = guarded.ask("POST", "/api/tokens", json={"name": "ada", "scopes": ["read"], **asked})
    assert answer.status_code == 422 and path in [detail["path"] for detail in answer.json()["error"]["details"]]
    assert "\x1b" not in answer.text


def test_a_new_driver_ends_the_tokens_of_its_studys_earlier_ones_and_no_other(guarded: Bench) -> None:
    tokens = guarded.parts.tokens
    person, (study, other) = create(guarded), (guarded.submit() for _ in range(2))
    first, elsewhere = tokens.for_driver(study), tokens.for_driver(other)
    second = tokens.for_driver(study)
    ends = [row.expires_at for row in map(tokens.find, (first, elsewhere, second, person["token"])) if row]
    assert len(ends) == 4 and ends[0] is not None and ends[1:] == [None, None, None]


def test_a_code_is_exchanged_once_also_by_two_who_were_let_in_at_the_same_time(guarded: Bench) -> None:
    tokens = guarded.parts.tokens
    row = tokens.find(tokens.code_for(guarded.submit()))
    assert row is not None and tokens.find(tokens.claim(row)) is not None
    with pytest.raises(NotFound, match="this code was used before"):
        tokens.claim(row)


def test_the_limits_of_a_token_are_kept(guarded: Bench) -> None:
    study = {**SPEC, "seeds": [0]}  # two trials
    token = create(guarded, scopes=["read", "write"], studies_at_once=2, trials=4, bytes=10)["token"]
    one, two = (ask(guarded, token, "POST", json=study).json()["id"] for _ in range(2))
    refused = ask(guarded, token, "POST", json=study)
    assert refused.status_code == 403 and "2 studies at once" in refused.json()["error"]["message"]
    assert ask(guarded, token, "POST", f"/api/studies/{one}/cancel").status_code == 200
    refused = ask(guarded, token, "POST", json={**study, "seeds": [0, 1]})
    assert refused.status_code == 403 and "4 trials" in refused.json()["error"]["message"]
    assert ask(guarded, token, "POST", json=study).status_code == 201
    trial, driver = guarded.trials(two)[0], guarded.parts.tokens.for_driver(two)
    place = f"/api/studies/{two}/trials/{trial}/artifacts/checkpoint.safetensors"
    assert ask(guarded, driver, "PUT", place, content=b"x" * 11).status_code == 413
    assert ask(guarded, driver, "PUT", place, content=b"x" * 10).status_code == 204
    assert len(guarded.get("/api/studies")["studies"]) == 3


def ended(bench: Bench, token: str, study: dict[str, Any], state: str) -> str:
    """A study of this token that has run and is over."""
    own = str(ask(bench, token, "POST", json=study).json()["id"])
    reason = {"reason": "no disk"} if state == "failed" else {}
    trials = [
        {"uid": trial, "kind": "trial_failed", "trial": trial, "reason": "no memory"} for trial in bench.trials(own)
    ]
    bench.report(own, *trials, {"uid": "end", "kind": f"study_{state}", **reason})
    return own


def test_an_extension_meets_the_limits_of_the_token(guarded: Bench) -> None:
    study = {**SPEC, "seeds": [0]}  # two trials
    token = create(guarded, scopes=["read", "write"], trials=4)["token"]
    own = ended(guarded, token, study, "finished")
    refused = ask(guarded, token, "POST", f"/api/studies/{own}/extend", json={"seeds": [1, 2]})
    assert refused.status_code == 403 and "4 trials" in refused.json()["error"]["message"]
    assert guarded.state(own) == "finished" and guarded.read(own)["counts"]["planned"] == 2
    assert ask(guarded, token, "POST", f"/api/studies/{own}/extend", json={"seeds": [1]}).status_code == 200
    refused = ask(guarded, token, "POST", json=study)
    assert refused.status_code == 403 and "with 4 of its studies under way" in refused.json()["error"]["message"]


@pytest.mark.parametrize(("wish", "state"), [("resume", "failed"), ("retry", "finished"), ("extend", "finished")])
def test_a_study_that_goes_on_is_one_of_those_that_a_token_may_have_at_once(
    guarded: Bench, wish: str, state: str
) -> None:
    token = create(guarded, scopes=["read", "write"], studies_at_once=1)["token"]
    own = ended(guarded, token, SPEC, state)
    second = ask(guarded, token, "POST", json=SPEC).json()["id"]
    body = {"seeds": [7]} if wish == "extend" else None
    refused = ask(guarded, token, "POST", f"/api/studies/{own}/{wish}", json=body)
    assert refused.status_code == 403 and "1 studies at once" in refused.json()["error"]["message"]
    assert guarded.cancel(second).status_code == 200 and guarded.state(own) == state
    assert ask(guarded, token, "POST", f"/api/studies/{own}/{wish}", json=body).status_code == 200
    assert ask(guarded, token, "POST", json=SPEC).status_code == 403, "it counts again"


@pytest.mark.parametrize("wish", ["resume", "extend"])
def test_a_paused_study_that_goes_on_does_not_count_beside_itself(guarded: Bench, wish: str) -> None:
    """It is not over, so it is among the studies under way, and is counted anew."""
    token = create(guarded, scopes=["read", "write"], studies_at_once=1, trials=6)["token"]
    own = str(ask(guarded, token, "POST", json={**SPEC, "seeds": [0]}).json()["id"])
    guarded.parts.store.append(own, [StudyStarted(uid="start"), StudyPaused(uid="pause")])
    body = {"seeds": [1]} if wish == "extend" else None
    answer = ask(guarded, token, "POST", f"/api/studies/{own}/{wish}", json=body)
    assert answer.status_code == 200, answer.text


def test_a_study_of_somebody_else_counts_for_the_token_that_lets_it_go_on(guarded: Bench) -> None:
    others = guarded.submit()
    guarded.report(others, {"uid": "end", "kind": "study_failed", "reason": "no disk"})
    token = create(guarded, scopes=["read", "write"], trials=1)["token"]
    assert ask(guarded, token, "POST", f"/api/studies/{others}/resume").status_code == 403
    assert guarded.ask("POST", f"/api/studies/{others}/resume").status_code == 200, "the owner has no limits"


def test_a_retry_with_its_key_is_answered_as_the_first_time_though_the_limit_is_reached(guarded: Bench) -> None:
    token = create(guarded, scopes=["read", "write"], studies_at_once=1)["token"]
    key = {"Idempotency-Key": "once"}
    first, again = (ask(guarded, token, "POST", json=SPEC, headers=key) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201) and first.json()["id"] == again.json()["id"]
    assert ask(guarded, token, "POST", json={**SPEC, "name": "t"}, headers=key).status_code == 409
    assert ask(guarded, token, "POST", json=SPEC, headers={"Idempotency-Key": "twice"}).status_code == 403


def test_the_bytes_of_a_token_are_those_of_all_its_studies(guarded: Bench) -> None:
    token = create(guarded, scopes=["read", "write"], bytes=10)["token"]
    studies = [ask(guarded, token, "POST", json=SPEC).json()["id"] for _ in range(2)]

    def put(study: str, size: int) -> int:
        path = f"/api/studies/{study}/trials/{guarded.trials(study)[0]}/artifacts/checkpoint.safetensors"
        return guarded.ask("PUT", path, content=b"x" * size).status_code

    assert [put(studies[0], 6), put(studies[1], 5), put(studies[1], 4), put(guarded.submit(), 20)] == [
        204,
        413,
        204,
        204,
    ]


def test_an_address_with_many_wrong_tokens_waits_but_nobody_who_has_a_right_one(guarded: Bench) -> None:
    """All users of a machine have one address: what one of them tries must not keep drivers out."""
    study, made = guarded.submit(), create(guarded)["token"]
    drives = guarded.parts.tokens.for_driver(study)
    assert [ask(guarded, f"guess {i}").status_code for i in range(7)] == [401] * 5 + [429] * 2
    answer = ask(guarded, "guess")
    assert answer.json()["error"]["code"] == "too_many_requests" and 1 <= int(answer.headers["retry-after"]) <= 60
    assert ask(guarded, made).status_code == 200 and guarded.get("/api/studies")
    headers = {"Authorization": f"Bearer {drives}"}
    assert guarded.ask("GET", f"/api/studies/{study}", headers=headers).status_code == 200
    assert guarded.ask("GET", "/api/studies", headers={}).status_code == 401, "no token is no guess"
    assert guarded.ask("GET", "/?token=guess", headers={}).status_code in (303, 429)


def test_submissions_are_counted_for_each_token(guarded: Bench) -> None:
    tokens = [create(guarded, scopes=["write"])["token"] for _ in range(2)]
    assert [ask(guarded, tokens[0], "POST", json=SPEC).status_code for _ in range(7)] == [201] * 6 + [429]
    assert "retry-after" in ask(guarded, tokens[0], "POST", json=SPEC).headers
    assert ask(guarded, tokens[1], "POST", json=SPEC).status_code == 201


def test_permits_come_back_with_time() -> None:
    now = 0.0
    rate = Rate(6, lambda: now)
    assert [rate.take_permit("a") for _ in range(7)] == [0] * 6 + [10] and rate.take_permit("b") == 0
    now = 9.0
    assert rate.wait("a") == 1 and rate.take_permit("a") == 1
    now = 10.5
    assert rate.wait("a") == 0 and rate.take_permit("a") == 0 and rate.wait("a") > 0
    now = 1000.0
    assert [rate.take_permit("a") for _ in range(7)][-2:] == [0, 10], "no more than a minute's worth is kept"


def test_every_write_leaves_a_line(guarded: Bench) -> None:
    token = create(guarded, scopes=["write"])
    study = ask(guarded, token["token"], "POST", json=SPEC).json()["id"]
    ask(guarded, "guess", "DELETE", f"/api/studies/{study}")
    guarded.ask("POST", "/api/studies/a%0ab/cancel", headers={"Origin": "http://evil.example"})
    guarded.get("/api/studies")
    lines = [json.loads(line) for line in (guarded.settings.home / "audit.log").read_text().splitlines()]
    assert [(line["who"], line["method"], line["path"], line["status"]) for line in lines] == [
        ("owner", "POST", "/api/tokens", 201),
        (f"ada ({token['id']})", "POST", "/api/studies", 201),
        ("nobody", "DELETE", f"/api/studies/{study}", 401),
        ("nobody", "POST", "/api/studies/a\nb/cancel", 403),
    ]
    assert (
        {line["from"] for line in lines} == {"127.0.0.1"}
        and OWNER not in str(lines)
        and token["token"] not in str(lines)
    )


def test_lines_do_not_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "LARGEST", 300)
    written = Audit(tmp_path / "audit.log")
    for i in range(60):
        written.wrote("ada", "127.0.0.1", "POST", f"/{i}", 200)
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["audit.log", *(f"audit.log.{i}" for i in range(1, audit.OLDER + 1))]
    assert '"/59"' in (tmp_path / "audit.log").read_text()


def test_lines_that_cannot_be_written_fail_no_request_and_are_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "nowhere"
    written = Audit(folder / "audit.log")
    for _ in range(3):
        written.wrote("ada", "", "POST", "/", 200)
    folder.mkdir()
    for _ in range(2):
        written.wrote("ada", "", "POST", "/", 200)
    assert [record.getMessage() for record in caplog.records] == [
        f"{folder / 'audit.log'} cannot be written, and lines are lost: No such file or directory",
        f"{folder / 'audit.log'} is written again; 3 lines lost",
    ]
    assert len((folder / "audit.log").read_text().splitlines()) == 2
