"""`Problem`, `Metric` and `trainable`, as a user's file has them."""

from __future__ import annotations

from typing import Annotated, ClassVar

import pytest
from pydantic import Field, ValidationError

from paretoscope import Metric, Problem, trainable
from tests.test_architecture import modules_after


class Base(Problem):
    width: Annotated[int, Field(ge=1)] = 8


class Mine(Base):
    rate: float = Field(0.5, gt=0)
    kept: ClassVar[int] = 3


def test_values_become_attributes_of_their_types() -> None:
    mine = Mine(width="16")
    assert (mine.width, mine.rate) == (16, 0.5)
    assert Mine().width == 8


@pytest.mark.parametrize("values", [{"width": 0}, {"rate": 0.0}, {"wdith": 3}, {"kept": 4}])
def test_values_are_checked(values: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Mine(**values)


def test_a_trainable_function_is_still_one() -> None:
    @trainable(metrics={"acc": Metric("maximize")})
    def double(trial: int, by: int = 2) -> int:
        return trial * by

    assert double(3, by=4) == 12 and double.__name__ == "double"


def test_they_load_neither_torch_nor_ray() -> None:
    assert not modules_after("from paretoscope import Problem, Metric, trainable") & {
        "torch",
        "ray",
        "fastapi",
        "httpx",
    }
