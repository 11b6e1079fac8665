"""Packages that a folder asks for: installed once beside what is there, which stays as it is."""

from __future__ import annotations

import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from workers.own_code import packages
from workers.own_code.errors import CodeError
from workers.own_code.loading import load

WHEEL = "{name}-1.0-py3-none-any.whl"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # what is not in the folder is nowhere
    monkeypatch.setattr(sys, "path", list(sys.path))
    place = tmp_path / "code"
    (place / "wheels").mkdir(parents=True)
    yield place
    sys.modules.pop("tiny_greeting", None)


def wheel(folder: Path, name: str, text: str, needs: str = "") -> None:
    """And the line that asks for it."""
    file = f"wheels/{WHEEL.format(name=name)}"
    info = f"{name}-1.0.dist-info"
    requires = f"Requires-Dist: {needs}\n" if needs else ""
    with zipfile.ZipFile(folder / file, "w") as archive:
        archive.writestr(f"{name}.py", text)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    (folder / "requirements.txt").write_text(f"# what it needs\n./{file}\n")


def test_a_package_is_installed_once_and_imported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel(folder, "tiny_greeting", "WORD = 'hello'\n", needs="numpy")  # which is installed: nothing is fetched for it
    (folder / "main.py").write_text("from tiny_greeting import WORD\n")
    assert load(folder, "main.py").WORD == "hello"
    place = Path(sys.modules["tiny_greeting"].__file__ or "").parent
    assert sorted(path.suffix for path in place.iterdir() if path.name != "__pycache__") == [".dist-info", ".py"]
    assert place.stat().st_mode & 0o022 == 0 and sys.path[-1] == str(place)

    def refuse(*args: object) -> None:
        raise AssertionError("it is there")

    monkeypatch.setattr(packages, "_run", refuse)
    assert load(folder, "main.py").WORD == "hello"


def test_what_paretoscope_runs_with_is_not_replaced(folder: Path) -> None:
    wheel(folder, "pydantic", "")
    with pytest.raises(CodeError, match=r"^requirements.txt: needs pydantic 1.0, but 2\..* is installed here"):
        packages.provide(folder)
    assert not [path for path in sys.path if "paretoscope-packages" in path]


def test_a_package_that_cannot_be_had_is_told_by_pip_s_words(folder: Path) -> None:
    (folder / "requirements.txt").write_text("no-such-package-anywhere\n")
    with pytest.raises(CodeError, match=r"^requirements.txt: its packages cannot be installed: .*no-such-package"):
        packages.provide(folder)


def test_a_place_that_others_may_write_to_is_not_used(folder: Path) -> None:
    wheel(folder, "tiny_greeting", "")
    packages._root().chmod(0o777)
    with pytest.raises(CodeError, match="others may write there"):
        packages.provide(folder)
