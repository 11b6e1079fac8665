"""Stacked transformer encoders."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from service.contract.methods.models import Transformer as Spec
from workers import balance
from workers.balance import Pair
from workers.data.random_streams import Seeds
from workers.models import ALL, Sizes
from workers.models.components.from_shapes import Parameter, linear, stacked
from workers.models.components.heads import Heads
from workers.models.components.layers import linear as named_linear
from workers.models.components.layers import scalars
from workers.models.components.sequences import Sequences, mean

PARTS = ("attention_norm", "query_key_value", "attention_out", "norm", "feed_forward_in", "feed_forward_out")
NORMS = ("attention_norm", "norm")  # the parts that scale and shift; all others are dense
BLOCK = 2 * len(PARTS)  # leaves of a layer


class Transformer:
    """Layers x ← x + attention(norm x), x ← x + ReLU(norm x W + b) V + c, then norm, mean over steps, a dense layer.

    Sine and cosine positions are added to the steps; padding is not attended to.
    """

    def __init__(self, spec: Spec, sizes: Sizes, seeds: Seeds) -> None:
        width, hidden = spec.width, spec.feed_forward
        self._sequences = Sequences(sizes, width)
        self._heads, self._layers = spec.heads, spec.layers
        norm = [Parameter((1, width), start=1.0), Parameter((1, width))]
        attention = [*linear(width, 3 * width), *linear(width, width)]
        block = [*norm, *attention, *norm, *linear(width, hidden), *linear(hidden, width)]
        parameters = [self._sequences.parameter, *block * spec.layers, *norm, *linear(width, sizes.outputs)]
        self._weights = len(parameters)
        self._positions = _positions(self._sequences.steps, width).to(seeds.device)  # [T, width]
        self.encoder = stacked(parameters, seeds, "init/encoder", sizes.scalars)
        self.heads = Heads(sizes.latent, spec.head, sizes.heads, seeds, constants=sizes.constants)
        self.head = self.heads.stack

    def train(self, on: bool) -> None:
        """Nothing: there is no dropout, the model computes the same in training and evaluation."""

    def encode(self, x: Tensor) -> tuple[Tensor, ...]:
        table, *leaves = self.encoder.leaves[: self._weights]
        steps, there = self._sequences(x, table)
        members, batch, length, width = steps.shape
        y = (steps + self._positions.to(steps)).flatten(1, 2)  # [K, B·T, width]
        mask = there.view(members * batch, 1, 1, length)
        for i in range(0, len(leaves) - 4, BLOCK):
            gain, shift, wq, bq, wo, bo, gain2, shift2, w1, b1, w2, b2 = leaves[i : i + BLOCK]
            y = y + torch.baddbmm(bo, self._attend(torch.baddbmm(bq, _norm(y, gain, shift), wq), mask), wo)
            y = y + torch.baddbmm(b2, torch.baddbmm(b1, _norm(y, gain2, shift2), w1).relu(), w2)
        y = mean(_norm(y, leaves[-4], leaves[-3]).view(members, batch, length, width), there)
        return (torch.baddbmm(leaves[-1], y, leaves[-2]), *self.encoder.leaves[self._weights :])

    def _attend(self, qkv: Tensor, mask: Tensor) -> Tensor:
        """Queries, keys and values [K, B·T, 3·width] of each head, to what the heads read [K, B·T, width]."""
        examples, length = mask.shape[0], mask.shape[3]
        q, k, v = qkv.reshape(examples, length, 3, self._heads, -1).permute(2, 0, 3, 1, 4)  # [K·B, heads, T, d]
        read = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return read.transpose(1, 2).reshape(*qkv.shape[:2], -1)

    def decode(self, z: Tensor, head: int = 0, rows: slice = ALL) -> Tensor:
        return self.heads(z, head)

    def named(self) -> dict[str, Tensor]:
        table, *leaves = self.encoder.leaves[: self._weights]
        tensors = {self._sequences.name: table.detach()}
        ends = [
            (f"encoder.layer.{i}.{part}", BLOCK * i + 2 * j, part in NORMS)
            for i in range(self._layers)
            for j, part in enumerate(PARTS)
        ]
        last = [("encoder.norm", len(leaves) - 4, True), ("encoder.code", len(leaves) - 2, False)]
        for name, at, is_norm in [*ends, *last]:
            if is_norm:
                tensors |= {f"{name}.weight": leaves[at].detach()[:, 0], f"{name}.bias": leaves[at + 1].detach()[:, 0]}
            else:
                tensors |= named_linear(leaves[at], leaves[at + 1], name)
        return {**tensors, **scalars(self.encoder.leaves[self._weights :]), **self.heads.named()}

    def pairs(self, code: bool = False) -> list[Pair]:
        """The feed-forward pairs: attention and norms do not pass a scale on."""
        leaves = self.encoder.leaves[1 : self._weights]
        starts = range(0, len(leaves) - 4, BLOCK)
        hidden = [
            balance.dense(f"feed-forward-{i // BLOCK + 1}", leaves[i + 8], leaves[i + 9], [leaves[i + 10]])
            for i in starts
        ]
        units = balance.dense("code", leaves[-2], leaves[-1], []) if code else None
        return [*hidden, *self.heads.pairs(units)]


def _norm(y: Tensor, gain: Tensor, shift: Tensor) -> Tensor:
    return functional.layer_norm(y, y.shape[-1:]) * gain + shift


def _positions(steps: int, width: int) -> Tensor:
    """Sines and cosines of the step at wavelengths from 2π to 10,000·2π (Vaswani et al. 2017)."""
    frequency = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000) / width))
    angle = torch.arange(steps)[:, None] * frequency
    return torch.stack([angle.sin(), angle.cos()], 2).flatten(1)[:, :width]
