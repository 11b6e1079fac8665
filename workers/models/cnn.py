"""Convolutional networks, stacked but for the convolutions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from service.contract.methods.models import Cnn as Spec
from workers import balance
from workers.balance import Pair
from workers.data.random_streams import Seeds
from workers.models import ALL, Sizes
from workers.models.components.heads import Heads
from workers.models.components.layers import Gates, forward, layers, named, scalars
from workers.models.components.modulation import joined, modulation
from workers.models.components.stack import Stack

POOL = 2  # after each convolution height and width are halved, rounded down


class Cnn:
    """Convolutions with ReLU and 2×2 max-pooling, then a stacked perceptron; the head is that of `mlp`.

    Members are convolved one after the other: as groups of one convolution they were slower on 28×28 images.
    A convolution's weights are W [K, out, in, k, k], b [K, out] from U(±1/√(in k²)) as in torch.nn.Conv2d.
    """

    def __init__(self, spec: Spec, sizes: Sizes, seeds: Seeds) -> None:
        channels, height, width = sizes.shape
        smallest = POOL ** len(spec.channels)
        if min(height, width) < smallest:
            raise ValueError(
                f"model.channels has {len(spec.channels)} layers, each halving the image: "
                f"it needs at least {smallest}×{smallest} pixels, got {height}×{width}"
            )
        self._image = sizes.shape
        self._padding = spec.kernel // 2
        ends = list(itertools.pairwise([channels, *spec.channels]))
        self._channels = spec.channels[-1]
        self._convolutions = 2 * len(ends)
        flat = ([channels, *spec.channels][-1]) * (height // smallest) * (width // smallest)
        convolutions = _convolutions(ends, spec.kernel, seeds)
        dense = layers([flat, *spec.widths, sizes.outputs], seeds, "init/encoder", sizes.scalars)
        shapes = [tuple(leaf.shape[1:]) for stack in (convolutions, dense) for leaf in stack.leaves]
        self._ends = len(shapes)
        self._weights = self._ends - len(sizes.scalars)
        told, layered = sizes.told, [*spec.channels, *spec.widths, sizes.outputs]
        self._modulation = modulation(told, layered, seeds, "encoder") if told and told.encoder else None
        self.encoder = joined(Stack(torch.cat([convolutions.flat, dense.flat], dim=1), shapes), self._modulation)
        self.heads = Heads(sizes.latent, spec.head, sizes.heads, seeds, constants=sizes.constants, told=told)
        self.head = self.heads.stack

    def train(self, on: bool) -> None:
        """Nothing: the model computes the same in training and evaluation."""

    def condition(self, t: Tensor) -> None:
        for each in (self._modulation, self.heads.modulation):
            if each is not None:
                each.condition(t)

    def encode(self, x: Tensor) -> tuple[Tensor, ...]:
        leaves, deep = self.encoder.leaves, self._convolutions // 2
        gates = self._modulation() if self._modulation else ()
        of_members = zip(*(zip(a.unbind(), b.unbind(), strict=True) for a, b in gates[:deep]), strict=True)
        members = zip(x.unbind(), *(leaf.unbind() for leaf in leaves[: self._convolutions]), strict=True)
        maps = [
            self._convolve(*member, gates=own)
            for member, own in zip(members, of_members if gates else [()] * len(x), strict=True)
        ]
        dense = forward(leaves[self._convolutions : self._weights], torch.stack(maps), gates=gates[deep:])
        return (dense, *leaves[self._weights : self._ends])

    def _convolve(self, x: Tensor, *parameters: Tensor, gates: Gates = ()) -> Tensor:
        """One member on its batch, channels modulated by its gates [G, channels]: [B, features] -> [B, flat]."""
        maps = x.reshape(-1, *self._image)
        for i, (weight, bias) in enumerate(zip(parameters[::2], parameters[1::2], strict=True)):
            maps = functional.conv2d(maps, weight, bias, padding=self._padding)
            if gates:
                each = len(maps) // len(gates[i][0])
                scale, shift = (gate.repeat_interleave(each, 0)[:, :, None, None] for gate in gates[i])
                maps = torch.addcmul(shift, maps, scale)
            maps = functional.max_pool2d(maps, POOL).relu()
        return maps.flatten(1)

    def decode(self, z: Tensor, head: int = 0, rows: slice = ALL) -> Tensor:
        return self.heads(z, head, rows)

    def named(self) -> dict[str, Tensor]:
        leaves = self.encoder.leaves
        names = (f"encoder.convolution.{i // 2}.{'bias' if i % 2 else 'weight'}" for i in range(self._convolutions))
        kernels = {name: leaf.detach() for name, leaf in zip(names, leaves, strict=False)}
        dense = named(leaves[self._convolutions : self._weights], "encoder")
        told = self._modulation.named() if self._modulation else {}
        rest = scalars(leaves[self._weights : self._ends])
        return {**kernels, **dense, **rest, **told, **self.heads.named()}

    def pairs(self, code: bool = False) -> list[Pair]:
        """Channels keep what comes in and goes out in proportion under ReLU and max-pooling alike."""
        leaves = self.encoder.leaves[: self._weights]
        kernels, dense = leaves[: self._convolutions], leaves[self._convolutions :]
        read = [kernel.transpose(1, 2) for kernel in kernels[2::2]]  # [K, units, out, k, k]
        read.append(torch.unflatten(dense[0], 1, (self._channels, -1)))  # [K, units, pixels, out]
        convolutions = [
            balance.convolution(f"convolution-{i + 1}", kernels[2 * i], kernels[2 * i + 1], out)
            for i, out in enumerate(read)
        ]
        units = balance.dense("code", dense[-2], dense[-1], []) if code else None
        return [*convolutions, *balance.chain(dense, "encoder"), *self.heads.pairs(units)]


def _convolutions(ends: Sequence[tuple[int, int]], kernel: int, seeds: Seeds) -> Stack:
    shapes: list[tuple[int, ...]] = [s for i, o in ends for s in ((o, i, kernel, kernel), (o,))]

    def one(generator: torch.Generator) -> Tensor:
        fans = [(i * kernel**2, o) for i, o in ends]
        return torch.cat([(torch.rand((fan + 1) * o, generator=generator) * 2 - 1) * fan**-0.5 for fan, o in fans])

    return Stack(seeds.spread(seeds.draw("init/convolutions", one)).clone(), shapes)
