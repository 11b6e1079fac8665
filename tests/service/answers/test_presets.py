"""Presets: the YAML files of one folder, each with what its opening comment says."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.answers.presets import preset, presets
from service.contract.wire.errors import NotFound

TEXT = """# Which β is best?
#   Takes a minute.

# A comment further down is no description.
name: small
seeds: [0]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PARETOSCOPE_CONFIGS", str(tmp_path))
    return tmp_path


def test_a_preset_is_its_file_with_what_its_first_comment_says(folder: Path) -> None:
    (folder / "second.yaml").write_text(TEXT)
    (folder / "first.yaml").write_text("name: bare\n")
    (folder / "notes.md").write_text("# not a preset\n")
    bare, small = presets()
    assert (bare.name, bare.doc, bare.spec) == ("first", "", {"name": "bare"})
    assert (small.name, small.doc) == ("second", "Which β is best? Takes a minute.")
    assert (small.text, small.spec) == (TEXT, {"name": "small", "seeds": [0]})


def test_a_preset_is_found_by_its_name_and_an_unknown_one_says_which_there_are(folder: Path) -> None:
    for name in ("b", "a"):
        (folder / f"{name}.yaml").write_text(f"name: study {name}\n")
    assert preset("b").spec == {"name": "study b"}
    with pytest.raises(NotFound, match=r"there is no preset 'c'; known: a, b"):
        preset("c")


def test_without_a_folder_of_ones_own_the_presets_are_those_of_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PARETOSCOPE_CONFIGS")
    assert "beta-vs-mib-digits" in [each.name for each in presets()]
