"""Arms whose trials are trained elsewhere: what a study may say of them."""

from __future__ import annotations

from typing import Any

import pytest

from service.contract.study.expansion import count_trials
from service.contract.study.parsing import check_study
from service.contract.wire.errors import InvalidInput
from tests.service.own_code import study_of

FOREST: dict[str, Any] = {"name": "forest", "depth": {"grid": [1, 2, 3]}}


def elsewhere(**changed: Any) -> dict[str, Any]:
    return study_of(arms=[{"name": "far", "problem": FOREST, "run": "elsewhere", **changed}])


def test_a_script_may_be_trained_elsewhere_by_a_grid_and_by_a_search() -> None:
    study = check_study(elsewhere())
    assert study.arms_elsewhere == {"far"} and count_trials(study) == {"far": 6}
    depth = {"range": {"from": 1, "to": 9}}
    searching = elsewhere(problem={"name": "forest", "depth": depth}, search={"name": "optuna", "trials": 8})
    assert count_trials(check_study(searching)) == {"far": 8}


def test_arms_are_trained_here_where_nothing_is_said_and_say_nothing_of_it_when_stored() -> None:
    here = check_study(study_of())
    assert here.arms_elsewhere == frozenset()
    assert "run" not in here.model_dump(mode="json")["arms"][0]
    far = check_study(elsewhere()).model_dump(by_alias=True, mode="json")
    assert far["arms"][0]["run"] == "elsewhere" and check_study(far).arms_elsewhere == {"far"}


@pytest.mark.parametrize(
    ("study", "of"),
    [
        (study_of(arms=[{**study_of()["arms"][0], "run": "elsewhere"}]), "'Mine'"),
        ({"name": "s", "arms": [{"name": "a", "weighting": {"name": "mib"}, "run": "elsewhere"}]}, "'bottleneck'"),
    ],
)
def test_what_our_own_loop_trains_is_refused_with_its_place(study: dict[str, Any], of: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_study(study)
    (detail,) = refused.value.details
    assert detail.path == "arms[0].run"
    assert detail.message.startswith("elsewhere needs a script of the study's own code") and of in detail.message


def test_another_place_is_refused_and_the_places_are_named() -> None:
    with pytest.raises(InvalidInput, match=r"arms\[0\]\.run: .*'here' or 'elsewhere', got 'nowhere'"):
        check_study(elsewhere(run="nowhere"))
