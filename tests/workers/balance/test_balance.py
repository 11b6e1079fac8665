"""Balance lowers Σ|w|^p and changes nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from workers import balance

Leaves = list[Tensor]  # W [K, in, out], b [K, 1, out] of each layer in turn
Activation = Callable[[Tensor], Tensor]
ACTIVATIONS: dict[str, tuple[Activation, float]] = {  # with c of f(λx) = λ^c f(x)
    "relu": (torch.relu, 1.0),
    "leaky": (lambda x: functional.leaky_relu(x, 0.1), 1.0),
    "linear": (lambda x: x, 1.0),
    "square": (lambda x: x.relu().square(), 2.0),
    "root": (lambda x: x.relu().sqrt(), 0.5),
}
widths = st.lists(st.integers(1, 6), min_size=3, max_size=6)  # 1 to 4 hidden layers
narrow = st.lists(st.integers(1, 4), min_size=3, max_size=5)
powers = st.sampled_from([0.5, 1.0, 2.0, 3.0])
named = st.sampled_from(list(ACTIVATIONS))
seeds = st.integers(0, 10_000)


def network(ends: Sequence[int], seed: int, members: int = 2, dtype: torch.dtype = torch.float64) -> Leaves:
    """Weights and biases whose units differ in scale by up to e^±2."""
    g = torch.Generator().manual_seed(seed)
    leaves: Leaves = []
    for i, o in itertools.pairwise(ends):
        scale = (torch.rand(members, 1, o, generator=g) * 4 - 2).exp() * i**-0.5
        leaves += [torch.randn(members, n, o, generator=g) * scale for n in (i, 1)]
    return [leaf.to(dtype) for leaf in leaves]


def forward(leaves: Leaves, x: Tensor, f: Activation) -> Tensor:
    for i in range(0, len(leaves), 2):
        x = torch.baddbmm(leaves[i + 1], f(x) if i else x, leaves[i])
    return x


def inputs(leaves: Leaves) -> Tensor:
    shape = (len(leaves[0]), 16, leaves[0].shape[1])
    return torch.rand(shape, generator=torch.Generator().manual_seed(1)).to(leaves[0].dtype)


def worst(leaves: Leaves, p: float, c: float, tied: bool = False) -> float:
    return max(float(balance.imbalance(pair, p, tied).max()) for pair in balance.chain(leaves, "l", c))


def close(found: Tensor, expected: Tensor, tolerance: float) -> bool:
    """Relative to the largest output: what ReLU units cancel is not counted as error."""
    return bool((found - expected).abs().max() <= tolerance * expected.abs().max().clamp(min=1e-30))


@given(widths, seeds, powers, named, st.booleans(), st.booleans())
@settings(deadline=None, max_examples=40)
def test_full_balance_keeps_the_function_and_lowers_the_cost(
    ends: list[int], seed: int, p: float, name: str, tied: bool, random: bool
) -> None:
    f, c = ACTIVATIONS[name]
    leaves = network(ends, seed, dtype=torch.float32)
    x, before = inputs(leaves), balance.cost(leaves, p)
    expected = forward([leaf.double() for leaf in leaves], x.double(), f)
    pairs = balance.chain(leaves, "l", c)
    g = torch.Generator().manual_seed(seed)
    order = (lambda: balance.shuffled(pairs, tied, g)) if random else None
    balance.full(pairs, p, tied, order)
    found = forward([leaf.double() for leaf in leaves], x.double(), f)
    assert close(found, expected, 1e-5)
    assert (balance.cost(leaves, p) <= before * (1 + 1e-6)).all()
    assert worst(leaves, p, c, tied) <= 1e-3


@given(widths, seeds, powers, named, st.booleans())
@settings(deadline=None, max_examples=40)
def test_no_single_visit_raises_the_cost(ends: list[int], seed: int, p: float, name: str, tied: bool) -> None:
    c = ACTIVATIONS[name][1]
    leaves = network(ends, seed)
    pairs = balance.chain(leaves, "l", c)
    assert pairs, "every network has a hidden layer"
    for visit in balance.shuffled(pairs, tied, torch.Generator().manual_seed(seed)):
        before = balance.cost(leaves, p)
        balance.sweep([visit], p, tied)
        assert (balance.cost(leaves, p) <= before * (1 + 1e-12)).all()


@given(st.integers(1, 6), seeds, st.floats(0.02, 30), st.floats(0.3, 3))
@settings(deadline=None, max_examples=40)
def test_a_visited_unit_is_where_the_cost_is_least(units: int, seed: int, p: float, c: float) -> None:
    """Any p, any c: no other λ does better, and c ΣOUT = ΣIN (seed 003, eq. 31)."""
    leaves = network([3, units, 2], seed)
    pairs = balance.chain(leaves, "l", c)
    balance.sweep(balance.in_turn(pairs, tied=False), p)
    least = balance.cost(leaves, p)
    into = torch.cat([leaves[0], leaves[1]], 1).abs().pow(p).sum(1)  # [K, units]
    torch.testing.assert_close(c * leaves[2].abs().pow(p).sum(2), into, rtol=1e-9, atol=0)
    for factor in (0.99, 1.01):
        other = [leaves[0] * factor, leaves[1] * factor, leaves[2] / factor**c, leaves[3]]
        assert (balance.cost(other, p) > least * (1 - 1e-12)).all()


@pytest.mark.parametrize("p", [0.002, 400.0])
def test_no_p_leaves_the_range_of_numbers(p: float) -> None:
    """Σ|w|^p would be 0 for p = 400, ‖w‖_p infinite for p = 0.002."""
    leaves = network([5, 4, 3], 0)
    leaves[0] /= 100
    assert worst(leaves, p, 1.0) > 0.1
    balance.full(balance.chain(leaves, "l"), p)
    assert worst(leaves, p, 1.0) <= 1e-3
    if p > 1:  # ‖w‖_p is about the largest
        largest = torch.cat([leaves[0], leaves[1]], 1).abs().amax(1)
        torch.testing.assert_close(leaves[2].abs().amax(2), largest, rtol=0.01, atol=0)


@given(narrow, seeds, powers, named, st.booleans())
@settings(deadline=None, max_examples=10)
def test_ten_random_orders_end_in_the_same_weights(ends: list[int], seed: int, p: float, name: str, tied: bool) -> None:
    c = ACTIVATIONS[name][1]
    ended = []
    for i in range(10):
        leaves = network(ends, seed)
        pairs, g = balance.chain(leaves, "l", c), torch.Generator().manual_seed(i)
        balance.full(pairs, p, tied, partial(balance.shuffled, pairs, tied, g), 1e-8)
        ended.append(leaves)
    assert all(len(leaves) == 2 * len(ends) - 2 for leaves in ended), "weights and biases"
    for other in ended[1:]:
        for a, b in zip(ended[0], other, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-5, atol=0)


@pytest.mark.parametrize("order", [balance.in_reverse, balance.alternating])
@given(ends=widths, seed=seeds, p=powers, name=named, tied=st.booleans())
@settings(deadline=None, max_examples=20)
def test_orders_of_layers_keep_the_function_and_end_in_the_same_weights(
    order: Callable[[Sequence[balance.Pair], bool], list[balance.Visit]],
    ends: list[int],
    seed: int,
    p: float,
    name: str,
    tied: bool,
) -> None:
    f, c = ACTIVATIONS[name]
    leaves, expected = network(ends, seed), network(ends, seed)
    x = inputs(leaves)
    before, cost = forward(leaves, x, f), balance.cost(leaves, p)
    pairs = balance.chain(leaves, "l", c)
    assert sorted(map(id, (visit.pair for visit in order(pairs, tied)))) == sorted(map(id, pairs)), "each layer once"
    balance.sweep(order(pairs, tied), p, tied)
    assert (balance.cost(leaves, p) <= cost * (1 + 1e-12)).all()
    balance.full(pairs, p, tied, partial(order, pairs, tied), 1e-9)
    balance.full(balance.chain(expected, "l", c), p, tied, tolerance=1e-9)
    assert close(forward(leaves, x, f), before, 1e-9)
    for found, other in zip(leaves, expected, strict=True):
        torch.testing.assert_close(found, other, rtol=1e-6, atol=0)


def test_a_sweep_backwards_visits_the_last_layer_first_and_an_alternating_one_the_odd_layers() -> None:
    pairs = balance.chain(network([2, 3, 3, 3, 3, 2], 0), "l")
    names = [[visit.pair.name for visit in order(pairs, False)] for order in (balance.in_reverse, balance.alternating)]
    assert names == [["l-4", "l-3", "l-2", "l-1"], ["l-1", "l-3", "l-2", "l-4"]]
    heads = [pair._replace(name="head-1") for pair in pairs[1:3]]
    found = [visit.pair.name for visit in balance.alternating([pairs[0], *heads, pairs[3]], False)]
    assert found == ["l-1", "l-4", "head-1", "head-1"], "heads have a place in common"


def test_the_weights_of_layers_are_counted_once() -> None:
    leaves = network([4, 3, 3, 2], 0)
    found = balance.weights_of(balance.chain(leaves, "l"))
    expected = balance.cost(leaves[:-1], 1.5)  # all but the last bias, which no unit's scale reaches
    torch.testing.assert_close(balance.cost(found, 1.5), expected)
    loop = torch.ones(2, 3, 3, dtype=torch.float64)
    pair = balance.recurrent("r", leaves[0], leaves[1], loop, [leaves[2]])
    torch.testing.assert_close(balance.cost(balance.weights_of([pair]), 1.0), balance.cost([*leaves[:3], loop], 1.0))


@given(widths, seeds, powers)
@settings(deadline=None, max_examples=40)
def test_tied_balance_equals_the_closed_form(ends: list[int], seed: int, p: float) -> None:
    """Without biases layer i is multiplied by M_i = Π_j ‖A_j‖^{1/N} / ‖A_i‖; the paper's eq. 51 gives M_i²."""
    leaves = network(ends, seed)
    for bias in leaves[1::2]:
        bias.zero_()
    weights = [w.clone() for w in leaves[::2]]
    norms = torch.stack([w.abs().pow(p).flatten(1).sum(1).pow(1 / p) for w in weights])  # [N, K]
    mean = norms.log().mean(0).exp()
    balance.full(balance.chain(leaves, "l"), p, tied=True, tolerance=1e-10)
    assert len(weights) == len(ends) - 1 > 0
    for w, start, norm in zip(leaves[::2], weights, norms, strict=True):
        torch.testing.assert_close(w, start * (mean / norm)[:, None, None], rtol=1e-8, atol=0)


@given(widths, seeds, powers, named)
@settings(deadline=None, max_examples=40)
def test_a_balanced_network_stays_put(ends: list[int], seed: int, p: float, name: str) -> None:
    c = ACTIVATIONS[name][1]
    leaves = network(ends, seed)
    pairs = balance.chain(leaves, "l", c)
    assert balance.full(pairs, p, tolerance=1e-10).max() > 0
    kept = [leaf.clone() for leaf in leaves]
    assert balance.full(pairs, p, tolerance=1e-9).max() == 0
    balance.sweep(balance.in_turn(pairs, tied=False), p)
    for leaf, before in zip(leaves, kept, strict=True):
        torch.testing.assert_close(leaf, before, rtol=1e-8, atol=0)


@given(widths, seeds, powers, st.integers(0, 6), st.sampled_from(["in", "out", "both", "layer"]))
@settings(deadline=None, max_examples=40)
def test_dead_units_are_left_alone(ends: list[int], seed: int, p: float, unit: int, side: str) -> None:
    leaves = network(ends, seed)
    u = unit % ends[1]
    own = slice(None) if side == "layer" else slice(u, u + 1)
    if side != "out":
        leaves[0][:, :, own] = leaves[1][:, :, own] = 0
    if side in ("out", "both"):
        leaves[2][:, own] = 0
    x = inputs(leaves)
    expected, kept = forward(leaves, x, torch.relu), leaves[0].clone()
    balance.full(balance.chain(leaves, "l"), p)
    assert all(leaf.isfinite().all() for leaf in leaves)
    assert close(forward(leaves, x, torch.relu), expected, 1e-9)
    assert (leaves[0][:, :, own] == kept[:, :, own]).all()
    assert worst(leaves, p, 1.0) <= 1e-3


def test_a_constant_unit_is_balanced_by_its_bias() -> None:
    leaves = network([3, 2, 4], 0)
    leaves[0][:, :, 0] = 0
    balance.full(balance.chain(leaves, "l"), 2.0)
    torch.testing.assert_close(leaves[1][:, 0, 0].square(), leaves[2][:, 0].square().sum(1))


def test_weights_that_are_no_numbers_stay_with_their_member() -> None:
    leaves, tame = network([3, 4, 2], 0), network([3, 4, 2], 0)
    leaves[0][0] = torch.nan
    for each in (leaves, tame):
        balance.full(balance.chain(each, "l"), 2.0)
    assert all(torch.equal(a[1], b[1]) for a, b in zip(leaves, tame, strict=True))


@given(widths, seeds, powers, named, st.booleans())
@settings(deadline=None, max_examples=40)
def test_a_member_is_balanced_as_if_alone(ends: list[int], seed: int, p: float, name: str, tied: bool) -> None:
    c = ACTIVATIONS[name][1]
    leaves = network(ends, seed, members=3)
    leaves[0][1] *= 100  # so that members need different numbers of sweeps
    starts = [[leaf[k : k + 1].clone() for leaf in leaves] for k in range(3)]
    sweeps = balance.full(balance.chain(leaves, "l", c), p, tied)
    for k, alone in enumerate(starts):
        assert balance.full(balance.chain(alone, "l", c), p, tied) == sweeps[k]
        for a, b in zip(leaves, alone, strict=True):
            torch.testing.assert_close(a[k], b[0], rtol=1e-12, atol=0)


def test_a_sweep_of_some_members_leaves_the_others() -> None:
    leaves, start = network([3, 4, 2], 0, members=3), network([3, 4, 2], 0, members=3)
    pairs = balance.chain(leaves, "l")
    balance.sweep(balance.shuffled(pairs, False, torch.Generator()), 2.0, rows=torch.tensor([0, 2]))
    assert [bool((a == b).all()) for a, b in zip(leaves[0], start[0], strict=True)] == [False, True, False]


def test_a_full_balance_of_some_members_leaves_the_others_and_counts_their_sweeps_alone() -> None:
    leaves, start = network([3, 4, 4, 2], 0, members=3), network([3, 4, 4, 2], 0, members=3)
    sweeps = balance.full(balance.chain(leaves, "l"), 2.0, members=torch.tensor([True, False, True]))
    assert [bool((a == b).all()) for a, b in zip(leaves[0], start[0], strict=True)] == [False, True, False]
    assert sweeps[0] > 0 and sweeps[1] == 0 and sweeps[2] > 0
    off = torch.stack([balance.imbalance(pair, 2.0) for pair in balance.chain(leaves, "l")]).amax(0)
    assert (off <= 1e-3).tolist() == [True, False, True]


def test_the_number_of_sweeps_is_bounded() -> None:
    leaves = network([3, 5, 5, 5, 2], 0)
    assert (balance.full(balance.chain(leaves, "l"), 2.0, tolerance=1e-9, most=2) == 2).all()
    assert worst(leaves, 2.0, 1.0) > 1e-9


@pytest.mark.parametrize("p", [0.0, -1.0, float("inf")])
def test_p_must_be_positive(p: float) -> None:
    visits = balance.in_turn(balance.chain(network([2, 2, 2], 0), "l"), tied=False)
    with pytest.raises(ValueError, match="p of a balance must be above 0"):
        balance.sweep(visits, p)


def elman(leaves: Leaves, x: Tensor) -> Tensor:
    """h ← relu(x W + h L + b), y = h V: x [K, B, T, in]."""
    w, loop, b, v = leaves
    h = torch.zeros(*x.shape[:2], loop.shape[1], dtype=x.dtype)
    for t in range(x.shape[2]):
        h = torch.relu(x[:, :, t] @ w + h @ loop + b)
    return h @ v


@given(st.integers(1, 6), seeds, powers, st.booleans(), st.booleans())
@settings(deadline=None, max_examples=40)
def test_recurrent_units_are_balanced_around_their_self_loops(
    units: int, seed: int, p: float, tied: bool, random: bool
) -> None:
    g = torch.Generator().manual_seed(seed)
    shapes = [(3, units), (units, units), (1, units), (units, 2)]
    leaves = [torch.randn(2, *shape, generator=g).double() for shape in shapes]
    leaves[1] /= units
    loops = leaves[1].diagonal(dim1=1, dim2=2).clone()
    x = torch.rand(2, 4, 5, 3, generator=g).double()
    expected, before = elman(leaves, x), balance.cost(leaves, p)
    pairs = [balance.recurrent("r", leaves[0], leaves[2], leaves[1], [leaves[3]])]
    balance.full(pairs, p, tied=tied, order=(lambda: balance.shuffled(pairs, tied, g)) if random else None)
    assert close(elman(leaves, x), expected, 1e-9)
    assert (balance.cost(leaves, p) <= before * (1 + 1e-12)).all()
    assert torch.equal(leaves[1].diagonal(dim1=1, dim2=2), loops)
    assert balance.imbalance(pairs[0], p, tied=tied).max() <= 1e-3
    if not tied:
        w, loop, b, v = (leaf.abs().pow(p) for leaf in leaves)
        loop.diagonal(dim1=1, dim2=2).zero_()
        ratio = (loop.sum(2) + v.sum(2)) / (w.sum(1) + loop.sum(1) + b.sum(1))
        assert ratio.log().abs().max() / p <= 1e-3
