from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.contract.catalog import catalog
from service.contract.methods.models import Mlp
from service.contract.methods.problems import Bottleneck
from service.contract.methods.searches import OptunaSearch
from service.contract.methods.weightings import Fixed
from service.contract.parameters.axes import Choice, Grid, Range, listed
from service.contract.study.expansion import Slot, count_trials, expand, resolve, searched, searched_keys
from service.contract.study.parsing import check_study
from service.contract.study.study import Study, Training
from service.contract.wire.errors import InvalidInput

BETA = {"range": {"from": 1e-4, "to": 1.0, "scale": "log"}}
RATE = {"range": {"from": 1e-4, "to": 0.1, "scale": "log"}}


def arm(**change: Any) -> dict[str, Any]:
    return {
        "name": "tuned",
        "weighting": {"name": "fixed", "beta": BETA},
        "model": {"latent": {"choice": [4, 8]}},
        "training": {"learning_rate": RATE},
        "search": {"name": "optuna", "trials": 12},
        **change,
    }


def study(seeds: list[int] | None = None, **change: Any) -> Study:
    return check_study({"name": "s", "seeds": seeds or [0], "arms": [arm(**change)]})


def first_slot(study: Study) -> Slot:
    slot = expand(study)[0]
    assert isinstance(slot, Slot)
    return slot


seeds = st.lists(st.integers(0, 100), min_size=1, max_size=5, unique=True)


@given(st.integers(1, 60), seeds)
def test_a_search_has_exactly_the_asked_number_of_trials_dealt_to_the_seeds_in_turn(n: int, seeds: list[int]) -> None:
    checked = study(seeds, search={"name": "optuna", "trials": n})
    slots = expand(checked)
    assert count_trials(checked) == {"tuned": n}
    assert len({slot.id for slot in slots}) == len(slots) == n
    assert [slot.seed for slot in slots] == [seeds[i % len(seeds)] for i in range(n)]


@given(st.integers(1, 30), st.integers(1, 30))
def test_ids_of_slots_survive_more_trials_and_other_ranges(n: int, more: int) -> None:
    ids = [slot.id for slot in expand(study([0, 1], search={"name": "optuna", "trials": n}))]
    search = {"name": "optuna", "trials": n + more, "sampler": "random"}
    longer = expand(study([0, 1], search=search, model={"latent": {"choice": [4, 8, 16]}}))
    assert [slot.id for slot in longer][:n] == ids


def test_ids_of_slots_are_the_same_tomorrow() -> None:
    assert [slot.id for slot in expand(study())][:2] == ["t1d3b56b7e52a", "tfd5a0b571b74"]


def test_a_slot_lacks_what_is_searched_until_it_is_resolved() -> None:
    slot = first_slot(study(model={"latent": {"choice": [4, 8]}, "widths": [8]}))
    keys = ["weighting.beta", "model.latent", "training.learning_rate"]
    assert list(searched(slot)) == keys == searched_keys(study())["tuned"]
    assert not set(keys) & set(slot.config) and slot.config["model.widths"] == [8]
    values = {"weighting.beta": 0.013, "model.latent": 8, "training.learning_rate": 0.01}
    trial = resolve(slot, values)
    assert isinstance(trial.weighting, Fixed) and trial.weighting.beta == 0.013
    assert (trial.model.latent, trial.training.learning_rate) == (8, 0.01)
    assert trial.config == slot.config | values
    assert (trial.id, trial.arm, trial.seed, trial.problem) == (slot.id, slot.arm, slot.seed, Bottleneck())
    kinds = (Bottleneck, Fixed, Mlp, Training)
    assert tuple(map(type, (trial.problem, trial.weighting, trial.model, trial.training))) == kinds, "without axes"


def test_a_slot_survives_the_way_to_another_process() -> None:
    slot = first_slot(study())
    values = {"weighting.beta": 0.013, "model.latent": 8, "training.learning_rate": 0.01}
    again = pickle.loads(pickle.dumps(slot))
    assert again == slot and searched(again) == searched(slot) and resolve(again, values) == resolve(slot, values)


@pytest.mark.parametrize("values", [{"weighting.beta": -1.0}, {"model.latent": 4.5}, {"weighting.betta": 1.0}])
def test_a_suggestion_is_checked_like_any_value(values: dict[str, Any]) -> None:
    known = {"weighting.beta": 0.1, "model.latent": 4, "training.learning_rate": 0.01}
    with pytest.raises(ValueError, match=r"Input|unknown"):
        resolve(first_slot(study()), known | values)


def test_a_suggestion_must_be_complete() -> None:
    with pytest.raises(ValueError, match=r"model\.latent"):
        resolve(first_slot(study()), {"weighting.beta": 0.1})


def test_the_range_of_an_integer_field_holds_integers() -> None:
    slot = first_slot(study(model={"latent": {"range": {"from": 2, "to": 64, "scale": "log"}}}))
    latent, beta = searched(slot)["model.latent"], searched(slot)["weighting.beta"]
    assert isinstance(latent, Range) and latent.ends() == [2, 64] and isinstance(latent.ends()[0], int)
    assert isinstance(beta, Range) and beta.range.integer is None


def test_what_the_study_itself_searches_belongs_to_its_optuna_arms() -> None:
    spec = {"name": "s", "arms": [arm(training={})], "training": {"learning_rate": RATE}}
    assert "training.learning_rate" in searched_keys(check_study(spec))["tuned"]


def grid_arm(**change: Any) -> dict[str, Any]:
    return arm(search={"name": "grid"}, weighting={"name": "fixed"}, model={}, training={}) | change


@pytest.mark.parametrize(
    ("broken", "path", "words"),
    [
        (arm(search={"name": "optuna"}), "arms[0].search.trials", ["missing"]),
        (arm(search={"name": "optnua", "trials": 3}), "arms[0].search.name", ["'optnua'", "grid, optuna"]),
        (arm(search={"name": "optuna", "trials": 0}), "arms[0].search.trials", ["equal to 1", "0"]),
        (arm(search={"name": "optuna", "trials": 501}), "limits.trials", ["501", "500"]),
        (
            arm(search={"name": "optuna", "trials": 9, "sampler": "cma"}),
            "arms[0].search.sampler",
            ["'tpe', 'gp', 'nsga2', 'nsga3', 'qmc' or 'random'", "'cma'"],
        ),
        (
            arm(search={"name": "optuna", "trials": 9, "population": 4}),
            "arms[0].search",
            ["population", "nsga2", "'tpe'"],
        ),
        (
            grid_arm(search={"name": "optuna", "trials": 3}),
            "arms[0].search",
            ["range", "choice"],
        ),
        (arm(model={"latent": {"grid": [4, 8]}}), "arms[0].model.latent.grid", ["use choice", "'tuned'"]),
        (arm(model={"latent": {"choice": [4, 0]}}), "arms[0].model.latent.choice[1]", ["equal to 1", "0"]),
        (arm(model={"latent": {"choice": [4, 4]}}), "arms[0].model.latent", ["twice", "4"]),
        (
            arm(model={"latent": {"range": {"from": 0, "to": 8}}}),
            "arms[0].model.latent.range.from",
            ["equal to 1", "0"],
        ),
        (
            arm(model={"latent": {"range": {"from": 1.5, "to": 8}}}),
            "arms[0].model.latent.range.from",
            ["integer", "1.5"],
        ),
        (arm(model={"latent": {"ragne": [4]}}), "arms[0].model.latent.ragne", ["grid, range, choice"]),
        (
            arm(weighting={"name": "fixed", "beta": {"range": {"from": 1.0, "to": 0.1}}}),
            "arms[0].weighting.beta.range",
            ["from must be below to", "0.1"],
        ),
        (
            arm(weighting={"name": "fixed", "beta": {"range": {"from": 0.0, "to": 0.1, "scale": "log"}}}),
            "arms[0].weighting.beta.range",
            ["above 0"],
        ),
        (
            arm(weighting={"name": "fixed", "beta": {"range": {"from": 0.5, "to": 2.0, "integer": True}}}),
            "arms[0].weighting.beta.range",
            ["whole number", "0.5"],
        ),
        (
            grid_arm(weighting={"name": "fixed", "beta": BETA}),
            "arms[0].weighting.beta.range",
            ["search optuna", "'grid'"],
        ),
        (grid_arm(model={"latent": {"choice": [4]}}), "arms[0].model.latent.choice", ["search optuna", "'grid'"]),
    ],
)
def test_a_bad_search_names_path_rule_and_value(broken: dict[str, Any], path: str, words: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_study({"name": "s", "arms": [broken]})
    messages = [detail.message for detail in caught.value.details if detail.path == path]
    assert messages, caught.value.details
    for word in words:
        assert word in messages[0]


def test_a_checked_study_survives_its_own_json() -> None:
    checked = study([0, 1])
    assert check_study(checked.model_dump(by_alias=True, mode="json")) == checked


def test_a_search_chooses_batches_and_generations_by_its_length() -> None:
    def lengths(**settings: Any) -> list[tuple[int, int]]:
        search = study(search={"name": "optuna", "trials": 3, "sampler": "nsga2", **settings}).arms[0].search
        assert isinstance(search, OptunaSearch)
        return [(search.batch_of(n), search.population_of(n)) for n in (1, 10, 40, 1000)]

    assert lengths() == [(1, 4), (2, 4), (8, 5), (8, 50)]
    assert lengths(batch=3, population=7) == [(3, 7)] * 4


def test_the_values_of_an_axis_are_listed_where_they_can_be() -> None:
    axes = [3, Grid(grid=[1, 2]), Choice(choice=["a", "b"]), Range.model_validate(BETA)]
    assert [listed(axis) for axis in axes] == [[3], [1, 2], ["a", "b"], []]


def test_the_catalog_lists_every_search() -> None:
    assert [entry.name for entry in catalog([]).searches] == ["grid", "optuna", "fill"]
