"""Where a study's own data may lie, by the letters of its path."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.contract.study.data_paths import check_as_written, folders_of, is_below
from service.contract.wire.errors import InvalidInput

DATA, OPENED = Path("/srv/sets"), [Path("/more"), Path("/mnt/lab")]


@pytest.mark.parametrize(
    "path", ["x", "a/b/x.csv", "a/../x", ".", "..x", "/srv/sets/x", "/more/x", "/mnt/lab/a/../x", "../../more/x"]
)
def test_what_lies_below_an_open_folder_is_allowed_however_it_is_written(path: str) -> None:
    check_as_written(path, DATA, OPENED)


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../x",
        "a/../../x",
        "/srv/sets/../x",
        "/more/../etc/passwd",
        "/mnt/lab/../x",
        "/etc/passwd",
        "/",
        "/srv",
        "/srv/sets2/x",
        "/moreover",
    ],
)
def test_what_leads_out_of_them_is_refused_and_the_refusal_names_what_was_written(path: str) -> None:
    with pytest.raises(InvalidInput) as error:
        check_as_written(path, DATA, OPENED)
    rule = "must lie below the data folder, or in a folder that PARETOSCOPE_OPEN_FOLDERS opens"
    assert error.value.message == f"data.path: {rule}, got {path!r}"
    assert [(detail.path, detail.message) for detail in error.value.details] == [("data.path", f"{rule}, got {path!r}")]


def test_without_a_setting_only_the_data_folder_is_open() -> None:
    check_as_written("x", DATA, [])
    with pytest.raises(InvalidInput):
        check_as_written("/more/x", DATA, [])


@pytest.mark.parametrize("folder", ["/more/../mnt/shared", "/mnt/./shared/", "/mnt//shared"])
def test_an_open_folder_may_be_written_with_detours_too(folder: str) -> None:
    check_as_written("/mnt/shared/x", DATA, folders_of(folder))
    with pytest.raises(InvalidInput):
        check_as_written("/mnt/x", DATA, folders_of(folder))


def test_a_folder_is_below_itself_and_a_longer_name_is_not_below_a_shorter_one() -> None:
    assert is_below("/more", OPENED) and is_below(Path("/mnt/lab/x"), OPENED)
    assert not is_below("/more2", OPENED) and not is_below("/mnt", OPENED) and not is_below("/more", [])


def test_folders_of_a_setting_stand_between_colons_and_blanks_open_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert folders_of("/a:/b c/: :~/sets:") == [Path("/a"), Path("/b c"), Path("/home/me/sets")]
    assert folders_of("") == []
