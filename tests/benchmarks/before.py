"""The same work by an older tree and by this one, in turns: `make bench ARGS="before --older ../older"`.

The older tree is a checkout with an environment of its own in `.venv`. Each row is `before / now`, the median over
rounds in which one runs right after the other; who begins alternates. What asks is this tree's in both cases.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from playwright.sync_api import sync_playwright

from findings.folder import ROOT
from tests.benchmarks import grid
from tests.benchmarks.dashboard import OURS, fill, visits
from tests.benchmarks.log import spent
from tests.benchmarks.row import Row, row_of_rounds
from tests.browser.pages import CHROMIUM, QUIET
from tests.processes import PLAIN, Running, service_alone, short_home, up_of

SCRIPT = Path(__file__).parent / "in_a_tree.py"
TRIALS = (1000, 10_000)  # of the studies whose logs are folded and shown; 22 events each
GRID, MEMBERS, ASKED = 480, 32, 50
ROUNDS, GRIDS = 5, 3  # a round of the grid takes minutes
Values = Mapping[str, float]  # of a round of a tree, by the row's key

# Evaluations of the grid: the default one, as little in both trees, and next to none.
EVALUATIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "sample": {"samples": 1},
    "once": {"every": grid.EPOCHS, "samples": 1},
}


class Tree(NamedTuple):
    """A checkout, the Python of its environment, and homes with logs that it wrote itself."""

    root: Path
    python: Path
    homes: Path

    def home(self, trials: int) -> tuple[Path, str]:
        """With a finished study of so many trials, filled when it is first asked for; and that study."""
        home = self.homes / str(trials)
        note = home / "filled"
        if not note.is_file():
            home.mkdir(parents=True)
            with self.service(home) as service:
                note.write_text(fill(service, trials).study)
        return home, note.read_text()

    @contextmanager
    def service(self, home: Path) -> Iterator[Running]:
        with service_alone(home, None, self.python, self.root) as service:
            yield service

    def compile(self) -> None:
        """No run of either tree is the one that compiles its code. Templates that packages bring are no code."""
        command = [str(self.python), "-m", "compileall", "-q", "-j", "0", str(self.python.parent.parent)]
        packages = [str(self.root / name) for name in ("service", "workers", "frontends", "paretoscope")]
        subprocess.run([*command, *packages], stdout=subprocess.DEVNULL, check=False)

    def says(self, *arguments: str, asked: object = None) -> Any:
        """What the script answers that runs in this tree."""
        command = [str(self.python), "-P", str(SCRIPT), *arguments]
        environment = {**os.environ, "PYTHONPATH": str(self.root)}
        done = subprocess.run(
            command,
            cwd=self.root,
            env=environment,
            check=True,
            input=json.dumps(asked).encode(),
            stdout=subprocess.PIPE,
        )
        return json.loads(done.stdout)


def folded(tree: Tree) -> Values:
    home, study = tree.home(TRIALS[-1])
    return {"fold": tree.says("fold", str(home), study)}


def restarted(tree: Tree) -> Values:
    """Wall and CPU seconds of the service from its start until its study, then its front answers; then both again."""
    home, study = tree.home(TRIALS[-1])
    begun = time.perf_counter()
    with tree.service(home) as service, httpx.Client(base_url=service.url, timeout=60, **PLAIN) as client:
        addresses = [f"/api/studies/{study}", f"/api/studies/{study}/front"]
        cpu, wall = [], []
        for address in addresses:
            client.get(address).raise_for_status()
            wall.append(time.perf_counter() - begun)
            cpu.append(spent(service.process.pid))
        for address in addresses * ASKED:
            client.get(address).raise_for_status()
        again = 1000 * (spent(service.process.pid) - cpu[-1]) / ASKED
        return {"restart": cpu[0], "restart-front": cpu[1], "restart-wall": wall[1], "again": again}


def trained(tree: Tree) -> Values:
    specs = [{**grid.study(GRID), "evaluation": evaluation} for evaluation in EVALUATIONS.values()]
    seconds = tree.says("cohort", asked={"specs": specs, "members": MEMBERS})
    return dict(zip((f"cohort-{name}" for name in EVALUATIONS), seconds, strict=True))


def gridded(tree: Tree) -> Values:
    """Seconds from submission to finished, as the service notes both, and those of training, summed over trials."""
    values = {}
    with short_home() as home, up_of(tree.python, home) as running:
        for name in ("sample", "default"):
            spec = {**grid.study(GRID), "evaluation": EVALUATIONS[name]}
            path = f"/api/studies/{running.post('/api/studies', json=spec).raise_for_status().json()['id']}"
            while (study := running.get(path).raise_for_status().json())["state"] in ("queued", "running"):
                time.sleep(1)  # to ask more often would be work for the service
            trials = running.get(f"{path}/trials", limit=1000).json()["trials"]
            assert [trial["state"] for trial in trials] == ["finished"] * GRID, study
            created, ended = (datetime.fromisoformat(study[at]) for at in ("created_at", "ended_at"))
            values[f"grid-{name}"] = (ended - created).total_seconds()
            values[f"grid-{name}-training"] = sum(trial["training_seconds"] for trial in trials)
    return values


def drawn(tree: Tree) -> Values:
    values: dict[str, float] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET)
        for trials in TRIALS:
            home, study = tree.home(trials)
            with tree.service(home) as service:
                first, later = visits(browser, f"{service.url}/studies/{study}", OURS)
            values |= {f"front-{trials}-first": first.seconds, f"front-{trials}": later.seconds}
        browser.close()
    return values


LOG = f"{22 * TRIALS[-1]:,} events"
SHARED = f"{MEMBERS} of the grid of {GRID} trials"
FRONT = "time to the painted Pareto front"
# Each part of the group: what measures it, and its rows with their units.
PARTS: dict[str, tuple[Callable[[Tree], Values], dict[str, tuple[str, str]]]] = {
    "fold": (folded, {"fold": (f"the fold of a log of {LOG}", "CPU s")}),
    "restart": (
        restarted,
        {
            "restart": (f"restart until a study of {LOG} answers", "CPU s"),
            "restart-front": ("restart until its front has answered too", "CPU s"),
            "restart-wall": ("the same on the wall’s clock", "s"),
            "again": ("study and front, asked again", "CPU ms"),
        },
    ),
    "cohort": (
        trained,
        {
            "cohort-once": (f"a cohort of {SHARED}, evaluated once", "CPU s"),
            "cohort-sample": (f"a cohort of {SHARED}, evaluated every epoch with one latent sample", "CPU s"),
            "cohort-default": (f"a cohort of {SHARED}, with the default evaluation", "CPU s"),
        },
    ),
    "grid": (
        gridded,
        {
            "grid-sample": (f"the grid of {GRID} trials, evaluated with one latent sample", "s"),
            "grid-sample-training": ("its training alone", "s"),
            "grid-default": (f"the grid of {GRID} trials, with the default evaluation", "s"),
            "grid-default-training": ("its training alone, evaluated so", "s"),
        },
    ),
    "front": (
        drawn,
        {
            name: (f"{trials:,} trials, {FRONT}{words}", "s")
            for trials in TRIALS
            for name, words in (
                (f"front-{trials}-first", ", first visit after a start"),
                (f"front-{trials}", ""),
            )
        },
    ),
}


def compared(older: Path, homes: Path, parts: list[str], rounds: int | None = None) -> list[Row]:
    """The rows of these parts, of all of them without one."""
    trees = {
        "before": Tree(older, older / ".venv" / "bin" / "python", homes / "before"),
        "now": Tree(ROOT, Path(sys.executable), homes / "now"),
    }
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for tree in trees.values():
        tree.compile()
    rows = []
    for part in parts or PARTS:
        measure, words = PARTS[part]
        seen: dict[str, list[Values]] = {name: [] for name in trees}
        for turn in range(rounds or (GRIDS if part == "grid" else ROUNDS)):
            for name in list(trees)[:: 1 if turn % 2 == 0 else -1]:
                seen[name].append(measure(trees[name]))
                print(part, turn, name, {key: round(value, 4) for key, value in seen[name][-1].items()}, flush=True)
        for key, (what, unit) in words.items():
            first, second = ([values[key] for values in seen[name]] for name in ("before", "now"))
            rows.append(row_of_rounds(f"before-{key}", "before", f"{what}: before / now", first, second, unit))
    return rows
