"""A trial's class holds values alone; the class that a study is checked by is made from it and also takes axes."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from service.contract.methods.balance import Balance
from service.contract.methods.models import Mlp, Model
from service.contract.methods.problems import Bottleneck, BuiltIn
from service.contract.methods.weightings import Fixed, Mgb, Mib, Weighting
from service.contract.parameters.axes import Choice, Grid, Range
from service.contract.parameters.strict import Strict
from service.contract.parameters.with_axes import with_axes, without_axes
from service.contract.study.expansion import PlannedTrial, expand
from service.contract.study.parsing import check_study
from service.contract.study.study import Arm, Study, Training
from workers.planning.cohorts import plan

AXES = [
    {"grid": [0.1, 0.2]},
    {"grid": {"from": 0.1, "to": 1.0, "count": 3}},
    {"range": {"from": 0.1, "to": 1.0}},
    {"choice": [0.1, 0.2]},
]
PARTS = [kind for union in (BuiltIn, Weighting, Model) for kind in get_args(get_args(union)[0])] + [Training, Balance]


@pytest.mark.parametrize("axis", AXES, ids=lambda axis: next(iter(axis)))
def test_a_trial_takes_no_axis_and_a_study_does(axis: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="valid number"):
        Mib.model_validate({"mu": axis})
    assert isinstance(with_axes(Mib).model_validate({"mu": axis}).mu, (Grid, Range, Choice))


@pytest.mark.parametrize("body", [{"beta": AXES[0]}, {"weights": {"info": AXES[0]}}])
def test_an_axis_inside_an_option_or_a_mapping_is_none_of_a_trials(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Fixed.model_validate(body)
    assert with_axes(Fixed).model_validate(body)


def test_a_part_within_a_part_takes_axes_in_a_study_alone() -> None:
    body = {"balance": {"p": AXES[0]}}
    with pytest.raises(ValidationError):
        Training.model_validate(body)
    written = with_axes(Training).model_validate(body)
    assert isinstance(written.balance, Balance) and isinstance(written.balance.p, Grid)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_name_words_fields_and_defaults_are_the_same(part: type[Strict]) -> None:
    written = with_axes(part)
    assert issubclass(written, part) and without_axes(written) is part and with_axes(part) is written
    assert (written.__name__, written.__doc__, written.__module__) == (part.__name__, part.__doc__, part.__module__)
    assert list(written.model_fields) == list(part.model_fields)
    assert written().model_dump() == part().model_dump()
    words = {name: field.description for name, field in part.model_fields.items()}
    assert {name: field.description for name, field in written.model_fields.items()} == words


# What every member of an arm shares: how long and by which rule it is trained, its tasks, what its curve is, and the
# accuracy of another library's solvers.
NEVER_VARIED = {
    "Training": {"best", "epochs", "feedback"},
    "Multitask": {"main", "rate"},
    "Fixed": {"simplex"},
    "Conditional": {"draws", "scalarization", "modulates", "width", "points", "verify"},
    "Fvib": {"confidence", "points", "verify"},
    "Mgda": {"epsilon", "max_iters"},
    "Cagrad": {"norm_eps"},
    "NashMtl": {"optim_niter"},
    "Fairgrad": {"max_iters"},
}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_every_scalar_takes_axes_but_what_an_arm_shares(part: type[Strict]) -> None:
    defaults = part().model_dump()
    scalars = {name for name, value in defaults.items() if not isinstance(value, (list, dict))} - {"name", "balance"}
    axes = {name for name in scalars if "Grid" in repr(with_axes(part).model_fields[name].annotation)}
    assert scalars - axes == NEVER_VARIED.get(part.__name__, set())


@pytest.mark.parametrize(
    ("place", "body", "key", "values"),
    [
        ("training", {}, "batch_size", [32, 64]),
        ("training", {"momentum": 0.9, "nesterov": True}, "optimizer", ["adam", "sgd"]),
        ("model", {"name": "mlp"}, "activation", ["relu", "linear"]),
        ("model", {"name": "cnn"}, "kernel", [1, 3]),
        ("model", {"name": "transformer", "width": {"grid": [8, 16]}}, "heads", [2, 4]),
        ("model", {"name": "transformer"}, "layers", [1, 2]),
    ],
)
def test_values_that_do_not_stack_are_trained_in_cohorts_of_their_own(
    place: str, body: dict[str, object], key: str, values: list[object]
) -> None:
    arm = {"name": "a", "weighting": {"name": "fixed", "beta": {"grid": [0.1, 0.2]}}}
    expanded = expand(check_study({"name": "s", "arms": [arm], place: {**body, key: {"grid": values}}}))
    trials = [trial for trial in expanded if isinstance(trial, PlannedTrial)]
    for cohort in plan(trials, slots=1):
        assert len({getattr(getattr(trial, place), key) for trial in cohort}) == 1
    assert {getattr(getattr(trial, place), key) for trial in trials} == set(values)


def test_a_part_without_axes_is_its_own() -> None:
    assert with_axes(Mgb) is Mgb and without_axes(Mgb) is Mgb


@pytest.mark.parametrize("value", [0.0, -1.0, "x", {"grid": [0.1], "range": 1}])
def test_the_bounds_of_a_value_hold_in_both(value: object) -> None:
    for kind in (Mib, with_axes(Mib)):
        with pytest.raises(ValidationError):
            kind.model_validate({"mu": value})


def test_what_a_study_holds_survives_a_pickle() -> None:
    written = with_axes(Mib).model_validate({"mu": AXES[0]})
    again = pickle.loads(pickle.dumps(written))
    assert again == written and type(again) is type(written)


def test_a_study_takes_parts_made_without_axes() -> None:
    arm = Arm(name="a", weighting=Mib(mu=0.5), problem=Bottleneck(rate="nib"))
    study = Study(name="s", arms=[arm], model=Mlp(latent=3), training=Training(epochs=2))
    spec = {
        "name": "s",
        "arms": [
            {"name": "a", "weighting": {"name": "mib", "mu": 0.5}, "problem": {"name": "bottleneck", "rate": "nib"}}
        ],
        "model": {"name": "mlp", "latent": 3},
        "training": {"epochs": 2},
    }
    assert study == check_study(spec) and expand(study) == expand(check_study(spec))


def parts_within(part: Strict) -> Iterator[Strict]:
    yield part
    for name in type(part).model_fields:
        if isinstance(inner := getattr(part, name), Strict):
            yield from parts_within(inner)


def test_a_planned_trial_is_of_classes_without_axes_all_the_way_down() -> None:
    grid = {"grid": [1.0, 2.0]}
    arm = {"name": "a", "weighting": {"name": "mib", "mu": grid}, "training": {"balance": {"p": grid}, "l1": grid}}
    trials = expand(check_study({"name": "s", "arms": [arm], "model": {"name": "mlp", "latent": {"grid": [2, 4]}}}))
    assert len(trials) == 16
    for trial in trials:
        assert isinstance(trial, PlannedTrial)
        parts = [p for own in (trial.problem, trial.weighting, trial.model, trial.training) for p in parts_within(own)]
        assert [type(part) for part in parts] == [Bottleneck, Mib, Mlp, Training, Balance]
