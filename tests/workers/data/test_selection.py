"""Which examples are used for what, at the edges: few examples, rare classes, shares that round to nothing."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.contract.methods.data import Digits
from workers.data import selection

LABELS = np.array([0] * 90 + [1] * 9 + [2], dtype=np.int64)


def test_a_rare_class_keeps_an_example_where_there_is_room_for_all() -> None:
    kept = LABELS[selection.by_class(LABELS, 5)]
    assert sorted(kept.tolist()) == [0, 0, 0, 1, 2]
    assert len(selection.by_class(LABELS, 2)) == 2, "two places for three classes"


def test_rounding_goes_to_the_largest_remainders() -> None:
    thirds = np.array([0] * 10 + [1] * 6 + [2] * 4, dtype=np.int64)
    assert np.bincount(thirds[selection.by_class(thirds, 7)]).tolist() == [4, 2, 1]  # of 3.5, 2.1 and 1.4


@pytest.mark.parametrize(("fraction", "count"), [(0.001, 1), (0.25, 25), (0.999, 99)])
def test_something_is_held_out_and_something_is_left(fraction: float, count: int) -> None:
    chosen = np.arange(100)
    rest, out = selection.held_out(LABELS, chosen, fraction)
    assert len(out) == count and sorted([*rest, *out]) == chosen.tolist()
    assert (np.diff(rest) > 0).all(), "in their old order"


def test_what_is_held_out_of_a_share_has_the_classes_of_that_share() -> None:
    """Classes stand in blocks: those of the first examples are not those of the chosen ones."""
    chosen = np.arange(50, 100)
    rest, out = selection.held_out(LABELS, chosen, 0.4)
    assert set(rest) | set(out) == set(chosen) and len(out) == 20
    assert np.bincount(LABELS[out]).tolist() == [15, 4, 1]  # of 40, 9 and 1


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_a_draw_of_a_seed_is_its_own_and_all_are_measured_on_the_same_examples(seed: int) -> None:
    y = np.arange(1000, dtype=np.int64) % 10
    spec = Digits(train_fraction=0.5, validation_fraction=0.2, labels=30)
    shared, own, other = (selection.portions(y, y[:200], spec, 40, s) for s in (None, seed, seed + 1))
    for a, b in combinations((shared, own, other), 2):
        assert a.test.tolist() == b.test.tolist() and len(a.test) == 40
        for one, two in ((a.train, b.train), (a.validation, b.validation), (a.labelled, b.labelled)):
            assert one is not None and two is not None and one.tolist() != two.tolist()
    noisy = [selection.with_noise(y, 0.3, 10, 0, s).tolist() for s in (None, seed, seed + 1)]
    assert all(a != b for a, b in combinations(noisy, 2))


def test_nothing_is_held_out_unless_asked() -> None:
    rest, out = selection.held_out(LABELS, np.arange(100), 0.0)
    assert len(rest) == 100 and len(out) == 0


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.floats(0.01, 0.99))
def test_a_set_published_whole_is_split_in_every_class(labels: list[int], fraction: float) -> None:
    y = np.array(labels, dtype=np.int64)
    train, test = selection.split_by_class(y, fraction)
    assert sorted([*train, *test]) == list(range(len(y)))
    for c, size in zip(*np.unique(y, return_counts=True), strict=True):
        wanted = min(max(round(fraction * size), 1), size - 1)
        assert (y[test] == c).sum() == wanted, "at least one of two, none of one"


def test_what_is_held_out_labelled_and_used_are_different_draws() -> None:
    y = np.arange(1000, dtype=np.int64) % 10
    used, held = selection.share_of(y, 0.2), selection.held_out(y, np.arange(1000), 0.2)[1]
    draws = [set(used.tolist()), set(held.tolist()), set(np.flatnonzero(selection.few(y, 200)).tolist())]
    assert [len(draw) for draw in draws] == [200] * 3
    assert all(20 < len(a & b) < 60 for a, b in combinations(draws, 2)), "a fifth of each other, as by chance"


def test_portions_hold_out_of_what_is_used_and_label_what_is_left() -> None:
    y = np.arange(1000, dtype=np.int64) % 10
    spec = Digits(train_fraction=0.5, validation_fraction=0.2, labels=30)
    portions = selection.portions(y, y[:100], spec, 40)
    assert (len(portions.train), len(portions.validation), len(portions.test)) == (400, 100, 40)
    used = set(selection.share_of(y, 0.5).tolist())
    assert set(portions.train) | set(portions.validation) == used
    assert portions.labelled is not None and len(portions.labelled) == 400 and portions.labelled.sum() == 30
    assert np.bincount(y[portions.train][portions.labelled]).tolist() == [3] * 10
    assert len(selection.portions(y, y[:100], spec, None).test) == 100
