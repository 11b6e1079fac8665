"""What it costs to check and expand a study grows with its values, not with their square."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from service.contract.methods.models import MOST_HEADS
from service.contract.study.axis_sizes import MOST_VALUES
from service.contract.study.expansion import expand
from service.contract.study.extension import Extension, extended
from service.contract.study.parsing import MOST_LISTED, check_study, parse, read
from service.contract.study.study import Study
from service.contract.wire.errors import InvalidInput

TIMES_AS_MANY = 8  # values, which may cost twice as many times as much; what is quadratic costs 64 times as much
OPTUNA = {"name": "optuna", "trials": 5}
Body = dict[str, Any]


def study(**change: Any) -> Body:
    return {"name": "s", "limits": {"trials": 20_000}, **change}


def arm(beta: Any, **change: Any) -> Body:
    return {"name": "a", "weighting": {"name": "fixed", "beta": beta}, **change}


def several(count: int) -> list[float]:
    return [0.001 * (i + 1) for i in range(count)]


def of_arms(count: int, training: Callable[[int], Body]) -> Body:
    arms = [{**arm(1.0), "name": f"a{i}", "training": {"epochs": i + 1}} for i in range(64)]
    return study(training=training(count // 64), arms=arms)


BODIES: dict[str, Callable[[int], Body]] = {
    "list": lambda n: study(arms=[arm({"grid": several(n)})]),
    "refused list": lambda n: study(arms=[arm({"grid": [-each for each in several(n)]})]),
    "list of no numbers": lambda n: study(arms=[arm({"grid": [None] * n})]),
    "twice at its end": lambda n: study(arms=[arm({"grid": [*several(n - 1), 0.001 * (n - 1)]})]),
    "choice": lambda n: study(arms=[arm({"choice": several(n)}, search=OPTUNA)]),
    "weights": lambda n: study(
        arms=[{"name": "a", "weighting": {"name": "fixed", "weights": {"info": {"grid": several(n)}}}}]
    ),
    "list that 64 arms share": lambda n: of_arms(n, lambda own: {"learning_rate": {"grid": several(own)}}),
    "width and heads": lambda n: study(
        model={
            "name": "transformer",
            "width": {"choice": [64 * (i + 1) for i in range(n)]},
            "heads": {"choice": [1, 2]},
        },
        arms=[arm(1.0, search=OPTUNA)],
    ),
}


def seconds(body: Body) -> float:
    """Of this process, the least of a few times."""
    took = []
    for _ in range(3):
        begun = time.process_time()
        try:
            expand(parse(read(json.dumps(body), "json")))
        except InvalidInput as error:
            assert len(error.details) <= MOST_LISTED
        took.append(time.process_time() - begun)
    return min(took)


@pytest.mark.parametrize("make", BODIES.values(), ids=BODIES)
def test_cost_grows_with_the_number_of_values(make: Callable[[int], Body]) -> None:
    few, many = seconds(make(400)), seconds(make(400 * TIMES_AS_MANY))
    assert many < 2 * TIMES_AS_MANY * max(few, 0.005)


def test_more_values_than_a_study_may_have_trials_are_not_looked_at() -> None:
    spans = {key: {"grid": {"from": 0.1, "to": 1.0, "count": 10_000}} for key in ("learning_rate", "l1", "l2")}
    for body in (
        study(arms=[{**arm(1.0), "name": f"a{i}", "training": spans} for i in range(64)]),
        study(training={"l1": {"choice": several(MOST_VALUES // 64 + 1)}}, arms=[arm(1.0)] * 64),
        study(training={"l1": {"choice": several(MOST_VALUES // 4 + 1)}}, arms=[{"weighting": {"choice": [{}] * 4}}]),
    ):
        begun = time.process_time()
        with pytest.raises(InvalidInput, match="grids and choices of all arms together have") as refused:
            parse(read(json.dumps(body), "json"))
        assert [detail.path for detail in refused.value.details] == ["arms"]
        assert time.process_time() - begun < 0.5


def test_too_many_trials_are_told_before_the_values_are_looked_at() -> None:
    """Of which none is right."""
    with pytest.raises(InvalidInput, match=r"over limits\.trials = 500") as refused:
        check_study({"name": "s", "arms": [arm({"grid": [-each for each in several(501)]})]})
    assert [detail.path for detail in refused.value.details] == ["limits.trials"]


def test_a_person_is_told_a_hundred_broken_rules_and_how_many_more_there_are() -> None:
    with pytest.raises(InvalidInput) as refused:
        check_study(study(arms=[arm({"grid": [-each for each in several(1000)]})]))
    assert len(refused.value.details) == MOST_LISTED == 100
    assert refused.value.message.endswith("got -0.001 (and 999 more, of which 99 are listed)")


@pytest.mark.parametrize(
    ("axes", "path", "rule"),
    [
        ({"width": {"grid": ["wide"]}}, "model.width.grid[0]", "valid integer, got 'wide'"),
        ({"heads": {"grid": [0, 4]}}, "model.heads.grid[0]", "greater than or equal to 1, got 0"),
        ({"heads": {"grid": ["two"]}}, "model.heads.grid[0]", "valid integer, got 'two'"),
        ({"width": 1000, "heads": {"grid": [1000]}}, "model.heads.grid[0]", f"less than or equal to {MOST_HEADS}"),
        ({"width": {"grid": [32, 36]}, "heads": {"grid": [4, 8]}}, "model", "heads must divide width, got 8 and 36"),
    ],
)
def test_heads_and_widths_that_are_none_are_told_of_each(axes: Body, path: str, rule: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_study(study(model={"name": "transformer", **axes}, arms=[arm(1.0)]))
    assert [detail.path for detail in refused.value.details] == [path]
    assert rule in refused.value.details[0].message


def test_an_extension_costs_as_its_values_do() -> None:
    grid: Study = check_study(study(arms=[arm({"grid": [float(i) for i in range(9000)]})]))

    def cost(count: int) -> float:
        begun = time.process_time()
        with pytest.raises(InvalidInput):
            extended(grid, Extension(grid={"a": {"weighting.beta": [0.5 + i for i in range(count)]}}))
        return time.process_time() - begun

    assert cost(16_000) < 4 * max(cost(2000), 0.1)
