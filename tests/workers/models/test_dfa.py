"""Direct feedback alignment: hidden layers learn of the logits' error through random matrices, written out by hand."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from service.contract.methods.data import Digits
from service.contract.methods.models import Cnn, Mlp
from service.contract.methods.problems import Bottleneck, Multitask
from service.contract.methods.weightings import Fixed, Uniform
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Evaluation, Training
from workers import data, models, problems
from workers.data.random_streams import Seeds
from workers.data.split import Split
from workers.models.components.feedback import DirectFeedback
from workers.models.mlp import Mlp as Perceptron
from workers.training import alignment, gradients
from workers.training.loop import Cohort, train
from workers.weightings import Weighting

CPU = torch.device("cpu")
B, LATENT = 9, 4


class Given(Weighting):
    """These weights, whatever the losses."""

    needs_gram = False

    def __init__(self, w: Tensor) -> None:
        self._w = w

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        return self._w


def drawn(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def bottleneck(rate: str, seeds: list[int], **model: Any) -> tuple[Perceptron, DirectFeedback, Any, Any]:
    """A model in training, its feedback, its problem and a batch of five classes."""
    problem: Any = problems.build(Bottleneck.model_validate({"rate": rate}), LATENT)
    sizes = models.Sizes(6, problem.outputs, LATENT, 5, (1, 2, 3), problem.scalars)
    built = Perceptron(Mlp(latent=LATENT, **model), sizes, Seeds(seeds, CPU))
    k = len(seeds)
    y = torch.randint(5, (k, B), generator=torch.Generator().manual_seed(0))
    batch = problems.Batch(drawn(1, k, B, 6), y, drawn(2, k, B, LATENT))
    feedback = built.align_feedback()
    built.train(True)
    return built, feedback, problem, batch


def flat(*layers: Tensor) -> Tensor:
    return torch.cat([layer.flatten(1) for layer in layers], dim=1)


def layer(x: Tensor, delta: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of a layer's weights and bias from its input and its error."""
    return x.mT @ delta, delta.sum(1, keepdim=True)


def test_a_bottleneck_feeds_the_logits_error_to_every_hidden_layer_and_the_rates_from_the_code() -> None:
    model, feedback, problem, batch = bottleneck("vib", [1, 2], widths=[7, 8], head=[3])
    w = torch.tensor([[0.7, 0.2], [1.0, 0.05]])
    found = alignment.step(model, feedback, problem, Given(w), batch)

    w1, b1, w2, b2, w3, b3 = (leaf.detach() for leaf in model.encoder.leaves)
    v1, c1, v2, c2 = (leaf.detach() for leaf in model.head.leaves)
    x, y, eps = batch
    a1 = x @ w1 + b1
    a2 = a1.relu() @ w2 + b2
    mu, rho = (a2.relu() @ w3 + b3).chunk(2, dim=-1)
    sigma, slope = functional.softplus(rho - 5), torch.sigmoid(rho - 5)
    z = mu + sigma * eps
    g1 = z @ v1 + c1
    e = ((g1.relu() @ v2 + c2).softmax(-1) - functional.one_hot(y, 5)) / B
    (to_z, to_g1), (to_1, to_2) = feedback.to_head[0], feedback.to_encoder
    pred, info = w[:, 0].view(-1, 1, 1), w[:, 1].view(-1, 1, 1)
    rate = torch.cat((mu, (sigma - 1 / sigma) * slope), -1) / B  # ∂info/∂(μ, ρ)
    code = pred * torch.cat((e @ to_z, e @ to_z * eps * slope), -1) + info * rate
    d1 = (pred * e @ to_1 + info * rate @ feedback.of_code[0]) * (a1 > 0)
    d2 = (pred * e @ to_2 + info * rate @ feedback.of_code[1]) * (a2 > 0)
    encoder = flat(*layer(x, d1), *layer(a1.relu(), d2), *layer(a2.relu(), code))
    torch.testing.assert_close(found.encoder, encoder)
    head = flat(*layer(z, e @ to_g1 * (g1 > 0)), *layer(g1.relu(), e))
    torch.testing.assert_close(found.head, head)
    assert torch.equal(found.weights, w) and (found.losses > 0).all()


def test_several_tasks_feed_back_the_error_of_their_own_head_at_their_own_examples() -> None:
    d = data.load(Digits(labels=20))
    spec, split = Multitask(auxiliaries=["rotation"]), Split([d], Seeds([3], CPU), 16)
    problem: Any = problems.build(spec, LATENT)
    model = problem.model(Mlp(widths=[7], latent=LATENT), split)
    feedback, w = model.align_feedback(), torch.tensor([[0.9, 0.3]])
    model.train(True)
    batch = next(iter(problem.batches(split, 1)))
    found = alignment.step(model, feedback, problem, Given(w), batch)

    w1, b1, w2, b2 = (leaf.detach() for leaf in model.encoder.leaves)
    heads = [leaf.detach() for leaf in model.head.leaves]
    a1 = batch.x @ w1 + b1
    code = a1.relu() @ w2 + b2
    few, labelled = batch.drawn["labelled"]
    all_, turned = batch.drawn["turned"]
    assert (few, all_) == (slice(0, 16), slice(16, 32))
    own: list[Tensor] = []
    to_code, to_hidden = torch.zeros_like(code), torch.zeros_like(a1)
    targets = (d.y_train[labelled.place], turned.extra)
    for t, (rows, y, columns) in enumerate(zip((few, all_), targets, (slice(0, 10), slice(10, 14)), strict=True)):
        z, v, c = code[:, rows].relu(), heads[2 * t], heads[2 * t + 1]
        e = ((z @ v + c).softmax(-1) - functional.one_hot(y, v.shape[2])) / 16
        own += layer(z, e)
        to_code[:, rows] += w[0, t] * e @ feedback.to_head[t][0] * (z > 0)
        to_hidden[:, rows] += w[0, t] * e @ feedback.to_encoder[0][:, columns] * (a1[:, rows] > 0)
    torch.testing.assert_close(found.encoder, flat(*layer(batch.x, to_hidden), *layer(a1.relu(), to_code)))
    torch.testing.assert_close(found.head, flat(*own))


def test_with_the_weights_below_the_logits_as_feedback_a_linear_network_backpropagates() -> None:
    model, feedback, problem, batch = bottleneck("none", [1, 2], widths=[7, 8], head=[3], activation="linear")
    given = Given(torch.tensor([[1.0, 0.0], [0.5, 0.0]]))
    model.train(False)
    true = gradients.step(model, problem, given, batch)
    model.train(True)
    assert not torch.allclose(alignment.step(model, feedback, problem, given, batch).encoder, true.encoder)
    _, _, w2, _, w3, _ = (leaf.detach() for leaf in model.encoder.leaves)
    v1, _, v2, _ = (leaf.detach() for leaf in model.head.leaves)
    feedback.to_head[0][:] = [(v1 @ v2).mT, v2.mT]
    feedback.to_encoder[:] = [(w2 @ w3 @ v1 @ v2).mT, (w3 @ v1 @ v2).mT]
    found = alignment.step(model, feedback, problem, given, batch)
    torch.testing.assert_close(found.encoder, true.encoder)
    torch.testing.assert_close(found.head, true.head)


def test_the_noise_level_of_nib_learns_from_its_own_code_and_rate() -> None:
    model, feedback, problem, batch = bottleneck("nib", [1], widths=[7])
    found = alignment.step(model, feedback, problem, Given(torch.tensor([[1.0, 0.1]])), batch)
    assert found.encoder.isfinite().all() and found.encoder[0, -1] != 0


def test_a_hidden_code_does_not_get_the_heads_own_weights_back() -> None:
    """With no other hidden layer too: ReLU(code) is one."""

    def trained(feedback: str) -> Tensor:
        training = Training.model_validate({"feedback": feedback, "optimizer": "sgd", "learning_rate": 0.1})
        model = Mlp(widths=[], latent=LATENT)
        trial = PlannedTrial("a", "a", 0, {}, Multitask(auxiliaries=["rotation"]), Uniform(), model, training)
        cohort = Cohort([trial], [data.load(Digits(train_fraction=0.1))], CPU)
        cohort.train_epoch(1)
        return cohort.model.encoder.flat

    assert not torch.allclose(trained("dfa"), trained("backprop"), atol=1e-3)


def test_outside_training_the_input_has_its_true_gradient() -> None:
    model, *_ = bottleneck("vib", [1], widths=[7])
    model.train(False)
    x = torch.rand(1, 4, 6, requires_grad=True)
    plain = models.build(Mlp(widths=[7], latent=LATENT), models.Sizes(6, 8, LATENT, 5, (1, 2, 3)), Seeds([1], CPU))

    def slope(of: models.Model) -> Tensor:
        return torch.autograd.grad(of.decode(of.encode(x)[0][..., :LATENT]).sum(), x)[0]

    torch.testing.assert_close(slope(model), slope(plain))


def matrices(seeds: list[int], **model: Any) -> list[Tensor]:
    _, feedback, _, _ = bottleneck("vib", seeds, **model)
    return [*feedback.to_encoder, *feedback.to_head[0], *feedback.of_code]


def test_feedback_is_fixed_and_of_the_seed_alone() -> None:
    sizes: dict[str, Any] = {"widths": [7, 7], "head": [7]}
    together, alone = matrices([1, 2, 1], **sizes), matrices([2], **sizes)
    for stacked, single in zip(together, alone, strict=True):
        assert torch.equal(stacked[1], single[0]) and torch.equal(stacked[0], stacked[2])
        assert not torch.equal(stacked[0], stacked[1])
    first, second, _, head, *_ = alone
    assert not torch.equal(first, second) and not torch.equal(first, head)


def test_feedback_is_as_long_as_the_error_it_carries() -> None:
    """From N(0, 1/outputs): a unit's error has the size of an output's."""
    of_logits, _, of_code = matrices([1], widths=[4000])
    assert of_logits.shape == (1, 5, 4000) and of_code.shape == (1, 2 * LATENT, 4000)
    for matrix in (of_logits, of_code):
        assert float(matrix.square().sum(1).mean()) == pytest.approx(1, rel=0.1)


def test_digits_are_learned_and_each_member_equals_training_it_alone(cohorts: Any) -> None:
    def trial(seed: int, beta: float, epochs: int) -> Any:
        training: dict[str, Any] = {"epochs": epochs, "feedback": "dfa", "learning_rate": 3e-3}
        planned = cohorts.trial(f"{seed}-{beta}", Fixed(beta=beta), seed=seed, **training)
        return planned._replace(model=Mlp(widths=[64], latent=16))

    final = cohorts.reports([trial(s, 0.001, 30) for s in (0, 1)], every=30)[-1].metrics
    assert all(m["accuracy"] > 0.85 for m in final.values())
    trials = [trial(s, b, 2) for s in (3, 7) for b in (0.0, 0.01)]
    together = cohorts.reports(trials)[-1].metrics
    for each in trials:
        alone = {**cohorts.reports([each])[-1].metrics[each.id], "seconds": together[each.id]["seconds"]}
        assert together[each.id] == pytest.approx(alone, rel=1e-4, abs=1e-5)


def test_two_tasks_are_learned() -> None:
    problem, model = Multitask(auxiliaries=["rotation"]), Mlp(widths=[64], latent=32)
    training = Training(epochs=15, feedback="dfa", learning_rate=3e-3)
    trial = PlannedTrial("a", "a", 0, {}, problem, Uniform(), model, training)
    *_, last = train([trial], Digits(), Evaluation(every=15), CPU)
    metrics = last.metrics["a"]
    assert (metrics["accuracy_class"] or 0) > 0.8 and (metrics["accuracy_rotation"] or 0) > 0.7


def test_another_model_is_refused(cohorts: Any) -> None:
    trial = cohorts.trial("a", Fixed(), feedback="dfa")._replace(model=Cnn())
    with pytest.raises(ValueError, match=r"training\.feedback dfa needs model mlp, got 'cnn'"):
        cohorts.reports([trial])
