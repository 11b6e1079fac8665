"""What a disturbed study leaves behind when all has ended: nothing that anybody would have to clear away."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from frontends.cli.local_ray import processes_of
from service.store.states import States
from workers.run_study import SCRATCH


def leftovers(home: Path, drivers: set[int]) -> Iterator[str]:
    """`drivers` are the processes whose folders for Tune's files were ours."""
    yield from (f"process {process.pid}" for process in processes_of(home / "ray"))
    yield from (f"process {pid}: {title}" for pid, title in _mentioning(str(home)))
    scratch = Path(tempfile.gettempdir()).glob(f"{SCRATCH}*")
    yield from (str(path) for path in scratch if path.name.removeprefix(SCRATCH).split("-")[0] in map(str, drivers))
    kept = {file.place for file in States(home / "states").files() if (head := file.head()) and head.is_final}
    for folder in ("states", "drivers"):  # what a training is at its end stays, for more epochs
        yield from (str(path) for path in (home / folder).rglob("*") if path.is_file() and path not in kept)
    yield from (str(path) for path in (home / "artifacts").rglob(".*"))
    sessions = [path for path in (home / "ray").glob("session_*") if not path.is_symlink()]
    yield from (f"an old session of Ray: {path}" for path in sorted(sessions)[:-1])
    yield from (str(path) for path in home.glob(".*"))
    yield from (str(path) for path in [home / "service.json"] if path.exists())


def _mentioning(words: str) -> Iterator[tuple[int, str]]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            title = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if words in title:
            yield int(folder.name), title[:120]
