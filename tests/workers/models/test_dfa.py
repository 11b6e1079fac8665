"""Direct feedback alignment: true gradients at the last layer, random feedback below it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from service.contract.methods.models import Cnn, Mlp
from service.contract.methods.weightings import Fixed
from workers import models
from workers.data.random_streams import Seeds
from workers.models.mlp import Mlp as Perceptron

CPU = torch.device("cpu")
SIZES = models.Sizes(6, 5, 5, 3, (1, 2, 3), scalars=(0.5,))


def built(widths: list[int], seeds: list[int]) -> Perceptron:
    model = Perceptron(Mlp(widths=widths, latent=5), SIZES, Seeds(seeds, CPU))
    model.align_feedback()
    return model


def matrices(model: Perceptron) -> list[Tensor]:
    assert model._feedback is not None
    return model._feedback.matrices


def gradients(model: Perceptron, x: Tensor, e: Tensor, training: bool) -> tuple[Tensor, ...]:
    model.train(training)
    out, scalar = model.encode(x)
    return torch.autograd.grad([out, scalar], model.encoder.leaves, [e, torch.ones_like(scalar)])


def test_each_hidden_layer_gets_the_error_through_its_own_matrix() -> None:
    model = built([7, 8], [1, 2])
    x, e = torch.rand(2, 4, 6), torch.randn(2, 4, 5)
    w1, b1, w2, b2, *_ = (leaf.detach() for leaf in model.encoder.leaves)
    feedback = matrices(model)
    a1 = x @ w1 + b1
    a2 = a1.relu() @ w2 + b2
    d1, d2 = e @ feedback[0] * (a1 > 0), e @ feedback[1] * (a2 > 0)
    expected = [x.mT @ d1, d1.sum(1, True), a1.relu().mT @ d2, d2.sum(1, True), a2.relu().mT @ e, e.sum(1, True)]
    found = gradients(model, x, e, training=True)
    for ours, theirs in zip(found, [*expected, torch.ones(2, 1, 1)], strict=True):
        torch.testing.assert_close(ours, theirs)


def test_with_the_transposed_weights_as_feedback_it_is_backpropagation() -> None:
    model = built([7], [1, 2])
    x, e = torch.rand(2, 4, 6), torch.randn(2, 4, 5)
    true = gradients(model, x, e, training=False)
    assert not torch.allclose(gradients(model, x, e, training=True)[0], true[0])
    matrices(model)[0] = model.encoder.leaves[2].detach().mT
    for ours, theirs in zip(gradients(model, x, e, training=True), true, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_outside_training_the_input_has_its_true_gradient() -> None:
    model, x = built([7], [1]), torch.rand(1, 4, 6, requires_grad=True)
    plain = models.build(Mlp(widths=[7], latent=5), SIZES, Seeds([1], CPU))
    torch.testing.assert_close(
        torch.autograd.grad(model.encode(x)[0].sum(), x), torch.autograd.grad(plain.encode(x)[0].sum(), x)
    )


def test_feedback_is_fixed_and_of_the_seed_alone() -> None:
    together, alone = matrices(built([7, 8], [1, 2, 1])), matrices(built([7, 8], [2]))
    for stacked, single in zip(together, alone, strict=True):
        assert torch.equal(stacked[1], single[0]) and torch.equal(stacked[0], stacked[2])
        assert not torch.equal(stacked[0], stacked[1])
    first, second = matrices(built([7, 7], [1]))
    assert not torch.equal(first, second)


def test_feedback_is_as_long_as_the_error_it_carries() -> None:
    """From N(0, 1/outputs): a unit's error has the size of an output's."""
    (matrix,) = matrices(built([4000], [1]))
    assert matrix.shape == (1, 5, 4000)
    assert float(matrix.square().sum(1).mean()) == pytest.approx(1, rel=0.1)


def test_digits_are_learned_and_each_member_equals_training_it_alone(cohorts: Any) -> None:
    def trial(seed: int, beta: float, epochs: int) -> Any:
        planned = cohorts.trial(f"{seed}-{beta}", Fixed(beta=beta), seed=seed, epochs=epochs, feedback="dfa")
        return planned._replace(model=Mlp(widths=[64, 64], latent=8))

    final = cohorts.reports([trial(s, 0.001, 30) for s in (0, 1)], every=30)[-1].metrics
    assert all(m["accuracy"] > 0.85 for m in final.values())
    trials = [trial(s, b, 2) for s in (3, 7) for b in (0.0, 0.01)]
    together = cohorts.reports(trials)[-1].metrics
    for each in trials:
        alone = {**cohorts.reports([each])[-1].metrics[each.id], "seconds": together[each.id]["seconds"]}
        assert together[each.id] == pytest.approx(alone, rel=1e-4, abs=1e-5)


def test_another_model_is_refused(cohorts: Any) -> None:
    trial = cohorts.trial("a", Fixed(), feedback="dfa")._replace(model=Cnn())
    with pytest.raises(ValueError, match=r"training\.feedback dfa needs model mlp, got 'cnn'"):
        cohorts.reports([trial])
