"""docs/operations.md, done line by line: a study is kept, brought back and moved, and goes on."""

from __future__ import annotations

import json
import re
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from frontends.cli import doctor
from frontends.client import Client
from tests.end_to_end.played_tune import trained_here
from tests.postgres import Server
from tests.processes import BIN, Running, environment, free_port, service_alone, short_home
from tests.service.bench import SPEC
from tests.service.own_code import SCRIPT

SOURCE = """
from paretoscope import trainable

@trainable(metrics={"acc": "maximize", "leaves": "minimize"})
def forest(trial, depth: int = 4):
    trial.report(acc=1 / depth, leaves=float(depth))
"""
PAGE = (Path(__file__).parent.parent.parent / "docs" / "operations.md").read_text()
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)


def shell_of(folder: Path, **variables: str) -> dict[str, str]:
    """The environment of somebody whose own folder this is."""
    return environment(PATH=f"{BIN}:/usr/bin:/bin", HOME=str(folder), **variables)


def follow(block: str, folder: Path, **variables: str) -> None:
    """A block of the page as a shell has it, without `up`: here the service alone is started, by the caller. All of it
    is followed in end_to_end/test_orderly_end.py."""
    lines = [line for line in block.splitlines() if not line.startswith("paretoscope up")]
    done = subprocess.run(
        ["sh", "-euc", "\n".join(lines)],
        cwd=folder,
        env=shell_of(folder, **variables),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def told(service: Running, study: str, *events: dict[str, Any]) -> dict[str, Any]:
    answer = service.post(f"/api/studies/{study}/reports", json={"events": list(events)})
    assert answer.is_success, answer.text
    return dict(answer.json())


def goes_on(home: Path, study: str, trial: str, epoch: int, url: str = "") -> None:
    """What was there is there, and the next report follows it."""
    with service_alone(home, PARETOSCOPE_DATABASE_URL=url) as service:
        path = f"/api/studies/{study}"
        assert service.get(path).json()["state"] == "running"
        assert service.get(f"{path}/trials/{trial}").json()["metrics"]["epoch"] == epoch - 1
        weights = service.get(f"{path}/trials/{trial}/checkpoint")
        assert weights.content == b"weights"
        event = {"uid": f"{trial}:{epoch}", "kind": "report", "trial": trial, "metrics": {"epoch": epoch}}
        assert told(service, study, event) == {"accepted": 1, "duplicates": 0}
        assert service.post("/api/studies", json=SPEC).status_code == 201


def trains_on(home: Path, paused: str, url: str = "") -> None:
    """A study of code of its own that was paused is resumed, and a driver trains it to its end; Ray alone is played."""
    with (
        service_alone(home, PARETOSCOPE_DATABASE_URL=url, PARETOSCOPE_ALLOW_CODE="true") as service,
        Client(service.url) as client,
    ):
        study = client.study(paused)
        before = [trial["id"] for trial in study.trials(state="finished")]
        told_before = {trial: study.trial(trial)["reports"] for trial in before}
        assert study.read()["state"] == "paused" and len(before) == 1
        study.resume()
        trained_here(service, study, job=f"{paused}-again")
        read = study.read()
        assert read["state"] == "finished" and read["counts"]["finished"] == read["counts"]["planned"] == 2
        assert {trial: study.trial(trial)["reports"] for trial in before} == told_before, "it is not trained again"


def paused_of_own_code(service: Running, folder: Path) -> str:
    """One of its two trials has finished when it is paused."""
    (folder / "mine.py").write_text(SOURCE)
    headers = {"Content-Type": "text/x-python"}
    sent = service.post("/api/code?entry=mine.py", content=SOURCE.encode(), headers=headers).json()["hash"]
    said = {"problems": [{**SCRIPT, "name": "forest"}]}
    service.post(f"/api/code/{sent}/description", json=said).raise_for_status()
    arm = {"name": "a", "problem": {"name": "forest", "depth": {"grid": [1, 2]}}}
    study = service.post("/api/studies", json={"name": "own", "code": sent, "seeds": [0], "arms": [arm]}).json()["id"]
    trial = service.get(f"/api/studies/{study}/trials").json()["trials"][0]["id"]
    told(
        service,
        study,
        {"uid": "go", "kind": "study_started", "job": study},
        {"uid": f"{trial}:1", "kind": "report", "trial": trial, "metrics": {"epoch": 1, "acc": 0.5, "leaves": 1.0}},
        {"uid": f"{trial}:end", "kind": "trial_finished", "trial": trial},
    )
    service.post(f"/api/studies/{study}/pause").raise_for_status()
    return str(study)


def begun(service: Running) -> tuple[str, str]:
    """A study under way: one epoch, and a file."""
    study = str(service.post("/api/studies", json=SPEC).json()["id"])
    trial = str(service.get(f"/api/studies/{study}/trials").json()["trials"][0]["id"])
    report = {"uid": f"{trial}:1", "kind": "report", "trial": trial, "metrics": {"epoch": 1}}
    told(service, study, {"uid": "go", "kind": "study_started"}, report)
    place = service.home / "artifacts" / study / trial
    place.mkdir(parents=True)
    (place / "checkpoint.safetensors").write_bytes(b"weights")
    return study, trial


def test_the_page_has_the_three_steps_that_are_followed() -> None:
    assert [block.split()[1] for block in BLOCKS] == ["backup", "restore", f"{BLOCKS[2].split()[1]}"]
    assert "paretoscope migrate" in BLOCKS[2]


def test_a_backup_of_a_running_service_is_restored_and_moved_and_the_study_goes_on(postgres: Server) -> None:
    with short_home() as folder, postgres.database() as url:
        home = folder / ".paretoscope"
        home.mkdir()
        with service_alone(home, PARETOSCOPE_ALLOW_CODE="true") as service:
            study, trial = begun(service)
            paused = paused_of_own_code(service, folder)
            follow(BLOCKS[0], folder)
            late = {"uid": "late", "kind": "trial_failed", "trial": trial, "reason": "after the backup"}
            told(service, study, late)
        follow(BLOCKS[1], folder)
        goes_on(folder / "restored", study, trial, 2)
        written = re.sub(r"(?<=DATABASE_URL=)\S+", f"'{url}'", BLOCKS[2])
        follow(written, folder, PARETOSCOPE_HOME=str(folder / "restored"))
        goes_on(folder / "restored", study, trial, 3, url)
        trains_on(folder / "restored", paused, url)
        assert (folder / "restored" / "paretoscope.db.migrated").is_file()
        assert doctor.server(url).words.startswith("studies: 4, "), "and doctor looks at the server"
        follow(BLOCKS[0], folder, PARETOSCOPE_HOME=str(folder / "restored"), PARETOSCOPE_DATABASE_URL=url)
        again = {"PARETOSCOPE_HOME": str(folder / "third")}
        follow("paretoscope restore studies.tar", folder, **again)
        goes_on(folder / "third", study, trial, 4)


def run(*arguments: str, **variables: str) -> tuple[int, dict[str, Any] | str]:
    command = [str(BIN / "paretoscope"), *arguments]
    given = environment(**variables)
    done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout) if done.returncode == 0 else done.stderr


@pytest.fixture
def home(tmp_path: Path) -> Path:
    from service.store.sql import SqlStore

    SqlStore(tmp_path / "home").close()
    return tmp_path / "home"


def test_a_backup_is_private_and_says_what_it_has(home: Path, tmp_path: Path) -> None:
    code, kept = run("backup", str(tmp_path / "b.tar"), "--home", str(home), "--json")
    assert code == 0 and isinstance(kept, dict) and (kept["studies"], kept["files"]) == (0, 0)
    assert (tmp_path / "b.tar").stat().st_mode & 0o777 == 0o600
    with tarfile.open(tmp_path / "b.tar") as archive:
        assert archive.getnames() == ["paretoscope.db", "about.json"]
    assert [path.name for path in tmp_path.iterdir() if "backup" in path.name or "part" in path.name] == []


def test_what_cannot_be_done_is_a_sentence_and_harms_nothing(home: Path, tmp_path: Path) -> None:
    place, url = str(tmp_path / "b.tar"), f"postgresql://x@127.0.0.1:{free_port()}/x"
    (tmp_path / "text.tar").write_text("no backup")
    run("backup", place, "--home", str(home), "--json")
    before = (home / "paretoscope.db").read_bytes()
    cases: list[tuple[list[str], dict[str, str], int, str]] = [
        (["backup", place, "--home", str(tmp_path / "none")], {}, 2, "there is no database in"),
        (["restore", place, "--home", str(home)], {}, 2, "has a database already"),
        (["restore", str(tmp_path / "text.tar"), "--home", str(tmp_path / "new")], {}, 2, "cannot be read"),
        (["migrate", "--home", str(home)], {}, 2, "set PARETOSCOPE_DATABASE_URL"),
        (["migrate", "--home", str(home)], {"PARETOSCOPE_DATABASE_URL": url}, 1, "does not answer"),
    ]
    for arguments, variables, code, said in cases:
        ended, words = run(*arguments, **variables)
        assert ended == code and said in " ".join(str(words).split()), (arguments, words)
    assert (home / "paretoscope.db").read_bytes() == before


@pytest.mark.parametrize("most", [1, 20, 200])  # of a file, in blocks of half a kilobyte
def test_a_disk_that_has_no_room_for_a_backup_is_a_sentence_and_leaves_nothing(
    home: Path, tmp_path: Path, most: int
) -> None:
    (home / "artifacts" / "s1").mkdir(parents=True)
    (home / "artifacts" / "s1" / "weights").write_bytes(b"x" * 200_000)
    place = tmp_path / "kept" / "b.tar"
    place.parent.mkdir()
    command = f"ulimit -f {most}; exec {BIN}/paretoscope backup {place} --home {home}"
    done = subprocess.run(
        ["sh", "-c", command], env=environment(), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr and "cannot be" in done.stderr, done.stderr
    assert list(place.parent.iterdir()) == []
