"""A choice of weightings in a study: what it expands to, what a trial shows of it, and what is refused, with paths."""

from __future__ import annotations

from typing import Any

import pytest

from service.contract.parameters.axes import Choice
from service.contract.study.alone import alone
from service.contract.study.expansion import Slot, count_trials, expand, resolve, searched, searched_keys, shown
from service.contract.study.extension import depends_on_epochs
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.study.warnings import warnings
from service.contract.wire.errors import InvalidInput

BETA = {"range": {"from": 0.01, "to": 1.0, "scale": "log"}}
FIXED = {"name": "fixed", "beta": BETA}
RATE = {"name": "target-rate", "rate_bits": {"range": {"from": 1.0, "to": 9.0}}}
MIB = {"name": "mib", "mu": {"choice": [0.1, 0.2]}}
SEARCH = {"name": "optuna", "trials": 6}


def arm(*branches: Any, **more: Any) -> dict[str, Any]:
    return {"name": "any", "weighting": {"choice": list(branches or (FIXED, RATE, MIB))}, "search": SEARCH, **more}


def study(*arms: dict[str, Any], **more: Any) -> Study:
    return check_study({"name": "s", "seeds": [0, 1], "arms": list(arms or (arm(),)), **more})


def slot(*branches: Any) -> Slot:
    first = expand(study(arm(*branches)))[0]
    assert isinstance(first, Slot)
    return first


def test_it_is_read_and_written_and_counts_as_its_search_says() -> None:
    own = study()
    assert check_study(own.model_dump(by_alias=True, mode="json")) == own
    assert count_trials(own) == {"any": 6} and len(expand(own)) == 6
    assert searched_keys(own) == {"any": ["weighting.name", "weighting.beta", "weighting.rate_bits", "weighting.mu"]}


def test_which_one_comes_first_then_only_what_that_one_has() -> None:
    assert searched(slot()) == {"weighting.name": Choice(choice=["fixed", "target-rate", "mib"])}
    assert list(searched(slot(), {"weighting.name": "fixed"})) == ["weighting.name", "weighting.beta"]
    assert list(searched(slot(), {"weighting.name": "mib"})) == ["weighting.name", "weighting.mu"]


def test_a_trial_is_of_the_weighting_that_was_chosen_and_shows_all_of_it_and_nothing_of_the_others() -> None:
    trial = resolve(slot(), {"weighting.name": "fixed", "weighting.beta": 0.5})
    assert (trial.weighting.name, getattr(trial.weighting, "beta", None)) == ("fixed", 0.5)
    own = {key: value for key, value in trial.config.items() if key.startswith("weighting.")}
    assert own == {"weighting.name": "fixed", "weighting.beta": 0.5}
    mib = resolve(slot(), {"weighting.name": "mib", "weighting.mu": 0.1}).config
    assert (mib["weighting.mu"], mib["weighting.power"]) == (0.1, 2) and "weighting.beta" not in mib


def test_another_choice_leaves_nothing_of_the_one_before() -> None:
    before = slot()._replace(config=shown(slot(), {"weighting.name": "fixed", "weighting.beta": 0.5}))
    assert "weighting.beta" not in shown(before, {"weighting.name": "mib", "weighting.mu": 0.1})


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "weighting.name of trial"),
        ({"weighting.name": "fixed"}, "weighting.beta of trial"),
        ({"weighting.name": "uw"}, "weighting.name must be one of fixed, target-rate, mib, got 'uw'"),
        ({"weighting.name": "fixed", "weighting.beta": -1.0}, "greater than or equal to 0"),
    ],
)
def test_values_that_are_missing_or_wrong_are_refused(values: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        resolve(slot(), values)


@pytest.mark.parametrize(
    ("own", "path", "words"),
    [
        (arm(FIXED), "weighting.choice", "needs two weightings at least, got fixed"),
        (arm(FIXED, FIXED), "weighting.choice", "told apart by their names, 'fixed' appears twice"),
        (arm(FIXED, {"name": "fixed", "beta": 0.1}), "weighting.choice", "'fixed' appears twice"),
        (arm(FIXED, {"name": "conditional"}), "weighting.choice[1]", "a curve of them: give it an arm of its own, got"),
        (arm(FIXED, {"name": "fvib"}), "weighting.choice[1]", "got 'fvib'"),
        (arm(FIXED, {"choice": [MIB, RATE]}), "weighting.choice[1]", "holds weightings, not another choice"),
        (arm(FIXED, {"name": "mine"}), "weighting.choice[1].name", "'mine' is not known; known: fixed, uniform"),
        (arm(FIXED, {**MIB, "beta": 1}), "weighting.choice[1].beta", "unknown key beta"),
        (arm({**FIXED, "beta": -1.0}, MIB), "weighting.choice[0].beta", "greater than or equal to 0, got -1.0"),
        (arm({**FIXED, "beta": {"grid": [0.1, 0.2]}}, MIB), "weighting.choice[0].beta.grid", "takes no grid"),
        (
            arm(FIXED, {"name": "stch", "preference": {"range": {"from": 0.5, "to": 3.0}}}),
            "weighting.choice[1].preference.range.to",
            "less than 1, got 3.0",
        ),
        (arm(FIXED, {"name": "single"}), "weighting.choice[1].name", "single trains one task of problem multitask"),
        (arm(FIXED, RATE, search={"name": "fill", "trials": 6}), "weighting.choice", "needs search optuna, which"),
        (arm({"name": "uw"}, {"name": "mib"}, search={"name": "grid"}), "weighting.choice", "got search 'grid'"),
        *(
            (arm(search={**SEARCH, "sampler": sampler}), "search.sampler", f"draw them blindly, got '{sampler}'")
            for sampler in ("gp", "nsga2", "nsga3", "qmc")
        ),
    ],
)
def test_what_it_cannot_be_is_refused_with_path_and_rule(own: dict[str, Any], path: str, words: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        study(own)
    assert [detail.path for detail in refused.value.details] == [f"arms[0].{path}"], refused.value.details
    assert words in refused.value.details[0].message


def test_of_two_arms_with_a_choice_each_is_told_its_own() -> None:
    broken = arm(FIXED, {"name": "single"})
    with pytest.raises(InvalidInput) as refused:
        study(arm(name="right"), {**broken, "name": "wrong"}, {**broken, "name": "too"})
    paths = [detail.path for detail in refused.value.details]
    assert paths == ["arms[1].weighting.choice[1].name", "arms[2].weighting.choice[1].name"]


def test_warnings_have_their_place_in_the_choice() -> None:
    said = warnings(study(arm(FIXED, {"name": "arml"})))
    assert [detail.path for detail in said] == ["arms[0].weighting.choice[1].name"]


def test_an_arm_may_report_what_any_of_its_weightings_does_but_claims_only_what_all_do() -> None:
    own = study(arm(FIXED, {"name": "mgda"}))
    assert "cosine_pred_info" in own.metrics and "cosine_pred_info" not in study(arm(FIXED, RATE)).metrics
    cosine = {"metric": "cosine_pred_info", "goal": "maximize", "reference": -1.0}
    watched = [cosine, {"metric": "i_xz_bits", "goal": "minimize"}]
    with pytest.raises(InvalidInput, match="'cosine_pred_info' is not reported by arm 'any'"):
        study(arm(FIXED, {"name": "mgda"}), objectives=watched)


def test_a_trial_alone_is_a_study_of_the_weighting_that_was_chosen() -> None:
    own, first = study(), slot()
    picked = first._replace(config=shown(first, {"weighting.name": "target-rate", "weighting.rate_bits": 3.0}))
    made = check_study(alone(own, picked))
    assert made.arms[0].weighting.name == "target-rate" and made.arms[0].search.name == "grid"


def test_more_epochs_begin_those_anew_whose_weighting_depends_on_them() -> None:
    staged = {"name": "arml", "form": "two-stage"}
    tasks = {"name": "multitask", "main": "class", "auxiliaries": ["rotation", "coarse-class"]}
    own = check_study({"name": "s", "data": {"name": "cifar10"}, "arms": [arm({"name": "uw"}, staged, problem=tasks)]})
    first = expand(own)[0]
    assert depends_on_epochs(first, {"weighting.name": "arml", "weighting.form": "two-stage"})
    assert not depends_on_epochs(first, {"weighting.name": "uw"})
