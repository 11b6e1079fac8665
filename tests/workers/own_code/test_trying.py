"""What is said of a problem after its first batch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workers.own_code.parts import two_heads, written
from workers.own_code import choosing
from workers.own_code.describing import describe
from workers.own_code.errors import CodeError
from workers.own_code.trying import tried


def test_a_description_says_whether_members_stack_and_why_not(tmp_path: Path) -> None:
    said = []
    for number, noise in enumerate(("", "h = h if h.sum() > 0 else 2 * h")):
        folder = tmp_path / str(number)
        folder.mkdir()
        code = written(folder, two_heads(noise=noise))
        (mine,) = describe(folder, "mine.py")
        said.append(tried(code, mine))
    assert said[0].stacks is said[0].stacking.startswith("stacked: ") and said[1].stacks is False
    assert "members together" in said[0].stacking and "data-dependent control flow" in said[1].stacking


def test_what_loses_on_time_is_said_not_to_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It could, but its members do not train together."""
    choose = choosing.choose
    monkeypatch.setattr(choosing, "choose", lambda *how: choose(*how)._replace(ratio=0.5, words="not stacked: slower"))
    code = written(tmp_path, two_heads())
    (mine,) = describe(tmp_path, "mine.py")
    said = tried(code, mine)
    assert (said.stacks, said.stacking) == (False, "not stacked: slower")


def test_a_fault_is_known_before_anything_is_trained(tmp_path: Path) -> None:
    code = written(tmp_path, two_heads().replace("(b - p).abs().mean()", "(b - p).abs()"))
    (mine,) = describe(tmp_path, "mine.py")
    with pytest.raises(CodeError, match=r"mine\.py:33: metric 'mae' of measure must be one number"):
        tried(code, mine)


def test_what_has_no_default_is_not_tried(tmp_path: Path) -> None:
    code = written(tmp_path, two_heads().replace("width: int = 8", "width: int"))
    (mine,) = describe(tmp_path, "mine.py")
    assert tried(code, mine).stacks is None
