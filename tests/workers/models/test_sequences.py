"""Recurrent networks and transformers against torch's own, member by member."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from service.contract.methods.models import Rnn, Transformer
from workers import models
from workers.data.random_streams import Seeds
from workers.models.transformer import BLOCK

CPU = torch.device("cpu")
IMAGES = models.Sizes(2 * 5 * 3, 4, 4, 3, (2, 5, 3))
WORDS = models.Sizes(7, 4, 4, 3, (1, 1, 7), scalars=(0.5,), vocabulary=11)
RNN = Rnn(embedding=6, hidden=[8, 5], latent=4)
TRANSFORMER = Transformer(width=6, heads=2, layers=2, feed_forward=9, latent=4)
both = pytest.mark.parametrize("spec", [RNN, TRANSFORMER], ids=["rnn", "transformer"])
anything = pytest.mark.parametrize("sizes", [IMAGES, WORDS], ids=["images", "words"])


def built(spec: Any, sizes: models.Sizes, seeds: list[int]) -> models.Model:
    return models.build(spec, sizes, Seeds(seeds, CPU))


def inputs(sizes: models.Sizes, members: int) -> Tensor:
    g = torch.Generator().manual_seed(0)
    if not sizes.vocabulary:
        return torch.rand(members, 4, sizes.features, generator=g)
    words = torch.randint(1, sizes.vocabulary, (members, 4, sizes.features), generator=g).float()
    words[:, 1, 3:] = 0
    return words


def read(sizes: models.Sizes, x: Tensor, table: Tensor) -> tuple[Tensor, Tensor]:
    """One member's steps [B, T, width], and which are no padding [B, T]."""
    if sizes.vocabulary:
        return table[x.long()], x > 0
    rows = x.view(-1, *sizes.shape).permute(0, 2, 1, 3).flatten(2)
    return rows @ table, torch.ones(rows.shape[:2], dtype=torch.bool)


def mean(states: Tensor, there: Tensor) -> Tensor:
    return torch.stack([s[t].mean(0) for s, t in zip(states, there, strict=True)])


@anything
def test_a_recurrent_network_is_torchs(sizes: models.Sizes) -> None:
    model, x = built(RNN, sizes, [1, 2]), inputs(sizes, 2)
    for k in range(2):
        table, *leaves = (leaf[k].detach() for leaf in model.encoder.leaves)
        theirs = (
            nn.RNN(6, 8, nonlinearity="relu", batch_first=True),
            nn.RNN(8, 5, nonlinearity="relu", batch_first=True),
        )
        steps, there = read(sizes, x[k], table)
        for i, layer in enumerate(theirs):
            weight, bias, loop = leaves[3 * i : 3 * i + 3]
            named = {"weight_ih_l0": weight.T, "weight_hh_l0": loop.T, "bias_ih_l0": bias[0]}
            layer.load_state_dict({**named, "bias_hh_l0": torch.zeros_like(bias[0])})
            steps, _ = layer(steps)
        expected = mean(steps, there) @ leaves[6] + leaves[7]
        torch.testing.assert_close(model.encode(x)[0][k], expected, rtol=1e-5, atol=1e-6)


@anything
def test_a_transformer_is_torchs(sizes: models.Sizes) -> None:
    model, x = built(TRANSFORMER, sizes, [1, 2]), inputs(sizes, 2)
    position = torch.arange(7.0 if sizes.vocabulary else 5.0)[:, None]
    waves = position / 10_000 ** (torch.arange(0, 6, 2) / 6)
    for k in range(2):
        table, *leaves = (leaf[k].detach() for leaf in model.encoder.leaves)
        steps, there = read(sizes, x[k], table)
        steps[..., 0::2] += waves.sin()
        steps[..., 1::2] += waves.cos()
        for i in range(2):
            gain, shift, wq, bq, wo, bo, gain2, shift2, w1, b1, w2, b2 = leaves[i * BLOCK : (i + 1) * BLOCK]
            layer = nn.TransformerEncoderLayer(6, 2, 9, 0.0, norm_first=True, batch_first=True)
            parts = {
                "self_attn": {"in_proj_weight": wq.T, "in_proj_bias": bq[0]},
                "self_attn.out_proj": {"weight": wo.T, "bias": bo[0]},
                "linear1": {"weight": w1.T, "bias": b1[0]},
                "linear2": {"weight": w2.T, "bias": b2[0]},
                "norm1": {"weight": gain[0], "bias": shift[0]},
                "norm2": {"weight": gain2[0], "bias": shift2[0]},
            }
            layer.load_state_dict({f"{part}.{n}": t for part, named in parts.items() for n, t in named.items()})
            steps = layer(steps, src_key_padding_mask=~there)
        gain, shift, weight, bias = leaves[2 * BLOCK : 2 * BLOCK + 4]
        steps = nn.functional.layer_norm(steps, (6,), gain[0], shift[0])
        expected = mean(steps, there) @ weight + bias
        torch.testing.assert_close(model.encode(x)[0][k], expected, rtol=1e-4, atol=1e-5)


@both
@anything
def test_a_member_is_what_it_would_be_alone(spec: Any, sizes: models.Sizes) -> None:
    together, x = built(spec, sizes, [3, 1, 3]), inputs(sizes, 3)
    for k, seed in enumerate([3, 1, 3]):
        alone = built(spec, sizes, [seed])
        assert torch.equal(together.encoder.flat[k], alone.encoder.flat[0])
        torch.testing.assert_close(together.encode(x)[0][k], alone.encode(x[k : k + 1])[0][0], rtol=1e-5, atol=1e-6)


@both
def test_padding_says_nothing_and_order_matters(spec: Any) -> None:
    model, x = built(spec, WORDS, [1]), inputs(WORDS, 1)
    shorter = built(spec, WORDS._replace(features=3, shape=(1, 1, 3)), [1])
    out, _ = model.encode(x)
    torch.testing.assert_close(out[:, 1], shorter.encode(x[:, 1:2, :3])[0][:, 0], rtol=1e-5, atol=1e-6)
    turned = model.encode(x.flip(2))[0]
    assert (turned[:, 0] - out[:, 0]).abs().max() > 1e-3


@both
def test_an_empty_text_has_an_output_and_gradients(spec: Any) -> None:
    model = built(spec, WORDS, [1])
    out, _ = model.encode(torch.zeros(1, 2, 7))
    gradients = torch.autograd.grad(out.sum(), model.encoder.leaves[:-1])
    assert out.isfinite().all() and all(g.isfinite().all() for g in gradients)
