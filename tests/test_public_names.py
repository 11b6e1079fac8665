"""What people import: these names, and nothing heavy comes along."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from pydantic import ValidationError

import paretoscope
from paretoscope import Problem
from tests.test_architecture import modules_after


def test_the_package_has_exactly_its_public_names() -> None:
    names = [name for name in paretoscope.__all__ if name != "__version__"]
    of_asking = ["LeaseOver", "Metric", "NoTrialLeft", "NoTrialNow"]
    assert sorted(names) == ["Client", "ClientError", *of_asking, "Problem", "Study", "trainable"]
    assert "__version__" in paretoscope.__all__ and [getattr(paretoscope, name).__name__ for name in names] == names


def test_a_name_that_it_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'paretoscope' has no attribute 'Cleint'"):
        paretoscope.__getattr__("Cleint")
    assert paretoscope.__version__ == version("paretoscope")


def test_importing_it_loads_neither_torch_nor_ray_nor_the_service() -> None:
    assert not modules_after("import paretoscope") & {"torch", "ray", "fastapi", "httpx", "service", "frontends"}
    assert not modules_after("from paretoscope import Problem, Metric, trainable") & {
        "torch",
        "ray",
        "fastapi",
        "httpx",
    }
    assert not modules_after("from paretoscope import Client, NoTrialLeft, Study") & {
        "torch",
        "ray",
        "fastapi",
        "service",
        "pandas",
    }


class Mine(Problem):
    width: int = 8


def test_a_problem_made_by_hand_takes_its_own_parameters_and_no_misspelt_one() -> None:
    assert (Mine().width, Mine(width=3).width) == (8, 3)
    for wrong in ({"widht": 3}, {"width": "wide"}):
        with pytest.raises(ValidationError, match=next(iter(wrong))):
            Mine(**wrong)
