"""A user's files are imported and stand in for nothing of ours."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from workers.own_code.errors import CodeError
from workers.own_code.loading import MODULE, load


def test_the_files_beside_the_entry_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("WIDTH = 3\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "inner.py").write_text("from net import WIDTH\nDOUBLE = 2 * WIDTH\n")
    (tmp_path / "mine.py").write_text("from parts.inner import DOUBLE\n")
    assert load(tmp_path, "mine.py").DOUBLE == 6


def test_code_of_another_folder_is_forgotten(tmp_path: Path) -> None:
    for name, width in (("a", 3), ("b", 4)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "net.py").write_text(f"WIDTH = {width}\n")
        (tmp_path / name / "mine.py").write_text("from net import WIDTH\n")
        module = load(tmp_path / name, "mine.py")
        assert vars(module)["WIDTH"] == width


def test_nothing_is_written_into_the_folder(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("WIDTH = 3\n")
    (tmp_path / "mine.py").write_text("import net\n")
    load(tmp_path, "mine.py")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.py", "net.py"]


@pytest.mark.parametrize("name", ["service", "workers", "paretoscope", "frontends", "json", "torch", MODULE])
def test_a_name_of_ours_or_of_python_is_refused(tmp_path: Path, name: str) -> None:
    before = sys.modules.get(name)
    (tmp_path / f"{name}.py").write_text("x = 1\n")
    (tmp_path / "mine.py").write_text("x = 1\n")
    for entry in ("mine.py", f"{name}.py"):
        with pytest.raises(CodeError, match=f"may not be called '{name}'") as refusal:
            load(tmp_path, entry)
        assert refusal.value.file == f"{name}.py"
    assert sys.modules.get(name) is before


@pytest.mark.parametrize("entry", ["../mine.py", "/etc/passwd", "none.py", "text.txt"])
def test_an_entry_must_be_a_python_file_of_the_folder(tmp_path: Path, entry: str) -> None:
    (tmp_path / "text.txt").write_text("")
    with pytest.raises(CodeError, match="entry must be"):
        load(tmp_path, entry)


def test_an_error_names_the_deepest_line_of_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import json\n\n\njson.loads('{')\n")
    (tmp_path / "mine.py").write_text("\nimport net\n")
    with pytest.raises(CodeError, match="JSONDecodeError") as refusal:
        load(tmp_path, "mine.py")
    assert (refusal.value.file, refusal.value.line) == ("net.py", 4)


def test_packages_within_packages_and_relative_imports_work_everywhere(tmp_path: Path) -> None:
    inner = tmp_path / "parts" / "inner"
    inner.mkdir(parents=True)
    for place in (tmp_path / "parts", inner):
        (place / "__init__.py").write_text("")
    (tmp_path / "parts" / "sizes.py").write_text("WIDTH = 3\n")
    (inner / "net.py").write_text("from ..sizes import WIDTH\nfrom . import depth\nBOTH = (WIDTH, depth.DEPTH)\n")
    (inner / "depth.py").write_text("DEPTH = 2\n")
    (tmp_path / "near.py").write_text("NEAR = 1\n")
    (tmp_path / "mine.py").write_text("from .near import NEAR\nfrom .parts.inner.net import BOTH\nimport parts.sizes\n")
    module = load(tmp_path, "mine.py")
    assert (module.NEAR, module.BOTH, module.parts.sizes.WIDTH) == (1, (3, 2), 3)
    (tmp_path / "near.py").write_text("NEAR = 5\n")
    assert load(tmp_path, "mine.py").NEAR == 5, "nothing of the first time is left"
    assert not list(tmp_path.rglob("__pycache__"))
