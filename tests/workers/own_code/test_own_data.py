"""What `data` may give, and what each seed gets of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import torch
from torch.utils.data import Dataset, TensorDataset

from paretoscope import Problem
from workers.data.random_streams import Seeds
from workers.own_code import datasets
from workers.own_code.data import split_of
from workers.own_code.errors import CodeError
from workers.own_code.forms import put_together

CPU = torch.device("cpu")


class Given(Problem):
    """Gives what it is told to, by the seed."""

    given: Any = None

    def data(self, seed: int) -> Any:
        return self.given(seed)


def split(given: Any, seeds: tuple[int, ...] = (0, 1), fraction: float = 0.25, per_seed: bool = True) -> Any:
    problem = Given()
    problem.given = given if callable(given) else lambda seed: given
    return split_of(problem, Seeds(seeds, CPU), fraction, per_seed)


X = torch.arange(24.0).view(12, 2)
WHOLE = {"train": (X, X[:, 0].long()), "test": (X[:4], X[:4, 0].long())}


class Items(Dataset[Any]):
    def __len__(self) -> int:
        return 12

    def __getitem__(self, i: int) -> Any:
        if i >= 12:
            raise IndexError(i)
        return X[i], int(X[i, 0])


def test_validation_is_drawn_from_train_by_each_seed() -> None:
    own = split(WHOLE)
    assert (len(own.train), len(own.validation), len(own.test)) == (9, 3, 4)
    train, validation = own.train.block(slice(None))[0], own.validation.block(slice(None))[0]
    for k in range(2):
        rows = torch.cat((train[k], validation[k]))
        assert torch.equal(rows[rows[:, 0].argsort()], X)
    assert not torch.equal(validation[0], validation[1])
    assert torch.equal(split(WHOLE, seeds=(1,)).validation.block(slice(None))[0][0], validation[1])


def test_a_shared_draw_is_the_same_for_every_seed_and_cohort() -> None:
    asked: list[int] = []

    def given(seed: int) -> Any:
        asked.append(seed)
        return WHOLE

    both = split(given, seeds=(3, 4), per_seed=False).validation.block(slice(None))[0]
    alone = split(given, seeds=(4,), per_seed=False).validation.block(slice(None))[0]
    assert torch.equal(both[0], both[1]) and torch.equal(both[1], alone[0]) and asked == [0, 0]


def test_a_validation_split_that_is_given_is_taken() -> None:
    own = split({**WHOLE, "validation": (X[:2], X[:2, 0].long())})
    assert (len(own.train), len(own.validation)) == (12, 2)


def test_each_seed_may_have_data_of_its_own() -> None:
    own = split(lambda seed: {"train": X + seed, "test": X}, fraction=0)
    assert torch.equal(own.train.drawn(torch.tensor([[2], [2]]))[0][:, 0], torch.stack((X[2], X[2] + 1)))
    assert own.train.form is None and own.validation is None


def test_random_numbers_of_data_stand_at_the_seed() -> None:
    before = torch.random.get_rng_state()
    own = split(lambda seed: {"train": torch.randn(4, 1), "test": X}, seeds=(5,), fraction=0)
    torch.manual_seed(5)
    assert torch.equal(own.train.block(slice(None))[0][0], torch.randn(4, 1))
    torch.random.set_rng_state(before)


@pytest.mark.parametrize("items", [Items(), TensorDataset(X, X[:, 0].long()), [X.numpy(), X[:, 0].long().numpy()]])
def test_datasets_and_arrays_are_kept_as_tensors(items: Any) -> None:
    own = split({"train": items, "test": items}, fraction=0)
    x, y = own.train.drawn(torch.tensor([[1, 0], [3, 2]]))
    assert torch.equal(x, X[torch.tensor([[1, 0], [3, 2]])]) and y.tolist() == [[2, 0], [6, 4]]
    assert y.dtype == torch.int64 and own.train._columns[0].tensors is not None


def test_a_large_dataset_is_read_batch_by_batch(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(datasets, "CACHED", 10)
    caplog.set_level("INFO")
    own = split({"train": Items(), "test": X}, fraction=0.25)
    kept = split({"train": TensorDataset(X, X[:, 0].long()), "test": X}, fraction=0.25)
    at = torch.tensor([[1, 0], [3, 2]])
    assert all(map(torch.equal, own.train.drawn(at), kept.train.drawn(at)))
    assert "read anew for every batch" in caplog.text


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"trian": X, "test": X}, "data gave 'trian'; it needs 'train' and 'test'"),
        ({"train": X}, "data gave 'train'; it needs 'train' and 'test'"),
        ([X, X], "must give a dict with 'train' and 'test', got list"),
        ({"train": (X, X[:3]), "test": X}, r"data\['train'\] must be of one length, got \[12, 3\]"),
        ({"train": X[:0], "test": X}, r"data\['train'\] has no examples"),
        ({"train": 3, "test": X}, r"data\['train'\] must be tensors of one length or a Dataset"),
        ({"train": ([0] * 12, X), "test": X}, r"data\['train'\] must be .*, got tuple with int in it"),
        ({"train": {"x": X, "name": "a"}, "test": X}, r"data\['train'\] must be .*, got dict with str in it"),
        ({"train": (), "test": X}, r"data\['train'\] must be .*, got an empty tuple"),
        (
            {"train": [(X[0], 1), X[1]], "test": X},
            r"items of data\['train'\] must all have the form of the first, item 1",
        ),
        ({"train": [(X, 1), (X[:3], 1)], "test": X}, "pad them to one length in the Dataset"),
        ({"train": X[:1], "test": X}, "none can be held out"),
        (
            lambda seed: {"train": X[: 12 - seed], "test": X},
            "as many examples of train: 12 with seed 0, 11 with seed 1",
        ),
    ],
)
def test_what_is_wrong_is_named(given: Any, words: str) -> None:
    with pytest.raises(CodeError, match=words):
        split(given)


class Named(NamedTuple):
    x: Any
    y: Any


class Mapped(Items):
    def __getitem__(self, i: int) -> Any:
        x, y = super().__getitem__(i)
        return {"in": {"x": x, "twice": (2 * x, x)}, "y": y}


NESTED = {"in": {"x": X, "twice": (2 * X, X)}, "y": X[:, 0].long()}


@pytest.mark.parametrize("cached", [10, 10**6])
@pytest.mark.parametrize("items", [Mapped(), NESTED, [Mapped()[i] for i in range(12)]], ids=["dataset", "dict", "list"])
def test_a_batch_has_the_form_of_an_example(monkeypatch: pytest.MonkeyPatch, items: Any, cached: int) -> None:
    monkeypatch.setattr(datasets, "CACHED", cached)
    own = split({"train": items, "test": items}, fraction=0)
    batch = put_together(own.train.form, own.train.drawn(torch.tensor([[1, 0], [3, 2]])))
    assert list(batch) == ["in", "y"] and batch["y"].tolist() == [[2, 0], [6, 4]]
    assert torch.equal(batch["in"]["twice"][0], 2 * batch["in"]["x"])


def test_a_named_tuple_keeps_its_names() -> None:
    form = split({"train": Named(X, X[:, 0]), "test": Named(X, X[:, 0])}, fraction=0).train.form
    assert put_together(form, [1, 2]) == Named(1, 2)
