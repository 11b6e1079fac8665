"""Code that is read before anything is trained: what does not come to an end is refused with its line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from service.contract.wire.reading import CodeReading
from tests.workers.own_code.parts import two_heads
from workers import describe_code

pytestmark = pytest.mark.timeout(60)

SECONDS = 2


@pytest.fixture(scope="module", autouse=True)
def imported(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What torch imports with its first vmap has no part in the time of the code."""
    assert read(tmp_path_factory.mktemp("good"), two_heads()).refusal is None


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(describe_code, "IMPORT_SECONDS", SECONDS)
    monkeypatch.setattr(describe_code, "TRY_SECONDS", SECONDS)
    monkeypatch.setattr(describe_code, "ALL_SECONDS", 600)


def read(folder: Path, text: str) -> CodeReading:
    (folder / "mine.py").write_text(text)
    return describe_code.read(folder, "mine.py")


@pytest.mark.parametrize(
    ("before", "method"),
    [
        ('        a, b = model(x)\n        return {"class"', "losses"),
        ("        return Net(self.width)", "model"),
        ('        a, b = model(x)\n        return {"acc"', "measure"),
    ],
)
def test_a_first_batch_without_an_end_is_refused_with_its_line(tmp_path: Path, before: str, method: str) -> None:
    text = two_heads().replace(before, f"        while True: pass\n{before}")
    refusal = read(tmp_path, text).refusal
    assert refusal is not None and refusal.file == "mine.py"
    assert refusal.line == text.splitlines().index("        while True: pass") + 1
    assert refusal.message == f"Mine had not ended its first batch after {SECONDS} s (in {method})"


def test_data_that_come_from_far_are_waited_for_in_the_training_itself(tmp_path: Path) -> None:
    text = two_heads().replace(
        "g = torch.Generator()", f"import time; time.sleep({SECONDS + 1}); g = torch.Generator()"
    )
    reading = read(tmp_path, text)
    assert reading.refusal is None and reading.problems is not None
    assert (
        reading.problems[0].stacks is None and f"data were not there after {SECONDS} s" in reading.problems[0].stacking
    )


def test_code_that_is_only_slow_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(describe_code, "ALL_SECONDS", 1)
    head = "def losses(self, model, batch):"
    text = "import time\n" + two_heads().replace(head, f"{head}\n        time.sleep(0.4)")
    reading = read(tmp_path, text)
    assert reading.refusal is None and reading.problems is not None
    assert reading.problems[0].stacking == "not tried: its first batches took longer than 1 s"


def test_an_import_without_an_end_is_refused_with_its_line(tmp_path: Path) -> None:
    refusal = read(tmp_path, f"{two_heads()}\nwhile True:\n    pass\n").refusal
    assert refusal is not None and refusal.message.startswith(f"importing it took longer than {SECONDS} s")
    lines = two_heads().count("\n")
    assert refusal.file == "mine.py" and refusal.line in (lines + 2, lines + 3)


@pytest.mark.timeout(20)
def test_an_import_that_catches_what_ends_it_has_its_line_told_before_the_process_ends(tmp_path: Path) -> None:
    """In a process of its own, which nothing else ends."""
    endless = "while True:\n    try:\n        time.sleep(0.01)\n    except:\n        pass\n"
    (tmp_path / "mine.py").write_text("import time\n" + endless)
    command = [sys.executable, "-c", ENDLESS, str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=15, check=True)
    refusal = CodeReading.model_validate_json(said.stdout).refusal
    assert refusal is not None and (refusal.file, refusal.line) == ("mine.py", 4)
    assert refusal.message.startswith("importing it took longer than 1 s")


ENDLESS = """
import os, sys
from pathlib import Path
from workers import describe_code
from workers.own_code import time_limit

def last_word(reading):
    os.write(1, reading.model_dump_json().encode())
    os._exit(0)

describe_code.IMPORT_SECONDS, time_limit.AGAIN_SECONDS = 1, 0.2
last_word(describe_code.read(Path(sys.argv[1]), "mine.py", last_word))
"""


def test_an_import_that_caught_the_interruption_and_ended_is_refused_too(tmp_path: Path) -> None:
    refusal = read(tmp_path, "try:\n    while True:\n        pass\nexcept:\n    pass\n" + two_heads()).refusal
    assert refusal is not None and refusal.message.startswith(f"importing it took longer than {SECONDS} s")
    assert refusal.file == "mine.py" and refusal.line in (2, 3)
