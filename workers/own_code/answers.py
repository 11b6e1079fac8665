"""Torch's random functions, answered with the numbers of a member's own streams while a user's function runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from workers.own_code.all_at_once import FASTER
from workers.own_code.randomness import Noise
from workers.own_code.whole_stack import at_once, of_all


class Answered(TorchFunctionMode):
    """While it is on, torch's random functions are answered with a member's own numbers.

    `member` is which of the distinct seeds is asked for: a number, or under vmap a tensor without axes. A random
    function that it does not know is left alone: vmap refuses it, and members are then trained one after the other.
    """

    def __init__(self, noise: Noise, member: Tensor | int) -> None:
        super().__init__()
        self._noise, self._member = noise, member

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        answer = ANSWERS.get(func)
        if answer is None or kwargs.get("generator") is not None or kwargs.get("out") is not None:
            return func(*args, **kwargs)
        answered = answer(self, *args, **kwargs)
        return func(*args, **kwargs) if answered is NotImplemented else answered

    def normal(self, shape: tuple[int, ...]) -> Tensor:
        return self._own(self._noise.next("normal", shape))

    def uniform(self, shape: tuple[int, ...]) -> Tensor:
        return self._own(self._noise.next("uniform", shape))

    @property
    def stacked(self) -> bool:
        return not isinstance(self._member, int)

    def empty(self, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """Memory of its own for every member, so that it can be filled with their numbers."""
        if isinstance(self._member, int):
            return like
        return like + torch.zeros_like(self._member, dtype=like.dtype)

    def _own(self, drawn: Tensor) -> Tensor:
        """The member's of what all seeds have drawn."""
        if len(drawn) == 1:
            return drawn[0]
        if isinstance(self._member, int):
            return drawn[self._member]
        whole = of_all(self._member)
        if whole is None:
            return drawn.index_select(0, self._member.reshape(1))[0]
        return at_once(lambda: drawn.index_select(0, whole[0]))


def _shape(size: tuple[Any, ...]) -> tuple[int, ...]:
    """`randn(2, 3)`, `randn((2, 3))` and `randn(torch.Size([2, 3]))` alike."""
    return tuple(size[0]) if size and not isinstance(size[0], int) else tuple(size)


def _as(drawn: Tensor, like: Tensor | None, given: dict[str, Any]) -> Tensor:
    """With the type and the place that were asked for."""
    dtype = given.get("dtype") or (like.dtype if like is not None else torch.get_default_dtype())
    device = given.get("device") or (like.device if like is not None else None)
    own = drawn if (drawn.dtype, drawn.device) == (dtype, device) else drawn.to(dtype=dtype, device=device)
    return own.requires_grad_() if given.get("requires_grad") else own


def _randn(mode: Answered, *size: Any, **given: Any) -> Any:
    return _as(mode.normal(_shape(size or (given["size"],))), None, given)


def _rand(mode: Answered, *size: Any, **given: Any) -> Any:
    return _as(mode.uniform(_shape(size or (given["size"],))), None, given)


def _randn_like(mode: Answered, like: Tensor, **given: Any) -> Any:
    return _as(mode.normal(tuple(like.shape)), like, given)


def _rand_like(mode: Answered, like: Tensor, **given: Any) -> Any:
    return _as(mode.uniform(tuple(like.shape)), like, given)


def _normal(mode: Answered, mean: Any = 0.0, std: Any = 1.0, size: Any = None, **given: Any) -> Any:
    like = mean if isinstance(mean, Tensor) else std if isinstance(std, Tensor) else None
    both = isinstance(mean, Tensor) and isinstance(std, Tensor)
    shape = torch.broadcast_shapes(mean.shape, std.shape) if both else like.shape if like is not None else size
    return mean + std * _as(mode.normal(tuple(shape)), like, given)


def _bernoulli(mode: Answered, p: Tensor, *more: Any, **given: Any) -> Any:
    if more or given:
        return NotImplemented
    return (mode.uniform(tuple(p.shape)).to(p.device) < p).to(p.dtype)


def _dropout(mode: Answered, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    return _dropped(mode, input, tuple(input.shape), p, training)


def _dropout_maps(mode: Answered, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Whole channels at once."""
    if input.dim() < 3:
        return NotImplemented
    return _dropped(mode, input, (*input.shape[:2], *[1] * (input.dim() - 2)), p, training)


def _dropped(mode: Answered, input: Tensor, shape: tuple[int, ...], p: float, training: bool) -> Tensor:
    if not training or p == 0:
        return input
    kept = (mode.uniform(shape).to(input.device) >= p).to(input.dtype)
    return input * kept / (1 - p) if p < 1 else input * 0


def _empty(mode: Answered, *size: Any, **given: Any) -> Any:
    """What distributions fill with noise in place."""
    like = torch.empty(*size, **given)
    return mode.empty(tuple(like.shape), like) if like.is_floating_point() and like.layout == torch.strided else like


def _normal_(mode: Answered, own: Tensor, mean: float = 0.0, std: float = 1.0, **given: Any) -> Any:
    return own.copy_(mode.normal(tuple(own.shape)) * std + mean)


def _uniform_(mode: Answered, own: Tensor, *ends: float, **given: Any) -> Any:
    low, high = (*ends, *(0.0, 1.0)[len(ends) :]) if ends else (given.get("from", 0.0), given.get("to", 1.0))
    return own.copy_(mode.uniform(tuple(own.shape)) * (high - low) + low)


def _bernoulli_(mode: Answered, own: Tensor, p: Any = 0.5, **given: Any) -> Any:
    return own.copy_((mode.uniform(tuple(own.shape)).to(own.device) < p).to(own.dtype))


def _exponential_(mode: Answered, own: Tensor, lambd: float = 1.0, **given: Any) -> Any:
    return own.copy_(-torch.log1p(-mode.uniform(tuple(own.shape))) / lambd)


def _at_once(faster: Callable[..., Any]) -> Callable[..., Any]:
    """Not random; but who listens twice pays twice."""
    return lambda mode, *args, **given: faster(*args, **given) if mode.stacked else NotImplemented


ANSWERS: dict[Any, Callable[..., Any]] = {
    torch.randn: _randn,
    torch.rand: _rand,
    torch.randn_like: _randn_like,
    torch.rand_like: _rand_like,
    torch.normal: _normal,
    torch.bernoulli: _bernoulli,
    torch.empty: _empty,
    torch.Tensor.bernoulli: _bernoulli,
    torch.Tensor.normal_: _normal_,
    torch.Tensor.uniform_: _uniform_,
    torch.Tensor.bernoulli_: _bernoulli_,
    torch.Tensor.exponential_: _exponential_,
    torch.dropout: _dropout,
    F.dropout: _dropout,
    F.dropout1d: _dropout_maps,
    F.dropout2d: _dropout_maps,
    F.dropout3d: _dropout_maps,
    **{function: _at_once(faster) for function, faster in FASTER.items()},
}
