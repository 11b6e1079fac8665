"""Whether a cohort's members train together: both ways are tried on the first batch, compared and timed."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from service.contract.wording.numbers import number
from workers.own_code.functions import Function
from workers.own_code.members import Members
from workers.own_code.randomness import Unprepared
from workers.own_code.running_members import Batch, OneByOne, Stacked, Way

CLOSE = 1e-5  # how far stacked numbers may be from a member's own, relatively
TIMED = 3  # times each way is timed at most
SECONDS = 0.5  # after which it is timed no more


class Choice(NamedTuple):
    """The way that a cohort goes, and why."""

    alone: OneByOne
    words: str
    stacked: Stacked | None = None  # none: it does not give every member what it has alone
    ratio: float | None = None  # how many times faster stacked members are than one after the other

    @property
    def stacks(self) -> bool:
        return self.ratio is not None and self.ratio >= 1


def choose(members: Members, losses: Function, batch: Batch, clock: Callable[[], float] | None = None) -> Choice:
    """Stacked where it gives every member what it has alone, and sooner. Leaves parameters and buffers as they were.

    On one thread of the CPU its own time is what counts, so that a busy machine does not decide.
    """
    if clock is None:
        own_time = torch.get_num_threads() == 1 and not members.shared.flat.is_cuda
        clock = time.process_time if own_time else time.perf_counter
    alone = OneByOne(members)
    if members.count == 1:
        return Choice(alone, "a cohort of one")
    stacked = Stacked(members)
    before = {name: tensor.clone() for name, tensor in members.buffers.items()}
    try:
        one_by_one = _tried(alone, members, losses, batch, before)
        if members.attributes.change and _apart(_tried(alone, members, losses, batch, before), one_by_one) is not None:
            return Choice(alone, "not stacked: the losses change with what the code keeps on its objects")
        alone.kept.begin()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that an operation has no rule and is slow is seen by the clock
                together = _tried(stacked, members, losses, batch, before)
        except Unprepared as error:
            return Choice(alone, f"not stacked: {error}")
        except Exception as error:  # noqa: BLE001 - vmap and user code raise anything; alone the same code just ran
            return Choice(alone, f"not stacked: {_first_line(error)}")
        if (apart := _apart(together, one_by_one)) is not None:
            return Choice(alone, f"not stacked: {apart}")
        alone.kept.begin()
        seconds = {way: _timed(way, members, losses, batch, clock) for way in (alone, stacked)}
    finally:
        _put_back(members, before)
        alone.kept.begin()
    ratio = seconds[alone] / max(seconds[stacked], 1e-9)
    if ratio < 1:
        words = f"not stacked: {members.count} members together take {number(1 / ratio)} times as long"
    else:
        words = f"stacked: {members.count} members together are {number(ratio)} times as fast"
    return Choice(alone, words, stacked, ratio)


class Tried(NamedTuple):
    """What a way gives on a batch: losses and gradients of each term, and the buffers after it."""

    losses: list[Tensor]  # [K] each
    gradients: list[list[Tensor]]  # by term and leaf, [K, …] each
    buffers: dict[str, Tensor]


def _tried(way: Way, members: Members, losses: Function, batch: Batch, before: dict[str, Tensor]) -> Tried:
    _put_back(members, before)
    values = way.run(losses, batch)
    after = {name: tensor.clone() for name, tensor in members.buffers.items()}
    n = len(values)
    gradients = [way.pull({i: None}, retain=i + 1 < n) for i in range(n)]
    return Tried([value.detach() for value in values], gradients, after)


def _apart(together: Tried, alone: Tried) -> str | None:
    """The first number that differs by more than rounding, in words. A member that has none in either way is broken
    in both."""
    losses, lengths = torch.stack(alone.losses), torch.stack([_length(term) for term in alone.gradients])  # [n, K]
    own_losses, own_lengths = torch.stack(together.losses), torch.stack([_length(term) for term in together.gradients])
    for what, own, other in (("losses", own_losses, losses), ("gradients", own_lengths, lengths)):
        if not torch.equal(own.isfinite(), other.isfinite()):
            return f"{what} are finite in one way and not in the other"
    whole = (losses.isfinite() & lengths.isfinite()).all(0)  # [K]
    of_losses, of_gradients = differences(together, alone)  # [n, K]
    if bool((of_losses > CLOSE)[:, whole].any()):
        far = (own_losses - losses).abs()[:, whole]
        return f"losses differ from those of members alone by up to {number(float(far.max()))}"
    if bool((of_gradients > CLOSE)[:, whole].any()):
        apart = float(of_gradients[:, whole].max())
        return f"gradients differ from those of members alone by up to {number(apart)} of their length"
    for name, tensor in together.buffers.items():
        if not torch.allclose(tensor.double(), alone.buffers[name].double(), CLOSE, CLOSE / 10, equal_nan=True):
            return f"the buffer {name} differs from that of members alone"
    return None


def differences(together: Tried, alone: Tried) -> tuple[Tensor, Tensor]:
    """Of each term's losses, as a share of their size, and of its gradients, as a share of their length: [n, K] each.

    A term whose gradient is nearly 0 beside the others' has the rounding of what cancels in it.
    """
    losses, own_losses = torch.stack(alone.losses), torch.stack(together.losses)
    lengths = torch.stack([_length(term) for term in alone.gradients])
    apart = [
        _length([a - b for a, b in zip(own_term, term, strict=True)])
        for own_term, term in zip(together.gradients, alone.gradients, strict=True)
    ]
    scale = torch.maximum(lengths, 1e-3 * lengths.amax(0)).clamp_min(1e-7)
    return (own_losses - losses).abs() / (losses.abs() + 0.1), torch.stack(apart) / scale


def _length(gradients: list[Tensor]) -> Tensor:
    """Of each member's gradient, over all leaves: [K]."""
    return torch.stack([g.flatten(1).square().sum(1) for g in gradients]).sum(0).sqrt()


def _timed(way: Way, members: Members, losses: Function, batch: Batch, clock: Callable[[], float]) -> float:
    """Seconds of a forward and a backward pass, the least of some."""
    times: list[float] = []
    while len(times) < TIMED and sum(times) < SECONDS:
        start = clock()
        values = way.run(losses, batch)
        way.pull(dict.fromkeys(range(len(values))))
        if members.shared.flat.is_cuda:
            torch.cuda.synchronize()
        times.append(clock() - start)
    return min(times)


def _put_back(members: Members, before: dict[str, Tensor]) -> None:
    with torch.no_grad():
        for name, tensor in before.items():
            members.buffers[name].copy_(tensor)


def _first_line(error: Exception) -> str:
    """What is raised, without the advice that follows it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"[:300]
