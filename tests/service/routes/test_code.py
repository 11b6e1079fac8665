"""Code of your own over HTTP: sent, read by a process on Ray, named by studies."""

from __future__ import annotations

import errno
import io
import os
import random
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from service.store.code import CodeStore
from tests.processes import short_home
from tests.service.bench import Bench
from tests.service.own_code import PROBLEM, SCRIPT, study_of

PYTHON = {"Content-Type": "text/x-python"}
SOURCE = b"# nobody imports this\n"


@pytest.fixture
def bench() -> Iterator[Bench]:
    with short_home() as home:
        bench = Bench(home, token="owner", driver_tokens=home / "drivers")
        yield bench
        bench.close()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def sent(bench: Bench, content: bytes = SOURCE, token: str = "owner", entry: str = "mine.py") -> Any:
    headers = {**PYTHON, **bearer(token)}
    return bench.ask("POST", "/api/code", params={"entry": entry}, content=content, headers=headers)


def described(bench: Bench, content: bytes = SOURCE) -> str:
    """Code of which the process on Ray has said what is in it."""
    code = str(sent(bench, content).json()["hash"])
    answer = bench.ask("POST", f"/api/code/{code}/description", json={"problems": [PROBLEM, SCRIPT]})
    assert answer.status_code == 204, answer.text
    return code


def scoped(bench: Bench, *scopes: str) -> str:
    answer = bench.ask("POST", "/api/tokens", json={"name": "a person", "scopes": list(scopes)})
    return str(answer.json()["token"])


def submitted(bench: Bench, code: object, token: str = "owner") -> Any:
    return bench.ask("POST", "/api/studies", json={**study_of(), "code": code}, headers=bearer(token))


def test_ray_is_asked_once_to_read_it_with_a_token_for_it_alone(bench: Bench) -> None:
    first, second = sent(bench), sent(bench)
    code = first.json()["hash"]
    assert first.status_code == 201 and first.json()["state"] == "waiting" and second.json() == first.json()
    (job,) = bench.cluster.submitted
    assert job.entrypoint == f"python -m workers.describe_code {code}"
    token = (bench.settings.home / "drivers" / job.job).read_text()
    assert token not in str(job)
    assert bench.ask("GET", f"/api/code/{code}/content", headers=bearer(token)).status_code == 200
    assert bench.ask("GET", f"/api/code/{'1' * 64}/content", headers=bearer(token)).status_code == 403
    assert bench.ask("GET", "/api/studies", headers=bearer(token)).status_code == 403


def test_a_file_that_is_sent_without_a_name_has_one_that_can_be_imported(bench: Bench) -> None:
    answer = bench.ask("POST", "/api/code", content=SOURCE, headers={**PYTHON, **bearer("owner")})
    assert answer.status_code == 201
    content = bench.ask("GET", f"/api/code/{answer.json()['hash']}/content", headers=bearer("owner")).content
    (name,) = zipfile.ZipFile(io.BytesIO(content)).namelist()
    assert name.removesuffix(".py") not in sys.stdlib_module_names


def test_what_is_in_it_is_told_once_ray_has_described_it(bench: Bench) -> None:
    code = described(bench)
    answer = bench.get(f"/api/code/{code}")
    assert answer["state"] == "described" and [each["name"] for each in answer["problems"]] == ["Mine", "forest"]
    assert answer["problems"][0]["parameters"][0]["default"] == 64
    bench.ask("POST", f"/api/code/{code}/description", json={"refusal": {"message": "no"}})
    assert bench.get(f"/api/code/{code}") == answer, "the first word counts"


def test_a_study_names_it_by_its_hash_and_keeps_what_it_says(bench: Bench) -> None:
    code = described(bench)
    answer = submitted(bench, code)
    assert answer.status_code == 201, answer.text
    study = bench.read(answer.json()["id"])
    assert study["spec"]["code"]["hash"] == code and study["counts"]["planned"] == 8
    content = bench.ask("GET", f"/api/studies/{study['id']}/code")
    assert content.headers["content-type"] == "application/octet-stream" and b"mine.py" in content.content


def test_nobody_is_believed_what_is_in_it(bench: Bench) -> None:
    """The body of a study may say anything; what counts is what Ray has read."""
    code = described(bench)
    forged = {"hash": code, "entry": "mine.py", "problems": [{**PROBLEM, "terms": ["x"]}]}
    answer = submitted(bench, forged)
    assert answer.status_code == 201, answer.text
    assert bench.read(answer.json()["id"])["spec"]["code"]["problems"][0]["terms"] == ["class", "price"]


@pytest.mark.parametrize("code", ["mine.py", 3, "0" * 64, {"entry": "x"}, []])
def test_what_names_no_code_is_refused_with_path_and_rule(bench: Bench, code: object) -> None:
    answer = submitted(bench, code)
    assert answer.status_code == 422 and answer.json()["error"]["details"][0]["path"] == "code"
    checked = bench.ask("POST", "/api/studies/check", json={**study_of(), "code": code}).json()
    assert not checked["valid"] and checked["error"] == answer.json()["error"]


def test_a_study_waits_for_nobody_to_read_its_code(bench: Bench) -> None:
    answer = submitted(bench, sent(bench).json()["hash"])
    assert answer.status_code == 409 and "has not been read yet" in answer.json()["error"]["message"]


def test_a_fault_of_the_code_is_told_with_its_file_and_line(bench: Bench) -> None:
    code = sent(bench).json()["hash"]
    fault = {"message": "NameError: name 'x' is not defined", "file": "mine.py", "line": 3}
    bench.ask("POST", f"/api/code/{code}/description", json={"refusal": fault})
    told = bench.get(f"/api/code/{code}")
    assert (told["state"], told["reason"], told["file"], told["line"]) == ("refused", *fault.values())
    assert "mine.py, line 3: NameError" in submitted(bench, code).json()["error"]["message"]


def test_a_process_that_is_lost_is_followed_by_another_but_not_for_ever(bench: Bench) -> None:
    code = sent(bench).json()["hash"]
    for started in (1, 2, 3):
        assert len(bench.cluster.submitted) == started
        bench.cluster.end(bench.cluster.submitted[-1].job, message="out of memory")
        told = bench.get(f"/api/code/{code}")
    assert told["state"] == "refused" and "out of memory" in told["reason"] and len(bench.cluster.submitted) == 3


def test_without_ray_nobody_reads_it_and_it_says_so(bench: Bench) -> None:
    bench.cluster.answers = False
    answer = sent(bench)
    assert answer.status_code == 503
    bench.cluster.answers = True
    assert sent(bench).json()["state"] == "waiting" and len(bench.cluster.submitted) == 1


def test_running_code_needs_the_scope_for_it(bench: Bench) -> None:
    code, writer, coder = described(bench), scoped(bench, "read", "write"), scoped(bench, "read", "write", "code")
    assert sent(bench, token=writer).status_code == 403 and sent(bench, token=coder).status_code == 201
    refused = submitted(bench, code, token=writer)
    assert refused.status_code == 403 and "scope 'code'" in refused.json()["error"]["message"]
    assert submitted(bench, code, token=coder).status_code == 201


def test_a_service_without_a_token_takes_no_code_unless_it_was_told_to() -> None:
    with short_home() as home:
        closed, opened = Bench(home / "a"), Bench(home / "b", allow_code=True)
        asked: dict[str, Any] = {"content": SOURCE, "headers": PYTHON, "params": {"entry": "mine.py"}}
        assert closed.ask("POST", "/api/code", **asked).status_code == 403
        refused = closed.ask("POST", "/api/studies", json={**study_of(), "code": "0" * 64})
        assert refused.status_code == 403 and "--allow-code" in refused.json()["error"]["message"]
        assert opened.ask("POST", "/api/code", **asked).status_code == 201
        closed.close()
        opened.close()


def test_code_that_is_too_large_is_not_taken() -> None:
    with short_home() as home:
        bench = Bench(home, allow_code=True, max_code_bytes=100)
        asked: dict[str, Any] = {"headers": PYTHON, "params": {"entry": "mine.py"}}
        assert bench.ask("POST", "/api/code", content=b"#" * 101, **asked).status_code == 413
        assert bench.ask("POST", "/api/code", content=b"#" * 100, **asked).status_code == 201
        bench.close()


def test_a_study_without_code_has_none_to_fetch(bench: Bench) -> None:
    assert bench.ask("GET", f"/api/studies/{bench.submit()}/code").status_code == 404


def test_bytes_of_no_kind_are_a_file_or_an_archive_by_how_they_begin(bench: Bench) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mine.py", SOURCE)
    headers, query = {"Content-Type": "application/octet-stream", **bearer("owner")}, {"entry": "mine.py"}
    answers = [
        bench.ask("POST", "/api/code", content=content, headers=headers, params=query).json()
        for content in (SOURCE, buffer.getvalue())
    ]
    assert answers[0]["hash"] == answers[1]["hash"] == sent(bench).json()["hash"]


def test_a_folder_that_was_packed_with_its_name_is_that_folder(bench: Bench) -> None:
    """As a file manager packs it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("tasks/mine.py", SOURCE)
        archive.writestr("__MACOSX/tasks/._mine.py", b"\0")
    headers = {"Content-Type": "application/zip", **bearer("owner")}
    answer = bench.ask("POST", "/api/code", content=buffer.getvalue(), headers=headers)
    assert answer.json()["hash"] == sent(bench).json()["hash"] and answer.json()["entry"] == "mine.py"
    named = {"entry": "tasks/mine.py"}  # who says where it is has it where they say
    answer = bench.ask("POST", "/api/code", content=buffer.getvalue(), headers=headers, params=named)
    assert answer.json()["entry"] == "tasks/mine.py"


def test_packages_that_it_asks_for_are_told_with_it(bench: Bench) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("main.py", SOURCE)
        archive.writestr("requirements.txt", "timm==1.0\n")
    headers = {"Content-Type": "application/zip", **bearer("owner")}
    code = bench.ask("POST", "/api/code", content=buffer.getvalue(), headers=headers).json()["hash"]
    bench.ask("POST", f"/api/code/{code}/description", json={"problems": [PROBLEM, SCRIPT]})
    study = submitted(bench, code)
    assert study.status_code == 201
    assert bench.read(study.json()["id"])["spec"]["code"]["requirements"] == ["timm==1.0"]


def test_documentation_over_several_lines_is_no_hidden_character(bench: Bench) -> None:
    code = str(sent(bench).json()["hash"])
    long = {**PROBLEM, "doc": "Class and price.\n\n\tIn two paragraphs\x1b[31m."}
    assert bench.ask("POST", f"/api/code/{code}/description", json={"problems": [long, SCRIPT]}).status_code == 204
    answer = submitted(bench, code)
    assert answer.status_code == 201, answer.text
    doc = bench.read(answer.json()["id"])["spec"]["code"]["problems"][0]["doc"]
    assert doc.startswith("Class and price.\n\n\tIn two") and "\x1b" not in doc


HIDDEN = "=1\x1b[2J\u202e"


HIDES = [{"default": HIDDEN}, {"default": "a", "choices": ["a", HIDDEN]}, {"default": "a" * 1001}]


@pytest.mark.parametrize("hides", HIDES, ids=["default", "choice", "long"])
def test_values_of_parameters_that_would_hide_something_are_no_description(bench: Bench, hides: dict[str, Any]) -> None:
    """They are settings of trials: columns of a terminal, of CSV and of the page."""
    code = str(sent(bench).json()["hash"])
    said = {**SCRIPT, "parameters": [{"name": "how", "kind": "str", **hides}]}
    answer = bench.ask("POST", f"/api/code/{code}/description", json={"problems": [said]})
    assert answer.status_code == 422 and "problems[0].parameters[0]" in answer.json()["error"]["details"][0]["path"]


def test_words_about_code_are_cleaned(bench: Bench) -> None:
    code = str(sent(bench).json()["hash"])
    said = {"problems": [{**SCRIPT, "stacking": "no\x1b[2J"}]}
    assert bench.ask("POST", f"/api/code/{code}/description", json=said).status_code == 204
    assert bench.get(f"/api/code/{code}")["problems"][0]["stacking"] == "no"
    code = str(sent(bench, b"# another\n").json()["hash"])
    for line, status in ((10**30, 422), (3, 204)):
        refused = {"refusal": {"message": "no", "file": "a\x1b.py", "line": line}}
        assert bench.ask("POST", f"/api/code/{code}/description", json=refused).status_code == status
    assert bench.get(f"/api/code/{code}")["file"] == "a\ufffd.py"


def test_what_lets_code_go_on_needs_the_scope_for_it(bench: Bench) -> None:
    study = submitted(bench, described(bench)).json()["id"]
    assert bench.ask("POST", f"/api/studies/{study}/pause").status_code == 200
    writer = bearer(scoped(bench, "read", "write"))
    for wish, body in (("resume", None), ("retry", None), ("extend", {"seeds": [7]})):
        answer = bench.ask("POST", f"/api/studies/{study}/{wish}", headers=writer, json=body)
        assert answer.status_code == 403 and "scope 'code'" in answer.json()["error"]["message"], wish
    assert bench.ask("POST", f"/api/studies/{study}/resume").status_code == 200


def test_the_token_of_a_reader_is_not_taken_back_before_ray_knows_its_job(bench: Bench) -> None:
    job = bench.cluster.submitted[0].job if sent(bench).status_code == 201 else ""
    token = bench.settings.home / "drivers" / job
    bench.cluster.jobs.clear()  # as if it were still on its way
    bench.launcher.tick()
    assert token.is_file()
    long_ago = time.time() - 3600
    os.utime(token, (long_ago, long_ago))
    bench.launcher.tick()
    assert not token.exists()


def test_the_token_of_a_reader_is_good_until_its_last_word(bench: Bench) -> None:
    code = sent(bench).json()["hash"]
    token = (bench.settings.home / "drivers" / bench.cluster.submitted[0].job).read_text()
    said = {"problems": [PROBLEM, SCRIPT]}
    path = f"/api/code/{code}"
    assert bench.ask("POST", f"{path}/description", json=said, headers=bearer(token)).status_code == 204
    assert bench.ask("GET", f"{path}/content", headers=bearer(token)).status_code == 401


def test_the_token_of_a_reader_that_died_is_good_for_nothing(bench: Bench) -> None:
    code = sent(bench).json()["hash"]
    token = (bench.settings.home / "drivers" / bench.cluster.submitted[0].job).read_text()
    bench.cluster.end(bench.cluster.submitted[0].job)
    bench.get(f"/api/code/{code}")
    assert len(bench.cluster.submitted) == 2, "another one reads it"
    assert bench.ask("GET", f"/api/code/{code}/content", headers=bearer(token)).status_code == 401


@pytest.mark.parametrize("in_a_file", [True, False])
def test_the_token_of_a_reader_that_nobody_asks_about_ends_by_itself(in_a_file: bool) -> None:
    with short_home() as home:
        bench = Bench(home, token="owner", driver_tokens=home / "drivers" if in_a_file else None)
        code = sent(bench).json()["hash"]
        job, tokens = bench.cluster.submitted[0], bench.parts.tokens
        if in_a_file:
            secret = (home / "drivers" / job.job).read_text()
        else:
            headers = bearer(job.env["PARETOSCOPE_CLAIM"])
            secret = bench.ask("POST", f"/api/studies/{code}/token", headers=headers).json()["token"]
        row, driver = tokens.find(secret), tokens.find(tokens.for_driver(bench.submit()))
        assert row is not None and row.expires_at is not None
        assert driver is not None and driver.expires_at is None, "a driver's goes with its study"
        bench.close()


def limited(bench: Bench, **limits: int) -> str:
    asked = {"name": "lab", "scopes": ["read", "write", "code"], **limits}
    return str(bench.ask("POST", "/api/tokens", json=asked).json()["token"])


def noise(size: int) -> bytes:
    """Python that does not get smaller in an archive."""
    return b"# " + random.Random(size).randbytes(size).hex().encode()


def test_code_counts_for_the_bytes_of_its_token() -> None:
    with short_home() as home:
        bench = Bench(home, token="owner", keep_free_bytes=0)
        token = limited(bench, bytes=10_000)
        assert sent(bench, noise(3000), token).status_code == 201
        refused = sent(bench, noise(5001), token)
        assert refused.status_code == 413 and "10,000 bytes" in refused.json()["error"]["message"]
        assert sent(bench, noise(5001)).status_code == 201, "the owner has no limits"
        (own,) = [each for each in bench.get("/api/code")["code"] if each["bytes"] < 5000]
        assert bench.ask("DELETE", f"/api/code/{own['hash']}", headers=bearer(token)).status_code == 204
        assert sent(bench, noise(4900), token).status_code == 201
        study = submitted(bench, described(bench), token).json()["id"]
        trial = bench.trials(study)[0]
        place = f"/api/studies/{study}/trials/{trial}/artifacts/checkpoint.safetensors"
        assert bench.ask("PUT", place, content=b"x" * 9000).status_code == 413, "code and files together"
        bench.close()


def test_code_leaves_room_on_the_disk_and_is_sent_so_often() -> None:
    with short_home() as home:
        full = Bench(home / "full", token="owner", keep_free_bytes=10**15)
        answer = sent(full)
        assert answer.status_code == 507 and "PARETOSCOPE_KEEP_FREE_BYTES" in answer.json()["error"]["message"]
        assert full.get("/api/code") == {"code": []}
        full.close()
        hurried = Bench(home / "hurried", token="owner", submissions_per_minute=2)
        assert [sent(hurried).status_code for _ in range(3)] == [201, 201, 429]
        hurried.close()


def test_a_disk_that_is_full_is_507(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(CodeStore, "_write", write)
    answer = bench.ask(
        "POST",
        "/api/code",
        params={"entry": "mine.py"},
        content=SOURCE,
        headers={**PYTHON, **bearer("owner")},
    )
    assert (answer.status_code, answer.json()["error"]["code"]) == (507, "no_space")


def test_code_is_deleted_once_no_study_runs_it(bench: Bench) -> None:
    code = described(bench)
    study = submitted(bench, code).json()["id"]
    (listed,) = bench.get("/api/code")["code"]
    assert listed.pop("bytes") > 100
    assert listed == {"hash": code, "state": "described", "entry": "mine.py", "studies": [study]}
    refused = bench.ask("DELETE", f"/api/code/{code}")
    assert refused.status_code == 409
    assert refused.json()["error"]["details"] == [{"path": "studies", "message": study}]
    assert bench.delete(study).status_code == 204
    assert bench.ask("DELETE", f"/api/code/{code}").status_code == 204
    assert bench.get("/api/code") == {"code": []} and bench.ask("GET", f"/api/code/{code}").status_code == 404
    assert bench.ask("DELETE", f"/api/code/{code}").status_code == 404
    assert submitted(bench, code).status_code == 422
    assert not list((bench.settings.home / "code").iterdir())


def test_code_of_another_token_is_an_admins_to_delete(bench: Bench) -> None:
    mine, theirs = limited(bench), limited(bench)
    code = sent(bench, token=mine).json()["hash"]
    refused = bench.ask("DELETE", f"/api/code/{code}", headers=bearer(theirs))
    assert refused.status_code == 403 and "another token" in refused.json()["error"]["message"]
    admin = scoped(bench, "code", "admin")
    assert bench.ask("DELETE", f"/api/code/{code}", headers=bearer(admin)).status_code == 204


def test_a_study_is_not_made_of_code_that_is_deleted_meanwhile(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    code, admission = described(bench), bench.parts.tokens.admission

    @contextmanager
    def later() -> Iterator[None]:
        bench.parts.describing.forget(code)
        with admission():
            yield

    monkeypatch.setattr(bench.parts.tokens, "admission", later)
    answer = submitted(bench, code)
    assert answer.status_code == 422 and answer.json()["error"]["details"][0]["path"] == "code"
    assert bench.get("/api/studies")["studies"] == []
