"""CONTRIBUTING tells the truth: what it says about a weighting is done in a copy of the tree, and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from tests.processes import environment, free_port, short_home, until

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
WEIGHTINGS, PAPERS = "service/contract/methods/weightings.py", "service/contract/methods/papers.py"
BIBLIOGRAPHY, PAGE = "service/contract/methods/papers.bib", "docs/methods.md"
NEW = re.compile(r"(workers|tests)/.*\.py")

# What a study with the new weighting is asked for, in an interpreter that knows the copy alone.
USED = """
from pathlib import Path

import torch

import service
from service.contract.catalog import catalog
from service.contract.methods.papers import entries
from service.contract.study.expansion import expand
from service.contract.study.parsing import check_study
from service.exports.methods import methods
from service.store.protocol import StudyRow
from service.views.fold import StudyView
from service.contract.wire.events import StudyState
from tests.workers.test_catalog import alone_as_in_a_cohort, study

assert Path(service.__file__).is_relative_to(Path.cwd()), service.__file__
torch.set_num_threads(1)
spec = study(arm={"weighting": {"name": "norm", "p": {"grid": [2.0, 3.0]}}})
assert [trial.weighting.p for trial in expand(spec)] == [2.0, 3.0]
(entry,) = [entry for entry in catalog([]).weightings if entry.name == "norm"]
assert "Miettinen" in entry.doc and entry.schema["properties"]["p"]["description"]
together = alone_as_in_a_cohort(spec)
assert len(together) == 2 and all(0 < metrics["weight_pred"] < metrics["weight_info"] for metrics in together)
view = StudyView(StudyRow("s0", spec.model_dump(by_alias=True, mode="json"), StudyState.QUEUED, "2026-01-01T00:00:00"))
done = methods(view)
assert "weighting norm [@miettinen1999nonlinear]" in done.paragraph, done.paragraph
assert entries()["miettinen1999nonlinear"] in done.bibtex
"""


def section() -> str:
    return TEXT.partition("\n## Adding a weighting\n")[2].partition("\n## ")[0]


def steps() -> dict[str, str]:
    """The files that the section names, each with its block of code."""
    found: dict[str, str] = {}
    for step in re.split(r"^\d\. ", section(), flags=re.MULTILINE)[1:]:
        head = step.partition("\n\n")[0]
        names = [name for name in re.findall(r"`([\w/.]+/[\w.]+)`", head) if "." in name]
        block = re.search(r"^   ```\w*\n(.*?)^   ```", step, re.MULTILINE | re.DOTALL)
        found |= dict.fromkeys(names, textwrap.dedent(block[1]) if block else "")
    return found


def insert(file: Path, before: str, text: str) -> None:
    """Put a text before the first line that is this one."""
    old = file.read_text()
    place = old.index(f"\n{before}") + 1
    file.write_text(old[:place] + text + old[place:])


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree as a fresh clone has it."""
    folder = tmp_path_factory.mktemp("tree") / "paretoscope"
    unwanted = shutil.ignore_patterns(".*", "__pycache__", "build", "*.egg-info", "node_modules")
    shutil.copytree(ROOT, folder, ignore=unwanted)
    return folder


class Extended(NamedTuple):
    """The copy with the section's example in it, and the files that this made new or different."""

    folder: Path
    changed: set[str]


@pytest.fixture(scope="module")
def extended(copy: Path) -> Extended:
    """The kept answers are written anew as well."""
    before = contents(copy)
    blocks = steps()
    for name, text in blocks.items():
        if NEW.fullmatch(name):
            assert not (copy / name).exists()
            (copy / name).write_text(text)
    insert(copy / WEIGHTINGS, "BY_HAND", f"{blocks[WEIGHTINGS]}\n\n")
    last = re.findall(r"^    \| (\w+),$", (copy / WEIGHTINGS).read_text(), re.MULTILINE)[-1]
    insert(copy / WEIGHTINGS, f"    | {last},\n", "    | Norm\n")
    insert(copy / PAPERS, '        "mib"', textwrap.indent(blocks[PAPERS], 8 * " "))
    insert(copy / BIBLIOGRAPHY, "@", f"{blocks[BIBLIOGRAPHY]}\n")
    insert(copy / PAGE, "| `mib`", blocks[PAGE])
    suite_of(copy, "tests/golden", PARETOSCOPE_GOLDENS="write")
    after = contents(copy)
    return Extended(copy, {name for name in before | after if before.get(name) != after.get(name)})


def run(folder: Path, *arguments: str, **settings: str) -> str:
    """An interpreter that finds the copy before the checkout; what one has compiled the next has not to."""
    command = [sys.executable, *arguments]
    variables = environment(PYTHONPATH=str(folder), **settings)
    answer = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, timeout=280, check=False
    )
    assert answer.returncode == 0, answer.stdout[-4000:] + answer.stderr[-4000:]
    return answer.stdout


def suite_of(folder: Path, *tests: str, **settings: str) -> str:
    return run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, **settings)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of the tree, but for what running it leaves behind."""
    files = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    kept = {name: path for name, path in files.items() if "__pycache__" not in name.parts and name.parts[0][0] != "."}
    return {str(name): path.read_bytes() for name, path in kept.items()}


def test_a_weighting_touches_the_files_that_the_section_names_and_no_other(extended: Extended) -> None:
    assert len(steps()) == 8
    hint = "where the kept answers were out of date before, that shows here too: `make goldens`"
    assert extended.changed == set(steps()), hint


def test_the_new_weighting_is_validated_trained_and_cited(extended: Extended) -> None:
    run(extended.folder, "-c", USED)


def test_the_trees_own_tests_hold_for_the_new_weighting(extended: Extended) -> None:
    """Its oracle, and those that walk the catalog, its papers and its page."""
    walked = "tests/workers/weightings/test_torchjd_weightings.py::test_every_weighting_trains"
    printed = suite_of(
        extended.folder,
        "tests/workers/weightings/test_norm.py",
        "tests/service/contract/test_catalog.py",
        "tests/service/contract/methods/test_papers.py",
        "tests/test_docs.py",
        f"{walked}_alone_as_in_a_cohort[norm]",
        f"{walked}_several_tasks[norm]",
    )
    assert " passed" in printed and "skipped" not in printed


def test_the_example_is_written_in_the_house_style(extended: Extended) -> None:
    python = [name for name in steps() if name.endswith(".py")]
    for command in (["check"], ["format", "--check"]):
        ruff = [str(Path(sys.executable).with_name("ruff")), *command, "--no-cache", *python]
        answer = subprocess.run(ruff, cwd=extended.folder, capture_output=True, text=True, check=False)
        assert answer.returncode == 0, answer.stdout


def test_every_target_that_is_named_exists_and_one_test_can_be_run() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = set(re.findall(r"\bmake ([a-z]+)", TEXT))
    assert {"test", "quick", "check", "serve", "goldens", "bench"} <= named
    assert not [name for name in named if f"\n{name}:" not in makefile]
    paths = re.findall(r"^\.venv/bin/pytest (\S+)", TEXT, re.MULTILINE)
    assert len(paths) == 2 and all((ROOT / path).exists() for path in paths)


@pytest.fixture
def served(copy: Path) -> Iterator[tuple[Path, str]]:
    """`make serve` in the copy, with the checkout's environment."""
    (copy / ".venv").mkdir(exist_ok=True)
    (copy / ".venv" / "installed").touch()
    port = free_port()
    with short_home() as home, (home / "log").open("wb") as log:
        process = subprocess.Popen(
            ["make", "serve", f"PORT={port}", f"BIN={Path(sys.executable).parent}"],
            cwd=copy,
            env=environment(PARETOSCOPE_HOME=str(home), PYTHONPATH=str(copy)),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield copy, f"http://127.0.0.1:{port}"
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:  # asked while it was starting again
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(timeout=10)


def answers_with(url: str, words: str) -> bool:
    try:
        return words in httpx.get(url, timeout=2, trust_env=False).text
    except httpx.HTTPError:
        return False


def test_a_service_being_worked_on_answers_with_the_newest_code(served: tuple[Path, str]) -> None:
    tree, url = served
    until(partial(answers_with, f"{url}/healthz", '"ok"'), "the service answers")
    for file, old, new, address in (
        ("service/routes/health.py", '"ok"', '"better"', "/healthz"),
        ("frontends/dashboard/index.html", "<title>", "<title>Better ", "/"),
    ):
        before = (tree / file).read_text()
        assert old in before
        try:
            (tree / file).write_text(before.replace(old, new))
            until(partial(answers_with, url + address, new), f"{file} is served anew")
        finally:
            (tree / file).write_text(before)
