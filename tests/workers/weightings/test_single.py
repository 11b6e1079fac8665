"""One task alone: contract, expansion, and that the encoder learns from this task and from no other."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from service.contract.catalog import catalog
from service.contract.methods.data import Overlaid
from service.contract.methods.models import Mlp
from service.contract.methods.problems import Multitask
from service.contract.methods.weightings import Fixed, Single
from service.contract.study.expansion import Slot, count_trials, expand, resolve
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.errors import InvalidInput
from service.contract.wire.events import Metrics
from tests.planned import planned
from workers import data, problems, weightings
from workers.data.random_streams import Seeds
from workers.data.split import Split
from workers.models.components.stack import Stack
from workers.planning.cohorts import plan
from workers.training import gradients
from workers.training.loop import train

CPU = torch.device("cpu")
TASKS = {"name": "multitask", "main": "left", "auxiliaries": ["right"]}
OVERLAID = {"name": "overlaid", "validation_fraction": 0.2, "draw": "shared"}
RANGE = {"learning_rate": {"range": {"from": 1e-3, "to": 1e-2}}}


def study(*weights: dict[str, Any], epochs: int = 1, **arm: Any) -> Study:
    arms = [{"name": f"arm {i}", "problem": TASKS, "weighting": each, **arm} for i, each in enumerate(weights)]
    training = {"epochs": epochs, "batch_size": 64, "learning_rate": 3e-3}
    model = {"name": "mlp", "widths": [64], "latent": 16}
    objectives = [{"metric": "accuracy_left", "goal": "maximize"}, {"metric": "test_loss_left", "goal": "minimize"}]
    base = {"name": "s", "data": OVERLAID, "model": model, "training": training, "objectives": objectives}
    return check_study({**base, "seeds": [0, 1], "arms": arms})


def refused(weighting: dict[str, Any], **arm: Any) -> dict[str, str]:
    with pytest.raises(InvalidInput) as caught:
        study({"name": "single", **weighting}, **arm)
    return {detail.path: detail.message for detail in caught.value.details}


def trained(spec: Study, size: int | None = None) -> list[Metrics]:
    """Last metrics of every trial, in the order of the spec."""
    reported: dict[str, Metrics] = {}
    for cohort in plan(planned(spec), slots=1, size=size):
        *_, last = train(cohort, spec.data, spec.evaluation, CPU)
        assert not last.failures
        reported |= last.metrics
    assert reported
    return [reported[trial.id] for trial in planned(spec)]


# The contract


def test_without_a_task_there_is_a_trial_for_each_task_and_seed() -> None:
    spec = study({"name": "single"})
    trials = planned(spec)
    assert count_trials(spec) == {"arm 0": 4} and len({trial.id for trial in trials}) == 4
    shown = [(trial.config["weighting.task"], trial.seed) for trial in trials]
    assert shown == [("left", 0), ("left", 1), ("right", 0), ("right", 1)]
    assert [trial.weighting for trial in trials[::2]] == [Single(task="left"), Single(task="right")]


def test_a_named_task_is_one_trial_per_seed_and_several_are_a_grid() -> None:
    spec = study({"name": "single", "task": "right"}, {"name": "single", "task": {"grid": ["right", "left"]}})
    assert count_trials(spec) == {"arm 0": 2, "arm 1": 4}
    assert [trial.config["weighting.task"] for trial in planned(spec, "arm 0")] == ["right", "right"]


def test_tasks_that_join_keep_the_trials_that_were_there() -> None:
    """The ids of a grid depend on its values, not on how many there are."""
    more = {**TASKS, "auxiliaries": ["right", "reconstruction"]}
    fewer, all_of_them = study({"name": "single"}), study({"name": "single"}, problem=more)
    assert {trial.id for trial in planned(fewer)} < {trial.id for trial in planned(all_of_them)}


def test_a_search_may_look_for_settings_of_one_task() -> None:
    search = {"name": "optuna", "trials": 2}
    slot = expand(study({"name": "single", "task": "left"}, search=search, training=RANGE))[0]
    assert isinstance(slot, Slot) and slot.config["weighting.task"] == "left"
    assert resolve(slot, {"training.learning_rate": 2e-3}).weighting == Single(task="left")


@pytest.mark.parametrize(
    ("weighting", "arm", "path", "words"),
    [
        ({"task": "lft"}, {}, "task", ["'lft'", "left, right"]),
        ({"task": {"grid": ["left", "lft"]}}, {}, "task.grid[1]", ["'lft'", "left, right"]),
        ({"task": "class"}, {}, "task", ["'class'", "left, right"]),
        ({"task": 3}, {}, "task", ["string", "3"]),
        ({"task": {"range": {"from": 0, "to": 1}}}, {}, "task.range", ["needs search optuna"]),
        ({}, {"search": {"name": "optuna", "trials": 2}, "training": RANGE}, "task", ["name the task", "got none"]),
        ({}, {"problem": {"name": "bottleneck"}}, "name", ["multitask", "'bottleneck'"]),
        ({"task": "f1"}, {"problem": {"name": "toy"}}, "name", ["multitask", "'toy'"]),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_path(
    weighting: dict[str, Any], arm: dict[str, Any], path: str, words: list[str]
) -> None:
    details = refused(weighting, **arm)
    where = f"arms[0].weighting.{path}"
    assert where in details, details
    assert all(word in details[where] for word in words), details


def test_it_stands_in_the_catalog() -> None:
    assert "single" in [entry.name for entry in catalog([]).weightings]


# The weights, and what they train


def test_the_weights_are_one_on_the_task_and_nothing_elsewhere() -> None:
    setting = weightings.Setting(("a", "b", "c"), 1, CPU)
    w = weightings.build([Single(task="b"), Fixed(weights={"a": 0.5}), Single(task="a")], setting)
    assert w(torch.ones(3, 3), None).tolist() == [[0, 1, 0], [0.5, 1, 1], [1, 0, 0]]
    with pytest.raises(ValueError, match=r"weighting.task must be one of a, b, c, got None"):
        weightings.build([Single()], setting)


@pytest.mark.parametrize("task", ["left", "right"])
def test_the_encoders_update_is_the_gradient_of_that_one_term_and_every_head_has_its_own(task: str) -> None:
    problem = problems.build(Multitask(main="left", auxiliaries=["right"]), 8)
    split = Split([data.load(Overlaid())], Seeds([0, 1], CPU), 32)
    model = problem.model(Mlp(widths=[12], latent=8), split)
    batch = next(iter(problem.batches(split, 1)))
    setting = weightings.Setting(problem.terms, 8, CPU, (0, 1))
    step = gradients.step(model, problem, weightings.build([Single(task=task)] * 2, setting), batch)
    terms = problem.losses(model, model.encode(batch.x), batch)
    own = terms[problem.terms.index(task)].sum()
    encoder = torch.autograd.grad(own, model.encoder.leaves, retain_graph=True)
    torch.testing.assert_close(step.encoder, Stack.flatten(encoder))
    heads = torch.autograd.grad(terms[0].sum() + terms[1].sum(), model.head.leaves)
    torch.testing.assert_close(step.head, Stack.flatten(heads))


def test_it_trains_what_fixed_weights_of_one_and_zero_train() -> None:
    fixed: list[dict[str, Any]] = [
        {"name": "fixed", "weights": {"left": 1.0, "right": 0.0}},
        {"name": "fixed", "beta": 0.0},
    ]
    metrics = trained(study({"name": "single", "task": "left"}, *fixed, epochs=2))
    single, named, beta = metrics[:2], metrics[2:4], metrics[4:]
    for name in set(single[0]) - {"seconds"}:
        assert [m[name] for m in single] == [m[name] for m in named] == [m[name] for m in beta], name


def test_the_main_task_ends_where_it_ends_without_the_others() -> None:
    """The encoder, the first head and the order of the examples belong to a seed, whatever other heads there are."""
    single = trained(study({"name": "single", "task": "left"}, epochs=3))
    alone = trained(study({"name": "uniform"}, epochs=3, problem={"name": "multitask", "main": "left"}))
    for name in ("accuracy_left", "test_loss_left", "loss_left", "validation_accuracy_left"):
        assert [m[name] for m in single] == pytest.approx([m[name] for m in alone], rel=1e-4), name


def test_a_single_task_is_learned_and_the_others_get_what_its_code_happens_to_hold() -> None:
    """Both heads are trained in both trials; only the task that the encoder learns from comes out well."""
    metrics = trained(study({"name": "single"}, epochs=30))
    left, right = metrics[:2], metrics[2:]
    for own, other in zip(left, right, strict=True):
        assert (own["accuracy_left"] or 0) > 0.8 and (other["accuracy_right"] or 0) > 0.8
        assert (own["accuracy_right"] or 0) < (other["accuracy_right"] or 0) - 0.15
        assert (other["accuracy_left"] or 0) < (own["accuracy_left"] or 0) - 0.15
        assert (own["weight_left"], own["weight_right"], other["weight_left"]) == (1, 0, 0)


def test_a_cohort_trains_it_as_it_trains_alone() -> None:
    spec = study({"name": "single"}, {"name": "uniform"}, epochs=2)
    assert len(plan(planned(spec), slots=1)) == 1, "it costs what uniform costs"
    for ours, own in zip(trained(spec), trained(spec, size=1), strict=True):
        for name in set(own) - {"seconds"}:
            assert ours[name] == pytest.approx(own[name], rel=1e-3, abs=1e-3), name
