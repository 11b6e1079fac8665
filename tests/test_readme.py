"""The README tells the truth: its study has its arms, its settings are all there. Links and snippets: test_docs.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from service.contract.study.parsing import parse_study
from service.settings import Settings

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_the_study_in_the_readme_is_the_one_it_talks_about() -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)
    assert [arm.name for arm in parse_study(text, "yaml").arms] == ["manual β", "MIB", "all β at once"]


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_documented_with_its_default(name: str) -> None:
    (row,) = re.findall(rf"^\| `PARETOSCOPE_{name.upper()}` \|.*$", README, re.MULTILINE)
    default = Settings.model_fields[name].default
    if isinstance(default, (int, str)):
        assert f"`{default}`" in row
    assert (Settings.model_fields[name].description or "?") in row


def test_people_import_the_client_by_the_packages_name() -> None:
    assert "from paretoscope import Client" in README
    assert "frontends" not in "".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL))
