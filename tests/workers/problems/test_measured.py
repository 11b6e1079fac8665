"""What problems measure on whole splits, by hand: blocks, views and labels that are not there."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from service.contract.methods.attacks import Fgsm
from service.contract.methods.data import Digits
from service.contract.methods.models import Mlp
from service.contract.methods.problems import Bottleneck, Multitask
from service.contract.methods.weightings import Fixed
from service.contract.metrics import CALIBRATIONS, I_XZ
from service.contract.study.study import Evaluation
from tests.workers.problems.test_multitask import setup
from workers import data, problems
from workers.data import Targets
from workers.data.pool import Rows
from workers.data.random_streams import Seeds, generator
from workers.data.split import Split
from workers.measures import coded, marginal
from workers.measures.information import ROWS
from workers.problems.tasks import exemplar
from workers.problems.tasks.rotation import turned

CPU = torch.device("cpu")
DIGITS = data.load(Digits(validation_fraction=0))
CALIBRATED = [family.of(I_XZ) for family in CALIBRATIONS]  # at the end of training alone


def measured(spec: Multitask, d: Any, seeds: list[int]) -> tuple[dict[str, list[float]], Any]:
    problem, model, split = setup(spec, d, seeds)
    model.encoder.flat.mul_(5)  # predictions that differ from image to image
    return problem.evaluate(model, split, Evaluation(), 1, True), model


def outputs(model: Any, x: Tensor, head: int) -> Tensor:
    with torch.no_grad():
        (code,) = model.encode(x.expand(2, -1, -1))
        found: Tensor = model.decode(code.relu(), head)
    return found


def test_every_test_image_counts_once_whatever_block_it_is_in() -> None:
    assert len(DIGITS.x_test) == 359 > ROWS, "a whole block, and a short one"
    columns, model = measured(Multitask(auxiliaries=["coarse-class"]), DIGITS, [3, 4])
    coarse = torch.tensor(DIGITS.coarse)[DIGITS.y_test]
    each = []
    for head, (name, y) in enumerate((("class", DIGITS.y_test), ("coarse-class", coarse))):
        z = outputs(model, DIGITS.x_test[:], head)
        losses = [functional.cross_entropy(z[k], y).item() for k in range(2)]
        each.append([(z[k].argmax(-1) == y).double().mean().item() for k in range(2)])
        assert columns[f"test_loss_{name}"] == pytest.approx(losses, rel=1e-5)
        assert columns[f"accuracy_{name}"] == pytest.approx(each[-1])
    assert columns["accuracy"] == columns["accuracy_class"] and each[0] != each[1]
    assert columns["mean_accuracy"] == pytest.approx([(a + b) / 2 for a, b in zip(*each, strict=True)])
    assert columns["worst_accuracy"] == pytest.approx([min(a, b) for a, b in zip(*each, strict=True)])
    assert columns["test_examples"] == [359.0, 359.0]


def test_examples_without_a_label_do_not_count() -> None:
    """All labels of the second block are gone, and some of the first."""
    gone = (torch.arange(359) >= ROWS) | (torch.arange(359) % 3 == 0)
    labels = torch.where(gone, -1, DIGITS.y_test)
    d = replace(DIGITS, tasks={"some": Targets(DIGITS.y_train, labels, 10)})
    columns, model = measured(Multitask(main="some"), d, [3, 4])
    z = outputs(model, DIGITS.x_test[~gone], 0)
    y = DIGITS.y_test[~gone]
    assert columns["test_loss_some"] == pytest.approx([functional.cross_entropy(z[k], y).item() for k in range(2)])
    assert columns["accuracy_some"] == pytest.approx([(z[k].argmax(-1) == y).double().mean().item() for k in range(2)])


def test_rotation_is_measured_on_every_quarter_turn_of_every_image() -> None:
    columns, model = measured(Multitask(main="rotation"), DIGITS, [3, 4])
    losses, hits = torch.zeros(2), torch.zeros(2)
    for quarter in range(4):
        turns = torch.full((1, 359), quarter)
        z = outputs(model, turned(DIGITS.x_test[:][None], turns, DIGITS.shape)[0], 0)
        for k in range(2):
            losses[k] += functional.cross_entropy(z[k], turns[0]) / 4
            hits[k] += (z[k].argmax(-1) == quarter).float().mean() / 4
    assert columns["test_loss_rotation"] == pytest.approx(losses.tolist(), rel=1e-4)
    assert columns["accuracy_rotation"] == pytest.approx(hits.tolist(), rel=1e-4)


def test_validation_of_tasks_is_measured_on_validation_examples() -> None:
    d = data.load(Digits(validation_fraction=0.1))
    assert d.x_validation is not None and d.y_validation is not None
    columns, model = measured(Multitask(auxiliaries=["coarse-class"]), d, [3, 4])
    z = outputs(model, d.x_validation[:], 0)
    losses = [functional.cross_entropy(z[k], d.y_validation).item() for k in range(2)]
    assert columns["validation_test_loss_class"] == pytest.approx(losses, rel=1e-5)
    assert columns["validation_test_examples"] == [float(len(d.y_validation))] * 2


def test_tasks_are_measured_when_it_is_time_and_at_the_end() -> None:
    problem, model, split = setup(Multitask(), DIGITS, [0])
    asked = [(epoch, last) for epoch, last in ((1, False), (2, False), (3, False), (3, True))]
    found = [bool(problem.evaluate(model, split, Evaluation(every=2), epoch, last)) for epoch, last in asked]
    assert found == [False, True, False, True]


def test_the_exemplar_is_one_minus_the_cosine_to_the_teachers_second_view() -> None:
    problem, model, split = setup(Multitask(main="exemplar", teacher_decay=0.5), DIGITS, [0])
    batch = next(iter(problem.batches(split, 1)))
    model.encoder.flat.add_(0.2)
    _, drawn = batch.drawn["shifted"]
    assert not torch.equal(drawn.x, drawn.extra), "two views, shifted each by itself"
    (code,) = model.encode(batch.x)
    (term,) = problem.losses(model, (code,), batch)
    teacher = problem._teacher
    with torch.no_grad():
        (other,) = teacher.encode(drawn.extra)
        similar = functional.cosine_similarity(model.decode(code.relu(), 0), teacher.decode(other.relu(), 0), dim=-1)
    torch.testing.assert_close(term.detach(), (1 - similar).mean(1))
    assert model.decode(code, 0).shape[-1] == exemplar.WIDTH


def test_shifts_reach_as_far_as_asked_and_no_further() -> None:
    d = replace(DIGITS, x_train=Rows.all_of(torch.ones_like(DIGITS.x_train[:])))
    problem, _, split = setup(Multitask(main="exemplar", shift=2), d, [0], batch_size=1438)
    (batch,) = problem.batches(split, 1)
    seen = (batch.drawn["shifted"][1].x[0].view(-1, 8, 8) > 0.5).double()
    for bright in (seen.amax(2), seen.amax(1)):  # which rows, which columns
        assert bright.argmax(1).unique().tolist() == bright.flip(1).argmax(1).unique().tolist() == [0, 1, 2]


def split_of(d: Any, seeds: list[int]) -> tuple[Any, Any, Split]:
    problem = problems.build(Bottleneck(), 4)
    split = Split([d], Seeds(seeds, CPU), 64)
    return problem, problem.model(Mlp(widths=[8], latent=4), split), split


def test_validation_of_a_bottleneck_is_its_cross_entropy_and_its_rate() -> None:
    d = data.load(Digits(validation_fraction=0.3))
    assert d.x_validation is not None and d.y_validation is not None and len(d.x_validation) % 64, (
        "the last batch is short"
    )
    problem, model, split = split_of(d, [1, 2])
    found = problem.mean_losses(model, split, "validation")
    count = len(d.x_validation)
    with torch.no_grad():
        s = model.encode(d.x_validation[:].expand(2, -1, -1))
        z = problem.logits(model, s, split.seeds.draw("noise/validation", lambda g: torch.randn(count, 4, generator=g)))
        expected = [[functional.cross_entropy(z[k], d.y_validation), problem.rate(s)[k].mean()] for k in range(2)]
    torch.testing.assert_close(found, torch.tensor(expected).double(), rtol=1e-5, atol=1e-5)
    assert problem.mean_losses(model, Split([DIGITS], split.seeds, 64), "validation") is None


def test_curves_of_a_transformed_rate_are_of_the_rate_itself() -> None:
    d = data.load(Digits(validation_fraction=0.3))
    found = []
    for spec in (Bottleneck(), Bottleneck(transform="square")):
        problem = problems.build(spec, 4)
        split = Split([d], Seeds([1, 2], CPU), 64)
        model = problem.model(Mlp(widths=[8], latent=4), split)
        found.append([problem.mean_losses(model, split, part) for part in ("train", "validation")])
    for plain, squared in zip(*found, strict=True):
        assert plain is not None and squared is not None
        # A mean of squares is not the square of a mean: batches are taken back one by one.
        torch.testing.assert_close(squared, plain, rtol=1e-4, atol=1e-4)
    train, validation = found[0]
    assert train is not None and validation is not None and not torch.equal(train, validation)


def test_what_is_called_validation_is_measured_on_validation_examples() -> None:
    """The same numbers come from a data set whose test split these examples are, where no noise is the split's own."""
    d = data.load(Digits(validation_fraction=0.1))
    assert d.x_validation is not None and d.y_validation is not None
    count = len(d.x_validation)
    assert count != len(d.x_test)
    asked = Evaluation(
        samples=1,
        estimators=["pairwise-lower", "infonce"],
        attacks=[Fgsm(epsilon=0.2, label="a")],
        attack_images=9999,
    )
    swapped = replace(d, x_test=d.x_validation, y_test=d.y_validation, x_validation=None, y_validation=None)
    columns = []
    for each in (d, swapped):
        problem, model, split = split_of(each, [1, 2])
        model.encoder.flat.mul_(4)
        columns.append(problem.evaluate(model, split, asked, 1, True))
    found, other = columns
    for name in ("i_xz_bits", "kl_prior_bits", "i_xz_pairwise-lower_bits", "i_xz_infonce_bits", "estimator_samples"):
        held_out = found[f"validation_{name}"]
        assert held_out == pytest.approx(other[name], rel=1e-6) != pytest.approx(found[name], rel=1e-6)
    for name in ("test_examples", "robust_images"):
        assert (found[f"validation_{name}"], found[name]) == ([float(count)] * 2, [359.0] * 2)
    assert found["validation_robust_a"] != found["robust_a"]


def test_the_gap_is_how_much_better_training_images_are_known(cohorts: Any) -> None:
    trial = cohorts.trial("a", Fixed(beta=1e-4), epochs=8, learning_rate=3e-3)
    last = list(cohorts.reports([trial], every=8))[-1].metrics["a"]
    assert last["generalization_gap"] == pytest.approx(last["train_accuracy"] - last["accuracy"])
    assert last["generalization_gap"] > 0 and last["test_examples"] == 359


def test_what_a_bottleneck_reports_is_in_bits() -> None:
    problem, model, split = split_of(DIGITS, [1])
    model.encoder.flat.mul_(4)
    columns = problem.evaluate(model, split, Evaluation(samples=1), 1, True)
    with torch.no_grad():
        rate = problem.rate(model.encode(DIGITS.x_test[:][None]))[0].double()
    bits = rate / torch.tensor(2.0).log()
    assert columns["kl_prior_bits"] == pytest.approx([bits.mean().item()], rel=1e-5)
    assert columns["kl_prior_bits_stderr"] == pytest.approx([bits.std().item() / 359**0.5], rel=1e-4)


def test_information_is_measured_on_test_codes_by_a_marginal_of_training_codes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(coded, "FITTED", 700)
    problem, model, split = split_of(DIGITS, [1, 2])
    model.encoder.flat.mul_(4)
    columns = problem.evaluate(model, split, Evaluation(samples=1), 1, False)
    order = torch.randperm(len(DIGITS.x_train), generator=generator(0, "train-subset"))[:700]
    with torch.no_grad():
        train, test = (
            problem.code(model.encode(x.expand(2, -1, -1))) for x in (DIGITS.x_train[order], DIGITS.x_test[:])
        )
    bits = marginal.fit(train, DIGITS.y_train[order].expand(2, -1)).nats(test) / math.log(2)
    assert columns["i_xz_bits"] == pytest.approx(bits.mean(1).tolist(), rel=1e-5)
    assert columns["i_xz_bits_stderr"] == pytest.approx((bits.std(1) / 359**0.5).tolist(), rel=1e-4)
    assert all(a < b for a, b in zip(columns["i_xz_bits"], columns["kl_prior_bits"], strict=True))


def test_a_model_that_stays_as_it_is_has_a_flat_learning_curve_to_the_last_epoch() -> None:
    problem, model, split = split_of(DIGITS, [1, 2])
    model.encoder.flat.mul_(4)
    asked = Evaluation(samples=7)
    before, end = (problem.evaluate(model, split, asked, epoch, last) for epoch, last in ((1, False), (2, True)))
    assert before == {name: values for name, values in end.items() if name not in CALIBRATED}
    assert before != problem.evaluate(model, split, Evaluation(samples=1), 1, False), "samples make a difference"


def test_batches_hold_every_image_once_and_the_last_may_be_short() -> None:
    problem, _, split = split_of(
        replace(DIGITS, x_train=DIGITS.x_train.some(slice(150)), y_train=DIGITS.y_train[:150]), [1, 2]
    )
    batches = list(problem.batches(split, 1))
    assert problem.steps(split) == len(batches) == 3 and [b.x.shape[1] for b in batches] == [64, 64, 22]

    def pairs(x: Tensor, y: Tensor) -> list[tuple[bytes, int]]:
        return sorted((bytes(a.numpy()), int(b)) for a, b in zip(x, y, strict=True))

    for k in range(2):
        seen = pairs(torch.cat([b.x[k] for b in batches]), torch.cat([b.y[k] for b in batches]))
        assert seen == pairs(DIGITS.x_train[:150], DIGITS.y_train[:150])
    views, _, split = setup(Multitask(), DIGITS, [0], batch_size=1000)
    assert views.steps(split) == 2 and [b.x.shape[1] for b in views.batches(split, 1)] == [1000, 438]
