"""Backups and what is restored from them: read by their owner alone, and whole whoever wrote meanwhile."""

from __future__ import annotations

import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from service.contract.wire.errors import Conflict
from service.contract.wire.events import StudyState
from service.store import keeping
from service.store.keeping import backup, restore
from service.store.sql import SqlStore
from tests.processes import service_alone, short_home, until
from tests.service.bench import Bench
from tests.service.store.played_drivers import Writer

FOLDERS = ("states", "artifacts", "code")


def mode(place: Path) -> int:
    return stat.S_IMODE(place.stat().st_mode)


def test_nobody_else_reads_a_backup_or_a_restored_home(tmp_path: Path) -> None:
    with short_home() as home:
        bench = Bench(home / "new")
        study = bench.submit()
        bench.close()
        for folder in FOLDERS:
            (home / "new" / folder / study).mkdir(parents=True)
            (home / "new" / folder / study / "file").write_text(folder)
        assert mode(home / "new") == 0o700
        file = tmp_path / "b.tar"
        left = tmp_path / "b.tar.part"
        left.touch(mode=0o666)
        left.chmod(0o666)
        backup(home / "new", None, file)
        assert mode(file) == 0o600
        opened = home / "restored"
        opened.mkdir(mode=0o755)
        restore(opened, None, file)
        assert mode(opened) == 0o700
        assert [(opened / folder / study / "file").read_text() for folder in FOLDERS] == list(FOLDERS), "all is back"
        again = Bench(opened)
        assert again.state(study) == "queued"
        again.close()


def test_a_home_with_files_is_refused_before_anything_is_written_and_a_second_try_restores(
    url: str | None, tmp_path: Path
) -> None:
    with short_home() as home:
        bench = Bench(home / "new")
        study = bench.submit()
        bench.close()
        for folder in FOLDERS:
            (home / "new" / folder / study).mkdir(parents=True, exist_ok=True)
            (home / "new" / folder / study / "file").write_text(folder)
        file, used = tmp_path / "b.tar", home / "used"
        backup(home / "new", None, file)
        for folder in FOLDERS:
            (used / folder / "s-earlier").mkdir(parents=True)
        (used / "paretoscope.db").touch()
        before = sorted(used.rglob("*"))
        with pytest.raises(Conflict, match=r"has a database already: .* move away paretoscope.db, states/, artifacts/"):
            restore(used, url, file)
        (used / "paretoscope.db").unlink()
        with pytest.raises(Conflict, match=r"files of studies already: .* move away states/, artifacts/ and code/"):
            restore(used, url, file)
        assert sorted(used.rglob("*")) == [path for path in before if path.name != "paretoscope.db"]
        for folder in FOLDERS:
            (used / folder).rename(home / folder)
        (used / "states").mkdir()
        assert restore(used, url, file).studies == 1
        assert [(used / folder / study / "file").read_text() for folder in FOLDERS] == list(FOLDERS)


def gone_on_from(home: Path, studies: list[str]) -> list[int]:
    """The lengths of its logs. They have no holes, and no state that a driver would go on from is ahead of its log."""
    with closing(SqlStore(home)) as store:  # as they were kept: a service would add to them
        numbers = {study: [logged.seq for logged in store.read(study, after=0)] for study in studies}
    assert numbers == {study: list(range(1, len(seqs) + 1)) for study, seqs in numbers.items()}
    bench = Bench(home, studies_at_once=9)
    try:
        for study in studies:
            if bench.state(study) == StudyState.PAUSED:
                assert bench.ask("POST", f"/api/studies/{study}/resume").is_success
        bench.launcher.tick()
        assert sorted(bench.cluster.started()) == sorted(f"{study}-{attempts(bench, study)}" for study in studies)
        for study in studies:
            with bench.parts.views.read(study) as view:
                told = {own: [report["epoch"] for report in trial.reports] for own, trial in view.trials.items()}
            assert told == {trial: list(range(1, len(epochs) + 1)) for trial, epochs in told.items()}
            for state in bench.get(f"/api/studies/{study}/cohorts")["cohorts"]:
                assert all(state["epoch"] <= len(told[trial]) for trial in state["members"]), (state, told)
    finally:
        bench.close()
    return [len(seqs) for seqs in numbers.values()]


def attempts(bench: Bench, study: str) -> int:
    return bench.kinds(study).count("study_started")


def test_backups_of_a_service_that_is_written_to_have_no_hole_and_no_state_ahead_of_its_log(
    url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trial of one study begins anew while a backup is taken, after its states were copied and before its log is."""
    one_file = keeping._one_file
    with short_home() as folder:
        home = folder / "home"
        home.mkdir()
        settings = {"PARETOSCOPE_DATABASE_URL": url} if url else {}
        with service_alone(home, None, **settings) as service:
            writers = [Writer(service) for _ in range(3)]

            def later(*asked: Any) -> Any:
                writers[0].retry()
                return one_file(*asked)

            for writer in writers:
                writer.start()
            try:
                for number in range(4):
                    before = [writer.epochs for writer in writers[1:]]
                    until(lambda: all(w.epochs > b for w, b in zip(writers[1:], before, strict=True)), "more", 30)  # noqa: B023
                    with monkeypatch.context() as patched:
                        patched.setattr(keeping, "_one_file", later if number == 2 else one_file)
                        backup(home, url, folder / f"{number}.tar")
            finally:
                for writer in writers:
                    writer.stop()
            assert [writer.error for writer in writers] == [None] * 3
        lengths = []
        for number in range(4):
            restore(folder / str(number), None, folder / f"{number}.tar")
            lengths.append(sum(gone_on_from(folder / str(number), [writer.study for writer in writers])))
        assert lengths == sorted(set(lengths)), "each is a later moment"
