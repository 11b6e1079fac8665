"""Outputs of a head that are the same for every code: a Gaussian label's log-variances."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from service.contract.methods.data import Gaussian
from service.contract.methods.models import Cnn, Mlp, Model, Resnet18, Rnn, Transformer
from service.contract.methods.problems import Bottleneck
from workers import data, models, problems
from workers.data.random_streams import Seeds
from workers.data.split import Split
from workers.training import gradients
from workers.weightings import Setting
from workers.weightings import build as weighting

CPU = torch.device("cpu")
SIZES = models.Sizes(features=64, outputs=8, latent=4, classes=3, shape=(1, 8, 8), constants=2)
MODELS = [
    Mlp(widths=[7], latent=4, head=[5]),
    Cnn(channels=[2], widths=[6], latent=4),
    Resnet18(latent=4, head=[]),
    Rnn(embedding=5, hidden=[6], latent=4),
    Transformer(width=8, heads=2, layers=1, feed_forward=6, latent=4),
]


@pytest.mark.parametrize("spec", MODELS, ids=lambda spec: spec.name)
def test_constants_follow_the_outputs_of_the_first_head_alone(spec: Model) -> None:
    model = models.build(spec, SIZES._replace(more_heads=(6,)), Seeds([3], CPU))
    model.head.leaves[-1].data.copy_(torch.tensor([[[0.25, -1.0]]]))
    z = torch.randn(1, 9, 4, generator=torch.Generator().manual_seed(0))
    first = model.decode(z)
    assert first.shape == (1, 9, 5) and model.decode(z, 1).shape == (1, 9, 6)
    assert torch.equal(first[..., 3:], torch.tensor([0.25, -1.0]).expand(1, 9, 2))
    assert (first[0, :, :3].std(0) > 0).all()
    assert model.named()["head.constants"].tolist() == [[0.25, -1.0]]


@pytest.mark.parametrize("spec", MODELS, ids=lambda spec: spec.name)
def test_heads_layers_and_members_start_different(spec: Model) -> None:
    """Equal heads of one code that start alike would stay alike where their terms agree."""
    sizes = SIZES._replace(more_heads=(3, 3), constants=0)
    seeds = Seeds([3, 4] if spec.stacks else [3], CPU)
    model = models.build(spec, sizes, seeds)
    z = torch.ones(seeds.members, 2, 4)
    started = [model.decode(z, head)[k, 0] for head in range(3) for k in range(seeds.members)]
    for i, one in enumerate(started):
        assert all((one - other).abs().min() > 1e-6 for other in started[:i])
    numbers = torch.cat((model.encoder.flat, model.head.flat), dim=1)
    drawn = numbers[(numbers != 0) & (numbers != 1)]  # but for norms, which start at one and zero
    assert len(drawn.unique()) > 0.9 * len(drawn), "no layer is drawn twice; of millions of numbers some are equal"


def _gaussian(seeds: list[int]) -> tuple[Any, Any, Split]:
    problem = problems.build(Bottleneck(), 3)
    split = Split([data.load(Gaussian(train_samples=500, test_samples=100))], Seeds(seeds, CPU), 500)
    return problem, problem.model(Mlp(widths=[16], latent=3), split), split


def test_the_decoder_of_a_gaussian_label_has_the_same_variance_for_every_code() -> None:
    _, model, _ = _gaussian([0, 1])
    z = 5 * torch.randn(2, 50, 3, generator=torch.Generator().manual_seed(0))
    mean, log_variance = model.decode(z).chunk(2, dim=-1)
    assert (log_variance == log_variance[:, :1]).all() and (mean.std(1) > 0).all()


def test_the_variance_is_trained_by_the_prediction_whatever_its_weight() -> None:
    """∂ pred / ∂ ln v = ½(1 − mean (y − ŷ)²/v), and v starts at 1."""
    from service.contract.methods.weightings import Fixed

    problem, model, split = _gaussian([0])
    batch = next(iter(problem.batches(split, 1)))
    nothing = weighting([Fixed(weights={"pred": 0.0})], Setting(problem.terms, 3, CPU))
    slope = gradients.step(model, problem, nothing, batch).head[0, -3:]
    with torch.no_grad():
        z = problem.code(model.encode(batch.x))
        guess = model.decode(torch.addcmul(z.mean, z.scale, batch.noise))[..., :3]
    torch.testing.assert_close(slope, 0.5 * (1 - (batch.y - guess).square().mean(1))[0])
