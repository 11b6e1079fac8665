"""Balance and regularisers as options of training: every model keeps its function, every member its result."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import torch
from torch import Tensor

from service.contract.methods.balance import Balance, balanced_layers
from service.contract.methods.data import Digits
from service.contract.methods.models import Cnn, Mlp, Model, Resnet18, Rnn, Transformer
from service.contract.methods.problems import Bottleneck, Multitask
from service.contract.methods.weightings import Fixed
from service.contract.study.parsing import check_study
from tests.planned import planned
from workers import balance, data, models, optimizers
from workers.balance.schedule import Schedule
from workers.data.random_streams import Seeds
from workers.planning.cohorts import plan
from workers.training.loop import Cohort

CPU = torch.device("cpu")
IMAGES = models.Sizes(2 * 8 * 8, 5, 5, 4, (2, 8, 8), scalars=(0.5,), more_heads=(3,))
WORDS = models.Sizes(9, 5, 5, 4, (1, 1, 9), more_heads=(3,), vocabulary=20)
MODELS: list[tuple[Model, models.Sizes]] = [
    (Mlp(widths=[7, 6], latent=5, head=[8]), IMAGES),
    (Mlp(widths=[7, 6], latent=5, head=[8], activation="relu-squared"), IMAGES),
    (Mlp(widths=[7], latent=5, head=[8, 6], activation="leaky-relu"), IMAGES),
    (Cnn(channels=[4, 6], widths=[7], latent=5, head=[8]), IMAGES),
    (Cnn(channels=[4], widths=[], latent=5), IMAGES),
    (Resnet18(small_images=True, latent=5, head=[8]), IMAGES),
    (Rnn(embedding=4, hidden=[7, 6], latent=5, head=[8]), IMAGES),
    (Rnn(embedding=4, hidden=[7], latent=5), WORDS),
    (Transformer(width=8, heads=2, feed_forward=7, latent=5, head=[8]), IMAGES),
    (Transformer(width=8, heads=2, feed_forward=7, latent=5), WORDS),
]


def some_inputs(sizes: models.Sizes, members: int) -> Tensor:
    g = torch.Generator().manual_seed(0)
    shape = (members, 6, sizes.features)
    if not sizes.vocabulary:
        return torch.rand(shape, generator=g)
    words = torch.randint(1, sizes.vocabulary, shape, generator=g).float()
    words[:, 1, 4:] = 0  # padding
    words[:, 2] = 0  # an empty text
    return words


@pytest.mark.parametrize("p", [1.0, 2.0])
@pytest.mark.parametrize("code", [False, True])
@pytest.mark.parametrize(("spec", "sizes"), MODELS, ids=lambda value: getattr(value, "name", ""))
def test_full_balance_leaves_a_models_outputs_as_they_were(
    spec: Model, sizes: models.Sizes, code: bool, p: float
) -> None:
    seeds = [3, 4] if spec.stacks else [3]
    model = models.build(spec, sizes, Seeds(seeds, CPU))
    x = some_inputs(sizes, len(seeds))

    def outputs() -> list[Tensor]:
        s, *_ = model.encode(x)
        read = s.relu() if code else s
        return [*(() if code else (s,)), model.decode(read, 0), model.decode(read, 1)]

    flats = [model.encoder.flat, model.head.flat]
    pairs = model.pairs(code)
    expected, cost = outputs(), balance.cost(flats, p)
    balance.full(pairs, p)
    for found, before in zip(outputs(), expected, strict=True):
        assert (found - before).abs().max() <= 1e-5 * before.abs().max()
    problem = Multitask(auxiliaries=["rotation"]) if code else Bottleneck()
    assert list(dict.fromkeys(pair.name for pair in pairs)) == balanced_layers(spec, problem)
    if pairs:
        assert (balance.cost(flats, p) < cost).all()
        assert all((balance.imbalance(pair, p) <= 1e-3).all() for pair in pairs)


@pytest.mark.parametrize("worst", [0, 1, 2])
def test_the_imbalance_of_equally_named_layers_is_that_of_the_least_balanced_one(worst: int) -> None:
    """All heads call their hidden layers alike; none of them may speak for the others."""
    sizes = IMAGES._replace(more_heads=(3, 3))
    model = models.build(Mlp(widths=[7], latent=5, head=[8]), sizes, Seeds([3, 4], CPU))
    pairs = model.pairs()
    balance.full(pairs, 2.0)
    heads = [pair for pair in pairs if pair.name == "head-1"]
    assert len(heads) == 3
    heads[worst].out[0][1] *= 9.0  # of the second member alone
    measured = Schedule(Balance(), pairs, [3, 4], CPU, 1).measure()["balance_head-1"]
    assert measured[0] < 0.01 and measured[1] == pytest.approx(math.log(9), abs=0.01)


def test_a_convolution_is_scaled_as_a_whole() -> None:
    model = models.build(Cnn(channels=[4, 6], widths=[7], latent=5), IMAGES, Seeds([3, 4], CPU))
    before = [leaf.detach().clone() for leaf in model.encoder.leaves[:4]]
    balance.full(model.pairs(), 2.0)
    assert len(before) == 4, "two convolutions and their biases"
    for leaf, start in zip(model.encoder.leaves[:4], before, strict=True):
        factors = (leaf.detach() / start).flatten(1)  # [K, weights]
        assert (factors - factors[:, :1]).abs().max() < 1e-4
        assert (factors[:, 0] - 1).abs().min() > 1e-2


def balanced(cohorts: Any, name: str, seed: int = 0, epochs: int = 3, **spec: Any) -> Any:
    trial = cohorts.trial(name, Fixed(beta=0.01), seed=seed, epochs=epochs, balance=Balance(**spec))
    return trial._replace(model=Mlp(widths=[32, 16], latent=8, head=[12]))


LAYERS = ["encoder-1", "encoder-2", "head-1"]


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"mode": "full", "p": 1.0},
        {"order": "random"},
        {"tied": True, "order": "random"},
        {"mode": "partial", "order": "reverse"},
        {"mode": "repeated", "every": 2, "order": "alternating"},
        {"mode": "after", "p": 1.0},
    ],
    ids=json.dumps,
)
def test_a_balanced_member_equals_training_it_alone(cohorts: Any, spec: dict[str, Any]) -> None:
    trials = [balanced(cohorts, f"{seed}-{i}", seed, **spec) for seed in (3, 7) for i in range(2)]
    trials = [t._replace(weighting=Fixed(beta=0.01 * (i + 1))) for i, t in enumerate(trials)]
    together = cohorts.reports(trials)
    assert together
    for trial in trials:
        for a, b in zip(cohorts.reports([trial]), together, strict=True):
            alone, found = ({m: v for m, v in r.metrics[trial.id].items() if m != "seconds"} for r in (a, b))
            assert found == pytest.approx(alone, rel=1e-4, abs=1e-5)
            assert {f"balance_{layer}" for layer in LAYERS} | {"power_sum"} <= set(found)


def test_training_unbalances_and_a_sweep_per_epoch_balances(cohorts: Any) -> None:
    def worst(**spec: Any) -> list[float]:
        reports = cohorts.reports([balanced(cohorts, "a", epochs=4, **spec)])
        return [max(r.metrics["a"][f"balance_{layer}"] for layer in LAYERS) for r in reports]

    none, full, partial, both, second = (
        worst(mode=mode, every=every)
        for mode, every in (("none", 1), ("full", 1), ("partial", 1), ("both", 1), ("both", 2))
    )
    assert none[0] > 0.5 and full[0] < none[0] / 3
    assert partial[0] < none[0] / 3 and partial[-1] < partial[0]
    assert max(both) < min(full)
    assert second[0] == full[0] and second[1] < full[1]


def test_balancing_before_training_is_what_changes_the_path(cohorts: Any) -> None:
    def losses(**spec: Any) -> list[float]:
        return [r.metrics["a"]["loss_pred"] for r in cohorts.reports([balanced(cohorts, "a", **spec)])]

    measured, full, tied = losses(mode="none"), losses(mode="full"), losses(mode="full", tied=True)
    unbalanced = balanced(cohorts, "a")
    plain = unbalanced._replace(training=unbalanced.training.model_copy(update={"balance": None}))
    assert measured == [r.metrics["a"]["loss_pred"] for r in cohorts.reports([plain])]
    assert len({*map(tuple, (measured, full, tied))}) == 3


def test_a_random_order_belongs_to_a_seed_and_an_epoch() -> None:
    def swept(seeds: list[int], epoch: int) -> list[Tensor]:
        model = models.build(Mlp(widths=[9, 9, 9], latent=5), IMAGES, Seeds([1] * len(seeds), CPU))
        Schedule(Balance(order="random"), model.pairs(), seeds, CPU, 9).after_epoch(epoch)
        return list(model.encoder.flat)

    first, other, again = swept([1, 2, 1], 1)
    assert torch.equal(first, again) and not torch.equal(first, other)
    assert torch.allclose(swept([2], 1)[0], other, rtol=1e-6, atol=0)
    assert not torch.equal(swept([2], 2)[0], other)


def test_the_full_balance_is_before_the_first_epoch_alone() -> None:
    model = models.build(Mlp(widths=[9, 9], latent=5), IMAGES, Seeds([1], CPU))
    schedule = Schedule(Balance(mode="full"), model.pairs(), [1], CPU, 9)
    changed: list[bool] = []
    for epoch in (2, 1):
        before = model.encoder.flat.clone()
        schedule.before_epoch(epoch)
        changed.append(not torch.equal(before, model.encoder.flat))
    assert changed == [False, True]


@pytest.mark.parametrize(
    ("spec", "when"),
    [({"mode": "repeated", "every": 2}, [2, 4]), ({"mode": "after"}, [5]), ({"mode": "partial", "every": 3}, [3])],
    ids=json.dumps,
)
def test_balance_after_epochs_is_where_it_is_due(spec: dict[str, Any], when: list[int]) -> None:
    """In full, but for `partial`: then every unit is balanced, and outputs are as they were."""
    x, changed = some_inputs(IMAGES, 1), []
    for epoch in range(1, 6):
        model = models.build(Mlp(widths=[9, 9], latent=5), IMAGES, Seeds([1], CPU))
        pairs = model.pairs()
        before, (s, *_) = model.encoder.flat.clone(), model.encode(x)
        Schedule(Balance(**spec), pairs, [1], CPU, epochs=5).after_epoch(epoch)
        if not torch.equal(before, model.encoder.flat):
            changed.append(epoch)
            in_full = all((balance.imbalance(pair, 2.0) <= 1e-3).all() for pair in pairs)
            assert in_full is (spec["mode"] != "partial")
            torch.testing.assert_close(model.encode(x)[0], s, rtol=1e-4, atol=1e-5)
    assert changed == when


def test_balance_after_training_changes_nothing_that_is_learned_and_lowers_the_sum_of_powers(cohorts: Any) -> None:
    """As the paper has it: train with L2, balance with p = 1 when training is complete."""
    never, after = (
        [r.metrics["a"] for r in cohorts.reports([balanced(cohorts, "a", mode=mode, p=1.0)])]
        for mode in ("none", "after")
    )
    for before, report in zip(never[:-1], after[:-1], strict=True):
        assert {**report, "seconds": 0} == {**before, "seconds": 0}
    assert after[-1]["accuracy"] == never[-1]["accuracy"] and after[-1]["loss_pred"] == never[-1]["loss_pred"]
    assert after[-1]["i_xz_bits"] == pytest.approx(never[-1]["i_xz_bits"], rel=1e-3)
    assert after[-1]["power_sum"] < 0.99 * never[-1]["power_sum"]
    assert max(after[-1][f"balance_{layer}"] for layer in LAYERS) <= 1e-3 < never[-1]["balance_encoder-1"]


def test_the_sum_of_powers_is_that_of_all_weights_but_the_last_biases(cohorts: Any) -> None:
    """Of a balance with p = 2 before any training, by hand."""
    model = models.build(Mlp(widths=[7, 6], latent=5, head=[8]), IMAGES, Seeds([3, 4], CPU))
    measured = Schedule(Balance(p=2.0), model.pairs(code=True), [3, 4], CPU, 1).measure()["power_sum"]
    last = [*model.head.leaves[-1:], *(leaf for leaf in model.head.leaves if leaf.shape[1:] in ((1, 4), (1, 3)))]
    biases = {leaf.data_ptr(): leaf for leaf in last if leaf.shape[1] == 1}.values()
    expected = balance.cost([model.encoder.flat, model.head.flat], 2.0) - balance.cost(list(biases), 2.0)
    scalars = 0.25  # of the encoder: a number trained with it, 0.5, which no layer has
    assert measured == pytest.approx((expected - scalars).tolist(), rel=1e-5)


def test_members_with_other_balances_or_feedback_train_apart(cohorts: Any) -> None:
    base = {"name": "fixed", "beta": 0.1}
    arms: list[dict[str, Any]] = [
        {"name": "plain", "weighting": base},
        {"name": "regular", "weighting": base, "training": {"l2": {"grid": [1e-4, 1e-3]}, "l1": 1e-5}},
        {"name": "balanced", "weighting": base, "training": {"balance": {"p": {"grid": [1.0, 2.0]}}}},
        {"name": "dfa", "weighting": base, "training": {"feedback": "dfa"}},
    ]
    found = plan(planned(check_study({"name": "s", "arms": arms})), slots=1)
    assert sorted(sorted(t.arm for t in cohort) for cohort in found) == [
        ["balanced"],
        ["balanced"],
        ["dfa"],
        ["plain", "regular", "regular"],
    ]
    ones = {cohort[0].arm: cohort[0] for cohort in found}
    for arm, what in (("balanced", "balance"), ("dfa", "feedback")):
        with pytest.raises(ValueError, match=rf"must share training\.{what}"):
            cohorts.reports([ones["plain"], ones[arm]])


@pytest.mark.parametrize("name", ["adam", "sgd"])
def test_l2_is_the_weight_decay_of_torch_and_l1_its_sign(name: Any) -> None:
    g = torch.Generator().manual_seed(0)
    start, steps = torch.randn(3, 6, generator=g), [torch.randn(3, 6, generator=g) for _ in range(5)]
    l1, l2 = torch.tensor([0.0, 0.0, 0.3]), torch.tensor([0.0, 0.1, 0.0])
    stacked = start.clone()
    ours = optimizers.build(name, [stacked], torch.full((3,), 0.01), l1, l2)
    for gradient in steps:
        ours.step([gradient])
    for k in range(3):
        alone = start[k].clone().requires_grad_()
        kind = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[name]
        theirs = kind([alone], lr=0.01, weight_decay=float(l2[k]))
        for gradient in steps:
            alone.grad = gradient[k] + l1[k] * alone.detach().sign()
            theirs.step()
        torch.testing.assert_close(stacked[k], alone.detach(), atol=1e-6, rtol=1e-6)


def test_regularised_members_end_with_smaller_weights_than_their_neighbours(cohorts: Any) -> None:
    options = [{}, {"l2": 0.1}, {"l1": 0.003}]
    trials = [cohorts.trial(str(i), Fixed(), epochs=5, **option) for i, option in enumerate(options)]
    digits = [data.load(Digits())]
    together, alone = Cohort(trials, digits, CPU), Cohort(trials[1:2], digits, CPU)
    for epoch in range(1, 6):
        together.train_epoch(epoch)
        alone.train_epoch(epoch)
    flat = together.model.encoder.flat
    assert flat[1].square().sum() < 0.7 * flat[0].square().sum()
    assert flat[2].abs().sum() < 0.7 * flat[0].abs().sum()
    torch.testing.assert_close(flat[1], alone.model.encoder.flat[0], rtol=1e-4, atol=1e-5)
