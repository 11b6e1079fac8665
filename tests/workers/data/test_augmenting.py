"""Training images mirrored and moved: which pixels come from where, drawn per seed, and never what is measured on."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from service.contract.methods.data import Digits
from service.contract.methods.weightings import Fixed
from service.contract.study.parsing import check_study
from service.contract.study.study import Training
from tests.planned import planned
from tests.workers.weightings.test_torchjd_weightings import metrics
from workers import data as datasets
from workers.data.augmenting import Augmentation, augmentation_of, moved
from workers.data.random_streams import Seeds
from workers.data.split import Split
from workers.problems import build

CPU = torch.device("cpu")
SHAPE = (2, 3, 4)


def images(members: int = 1, many: int = 1) -> torch.Tensor:
    return torch.arange(1.0, 1 + members * many * 24).view(members, many, 24)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize(("down", "right"), [(0, 0), (1, 0), (0, -2), (-1, 1)])
def test_a_pixel_comes_from_where_the_image_was_before_it_was_moved(mirrored: bool, down: int, right: int) -> None:
    x = images()
    before = x.view(*SHAPE).flip(2) if mirrored else x.view(*SHAPE)
    after = moved(x, torch.tensor([[mirrored]]), torch.tensor([[[down, right]]]), SHAPE).view(*SHAPE)
    for i in range(3):
        for j in range(4):
            inside = 0 <= i - down < 3 and 0 <= j - right < 4
            expected = before[:, i - down, j - right] if inside else torch.zeros(2)
            torch.testing.assert_close(after[:, i, j], expected)


def test_members_have_their_own_settings_on_the_same_numbers() -> None:
    trainings = [Training(), Training(flip=True), Training(shift=1), Training(flip=True, shift=1)]
    x = images(1, 64).expand(4, -1, -1)
    seeds = Seeds([3] * 4, CPU)
    seen = Augmentation(trainings, seeds)(x, SHAPE, "1/0")
    assert torch.equal(seen[0], x[0])
    mirrored = moved(x[:1], torch.ones(1, 64, dtype=torch.bool), torch.zeros(1, 64, 2, dtype=torch.long), SHAPE)[0]
    flips = (seen[1] == mirrored).all(1)
    assert 20 < int(flips.sum()) < 44 and torch.equal(seen[1][~flips], x[1][~flips])
    places = {tuple(row.view(*SHAPE)[0].ne(0).sum(0).tolist()) for row in seen[2]}
    assert len(places) > 3, "moved in several directions"
    again = Augmentation(trainings, seeds)(x, SHAPE, "2/0")
    assert not torch.equal(again[1], seen[1]), "other epochs draw other images"
    other = Augmentation(trainings[1:2], Seeds([4], CPU))(x[:1], SHAPE, "1/0")
    assert not torch.equal(other[0], seen[1]), "other seeds too"


def test_every_shift_up_to_the_largest_is_as_likely() -> None:
    x = torch.zeros(1, 4000, 49)
    x[:, :, 24] = 1.0  # the middle of 7×7
    seen = Augmentation([Training(shift=2)], Seeds([0], CPU))(x, (1, 7, 7), "1/0")
    counts = torch.bincount(seen[0].argmax(1), minlength=49).view(7, 7)
    assert not counts[0].any() and not counts[:, 6].any()
    assert counts[1:6, 1:6].min() > 110 and counts[1:6, 1:6].max() < 215  # of 4000/25 each


@pytest.mark.parametrize("problem", ["bottleneck", "multitask"])
def test_training_images_are_augmented_whatever_the_problem(problem: str) -> None:
    spec = {"name": problem} if problem == "bottleneck" else {"name": problem, "auxiliaries": ["rotation"]}
    weighting = {"name": "fixed", "beta": 0.01} if problem == "bottleneck" else {"name": "uniform"}
    study = check_study({"name": "s", "problem": spec, "arms": [{"name": "a", "weighting": weighting}], "seeds": [0]})
    (trial,) = planned(study)
    draws = datasets.draws(Digits(train_fraction=0.1, test_images=20), [0])

    def batches(training: Training) -> list[torch.Tensor]:
        split = Split(draws, Seeds([0], CPU), 64)
        split.augmentation = augmentation_of([training], split.seeds)
        built = build(trial.problem, 4)
        built.model(trial.model, split)
        return [batch.x for batch in built.batches(split, 1)]

    plain, augmented = batches(Training()), batches(Training(shift=1))
    assert all(a.shape == b.shape and not torch.equal(a, b) for a, b in zip(plain, augmented, strict=True))


def test_augmented_members_equal_members_alone_and_learn_from_other_images(cohorts: Any) -> None:
    ways: list[dict[str, Any]] = [{}, {"flip": True}, {"shift": 1}, {"flip": True, "shift": 2}]
    trials = [
        cohorts.trial(str(k), Fixed(beta=0.01), seed=k // 2, epochs=2, learning_rate=0.01, **way)
        for k, way in enumerate(ways)
    ]
    together = cohorts.reports(trials)
    for trial in trials:
        for a, b in zip(cohorts.reports([trial]), together, strict=True):
            assert metrics(b, trial.id) == pytest.approx(metrics(a, trial.id), rel=1e-4, abs=1e-5)
    last = [together[-1].metrics[trial.id]["loss_pred"] for trial in trials]
    assert len(set(last)) == len(last)
