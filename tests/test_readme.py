"""The README tells the truth: its study is valid, its settings are all there, its pictures exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from service.contract.parsing import parse_study
from service.settings import Settings

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_study_in_the_readme_is_valid() -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    assert len(parse_study(text, "yaml").arms) == 2


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_documented(name: str) -> None:
    assert f"`PARETOSCOPE_{name.upper()}`" in README


def test_everything_the_readme_links_to_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).is_file(), target
