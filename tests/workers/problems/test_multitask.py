"""The multitask problem: its views, its tasks by hand, and what it learns."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.nn import functional

from service.contract.methods.data import Digits, Gaussian, Overlaid
from service.contract.methods.models import Mlp
from service.contract.methods.problems import MADE_TASKS, Bottleneck, Multitask
from service.contract.methods.weightings import Fixed, Uniform
from service.contract.study.parsing import check_study
from service.contract.wire.errors import InvalidInput
from service.contract.wire.events import Metrics
from tests.planned import planned
from workers import data, problems, weightings
from workers.data import Targets
from workers.data.random_streams import Seeds
from workers.data.split import Split
from workers.planning.cohorts import plan
from workers.problems.tasks import classes, exemplar, rotation
from workers.problems.tasks.task import Setting
from workers.training import gradients
from workers.training.loop import train

CPU = torch.device("cpu")
ALL = [task for task in MADE_TASKS if task != "class"]


def study(auxiliaries: list[str], weighting: dict[str, Any] | None = None, **parts: Any) -> Any:
    arm = {"name": "a", "problem": {"name": "multitask", "auxiliaries": auxiliaries}}
    arm["weighting"] = weighting or {"name": "uniform"}
    base: dict[str, Any] = {"name": "s", "model": {"name": "mlp", "widths": [32], "latent": 32}, "arms": [arm]}
    goals = [{"metric": "accuracy_class", "goal": "maximize"}, {"metric": "test_loss_class", "goal": "minimize"}]
    return check_study({**base, "training": {"epochs": 2, "batch_size": 64}, "objectives": goals, **parts})


def trained(spec: Any, size: int | None = None) -> list[Metrics]:
    found: dict[str, Metrics] = {}
    for cohort in plan(planned(spec), slots=1, size=size):
        *_, last = train(cohort, spec.data, spec.evaluation, CPU)
        assert not last.failures
        found |= last.metrics
    assert found
    return [found[trial.id] for trial in planned(spec)]


def setup(spec: Multitask, d: Any, seeds: list[int], batch_size: int = 16) -> tuple[Any, Any, Split]:
    problem = problems.build(spec, 8)
    split = Split([d], Seeds(seeds, CPU), batch_size)
    return problem, problem.model(Mlp(widths=[12], latent=8), split), split


def test_a_quarter_turn_is_that_of_the_image() -> None:
    x = torch.rand(2, 5, 2 * 3 * 3, generator=torch.Generator().manual_seed(0))
    turns = torch.tensor([[0, 1, 2, 3, 1], [3, 2, 1, 0, 2]])
    found = rotation.turned(x, turns, (2, 3, 3))
    for k in range(2):
        for i in range(5):
            image = torch.rot90(x[k, i].view(2, 3, 3), int(turns[k, i]), (1, 2))
            assert torch.equal(found[k, i], image.flatten())
    with pytest.raises(ValueError, match=r"square images, got 2×3"):
        rotation.turned(x[..., :6], turns, (1, 2, 3))


def test_a_shifted_view_moves_the_image_over_black() -> None:
    x = torch.rand(1, 1, 16, generator=torch.Generator().manual_seed(0))
    found = exemplar.shifted(x, torch.tensor([[[1, -2]]]), torch.zeros(1, 1, 16), (1, 4, 4)).view(4, 4)
    image = x.view(4, 4)
    assert torch.equal(found[1:, :2], image[:-1, 2:])
    assert not found[0].any() and not found[:, 2:].any()


def test_terms_are_the_tasks_losses_by_hand() -> None:
    d = data.load(Digits())
    tasks = ["class", "coarse-class", "rotation", "reconstruction"]
    problem, model, split = setup(Multitask(auxiliaries=tasks[1:]), d, [3, 4])
    batch = next(iter(problem.batches(split, 1)))
    s = model.encode(batch.x)
    found = torch.stack(problem.losses(model, s, batch), 1)
    for k in range(2):
        plain, seen = batch.drawn["plain"]
        place = seen.place[k]
        assert torch.equal(seen.x[k], d.x_train[place])
        outputs = [model.decode(s[0][:, plain].relu(), i)[k] for i in (0, 1, 3)]
        turned, turns = batch.drawn["turned"]
        by_turn = model.decode(s[0][:, turned].relu(), 2)[k]
        by_hand = [
            functional.cross_entropy(outputs[0], d.y_train[place]),
            functional.cross_entropy(outputs[1], torch.tensor(d.coarse)[d.y_train[place]]),
            functional.cross_entropy(by_turn, turns.extra[k]),
            functional.mse_loss(outputs[2], d.x_train[place]),
        ]
        torch.testing.assert_close(found[k], torch.stack(by_hand))


def test_heads_are_each_tasks_own() -> None:
    """The gradient of one term reaches no parameter of another task's head."""
    problem, model, split = setup(Multitask(auxiliaries=["rotation"]), data.load(Digits()), [0])
    batch = next(iter(problem.batches(split, 1)))
    terms = problem.losses(model, model.encode(batch.x), batch)
    assert len(terms) == 2
    for i, term in enumerate(terms):
        grads = torch.autograd.grad(term.sum(), model.head.leaves, retain_graph=True, allow_unused=True)
        reached = [g is not None and bool(g.any()) for g in grads]
        assert reached == [i == 0, i == 0, i == 1, i == 1]


def test_few_labels_are_drawn_again_and_again_and_only_they() -> None:
    d = data.load(Digits(labels=20))
    assert d.labelled is not None and int(d.labelled.sum()) == 20
    problem, _, split = setup(Multitask(auxiliaries=["rotation"]), d, [0, 1], batch_size=64)
    places = [batch.drawn["labelled"][1].place for batch in problem.batches(split, 1)]
    assert all(p.shape == (2, 20) for p in places), "all of them in every step, as they are fewer than a batch"
    assert d.labelled[torch.cat(places, 1)].all()
    turned = torch.cat([batch.drawn["turned"][1].place for batch in problem.batches(split, 1)], 1)
    assert torch.equal(turned.sort(1).values, torch.arange(len(d.x_train)).expand(2, -1)), "all images, once"


@pytest.mark.parametrize("main", ["left", "right"])
def test_few_labels_of_a_main_column_are_by_its_classes_and_only_they_are_drawn(main: str) -> None:
    d = data.load(Overlaid(labels=20))
    other = "right" if main == "left" else "left"
    problem, _, split = setup(Multitask(main=main, auxiliaries=[other]), d, [0, 1])
    batches = list(problem.batches(split, 1))
    drawn = torch.cat([batch.drawn["labelled"][1].place for batch in batches], 1).unique()
    assert len(drawn) == 20
    assert torch.equal(d.tasks[main].train[drawn].unique(), torch.arange(10))
    auxiliary = torch.cat([batch.drawn["plain"][1].place for batch in batches], 1)[0]
    assert len(auxiliary.unique()) == len(d.x_train)


def test_few_labels_of_a_column_with_gaps_are_among_those_it_has() -> None:
    d = data.load(Digits(labels=10))
    own = Targets(d.y_train.where(torch.arange(len(d.y_train)) % 3 == 0, -1), d.y_test, 10)
    problem, _, split = setup(Multitask(main="domain-a"), replace(d, tasks={"domain-a": own}), [0])
    places = torch.cat([batch.drawn["labelled"][1].place for batch in problem.batches(split, 1)], 1).unique()
    assert sorted(own.train[places].tolist()) == list(range(10))


def test_few_labels_hold_for_coarse_classes_too_where_these_are_the_main_task() -> None:
    d = data.load(Digits(labels=20))
    problem, _, split = setup(Multitask(main="coarse-class"), d, [0])
    kinds = [list(batch.drawn) for batch in problem.batches(split, 1)]
    assert kinds and all(own == ["labelled"] for own in kinds)


def test_random_labels_are_the_same_for_everyone_and_say_nothing() -> None:
    d = data.load(Digits())
    split = Split([d], Seeds([0, 1], CPU), 16)
    first, second = (classes.random(Setting(Multitask(), split, None))._labels["train"] for _ in range(2))
    assert torch.equal(first, second)
    table = torch.zeros(10, 10).index_put_((d.y_train, first[0]), torch.tensor(1.0), accumulate=True)
    assert (table / table.sum(1, keepdim=True)).max() < 0.2


def test_all_tasks_together_train_alone_as_in_a_cohort() -> None:
    spec = study(ALL, data={"name": "digits", "labels": 100}, seeds=[0, 1, 2])
    for ours, own in zip(trained(spec), trained(spec, size=1), strict=True):
        assert set(ours) == set(spec.metrics)
        for name in set(own) - {"seconds"}:
            assert ours[name] == pytest.approx(own[name], rel=1e-3, abs=1e-3), name


def test_the_class_is_learned_from_a_hundred_labels_and_rotation_from_none() -> None:
    spec = study(["rotation"], data={"name": "digits", "labels": 100}, training={"epochs": 30, "batch_size": 64})
    (metrics,) = trained(spec)
    assert (metrics["accuracy_class"] or 0) > 0.82 and metrics["accuracy"] == metrics["accuracy_class"]
    assert (metrics["accuracy_rotation"] or 0) > 0.8


def test_nobody_learns_random_labels() -> None:
    (metrics,) = trained(study(["random-labels"], training={"epochs": 5, "batch_size": 64}))
    accuracy = metrics["accuracy_random-labels"]
    assert accuracy is not None and accuracy < 0.2


@pytest.mark.parametrize("weighting", ["mib", "mgda", "upgrad", "uw", "dwa", "stch"])
def test_bottleneck_weightings_work_on_tasks(weighting: str) -> None:
    (metrics,) = trained(study(["rotation", "reconstruction"], {"name": weighting}))
    assert metrics["weight_rotation"] is not None


def test_losses_on_the_validation_split_are_those_of_its_images() -> None:
    d = data.load(Digits(validation_fraction=0.2))
    assert d.x_validation is not None and d.y_validation is not None
    problem, model, split = setup(Multitask(auxiliaries=["reconstruction"]), d, [0, 1])
    found = problem.mean_losses(model, split, "validation")
    assert found.shape == (2, 2)
    (code,) = model.encode(d.x_validation[:].expand(2, -1, -1))
    for k in range(2):
        outputs = model.decode(code.relu(), 0)[k]
        assert found[k, 0].item() == pytest.approx(functional.cross_entropy(outputs, d.y_validation).item(), rel=1e-4)
    without, model, split = setup(Multitask(), data.load(Digits(validation_fraction=0)), [0])
    assert without.mean_losses(model, split, "validation") is None


@pytest.mark.parametrize(
    ("task", "d", "words"),
    [
        ("left", Digits(), "this data has no task 'left'; known: class"),
        ("coarse-class", Gaussian(train_samples=9, test_samples=9), "needs data with coarse classes"),
        ("class", Gaussian(train_samples=9, test_samples=9), "continuous labels"),
    ],
)
def test_a_task_that_the_data_has_not_is_refused_in_words(task: str, d: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        setup(Multitask(main=task), data.load(d), [0])


def test_tasks_must_differ() -> None:
    with pytest.raises(InvalidInput) as caught:
        study(["rotation", "rotation"])
    assert "'rotation' appears twice" in caught.value.message


def test_a_task_is_the_mean_over_the_examples_that_have_its_label() -> None:
    """As for the tasks of domains, where most examples are of another domain."""
    whole = data.load(Digits())
    labels = torch.where(torch.arange(len(whole.y_train)) % 3 == 0, whole.y_train, -1)
    tasks = {"third": Targets(labels, whole.y_test, 10), "none": Targets(labels * 0 - 1, whole.y_test, 10)}
    problem, model, split = setup(Multitask(main="third", auxiliaries=["none"]), replace(whole, tasks=tasks), [0])
    batch = next(iter(problem.batches(split, 1)))
    (s,) = model.encode(batch.x)
    third, none = problem.losses(model, (s,), batch)
    y = labels[batch.drawn["plain"][1].place[0]]
    assert 0 < (y >= 0).sum() < len(y)
    by_hand = functional.cross_entropy(model.decode(s.relu(), 0)[0][y >= 0], y[y >= 0])
    torch.testing.assert_close(third[0], by_hand)
    assert none.item() == 0, "nothing to learn from, and no division by nothing"


def test_random_labels_of_one_split_say_nothing_of_another() -> None:
    d = data.load(Digits(validation_fraction=0.2))
    split = Split([d], Seeds([0], CPU), 16)
    labels = classes.random(Setting(Multitask(random_classes=10), split, None))._labels
    train, validation, test = (labels[name][0] for name in ("train", "validation", "test"))
    for one, other in ((train, validation), (train, test), (validation, test)):
        both = min(len(one), len(other))
        assert 0.02 < (one[:both] == other[:both]).double().mean() < 0.2, "a tenth agrees by chance"


def test_labelled_batches_are_whole_where_the_labels_fit_no_whole_number_of_times() -> None:
    d = data.load(Digits(labels=50))
    problem, _, split = setup(Multitask(), d, [0, 1], batch_size=40)
    places = [batch.drawn["labelled"][1].place for batch in problem.batches(split, 1)]
    assert {tuple(place.shape) for place in places} == {(2, 40)} and len(places) == problem.steps(split)
    counts = torch.cat(places, 1)[0].unique(return_counts=True)[1]
    assert len(counts) == 50 and counts.max() - counts.min() <= 1, "each as often as the others, or once more"


def test_each_pass_over_few_labels_is_whole_and_has_an_order_of_its_own() -> None:
    d = data.load(Digits(labels=50))
    problem, _, split = setup(Multitask(), d, [0, 1], batch_size=50)
    first, second, *_ = (batch.drawn["labelled"][1].place for batch in problem.batches(split, 1))
    assert torch.equal(first.sort(1).values, second.sort(1).values) and len(first[0].unique()) == 50
    assert not any(torch.equal(first[k], second[k]) for k in range(2)), "in one epoch"
    assert not torch.equal(first[0], first[1]), "of two seeds"


def test_the_exemplar_teacher_is_an_average_of_past_students() -> None:
    problem, model, split = setup(Multitask(auxiliaries=["exemplar"], teacher_decay=0.75), data.load(Digits()), [0])
    batch = next(iter(problem.batches(split, 1)))
    teacher = problem._teacher
    parts = [(teacher.encoder.flat, model.encoder.flat), (teacher.head.flat, model.head.flat)]
    first = [student.clone() for _, student in parts]
    for (own, student), start in zip(parts, first, strict=True):
        assert torch.equal(own, start), "it starts where the student does"
        student.add_(1.0)
    problem.losses(model, model.encode(batch.x), batch)
    for (own, _), start in zip(parts, first, strict=True):
        torch.testing.assert_close(own, start + 0.25)


def test_the_teacher_sees_the_original_where_that_is_asked() -> None:
    """Neither shifted nor noisy nor augmented (ARML paper's appendix 2.1); the student sees what it saw before."""
    d, drawn = data.load(Digits()), {}
    shifted = Multitask(auxiliaries=["exemplar"])
    specs = {"shifted": shifted, "original": Multitask(auxiliaries=["exemplar"], teacher_sees="original")}
    for sees, spec in specs.items():
        problem, _, split = setup(spec, d, [0, 1])
        mirrored: Any = lambda x, shape, stream: x.flip(-1)  # noqa: E731
        split.augmentation = mirrored
        drawn[sees] = next(iter(problem.batches(split, 1))).drawn["shifted"][1]
    images = split.train.of_members(drawn["original"].place)
    assert torch.equal(drawn["original"].extra, images)
    assert torch.equal(drawn["original"].x, drawn["shifted"].x) and not torch.equal(drawn["shifted"].extra, images)


def test_the_exemplar_loss_is_one_minus_the_cosine_to_the_teachers_projection_of_the_original() -> None:
    spec = Multitask(auxiliaries=["exemplar"], teacher_sees="original", teacher_decay=0.0)  # the teacher is the student
    problem, model, split = setup(spec, data.load(Digits()), [0])
    batch = next(iter(problem.batches(split, 1)))
    _, loss = problem.losses(model, model.encode(batch.x), batch)
    rows, drawn = batch.drawn["shifted"]
    shifted, original = (model.decode(model.encode(x)[0].relu(), 1) for x in (batch.x[:, rows], drawn.extra))
    torch.testing.assert_close(loss, 1 - functional.cosine_similarity(shifted, original, dim=-1).mean(1))


def test_a_collapsed_exemplar_task_is_told_by_the_spread_of_its_projections() -> None:
    """One projection for all images has no loss, and no spread; fresh networks have one."""
    spec = Multitask(auxiliaries=["exemplar"])
    problem, model, split = setup(spec, data.load(Digits()), [0, 1])
    evaluation = study(["exemplar"]).evaluation
    fresh = problem.evaluate(model, split, evaluation, 1, True)["spread_exemplar"]
    for part in (model, problem._teacher):
        weights, bias = (leaf.detach() for leaf in part.head.leaves[-2:])
        assert bias.shape[-1] == exemplar.WIDTH
        weights[1], bias[1] = 0, 1
    found = problem.evaluate(model, split, evaluation, 1, True)
    assert found["spread_exemplar"] == pytest.approx([fresh[0], 0], abs=1e-6) and fresh[0] > 0.01
    assert found["test_loss_exemplar"][1] == pytest.approx(0, abs=1e-6), "which looks like success"
    assert found["validation_spread_exemplar"][1] == pytest.approx(0, abs=1e-6)


# A rate beside tasks

TWO = ["coarse-class", "rotation"]


def weighed(spec: Multitask, beta: float, seeds: list[int]) -> tuple[Any, Any, Any, Any]:
    """A step of constant weights, β on the rate: problem, model, batch and step."""
    problem, model, split = setup(spec, data.load(Digits()), seeds)
    setting = weightings.Setting(problem.terms, 8, CPU)
    fixed = Fixed(weights={"info": beta}) if "info" in problem.terms else Uniform()
    batch = next(iter(problem.batches(split, 1)))
    return problem, model, batch, gradients.step(model, problem, weightings.build([fixed] * len(seeds), setting), batch)


@pytest.mark.parametrize("beta", [0.0, 0.3, 2.0])
def test_a_rate_beside_one_task_is_the_bottleneck(beta: float) -> None:
    """The same network, images and noise: the terms and the update of problem bottleneck with this β."""
    _, model, batch, step = weighed(Multitask(rate="vib"), beta, [3, 4])
    d = data.load(Digits())
    split = Split([d], Seeds([3, 4], CPU), 16)
    problem = problems.build(Bottleneck(), 8)
    other = problem.model(Mlp(widths=[12], latent=8), split)
    assert torch.equal(other.encoder.flat, model.encoder.flat) and torch.equal(other.head.flat, model.head.flat)
    (drawn,) = (seen for _, seen in batch.drawn.values())
    same = problems.Batch(batch.x, d.y_train[drawn.place], batch.noise)
    weighting = weightings.build([Fixed(beta=beta)] * 2, weightings.Setting(problem.terms, 8, CPU))
    expected = gradients.step(other, problem, weighting, same)
    for found, ours in zip(expected[:4], step[:4], strict=True):
        torch.testing.assert_close(ours, found)


def test_a_rate_of_weight_0_leaves_the_tasks_of_a_noisy_code() -> None:
    problem, model, batch, step = weighed(Multitask(auxiliaries=TWO, rate="vib"), 0.0, [3, 4])
    assert problem.terms == ("class", *TWO, "info")
    leaves = model.encoder.leaves
    s = model.encode(batch.x)
    mean, rho = s[0].chunk(2, dim=-1)
    z = mean + functional.softplus(rho - 5) * batch.noise
    alone = sum(problem._mean(name, model, z, batch)[0] for name in problem._heads)
    by_hand = torch.autograd.grad(alone, leaves, torch.ones(2))
    torch.testing.assert_close(step.encoder, torch.cat([g.flatten(1) for g in by_hand], dim=1))


def test_a_weightless_noise_is_the_mean_and_a_rate_is_the_mean_over_all_images_of_a_step() -> None:
    problem, model, batch, step = weighed(Multitask(auxiliaries=TWO, rate="vib"), 0.5, [3])
    mean, rho = model.encode(batch.x)[0].chunk(2, dim=-1)
    scale = functional.softplus(rho - 5)
    kl = torch.distributions.kl_divergence(
        torch.distributions.Normal(mean, scale), torch.distributions.Normal(torch.zeros(()), torch.ones(()))
    )
    torch.testing.assert_close(step.losses[:, -1], kl.sum(-1).mean(1))
    assert batch.noise.shape == (1, batch.x.shape[1], 8)
    quiet = problem.losses(model, model.encode(batch.x), batch._replace(noise=torch.zeros_like(batch.noise)))
    at_mean = problem.losses(model, model.encode(batch.x), batch._replace(noise=None))
    torch.testing.assert_close(quiet, at_mean)


@pytest.mark.parametrize("weighting", ["arml", "mgb", "mib", "upgrad", "blending", "conditional"])
def test_a_member_with_a_rate_equals_training_it_alone(weighting: str) -> None:
    spec = study(TWO, {"name": weighting}, seeds=[0, 1])
    arm = spec.arms[0].model_dump(mode="json", by_alias=True) | {
        "problem": {"name": "multitask", "auxiliaries": TWO, "rate": "vib"}
    }
    spec = check_study(spec.model_dump(mode="json", by_alias=True) | {"arms": [arm]})
    together: Any = trained(spec)
    for a, b in zip(together, trained(spec, size=1), strict=True):
        assert {"loss_info", "weight_info", "test_loss_info", "kl_prior_bits", "validation_kl_prior_bits"} <= set(a)
        left, right = ({k: v for k, v in m.items() if k != "seconds"} for m in (a, b))
        assert left == pytest.approx(right, rel=1e-3, abs=1e-4)
        assert a["kl_prior_bits"] == pytest.approx(a["test_loss_info"] / math.log(2), rel=1e-6)


def test_beta_on_the_rate_trades_bits_for_accuracy() -> None:
    arms = [
        {
            "name": str(beta),
            "problem": {"name": "multitask", "auxiliaries": TWO, "rate": "vib"},
            "weighting": {"name": "fixed", "weights": {"info": beta}},
        }
        for beta in (1e-4, 1e-1)
    ]
    measured: Any = trained(study(TWO, arms=arms, training={"epochs": 8, "batch_size": 64, "learning_rate": 3e-3}))
    loose, tight = measured
    assert tight["kl_prior_bits"] < 0.5 * loose["kl_prior_bits"] and loose["accuracy_class"] > 0.5
