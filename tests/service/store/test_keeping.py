"""Backups and what is restored from them are read by their owner alone, whatever was there before."""

from __future__ import annotations

import stat
from pathlib import Path

from service.store.keeping import backup, restore
from tests.processes import short_home
from tests.service.bench import Bench

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
