"""docs/operations.md, done line by line: a study is kept, brought back and moved, and goes on."""

from __future__ import annotations

import json
import re
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.postgres import Server
from tests.processes import BIN, Running, environment, free_port, service_alone, short_home
from tests.service.bench import SPEC

PAGE = (Path(__file__).parent.parent.parent / "docs" / "operations.md").read_text()
BLOCKS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)


def follow(block: str, folder: Path, **variables: str) -> None:
    """A block of the page as a shell has it; what would start Ray is done by the service alone, by the caller."""
    lines = [line for line in block.splitlines() if not line.startswith("paretoscope up")]
    given = environment(PATH=f"{BIN}:/usr/bin:/bin", HOME=str(folder), **variables)
    done = subprocess.run(
        ["sh", "-euc", "\n".join(lines)],
        cwd=folder,
        env=given,
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
        with service_alone(home) as service:
            study, trial = begun(service)
            follow(BLOCKS[0], folder)
            late = {"uid": "late", "kind": "trial_failed", "trial": trial, "reason": "after the backup"}
            told(service, study, late)
        follow(BLOCKS[1], folder)
        goes_on(folder / "restored", study, trial, 2)
        written = re.sub(r"(?<=DATABASE_URL=)\S+", f"'{url}'", BLOCKS[2])
        follow(written, folder, PARETOSCOPE_HOME=str(folder / "restored"))
        goes_on(folder / "restored", study, trial, 3, url)
        assert (folder / "restored" / "paretoscope.db.migrated").is_file()
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
