"""GO4Align, by its formula and by every possible grouping."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import Tensor

from service.contract.methods.weightings import Go4align
from service.contract.study.parsing import check_study
from service.contract.wire.errors import InvalidInput
from workers.weightings import Setting, build
from workers.weightings.solving.grouping import group_means

CPU = torch.device("cpu")


def every_grouping(values: Tensor, groups: int) -> Tensor:
    """The means of the best of all ways to give each value one of so many groups."""
    best, least = values, float("inf")
    for labels in product(range(groups), repeat=len(values)):
        group = torch.tensor(labels)
        means = torch.stack([values[group == label].mean() for label in labels])
        error = float((values - means).square().sum())
        if len(set(labels)) == groups and error < least:
            best, least = means, error
    return best


@pytest.mark.parametrize("groups", [1, 2, 3, 5])
def test_groups_are_the_best_of_all(groups: int) -> None:
    values = torch.randn(12, 5, generator=torch.Generator().manual_seed(groups)).double()
    found = group_means(values, torch.full((12,), groups))
    torch.testing.assert_close(found, torch.stack([every_grouping(row, groups) for row in values]))


def test_members_may_have_different_numbers_of_groups() -> None:
    values = torch.randn(4, 5, generator=torch.Generator().manual_seed(0)).double()
    counts = torch.tensor([3, 1, 5, 2])
    together = group_means(values, counts)
    assert len(together) == 4
    for row, count, found in zip(values, counts, together, strict=True):
        torch.testing.assert_close(found, group_means(row[None], count[None])[0])


def test_weights_are_group_means_of_what_the_losses_say() -> None:
    setting = Setting(("a", "b", "c", "d"), 16, CPU)
    ours = build([Go4align(step_size=0.1), Go4align(groups=4, step_size=0.5)], setting)
    p = torch.full((2, 4), 0.25).double()
    for losses in torch.rand(5, 2, 4, generator=torch.Generator().manual_seed(0)).double() + 0.1:
        p = p * torch.exp(-torch.tensor([[0.1], [0.5]]) * losses)
        p = p / p.sum(1, keepdim=True)
        own = p * losses.sum(1, keepdim=True) / losses
        w = ours(losses, None)
        torch.testing.assert_close(w[0], every_grouping(own[0], 2))
        torch.testing.assert_close(w[1], own[1])


def test_a_member_without_numbers_does_not_touch_the_others() -> None:
    setting = Setting(("a", "b", "c"), 16, CPU)
    losses = torch.tensor([[1.0, 2.0, 3.0], [torch.nan, 1.0, 1.0], [1.0, 5.0, 2.0]])
    w = build([Go4align()] * 3, setting)(losses, None)
    torch.testing.assert_close(w[[0, 2]], build([Go4align()] * 2, setting)(losses[[0, 2]], None))
    assert w[1].isnan().any()


@pytest.mark.parametrize(
    ("groups", "search"),
    [
        (3, {"name": "grid"}),
        ({"grid": [1, 3]}, {"name": "grid"}),
        ({"range": {"from": 1, "to": 3}}, {"name": "optuna", "trials": 4}),
    ],
)
def test_more_groups_than_terms_are_refused(groups: object, search: object) -> None:
    arm = {"name": "a", "weighting": {"name": "go4align", "groups": groups}, "search": search}
    with pytest.raises(InvalidInput) as refused:
        check_study({"name": "s", "arms": [arm]})
    (detail,) = refused.value.details
    assert detail.path == "arms[0].weighting.groups"
    assert detail.message == "groups must be at most the number of terms, 2 (pred, info), got 3"
