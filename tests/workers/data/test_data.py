"""The digits are scikit-learn's, split the same way every time."""

from __future__ import annotations

import numpy as np
import torch
from sklearn.datasets import load_digits

from service.contract.methods.data import Digits
from tests.workers.data.whole import load


def test_digits_are_those_of_scikit_learn() -> None:
    data = load(Digits())
    theirs = load_digits()
    ours = np.column_stack((torch.cat((data.x_train[:], data.x_test[:])) * 16, torch.cat((data.y_train, data.y_test))))
    expected = np.column_stack((theirs.data, theirs.target))
    assert np.array_equal(ours[np.lexsort(ours.T)], expected[np.lexsort(expected.T)])
    assert (data.features, data.classes) == (64, 10)
    assert data.x_train[:].min() == 0 and data.x_train[:].max() == 1


def test_the_split_is_fixed_and_stratified() -> None:
    data, again = load(Digits(test_fraction=0.25)), load(Digits(test_fraction=0.25))
    assert torch.equal(data.x_test[:], again.x_test[:]) and torch.equal(data.y_train, again.y_train)
    share = data.y_test.bincount() / (data.y_test.bincount() + data.y_train.bincount())
    torch.testing.assert_close(share, torch.full((10,), 0.25), atol=0.005, rtol=0)


def test_splits_do_not_come_sorted_by_class() -> None:
    y = load(Digits()).y_train
    assert len(y[:50].unique()) == 10
