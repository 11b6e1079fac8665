"""What a seed draws: its own examples, labels and wrong labels, or the one draw that all seeds share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from pydantic import TypeAdapter

from service.contract.methods.data import Data, Digits, Gaussian, Overlaid, Toy
from workers import data
from workers.data import DataSet
from workers.data.assembly import Facts, as_bytes, assemble
from workers.data.files.splits import Splits

MADE: list[Data] = [
    Digits(train_fraction=0.5, labels=50, label_noise=0.2, validation_fraction=0.2),
    Overlaid(pairs=200, test_pairs=50, validation_fraction=0.2),
    Gaussian(train_samples=200, test_samples=100, validation_fraction=0.2),
    Toy(train_samples=256, validation_fraction=0.2),
]


def drawn(spec: Data, draw: str, seeds: list[int]) -> list[DataSet]:
    asked: Any = {**spec.model_dump(), "draw": draw}
    return data.draws(TypeAdapter[Data](Data).validate_python(asked), seeds)


def inputs(draw: DataSet) -> torch.Tensor:
    return draw.x_train[:]


@pytest.mark.parametrize("spec", MADE, ids=lambda spec: spec.name)
def test_each_seed_has_its_own_examples_and_always_the_same(spec: Data) -> None:
    first, second, again = drawn(spec, "per-seed", [3, 4, 3])
    assert not torch.equal(inputs(first), inputs(second)) and torch.equal(inputs(first), inputs(again))
    assert torch.equal(first.y_train, again.y_train)
    assert first.x_validation is not None and second.x_validation is not None
    assert not torch.equal(first.x_validation[:], second.x_validation[:])
    sizes = [(len(d.x_train), len(d.x_validation or ()), len(d.x_test)) for d in (first, second)]
    assert sizes[0] == sizes[1], "members of a cohort take the same steps"


@pytest.mark.parametrize("spec", MADE, ids=lambda spec: spec.name)
def test_a_shared_draw_is_one_for_all_seeds(spec: Data) -> None:
    (only,) = drawn(spec, "shared", [3, 4])
    assert torch.equal(inputs(only), inputs(data.load(spec)))


def test_only_what_is_made_up_is_measured_on_examples_of_its_own() -> None:
    for spec in MADE:
        first, second = drawn(spec, "per-seed", [0, 1])
        assert torch.equal(first.x_test[:], second.x_test[:]) == (spec.name != "gaussian"), spec.name


def test_what_models_normalise_by_is_measured_on_training_examples() -> None:
    g = np.random.default_rng(0)
    train, test = (g.integers(0, most, (20, 3, 4, 4), dtype=np.uint8) for most in (255, 50))
    labels = np.arange(20) % 2
    draw = assemble(Splits(train, labels, test, labels), Digits(), Facts(2), as_bytes)(None)
    channels = train.astype(float).transpose(1, 0, 2, 3).reshape(3, -1) / 255
    assert draw.mean == pytest.approx(channels.mean(1)) and draw.std == pytest.approx(channels.std(1, ddof=1))


def test_draws_share_the_memory_of_their_inputs() -> None:
    first, second = drawn(MADE[0], "per-seed", [0, 1])
    assert first.x_train.pool is second.x_train.pool and first.x_validation is not None
    assert first.x_validation.pool is first.x_train.pool and not first.x_train.pool.is_floating_point()


def test_nothing_is_both_trained_on_and_held_out() -> None:
    draws = drawn(MADE[0], "per-seed", [0, 1, 2])
    assert len(draws) == 3
    for draw in draws:
        assert draw.x_validation is not None
        assert not set(draw.x_train.places.tolist()) & set(draw.x_validation.places.tolist())


def test_labels_and_wrong_labels_are_drawn_per_seed_too() -> None:
    whole = Digits(labels=50, label_noise=0.2, validation_fraction=0)
    first, second = drawn(whole, "per-seed", [0, 1])
    assert torch.equal(inputs(first), inputs(second)), "all examples are used"
    assert first.labelled is not None and second.labelled is not None
    assert not torch.equal(first.labelled, second.labelled) and first.labelled.sum() == second.labelled.sum() == 50
    true = data.load(Digits(validation_fraction=0)).y_train
    wrong = [draw.y_train != true for draw in (first, second)]
    assert not torch.equal(*wrong) and wrong[0].sum() == wrong[1].sum() == round(0.2 * len(true))
