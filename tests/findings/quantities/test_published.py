"""Published values beside a kept study."""

from __future__ import annotations

from pathlib import Path

import pytest

from findings import published_values as published
from findings.folder import FOLDER, asked
from findings.quantities.published import deviations
from findings.quantities.volumes import volumes
from findings.replay import view_of
from tests.findings.quantities.test_quantities import FIVE, said

TABLE = """
source: a paper
quantity: hypervolume
decimals: 2
arms: {MIB: [11.5, 0.5]}
"""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "five.yaml").write_text(TABLE)
    monkeypatch.setattr(published, "FOLDER", tmp_path)


@pytest.mark.usefixtures("table")
def test_ours_stand_beside_what_is_published_and_how_far_apart_they_are() -> None:
    assert said("published(five; MIB)") == "11.50 (0.50)"
    own = list(volumes(view_of(FIVE), "MIB").values())
    mean = sum(own) / len(own)
    deviation = (sum((v - mean) ** 2 for v in own) / (len(own) - 1)) ** 0.5
    assert said("measured beside(five; MIB)") == f"{mean:.2f} ({deviation:.2f})"
    apart = (mean - 11.5) / (deviation**2 + 0.5**2 + 0.01**2 / 12) ** 0.5
    assert said("deviations apart(five; MIB)") == f"{apart:+.1f}".replace("-", "−")


@pytest.mark.usefixtures("table")
def test_an_arm_that_nobody_published_has_ours_alone() -> None:
    assert said("published(five; manual β)") == said("deviations apart(five; manual β)") == "–"
    assert "(" in said("measured beside(five; manual β)")


def test_equal_runs_and_no_published_spread_are_held_against_the_rounding() -> None:
    rounding = 0.001 / 12**0.5
    assert deviations([0.2834, 0.2834], 0.283, None, rounding) == pytest.approx(0.0004 / rounding)


def test_a_table_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match=r"there is no docs/findings/published/five\.yaml"):
        said("published(five; MIB)")


@pytest.mark.parametrize("path", sorted((FOLDER / "published").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_published_row_is_of_an_arm_of_its_study(path: Path) -> None:
    arms = {arm.name for arm in asked(path.stem).study.arms}
    own = published.published(path.stem)
    assert own.arms and own.arms.keys() <= arms and own.source
