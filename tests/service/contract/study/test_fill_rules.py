"""What a search that fills a front is refused for, each with path, rule and value."""

from __future__ import annotations

from typing import Any

import pytest

from service.contract.study.extension import Extension, extended
from service.contract.study.parsing import check_study
from service.contract.study.warnings import warnings
from service.contract.wire.errors import InvalidInput

BETA = {"range": {"from": 1e-4, "to": 1.0, "scale": "log"}}
FIXED = {"name": "fixed", "beta": BETA}
FILL = {"name": "fill", "trials": 12, "tolerance": 0.3}
GOALS = [{"metric": "i_xz_bits", "goal": "minimize"}, {"metric": "i_zy_bits", "goal": "maximize"}]


def refused(arm: dict[str, Any], **parts: Any) -> list[tuple[str, str]]:
    """Paths and messages; nothing when the study is taken."""
    try:
        check_study({"name": "s", "arms": [{"name": "a", "weighting": FIXED, "search": FILL, **arm}], **parts})
    except InvalidInput as error:
        return [(detail.path, detail.message) for detail in error.details]
    return []


def search(**change: Any) -> dict[str, Any]:
    return {"search": {**FILL, **change}}


CASES: dict[str, tuple[str, list[str], dict[str, Any], dict[str, Any]]] = {
    "no range": ("arms[0].search", ["fill", "{range: …}"], {"weighting": {"name": "fixed", "beta": 0.1}}, {}),
    "a grid": (
        "arms[0].weighting.beta.grid",
        ["search fill", "takes no grid", "beta"],
        {"weighting": {"name": "fixed", "beta": {"grid": [0.1, 1.0]}}},
        {},
    ),
    "a choice": (
        "arms[0].weighting.beta.choice",
        ["no order", "[0.1, 1.0]"],
        {"weighting": {"name": "fixed", "beta": {"choice": [0.1, 1.0]}}},
        {},
    ),
    "a choice of the study": (
        "training.learning_rate.choice",
        ["no order", "[0.1, 0.2]"],
        {"weighting": {"name": "fixed"}},
        {"training": {"learning_rate": {"choice": [0.1, 0.2]}}},
    ),
    "two ranges": (
        "arms[0].search.name",
        ["one range", "got 2", "weighting.beta, training.learning_rate"],
        {"training": {"learning_rate": BETA}},
        {},
    ),
    "three objectives": (
        "arms[0].search.name",
        ["two objectives", "i_xz_bits, i_zy_bits, accuracy"],
        {},
        {"objectives": [*GOALS, {"metric": "accuracy", "goal": "maximize"}]},
    ),
    "fewer trials than two for each seed": (
        "arms[0].search.trials",
        ["7 seeds", "at least 14", "got 12"],
        {},
        {"seeds": list(range(7))},
    ),
    "no trials": ("arms[0].search.trials", ["missing"], {"search": {"name": "fill"}}, {}),
    "one trial": ("arms[0].search.trials", ["greater than or equal to 2", "got 1"], search(trials=1), {}),
    "no tolerance at all": ("arms[0].search.tolerance", ["greater than 0", "got 0"], search(tolerance=0), {}),
    "a tolerance above the range": ("arms[0].search.tolerance", ["less than or equal to 1"], search(tolerance=1.5), {}),
    "a start without both ends": ("arms[0].search.start", ["greater than or equal to 2"], search(start=1), {}),
    "a sampler": ("arms[0].search.sampler", ["unknown key"], search(sampler="tpe"), {}),
    "a curve": ("arms[0].search", ["one point per trial", "got fill"], {"weighting": {"name": "conditional"}}, {}),
    "a simplex": (
        "arms[0].weighting.simplex",
        ["search fill takes none"],
        {"weighting": {"name": "fixed", "simplex": 3}},
        {},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_with_path_rule_and_value(name: str) -> None:
    path, words, arm, parts = CASES[name]
    told = dict(refused(arm, **parts))
    assert path in told, told
    assert all(word in told[path] for word in words), told[path]


def test_its_neighbours_are_taken() -> None:
    assert refused({}) == refused({}, seeds=list(range(6))) == refused({}, objectives=GOALS) == []


def test_a_range_without_a_search_names_both_that_take_one() -> None:
    ((path, message),) = refused({"search": {"name": "grid"}})
    assert path == "arms[0].weighting.beta.range" and "search optuna or fill" in message


def test_seeds_cannot_be_added_to_it() -> None:
    study = check_study({"name": "s", "arms": [{"name": "a", "weighting": FIXED, "search": FILL}]})
    with pytest.raises(InvalidInput, match="arm 'a' searches"):
        extended(study, Extension(seeds=[5]))
    assert extended(study, Extension(epochs=30)).training.epochs == 30


@pytest.mark.parametrize(
    ("trials", "seeds", "words"),
    [
        (10, 3, "with each of 3 seeds, and the last of 4 would have 1: give 9 or 12 trials, got 10"),
        (11, 5, "with each of 5 seeds, and the last of 3 would have 1: give 10 or 15 trials, got 11"),
        (12, 3, None),
        (7, 1, None),
    ],
)
def test_a_last_value_with_fewer_seeds_is_warned_of(trials: int, seeds: int, words: str | None) -> None:
    arms = [{"name": "a", "weighting": FIXED, "search": {**FILL, "trials": trials}}]
    study = check_study({"name": "s", "seeds": list(range(seeds)), "arms": arms})
    told = [each for each in warnings(study) if each.path == "arms[0].search.trials"]
    assert [each.message.partition("trains each value ")[2] for each in told] == ([] if words is None else [words])
