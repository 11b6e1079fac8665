"""Packages that a study asks for become part of its code."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest

from tests.processes import short_home
from tests.service.bench import Bench
from tests.service.own_code import PROBLEM, SCRIPT, study_of
from tests.service.routes.test_code import bearer, described, scoped, sent

OWNER = bearer("owner")


@pytest.fixture
def bench() -> Iterator[Bench]:
    with short_home() as home:
        bench = Bench(home, token="owner", driver_tokens=home / "drivers")
        yield bench
        bench.close()


def submitted(bench: Bench, code: object, *packages: object, path: str = "/api/studies") -> Any:
    body = {**study_of(), "code": code, "requirements": list(packages)}
    return bench.ask("POST", path, json=body, headers=OWNER)


def files(bench: Bench, code: str) -> dict[str, bytes]:
    content = bench.ask("GET", f"/api/code/{code}/content", headers=OWNER).content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_code_is_read_anew_with_them_and_the_study_keeps_that_hash(bench: Bench) -> None:
    bare = sent(bench).json()["hash"]
    bench.ask("POST", f"/api/code/{bare}/description", json={"refusal": {"message": "No module named 'einops'"}})
    refused = submitted(bench, bare, "einops==0.8.1")
    assert refused.status_code == 409
    (detail,) = refused.json()["error"]["details"]
    code = detail["message"]
    assert code != bare and files(bench, code)["requirements.txt"] == b"einops==0.8.1\n"
    assert bench.cluster.submitted[-1].entrypoint.endswith(code)
    bench.ask("POST", f"/api/code/{code}/description", json={"problems": [PROBLEM, SCRIPT]})
    spec = submitted(bench, bare, "einops==0.8.1").json()["spec"]
    assert (spec["code"]["hash"], spec["code"]["requirements"]) == (code, ["einops==0.8.1"])
    assert "requirements" not in spec
    again = bench.ask("POST", "/api/studies", json=spec, headers=OWNER)
    assert again.status_code == 201 and again.json()["spec"]["code"] == spec["code"], "next year it is the same"


def test_they_join_those_of_the_file_and_none_is_asked_for_twice(bench: Bench) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mine.py", b"")
        archive.writestr("requirements.txt", b"# mine\nrich==15.0")
    headers = {**OWNER, "Content-Type": "application/zip"}
    answer = bench.ask("POST", "/api/code", content=buffer.getvalue(), headers=headers)
    bare = answer.json()["hash"]
    (detail,) = submitted(bench, bare, "rich==15.0", "einops").json()["error"]["details"]
    assert files(bench, detail["message"])["requirements.txt"] == b"# mine\nrich==15.0\neinops\n"
    (same,) = submitted(bench, bare, "rich==15.0").json()["error"]["details"]
    assert same["message"] == bare


@pytest.mark.parametrize("written", ["-i address", "a @ https://a/b.whl", "./a.whl", "a\n-r b", "a; x", "a\x07", "", 1])
def test_options_addresses_and_control_characters_are_refused_with_their_path(bench: Bench, written: object) -> None:
    code = described(bench)
    answer = submitted(bench, code, "einops==0.8.1", written)
    assert answer.status_code == 422
    assert [each["path"] for each in answer.json()["error"]["details"]] == ["requirements[1]"]
    assert len(bench.ask("GET", "/api/code", headers=OWNER).json()["code"]) == 1, "nothing was kept"


def test_without_code_there_is_nothing_to_install_them_for(bench: Bench) -> None:
    arm = {"name": "a", "weighting": {"name": "mib"}}
    answer = bench.ask("POST", "/api/studies", json={"name": "s", "arms": [arm], "requirements": ["a"]}, headers=OWNER)
    (detail,) = answer.json()["error"]["details"]
    assert answer.status_code == 422 and detail["path"] == "requirements" and "give code" in detail["message"]


def test_a_check_makes_no_code_of_every_word_that_is_typed(bench: Bench) -> None:
    code = described(bench)
    asked = len(bench.cluster.submitted)
    answer = submitted(bench, code, "ein", path="/api/studies/check").json()
    assert answer["valid"] and answer["spec"]["requirements"] == ["ein"]
    assert len(bench.cluster.submitted) == asked
    assert len(bench.ask("GET", "/api/code", headers=OWNER).json()["code"]) == 1


def test_they_need_the_scope_and_count_for_the_token(bench: Bench) -> None:
    code = described(bench)
    body = {**study_of(), "code": code, "requirements": ["einops"]}
    assert bench.ask("POST", "/api/studies", json=body, headers=bearer(scoped(bench, "write"))).status_code == 403
    limited = {"name": "small", "scopes": ["write", "code"], "bytes": 10}
    token = bench.ask("POST", "/api/tokens", json=limited, headers=OWNER).json()["token"]
    answer = bench.ask("POST", "/api/studies", json=body, headers=bearer(token))
    assert answer.status_code == 413 and "bytes" in answer.text
