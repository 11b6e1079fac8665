"""The command line as users and scripts meet it: what each command prints, and its exit code."""

from __future__ import annotations

import errno
import io
import json
import re
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

import paretoscope
from frontends.cli import commands
from frontends.cli.commands import in_words
from frontends.cli.local import Interrupted, LocalError
from frontends.client import ClientError
from tests.frontends.cli.command_line import NOWHERE, run
from tests.frontends.conftest import TOKEN
from tests.frontends.played import begin, send
from tests.processes import BIN, Running, environment, service_alone, short_home, until

HOSTILE = "a [red]b[/red] [/x] <i>"
# What each command needs beside the service; ID is a study's, FILE is a valid study, OUT does not exist yet.
ARGUMENTS = {
    "submit": ["FILE"],
    "watch": ["ID"],
    "list": [],
    "show": ["ID"],
    "cancel": ["ID"],
    "presets": [],
    "export": ["ID", "OUT"],
    "report": ["ID", "OUT"],
    "methods": ["ID"],
}
# These start or need no service, or have tests of their own.
LOCAL = {"up", "demo", "data", "doctor", "token", "backup", "restore", "migrate"}
LOCAL |= {"note"}  # test_note_command.py
LOCAL |= {"pause", "resume", "extend", "retry", "delete"}  # test_lifecycle.py
LOCAL |= {"code"}  # test_code_command.py
LOCAL |= {"new", "check", "run"}  # test_own_code_commands.py
LOCAL |= {"pick"}  # test_pick_command.py


def filled(command: str, study: str, folder: Path, spec: dict[str, Any]) -> list[str]:
    (folder / "study.json").write_text(json.dumps(spec))
    places = {"ID": study, "FILE": str(folder / "study.json"), "OUT": str(folder / "out")}
    return [command, *(places[word] for word in ARGUMENTS[command])]


@pytest.fixture
def finished(service: Running, spec: dict[str, Any]) -> str:
    return begin(service, spec, end=True)


def test_every_command_is_looked_at_here() -> None:
    own = {
        command.name or command.callback.__name__ for command in commands.app.registered_commands if command.callback
    }
    groups = {str(group.name) for group in commands.app.registered_groups}
    assert own | groups == set(ARGUMENTS) | LOCAL


def test_it_says_its_version_and_first_what_comes_first() -> None:
    assert run("--version").stdout == f"paretoscope {paretoscope.__version__}\n"
    names = re.findall(r"^│ (\w+)  ", run("--help").stdout, re.MULTILINE)
    assert names[:3] == ["up", "demo", "submit"]


def test_the_command_that_is_installed_is_this_one() -> None:
    """In a process of its own: its exit codes reach the shell."""
    for arguments, code in ((["--help"], 0), (["frobnicate"], 2), (["list", "--url", NOWHERE], 1)):
        command = [str(BIN / "paretoscope"), *arguments]
        answer = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60, check=False)
        assert answer.returncode == code and "Traceback" not in answer.stderr, answer


@pytest.mark.parametrize("command", ARGUMENTS)
def test_with_json_a_machine_can_read_every_line(
    service: Running, spec: dict[str, Any], tmp_path: Path, command: str
) -> None:
    study = begin(service, spec, end=command != "cancel")
    answer = run(*filled(command, study, tmp_path, spec), "--json", url=service.url)
    assert answer.returncode == 0 and answer.stderr == ""
    values = [json.loads(line) for line in answer.stdout.splitlines()]
    assert values and all(isinstance(value, (dict, list)) and value for value in values)


@pytest.mark.parametrize("command", ARGUMENTS)
def test_without_a_service_every_command_fails_and_says_what_to_do(
    spec: dict[str, Any], tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("frontends.client.TRY_AGAIN_SECONDS", 0.0)
    answer = run(*filled(command, "s0123456789", tmp_path, spec))
    assert answer.returncode == 1 and answer.stdout == ""
    assert answer.stderr.startswith(f"error: no answer from {NOWHERE} (") and answer.stderr.count("\n") == 1
    assert answer.stderr.endswith("start the service with 'paretoscope up', or name another with --url\n")


@pytest.mark.parametrize("command", [command for command, words in ARGUMENTS.items() if "ID" in words])
def test_an_unknown_study_is_bad_input_for_every_command(
    service: Running, spec: dict[str, Any], tmp_path: Path, command: str
) -> None:
    answer = run(*filled(command, "s0000000000", tmp_path, spec), url=service.url)
    assert answer.returncode == 2 and answer.stdout == ""
    assert answer.stderr.startswith("error: ") and "s0000000000" in answer.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ARGUMENTS)
def test_every_command_takes_the_token_from_its_option_or_the_variable(
    guarded: Running, spec: dict[str, Any], tmp_path: Path, command: str
) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    study = guarded.post("/api/studies", json=spec, headers=headers).json()["id"]
    if command == "watch":
        guarded.post(f"/api/studies/{study}/cancel", headers=headers).raise_for_status()
    words = filled(command, study, tmp_path, spec)
    refused = run(*words, url=guarded.url)
    assert refused.returncode == 2 and "needs its token" in refused.stderr
    assert run(*words, "--token", "guess", url=guarded.url, PARETOSCOPE_TOKEN=TOKEN).returncode == 2
    expected = 1 if command == "watch" else 0  # of a cancelled study
    assert run(*words, "--token", TOKEN, url=guarded.url, PARETOSCOPE_TOKEN="guess").returncode == expected
    expected = 2 if command == "cancel" else expected  # a second time
    assert run(*words, url=guarded.url, PARETOSCOPE_TOKEN=TOKEN).returncode == expected


def test_the_address_is_the_option_else_the_variable_else_that_of_the_home(service: Running, tmp_path: Path) -> None:
    (tmp_path / "service.json").write_text(json.dumps({"url": service.url}))
    assert run("presets", "--url", service.url).returncode == 0
    assert run("presets", "--url", NOWHERE, url=service.url).returncode == 1
    assert run("presets", url=None, PARETOSCOPE_HOME=str(tmp_path)).returncode == 0
    assert run("presets", url=NOWHERE, PARETOSCOPE_HOME=str(tmp_path)).returncode == 1
    odd = run("presets", "--url", "localhost:8000")
    assert odd.returncode == 2 and "'localhost:8000' is not the address of a service" in odd.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: x\narms: [", ["study (line 2): is not YAML"]),
        (
            "name: x\narms:\n  - name: a\n    weighting: {name: fxied}\n",
            ["arms[0].weighting.name (line 4): 'fxied' is not known; known: fixed, ", "mib"],
        ),
        (
            "name: x\narms:\n  - name: a\n    weighting: {name: fixed, beta: -1}\n",
            ["arms[0].weighting.beta (line 4): ", "-1"],
        ),
    ],
)
def test_a_bad_study_is_exit_code_2_with_path_and_line(
    service: Running, tmp_path: Path, text: str, words: list[str]
) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(text)
    answer = run("submit", str(file), url=service.url)
    assert answer.returncode == 2 and answer.stdout == "", answer
    assert [word for word in words if word not in answer.stderr] == []
    assert answer.stderr.count("\n") == answer.stderr.count("line ") == 1, "said once, in one line"


def test_several_mistakes_are_all_told_each_once(service: Running, tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text("name: x\nseeds: []\narms:\n  - name: a\n    weighting: {name: fxied}\n")
    lines = run("submit", str(file), url=service.url).stderr.splitlines()
    assert lines[0] == "error: 2 things are wrong" and len(lines) == 3
    assert sorted(line.split(":")[0] for line in lines[1:]) == ["  arms[0].weighting.name (line 5)", "  seeds (line 2)"]


def test_an_error_without_details_or_line_is_told_as_it_is() -> None:
    assert in_words(ClientError("gone", 404)) == ["gone"]
    assert in_words(ClientError("state: odd", 422, [{"path": "state", "message": "odd"}])) == ["state: odd"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ClientError("the proxy is tired", 502), 1),
        (ClientError("odd", 500), 1),
        (ClientError("odd", 499), 2),
        (ClientError("bad", 400), 2),
        (ClientError("moved", 307), 1),
        (LocalError("no room"), 1),
        (Interrupted(), 1),
    ],
)
def test_the_exit_code_says_whose_fault_it_was(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def command() -> None:
        raise error

    assert commands.run(command) == code
    assert capsys.readouterr().err == (f"error: {error}\n" if str(error) else "")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.EROFS, "Read-only file system", "x.py"), "x.py: Read-only file system"),
        (OSError(errno.ENOSPC, "No space left on device"), "[Errno 28] No space left on device"),
    ],
)
def test_what_cannot_be_written_is_a_sentence(error: OSError, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> None:
        raise error

    assert commands.run(command) == 1
    assert capsys.readouterr().err == f"error: {words}\n"


def test_input_that_is_none_is_bad_input(service: Running, tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"name: \xe9")
    for arguments, words in (
        (["submit", "/nowhere.yaml"], "/nowhere.yaml cannot be read"),
        (["submit", str(tmp_path / "latin")], "cannot be read"),
        (["submit"], "Missing argument"),
        (["list", "--state", "lost"], "state: "),
        (["list", "--limit", "0"], "--limit"),
        (["show", "nope"], "'nope'"),
        (["show", "[/x]"], "[/x]"),
        (["show", "s1", "--frob"], "--frob"),
        (["demo", "--port", "0"], "--port"),
        (["up", "--cpus", "0"], "--cpus"),
        (["up", "--no-token", "--host", "0.0.0.0"], "--no-token"),
        (["demo", "--no-token", "--host", "10.1.2.3"], "--no-token"),
        (["up", "--token", "fifteen letters"], "at least 16 characters"),
        (["frobnicate"], "frobnicate"),
    ):
        answer = run(*arguments, url=service.url)
        assert answer.returncode == 2 and words in answer.stderr, answer
        assert answer.stdout == ""


def test_a_study_is_read_from_standard_input(
    service: Running, spec: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps({**spec, "name": "piped"})))
    submitted = json.loads(run("submit", "-", "--json", url=service.url).stdout)
    assert (submitted["name"], submitted["state"]) == ("piped", "queued")


def test_a_submitted_study_is_warned_of_what_it_hardly_means(service: Running, tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text("name: s\narms:\n  - name: a\n    weighting: {name: arml}\n")
    told, warning = run("submit", str(file), url=service.url).stdout.splitlines()
    assert " submitted: " in told
    assert warning.startswith("warning: arms[0].weighting.name (line 4): arml ") and "uniform" in warning


def test_a_submitted_study_is_told_by_its_id_and_page(service: Running, spec: dict[str, Any], tmp_path: Path) -> None:
    answer = run(*filled("submit", "", tmp_path, spec), url=service.url)
    newest = service.get("/api/studies", limit=1).json()["studies"][0]["id"]
    assert answer.stdout == f"{newest} submitted: {service.url}/studies/{newest}\n"


def test_the_list_has_the_newest_first_up_to_its_limit(service: Running, spec: dict[str, Any]) -> None:
    ids = [begin(service, spec, end=True) for _ in range(3)]

    def listed(*arguments: str) -> list[str]:
        return [study["id"] for study in json.loads(run("list", "--json", *arguments, url=service.url).stdout)]

    assert listed("--limit", "2") == [ids[2], ids[1]]
    assert listed()[:3] == ids[::-1] == listed("--state", "finished")[:3]
    lines = run("list", "--limit", "1", url=service.url).stdout.splitlines()
    assert lines[0].split() == ["study", "name", "state", "trials", "failed", "progress"]
    assert [line.split() for line in lines[1:]] == [[ids[2], "seen", "finished", "6/6", "0", "100", "%"]]
    assert run("list", "--state", "paused", url=service.url).stdout == "No study is paused.\n"


def test_an_empty_service_says_how_to_begin() -> None:
    with short_home() as home, service_alone(home) as empty:
        assert run("list", url=empty.url).stdout.startswith("No studies yet. Run one: paretoscope submit FILE")
        assert run("list", "--json", url=empty.url).stdout == "[]\n"
        answer = run("export", url=empty.url)
        assert answer.returncode == 2 and "there is no study yet" in answer.stderr


def test_watching_ends_with_0_only_when_the_study_finished(service: Running, spec: dict[str, Any]) -> None:
    for kind, code in (("study_finished", 0), ("study_failed", 1), ("study_cancelled", 1)):
        study = begin(service, spec, end=False)
        if kind == "study_cancelled":
            service.post(f"/api/studies/{study}/cancel").raise_for_status()
        else:
            send(service, study, {"kind": kind, **({"reason": "no driver"} if code else {})})
        assert run("watch", study, url=service.url).returncode == code
        machine = run("watch", study, "--json", url=service.url)
        *states, last = map(json.loads, machine.stdout.splitlines())
        assert machine.returncode == code and [state["id"] for state in states] == [study]
        assert last["study"]["state"] == kind.removeprefix("study_") and last["comparison"]["verdict"]
        shown = run("show", study, url=service.url)
        assert shown.returncode == 0, "showing is done whatever is shown"
        assert (": no driver" in shown.stdout) == (kind == "study_failed")


@pytest.mark.parametrize(("kind", "code"), [("study_finished", 0), ("study_failed", 1)])
def test_a_study_is_submitted_and_followed_to_its_end(
    service: Running, spec: dict[str, Any], tmp_path: Path, kind: str, code: int
) -> None:
    name = f"followed to {kind}"

    def end() -> None:
        def submitted() -> list[str]:
            studies = service.get("/api/studies", state="queued").json()["studies"]
            return [study["id"] for study in studies if study["name"] == name]

        (study,) = until(submitted, "the study is submitted")
        send(service, study, {"kind": "study_started"}, {"kind": kind, **({"reason": "no driver"} if code else {})})

    ending = threading.Thread(target=end)
    ending.start()
    answer = run(*filled("submit", "", tmp_path, {**spec, "name": name}), "--watch", url=service.url)
    ending.join()
    assert answer.returncode == code and " submitted: " in answer.stdout.splitlines()[0]
    assert f"{name}  {kind.removeprefix('study_')}" in answer.stdout


def test_cancelling_says_what_had_finished_and_works_once(service: Running, spec: dict[str, Any]) -> None:
    study = begin(service, spec, end=False)
    trial = service.get(f"/api/studies/{study}/trials").json()["trials"][0]["id"]
    send(service, study, {"kind": "trial_finished", "trial": trial})
    assert run("cancel", study, url=service.url).stdout == f"{study} cancelled; 1 of 6 trials had finished.\n"
    again = run("cancel", study, url=service.url)
    assert again.returncode == 2 and again.stdout == "" and "cancelled" in again.stderr


def test_words_of_users_are_no_markup(service: Running, spec: dict[str, Any]) -> None:
    arms = [{**spec["arms"][0], "name": HOSTILE}, spec["arms"][1]]
    study = str(service.post("/api/studies", json={**spec, "name": HOSTILE, "arms": arms}).json()["id"])
    send(service, study, {"kind": "study_started"}, {"kind": "study_failed", "reason": HOSTILE})
    assert HOSTILE in run("list", "--limit", "1", url=service.url, COLUMNS="200").stdout
    for command in ("show", "watch"):
        printed = run(command, study, url=service.url, COLUMNS="200").stdout
        assert f"{HOSTILE}  failed: {HOSTILE}" in printed and printed.count(HOSTILE) >= 3


def test_presets_are_listed_with_what_they_ask(service: Running) -> None:
    printed = run("presets", url=service.url).stdout
    for preset in service.get("/api/presets").json()["presets"]:
        assert f"{preset['name']}\n  {preset['doc']}\n" in printed
    assert "beta-vs-mib-digits\n" in printed


def test_shown_is_state_page_and_comparison(service: Running, finished: str) -> None:
    printed = run("show", finished, url=service.url, COLUMNS="120").stdout
    verdict = service.get(f"/api/studies/{finished}/comparison").json()["verdict"]
    assert printed.startswith("seen  finished ") and f"\n{service.url}/studies/{finished}\n" in printed
    assert " ".join(printed.split()).endswith(" ".join(verdict.split()))
    answer = json.loads(run("show", finished, "--json", url=service.url).stdout)
    assert set(answer) == {"study", "comparison"} and answer["study"]["id"] == finished
    assert '"manual β"' in run("show", finished, "--json", url=service.url).stdout, "as it was written"
