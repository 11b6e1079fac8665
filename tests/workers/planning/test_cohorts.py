"""The planner: every trial once, in even cohorts, with work for every slot."""

from __future__ import annotations

from collections import Counter
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.contract.study.expansion import PlannedTrial
from service.contract.study.parsing import check_study
from tests.planned import planned
from workers.planning.cohorts import LARGEST, plan

FIXED = {"name": "fixed", "beta": 0.1}
MIB = {"name": "mib"}


def trials(**arms: dict[str, Any]) -> list[PlannedTrial]:
    """Arms by name; `seeds` of each is how many trials it has, `of` its model's name."""
    found: list[PlannedTrial] = []
    for name, arm in arms.items():
        count, model = arm.pop("seeds"), {"name": arm.pop("of", "mlp")}
        body = {
            "name": "s",
            "model": model,
            "seeds": list(range(count)),
            "arms": [{"name": name, **arm}],
            "limits": {"trials": 5000},
        }
        found += planned(check_study(body))
    return found


def test_what_depends_on_the_number_of_epochs_trains_apart() -> None:
    """More epochs let the others go on from their common state, and these begin anew."""
    tasks = {"problem": {"name": "multitask", "main": "class", "auxiliaries": ["rotation"]}}
    forms = {"name": "arml", "form": {"grid": ["simplified", "two-stage"]}}
    cohorts = plan(trials(a={"weighting": forms, "seeds": 2, **tasks}), slots=1)
    forms_of = [sorted(trial.config["weighting.form"] for trial in cohort) for cohort in cohorts]
    assert sorted(forms_of) == [["simplified"] * 2, ["two-stage"] * 2]


def sizes(cohorts: list[list[PlannedTrial]]) -> list[int]:
    return [len(cohort) for cohort in cohorts]


@given(st.integers(0, 130), st.integers(0, 20), st.integers(0, 20), st.integers(1, 9), st.none() | st.integers(1, 60))
def test_every_trial_is_in_exactly_one_cohort_of_its_kind(
    cheap: int, gram: int, long: int, slots: int, size: int | None
) -> None:
    arms = {
        "cheap": {"weighting": FIXED, "seeds": cheap},
        "gram": {"weighting": MIB, "seeds": gram},
        "long": {"weighting": FIXED, "training": {"epochs": 50}, "seeds": long},
    }
    planned = trials(**{name: arm for name, arm in arms.items() if arm["seeds"]})
    cohorts = plan(planned, slots, size)

    assert Counter(t.id for cohort in cohorts for t in cohort) == Counter(t.id for t in planned)
    assert all(len({t.arm for t in cohort}) == 1 for cohort in cohorts)
    assert all(1 <= len(cohort) <= (size or LARGEST) for cohort in cohorts)
    if size is None:
        assert len(cohorts) >= min(slots, len(planned))
    work = [len(cohort) * cohort[0].training.epochs for cohort in cohorts]
    assert work == sorted(work, reverse=True)


@given(st.integers(1, 300), st.integers(1, 9))
def test_cohorts_of_one_kind_are_even_and_fill_the_slots(count: int, slots: int) -> None:
    found = sizes(plan(trials(one={"weighting": FIXED, "seeds": count}), slots))

    assert max(found) - min(found) <= 1
    assert len(found) == min(count, slots * ceil(count / (slots * LARGEST)))


@pytest.mark.parametrize(
    ("count", "slots", "size", "expected"),
    [
        (60, 2, None, [30, 30]),
        (100, 2, None, [25, 25, 25, 25]),
        (5, 4, None, [2, 1, 1, 1]),
        (36, 2, 16, [12, 12, 12]),
        (100, 1, 100, [100]),
    ],
)
def test_sizes(count: int, slots: int, size: int | None, expected: list[int]) -> None:
    planned = trials(one={"weighting": FIXED, "seeds": count})
    assert sorted(sizes(plan(planned, slots, size)), reverse=True) == expected


def test_a_large_arm_is_cut_so_that_a_small_one_does_not_leave_a_slot_idle() -> None:
    planned = trials(grid={"weighting": FIXED, "seeds": 36}, mib={"weighting": MIB, "seeds": 3})
    assert sizes(plan(planned, 2)) == [18, 18, 3]


def test_different_models_batches_and_optimizers_train_apart() -> None:
    planned = trials(
        a={"weighting": FIXED, "seeds": 2},
        b={"weighting": FIXED, "model": {"latent": 3}, "seeds": 2},
        c={"weighting": FIXED, "training": {"batch_size": 7}, "seeds": 2},
        d={"weighting": FIXED, "training": {"optimizer": "sgd"}, "seeds": 2},
        e={"weighting": {"name": "fixed", "beta": 0.3}, "training": {"learning_rate": 0.1}, "seeds": 2},
    )
    arms = sorted("".join(sorted({t.arm for t in cohort})) for cohort in plan(planned, 1))
    assert arms == ["ae", "b", "c", "d"]


def test_steps_of_different_cost_train_apart_and_other_settings_together() -> None:
    planned = trials(
        a={"weighting": FIXED, "seeds": 2},
        b={"weighting": FIXED, "training": {"clip": 1.0}, "seeds": 2},
        c={"weighting": FIXED, "training": {"beta1": 0.5}, "seeds": 2},
        d={"weighting": FIXED, "training": {"beta1": 0.6, "anneal": 3}, "seeds": 2},
        e={"weighting": FIXED, "training": {"schedule": "step", "warm_up": 2}, "seeds": 2},
        f={"weighting": {"name": "cr-mogm"}, "seeds": 2},
        g={"weighting": {"name": "cr-mogm", "method": "pcgrad"}, "seeds": 2},
        h={"weighting": {"name": "db-mtl"}, "seeds": 2},
        i={"weighting": MIB, "seeds": 2},
    )
    arms = sorted("".join(sorted({t.arm for t in cohort})) for cohort in plan(planned, 1))
    assert arms == ["ae", "b", "cd", "f", "g", "h", "i"]


def test_different_problems_feedbacks_and_balances_train_apart() -> None:
    balance = [{"balance": {"every": every}} for every in (1, 2)]
    planned = trials(
        a={"weighting": FIXED, "seeds": 2},
        b={"weighting": FIXED, "problem": {"name": "bottleneck", "rate": "nib"}, "seeds": 2},
        c={"weighting": FIXED, "training": {"feedback": "dfa"}, "seeds": 2},
        d={"weighting": FIXED, "training": balance[0], "seeds": 2},
        e={"weighting": FIXED, "training": balance[1], "seeds": 2},
        f={"weighting": FIXED, "training": {"l1": 0.1, "l2": 0.1}, "seeds": 2},
    )
    arms = sorted("".join(sorted({t.arm for t in cohort})) for cohort in plan(planned, 1))
    assert arms == ["af", "b", "c", "d", "e"]


def test_cohorts_keep_the_order_of_the_study_among_equals() -> None:
    planned = trials(a={"weighting": FIXED, "seeds": 4}, b={"weighting": MIB, "seeds": 4})
    assert [t.id for cohort in plan(planned, 2, 2) for t in cohort] == [t.id for t in planned]


@given(st.integers(0, 40), st.integers(1, 12), st.integers(1, 9), st.none() | st.integers(1, 60))
def test_a_model_that_does_not_stack_trains_alone(stacked: int, alone: int, slots: int, size: int | None) -> None:
    arms = {
        "mlp": {"weighting": FIXED, "seeds": stacked},
        "resnet": {"weighting": FIXED, "of": "resnet18", "seeds": alone},
    }
    planned = trials(**{name: arm for name, arm in arms.items() if arm["seeds"]})
    cohorts = plan(planned, slots, size)

    assert Counter(t.id for cohort in cohorts for t in cohort) == Counter(t.id for t in planned)
    found = [sorted(t.arm for t in cohort) for cohort in cohorts]
    assert [arms for arms in found if "resnet" in arms] == [["resnet"]] * alone
    assert all(1 <= len(cohort) <= (size or LARGEST) for cohort in cohorts)


def test_nothing_to_train_is_no_cohort() -> None:
    assert plan([], 2) == []


def test_a_plan_needs_a_slot() -> None:
    with pytest.raises(ValueError, match="slots must be at least 1, got 0"):
        plan([], 0)


def test_a_slow_solver_is_not_charged_to_its_neighbours() -> None:
    arms = [{"name": n, "weighting": {"name": n}} for n in ("mib", "arml", "cagrad", "imtl-g", "fixed", "uniform")]
    study = check_study({"name": "s", "arms": arms, "seeds": [0, 1]})
    together = {frozenset(trial.arm for trial in cohort) for cohort in plan(planned(study), slots=1)}
    assert together == {frozenset(g) for g in (("mib", "arml"), ("cagrad",), ("imtl-g",), ("fixed", "uniform"))}


def test_arml_with_halves_is_not_charged_to_those_without() -> None:
    arms = [{"name": gram, "weighting": {"name": "arml", "gram": gram}} for gram in ("batch", "halves")]
    study = check_study({"name": "s", "arms": arms, "seeds": [0, 1]})
    cohorts = plan(planned(study), slots=1)
    assert sorted(sorted({trial.arm for trial in cohort}) for cohort in cohorts) == [["batch"], ["halves"]]
