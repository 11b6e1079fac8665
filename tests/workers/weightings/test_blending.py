"""Gradient blending on curves worked out by hand, and in a cohort with a validation split."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from service.contract.methods.data import Digits
from service.contract.methods.models import Mlp
from service.contract.methods.problems import Multitask
from service.contract.methods.weightings import Blending, Dwa, Fixed
from service.contract.study.expansion import PlannedTrial
from service.contract.study.parsing import check_study
from service.contract.study.study import Evaluation, Training
from service.contract.wire.errors import InvalidInput
from workers.training.loop import train
from workers.weightings import Setting, Weighting, build

CPU = torch.device("cpu")
TWO = Setting(("a", "b"), 1, CPU)
BARE: dict[str, Any] = {"window": 3, "warm_up": 0, "smoothing": 0.0, "floor": 0.0, "tolerance": 0.0}

Curve = Callable[[int], float]


def fed(params: list[Blending], curves: list[tuple[Curve, Curve]], epochs: int) -> Weighting:
    """Every member after the same epochs; per term its training and its validation loss."""
    blending = build(params, Setting(tuple(map(str, range(len(curves)))), 1, CPU))
    for epoch in range(epochs):
        train_losses, validation = ([[curve[i](epoch) for curve in curves]] * len(params) for i in (0, 1))
        blending.after_epoch(torch.tensor(train_losses), torch.tensor(validation))
    return blending


def shares(params: list[Blending], curves: list[tuple[Curve, Curve]], epochs: int) -> list[list[float]]:
    found: list[list[float]] = fed(params, curves, epochs)(torch.ones(len(params), len(curves)), None).tolist()
    return found


def line(start: float, slope: float) -> Curve:
    return lambda epoch: start + slope * epoch


# Validation falls by 0.2 and 0.3 an epoch (G), the gap to training grows by 0.1 and 0.3 (O):
# G/O² = 20 and 10/3, so the weights are 6/7 and 1/7.
WORKED = [(line(5, -0.3), line(5, -0.2)), (line(9, -0.6), line(9, -0.3))]


@pytest.mark.parametrize("window", [2, 3, 10])
@pytest.mark.parametrize("epochs", [2, 3, 7])
def test_the_weights_of_a_worked_example(window: int, epochs: int) -> None:
    assert shares([Blending(**{**BARE, "window": window})], WORKED, epochs)[0] == pytest.approx(
        [6 / 7, 1 / 7], rel=1e-4
    )


def test_a_smoothed_curve_and_its_line() -> None:
    """With decay ½ the curves 8, 4, 0 and (gap) 0, 2, 0 become 8, 6, 3 and 0, 1, ½: slopes −5/2 and 1/4."""
    validation, gap = (8.0, 4.0, 0.0), (0.0, 2.0, 0.0)
    other = (line(1, -0.5), line(1, -0.25))  # becomes 1, .875, .6875 and 0, .125, .3125: slopes −5/32 and 5/32
    curves: list[tuple[Curve, Curve]] = [(lambda e: validation[e] - gap[e], lambda e: validation[e]), other]
    values = (5 / 2) / (1 / 4) ** 2, (5 / 32) / (5 / 32) ** 2
    found = shares([Blending(**{**BARE, "smoothing": 0.5})], curves, 3)[0]
    assert found == pytest.approx([v / sum(values) for v in values])


def test_a_term_that_only_overfits_is_weighted_towards_zero() -> None:
    curves = [*WORKED, (line(2, -0.2), line(2, 0.1))]
    bare, defaults = shares([Blending(**BARE), Blending()], curves, 10)
    assert bare[2] == 0 and bare[:2] == pytest.approx([6 / 7, 1 / 7], rel=1e-4)
    assert defaults[2] == pytest.approx(0.05 / 3, rel=1e-4), "the floor lets it return"


def test_a_term_that_does_not_overfit_at_all_takes_the_weight() -> None:
    same = line(4, -0.125)
    assert shares([Blending(**BARE)], [(same, same), WORKED[0]], 5)[0] == pytest.approx([1.0, 0.0], abs=1e-6)


def test_overfitting_below_the_tolerance_counts_as_none() -> None:
    """G is 0.2 and 0.3; gaps that grow by 0.01 and 0.001, a hundred times each other's G/O², are both noise."""
    quiet = [(line(5, -0.21), line(5, -0.2)), (line(9, -0.301), line(9, -0.3))]
    tolerant, literal = shares([Blending(**{**BARE, "tolerance": t}) for t in (0.3, 0.0)], quiet, 5)
    assert tolerant == pytest.approx([0.5, 0.5]) and literal[1] > 0.98
    assert shares([Blending(**{**BARE, "tolerance": 0.3})], WORKED, 5)[0] == pytest.approx([6 / 7, 1 / 7], rel=1e-4)


def weights(problem: Multitask, data: Digits, epochs: int) -> list[dict[str, list[Any]]]:
    """The mean weight of each term in each epoch of a training, for three seeds."""
    model, training = Mlp(widths=[64], latent=32), Training(epochs=epochs, batch_size=64)
    trials = [PlannedTrial(str(s), "a", s, {}, problem, Blending(), model, training) for s in range(3)]
    reports = list(train(trials, data, Evaluation(every=epochs, samples=1), CPU))
    assert len(reports) == epochs
    return [{name: [r.metrics[t.id][f"weight_{name}"] for r in reports] for name in problem.terms} for t in trials]


def test_terms_that_do_not_overfit_keep_equal_weights() -> None:
    """Both validation losses fall all along and stay near those of training images."""
    tasks = Multitask(main="class", auxiliaries=["coarse-class"])
    for member in weights(tasks, Digits(validation_fraction=0.3), 15):
        assert all(0.4 <= w <= 0.6 for w in member["class"])


def test_a_term_that_overfits_loses_its_weight() -> None:
    """40 labelled images are known by heart while rotation still gets better on all of them."""
    tasks, data = Multitask(main="class", auxiliaries=["rotation"]), Digits(validation_fraction=0.3, labels=40)
    for member in weights(tasks, data, 20):
        assert member["class"][0] == 0.5 and max(member["class"][-2:]) < 0.1


def test_the_window_forgets_what_was_before() -> None:
    turned: Curve = lambda e: 5 - e if e < 5 else e - 5  # noqa: E731
    curves = [(line(5, -1.0), turned), WORKED[0]]
    narrow, wide = shares([Blending(**{**BARE, "window": w}) for w in (3, 20)], curves, 8)
    assert narrow[0] == 0 and wide[0] > 0


def test_weights_are_equal_until_the_warm_up_is_over() -> None:
    params = [Blending(**{**BARE, "warm_up": w}) for w in (0, 3, 5)]
    moved = [[row[0] != 0.5 for row in shares(params, WORKED, epochs)] for epochs in (0, 1, 2, 3, 4, 5)]
    assert moved == [[False] * 3, [False] * 3, [True, False, False], *[[True, True, False]] * 2, [True] * 3]


@settings(deadline=None)
@given(st.lists(st.lists(st.floats(0, 100), min_size=6, max_size=6), min_size=2, max_size=8), st.floats(0, 1))
def test_weights_sum_to_one_and_none_is_below_the_floor(history: list[list[float]], floor: float) -> None:
    blending = build([Blending(**{**BARE, "floor": floor})], Setting(("a", "b", "c"), 1, CPU))
    weights = []
    for row in history:
        blending.after_epoch(torch.tensor([row[:3]]), torch.tensor([row[3:]]))
        weights.append(blending(torch.ones(1, 3).double(), None)[0])
    rows = torch.stack(weights)
    assert rows.shape == (len(history), 3) and (rows >= floor / 3 - 1e-9).all()
    assert rows.sum(1).tolist() == pytest.approx([1.0] * len(history))


def test_where_nothing_generalises_or_numbers_fail_the_weights_stay() -> None:
    blending = fed([Blending(**{**BARE, "window": 2})] * 2, WORKED, 4)
    before = blending(torch.ones(2, 2), None)
    blending.after_epoch(torch.tensor([[0.0, 0.0], [torch.nan, 0.0]]), torch.tensor([[90.0, 90.0], [1.0, 1.0]]))
    torch.testing.assert_close(blending(torch.ones(2, 2), None), before)


def test_only_groups_that_blend_are_told_of_validation() -> None:
    mixed = build([Fixed(), Blending(**BARE), Dwa()], TWO)
    assert mixed.needs_validation and not build([Fixed(), Dwa()], TWO).needs_validation
    for epoch in range(3):
        losses = [torch.full((3, 2), 1.0 + epoch) for _ in (0, 1)]  # the others' curves are none of its own
        for i, own in enumerate(losses):
            own[1] = torch.tensor([curve[i](epoch) for curve in WORKED])
        mixed.after_epoch(*losses)
    w = mixed(torch.ones(3, 2), None)
    assert w[0].tolist() == pytest.approx([1.0, 0.01]) and w[1].tolist() == pytest.approx([6 / 7, 1 / 7], rel=1e-4)


def test_a_cohort_blends_by_its_validation_split_as_each_member_alone(cohorts: Any) -> None:
    quick = Blending(window=3, warm_up=2, smoothing=0.0, tolerance=0.0)
    trials = [cohorts.trial(str(seed), quick, seed=seed, epochs=5) for seed in (3, 7)]
    data = Digits(validation_fraction=0.2)

    def weights(group: list[Any], name: str) -> list[float | None]:
        return [r.metrics[name]["weight_info"] for r in train(group, data, Evaluation(every=5, samples=2), CPU)]

    together = {t.id: weights([*trials, cohorts.trial("n", Dwa(), epochs=5)], t.id) for t in trials}
    for trial in trials:
        assert together[trial.id] == pytest.approx(weights([trial], trial.id), rel=2e-3)  # O² magnifies rounding
        assert together[trial.id][:2] == [0.5, 0.5] and 0.5 not in together[trial.id][2:]


def test_blending_without_a_validation_split_is_refused() -> None:
    def paths(**parts: Any) -> list[tuple[str, str]]:
        arm = {"name": "a", "weighting": {"name": "blending"}, **parts.pop("arm", {})}
        with pytest.raises(InvalidInput) as caught:
            check_study({"name": "s", "arms": [arm], **parts})
        return [(d.path, d.message) for d in caught.value.details]

    where, rule = paths(data={"name": "digits", "validation_fraction": 0})[0]
    assert where == "arms[0].weighting.name" and "validation_fraction > 0, got 0" in rule
    assert paths(arm={"problem": {"name": "toy"}}, data={"name": "digits", "validation_fraction": 0.1})[0][0] == where
    check_study(
        {
            "name": "s",
            "data": {"name": "digits", "validation_fraction": 0.1},
            "arms": [{"name": "a", "weighting": {"name": "blending"}}],
        }
    )
