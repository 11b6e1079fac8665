"""Where hidden units are: for each layer of them, the weights that come in and those that go out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor


class Pair(NamedTuple):
    """A layer of hidden units between its weights. Every tensor is a view [K, units, …] of the parameters.

    Axis 0 is the member, axis 1 the unit, the rest are the weights of that unit. Changing a view changes the model.
    """

    name: str
    into: list[Tensor]  # the bias too: without it scaling would change the function
    out: list[Tensor]
    loop: Tensor | None = None  # [K, from, to]: weights between the units of this layer, both in and out
    whole: bool = False  # only the layer as a whole may be scaled (convolutions)
    c: float = 1.0  # of the activation, f(λx) = λ^c f(x): 1 for ReLU, leaky ReLU and linear units


def chain(leaves: Sequence[Tensor], name: str, c: float = 1.0) -> list[Pair]:
    """Hidden layers of a perceptron with the leaves W [K, in, out], b [K, 1, out] of each layer in turn."""
    starts = range(0, len(leaves) - 2, 2)
    return [dense(f"{name}-{i // 2 + 1}", leaves[i], leaves[i + 1], [leaves[i + 2]])._replace(c=c) for i in starts]


def dense(name: str, into: Tensor, bias: Tensor, out: Sequence[Tensor]) -> Pair:
    """Units f(x W + b) that the weights `out` [K, units, …] read: W [K, in, units], b [K, 1, units].

    So are a perceptron's layers, a transformer's feed-forward pairs, and a code that several heads share.
    """
    return Pair(name, [into.detach().mT, bias.detach().mT], [o.detach() for o in out])


def recurrent(name: str, into: Tensor, bias: Tensor, loop: Tensor, out: Sequence[Tensor]) -> Pair:
    """Units of a recurrent layer h ← f(x W + h L + b) with c = 1, from h = 0: L [K, from, to], the rest as in `dense`.

    Scaling a unit multiplies and divides its weight to itself: a self-loop stays as it is and counts on neither side.
    """
    return dense(name, into, bias, out)._replace(loop=loop.detach())


def convolution(name: str, into: Tensor, bias: Tensor, out: Tensor) -> Pair:
    """Channels of a convolution with weights [K, units, in, k, k], bias [K, units]; `out` [K, units, …] reads them."""
    return Pair(name, [into.detach(), bias.detach()[:, :, None]], [out.detach()], whole=True)


def weights_of(pairs: Sequence[Pair]) -> list[Tensor]:
    """All weights of these layers [K, …], each once: what leaves one may come into the next."""
    sides = (t for pair in pairs for t in (*pair.into, *pair.out, *(() if pair.loop is None else (pair.loop,))))
    return list({(t.data_ptr(), t.numel()): t for t in sides}.values())
