"""Types are checked beside the tests: whichever of the two fails, the target does, and what both say is shown."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
USED = ("make", "sh", "mkdir", "rm", "cat", "id", "ls")  # and no node: the page's scripts are another matter


def made(target: str, folder: Path, tests: int, types: int) -> tuple[int, str]:
    """The target, with programs in place of ours that say what they are and end with these codes."""
    for name, code in (("pytest", tests), ("mypy", types), ("ruff", 0), ("python", tests)):
        (folder / name).write_text(f"#!/bin/sh\necho {name} ran\nexit {code}\n")
        (folder / name).chmod(0o755)
    for name in USED:
        (folder / name).symlink_to(str(shutil.which(name)))
    command = ["make", "-s", target, "-o", ".venv/installed", f"BIN={folder}", f"SAID={folder}/said"]
    command += ["-o", "browser", "-o", "datasets", "-o", "postgresql"]
    variables = {"PATH": str(folder)}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize("target", ["test", "quick"])
@pytest.mark.parametrize(("tests", "types"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_a_target_fails_with_its_tests_and_with_the_types(target: str, tests: int, types: int, tmp_path: Path) -> None:
    code, said = made(target, tmp_path, tests, types)
    assert (code == 0) == (tests == types == 0)
    assert said.index("ruff ran") < said.index("pytest ran") < said.index("mypy ran")


@pytest.mark.parametrize("target", ["test", "quick", "check", "scripts"])
def test_a_target_says_that_scripts_were_not_checked_where_there_is_no_node(target: str, tmp_path: Path) -> None:
    code, said = made(target, tmp_path, tests=0, types=0)
    assert code == 0 and "The page's scripts were not checked: there is no node on this machine." in said


def test_a_machine_with_node_but_without_npm_is_one_without(tmp_path: Path) -> None:
    (tmp_path / "node").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "node").chmod(0o755)
    code, said = made("scripts", tmp_path, tests=0, types=0)
    assert code == 0 and "there is no node" in said
