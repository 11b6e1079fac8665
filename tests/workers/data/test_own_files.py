"""Files that a study names itself: only below the data folder, or where a setting opens another."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.contract.methods.data import ImageFolder, Text
from service.contract.wire.errors import InvalidInput, NotFound
from tests.workers import stand_ins
from workers.data import load

SECRET = "root:x:0:0"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder beside one with a secret."""
    (tmp_path / "data").mkdir()
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "passwd").write_text(f"{SECRET}\n")
    return tmp_path / "data"


def outside(folder: Path) -> list[str]:
    (folder / "link").symlink_to(folder.parent / "else")
    (folder / "file.csv").symlink_to(folder.parent / "else" / "passwd")
    (folder / "round").symlink_to(folder / "round")
    elsewhere = str(folder.parent / "else" / "passwd")
    return [
        "/etc/passwd",
        elsewhere,
        "../else/passwd",
        "a/../../else/passwd",
        "link/passwd",
        "file.csv",
        "..",
        "/",
        "round",
    ]


@pytest.mark.parametrize("kind", [Text, ImageFolder])
def test_what_lies_outside_is_refused_unread_and_not_told_from_what_is_not_there(
    folder: Path, kind: type[Text] | type[ImageFolder]
) -> None:
    for path in [*outside(folder), "/no/such/file", "../nothing"]:
        with pytest.raises(InvalidInput) as error:
            load(kind(path=path), folder)
        rule = "must lie below the data folder, or in a folder that PARETOSCOPE_OPEN_FOLDERS opens"
        assert error.value.message == f"data.path: {rule}, got {path!r}"
        assert error.value.details[0].path == "data.path"


def test_a_link_among_the_files_of_a_folder_is_seen(folder: Path) -> None:
    for split in ("train", "test"):
        for label in ("a", "b"):
            (folder / "texts" / split / label).mkdir(parents=True)
            (folder / "texts" / split / label / "1.txt").write_text("good")
    assert load(Text(path="texts"), folder).classes == 2
    (folder / "texts" / "train" / "a" / "2.txt").symlink_to(folder.parent / "else" / "passwd")
    stand_ins.put_domains(folder / "pacs")
    (folder / "pacs" / "photo" / "cat" / "9.jpg").symlink_to(folder.parent / "else" / "passwd")
    for spec in (Text(path="texts"), ImageFolder(path="pacs")):
        with pytest.raises(InvalidInput, match="must lie below the data folder") as error:
            load(spec, folder)
        assert SECRET not in str(error.value)


def test_a_setting_opens_other_folders(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = folder.parent / "else"
    stand_ins.put_texts(other / "t.csv")
    (folder / "linked").symlink_to(other)
    monkeypatch.setenv("PARETOSCOPE_OPEN_FOLDERS", f"/nowhere:{other}")
    for path in (str(other / "t.csv"), "linked/t.csv", "../else/t.csv"):
        assert load(Text(path=path), folder).classes == 2
    with pytest.raises(NotFound):
        load(Text(path=str(other / "nothing")), folder)
    with pytest.raises(InvalidInput) as error:
        load(Text(path=str(other / "passwd")), folder)
    assert "columns" in error.value.message and SECRET not in error.value.message
    with pytest.raises(InvalidInput, match="must lie below"):
        load(Text(path="/etc/passwd"), folder)
