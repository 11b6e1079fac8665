"""A network that is taken home is a torch.nn.Module like any other, and says what it cannot do."""

from __future__ import annotations

import copy
import io
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from safetensors.torch import load as unpack
from safetensors.torch import save

from tests.workers.trained.home import MLP, MULTITASK, Left, held_out, trained
from workers.trained import Network, load

EPOCH = {"epochs": 1, "batch_size": 256}
FIXED = {"name": "fixed", "beta": 0.01}
CONDITIONAL = {"name": "conditional", "beta": {"from": 0.001, "to": 0.1}, "points": 2}
KINDS: dict[str, dict[str, Any]] = {
    "conditional": {"weighting": CONDITIONAL},
    "cnn": {"weighting": FIXED, "model": {"name": "cnn", "channels": [3], "latent": 4}},
    "nib": {"weighting": FIXED, "problem": {"name": "bottleneck", "rate": "nib"}},
    "rnn": {"weighting": FIXED, "model": {"name": "rnn", "latent": 4}},
    "transformer": {"weighting": FIXED, "model": {"name": "transformer", "width": 8, "heads": 2, "latent": 4}},
    "resnet18": {
        "weighting": FIXED,
        "model": {"name": "resnet18", "latent": 4},
        "data": {"name": "digits", "train_fraction": 0.04},
    },
}


def content(left: Left) -> bytes:
    (only,) = left.checkpoints.values()
    return only


@pytest.fixture(scope="module", params=KINDS)
def checkpoint(request: pytest.FixtureRequest) -> bytes:
    return content(trained(**{"training": EPOCH, **KINDS[request.param]}))


@pytest.fixture(scope="module")
def conditional() -> bytes:
    return content(trained(CONDITIONAL, training=EPOCH))


@pytest.fixture(scope="module")
def ordinary() -> bytes:
    return content(trained(FIXED, training={**EPOCH, "learning_rate": 0.03}))


@pytest.fixture(scope="module")
def tasks() -> bytes:
    return content(trained({"name": "conditional", "points": 2}, MULTITASK, training=EPOCH))


def network(content: bytes) -> Network:
    """At a β, if it takes one."""
    return load(content, beta=0.02 if b'\\"conditional\\"' in content else None)


def images(count: int = 6) -> torch.Tensor:
    return held_out()[0][:count]


def test_its_state_is_the_checkpoint_by_name(checkpoint: bytes) -> None:
    model, tensors = network(checkpoint), unpack(checkpoint)
    assert not model.training
    torch.testing.assert_close(dict(model.state_dict()), tensors, rtol=0, atol=0)
    before = model(images())
    zeros = {name: torch.zeros_like(tensor) for name, tensor in tensors.items()}
    model.load_state_dict(zeros)
    assert not torch.allclose(model(images()), before), "it computes with what it has now"
    model.load_state_dict(tensors)
    torch.testing.assert_close(model(images()), before, rtol=0, atol=0)


def test_it_is_saved_copied_and_moved_like_any_module(checkpoint: bytes) -> None:
    model, file = network(checkpoint), io.BytesIO()
    expected = model(images())
    torch.save(model, file)
    file.seek(0)
    for other in (torch.load(file, weights_only=False), copy.deepcopy(model), model.to("cpu")):
        torch.testing.assert_close(other(images()), expected, rtol=0, atol=0)
    exact = copy.deepcopy(model).double()(images())
    assert exact.dtype == torch.float64
    torch.testing.assert_close(exact.float(), expected, rtol=1e-3, atol=1e-4)
    assert model.to("meta")(images().to("meta")).is_meta, "nothing of it stays behind on the device it came from"


def test_a_gradient_reaches_every_weight_that_the_mean_of_the_code_depends_on(checkpoint: bytes) -> None:
    model = network(checkpoint).train()
    x = images().requires_grad_()
    model(x).square().sum().backward()
    without = {name for name, weight in model.named_parameters() if weight.grad is None or not weight.grad.any()}
    assert without <= {"encoder.scalar.0"}, "the noise of nib"
    assert x.grad is not None and x.grad.any()


def test_the_code_has_a_mean_and_a_scale_of_each_input(checkpoint: bytes) -> None:
    mean, scale = network(checkpoint).encode(images())
    assert mean.shape == scale.shape == (6, 4) and (scale > 0).all()


def test_running_statistics_move_in_training_alone() -> None:
    model = network(content(trained(**{"training": EPOCH, **KINDS["resnet18"]})))
    statistics = model.state_dict()["encoder.bn1.running_mean"].clone()
    model(images())
    torch.testing.assert_close(model.state_dict()["encoder.bn1.running_mean"], statistics, rtol=0, atol=0)
    model.train()(images())
    assert not torch.equal(model.state_dict()["encoder.bn1.running_mean"], statistics)


def test_probabilities_are_averages_over_samples_of_the_code(ordinary: bytes) -> None:
    model = load(ordinary)
    one, many = (model.predict(images(), samples=samples) for samples in (1, 400))
    assert not torch.allclose(one, many, atol=0.01)
    torch.testing.assert_close(model.predict(images(), samples=1), one, rtol=0, atol=0)
    mean, scale = model.encode(images())
    z = mean + scale * torch.randn(4000, 6, 4, generator=torch.Generator().manual_seed(1))
    state = model.state_dict()
    expected = (z @ state["head.0.weight"].mT + state["head.0.bias"]).softmax(-1).mean(0)
    torch.testing.assert_close(many, expected, rtol=0, atol=0.02)
    assert model.predict(images(0)).shape == (0, 10)
    with pytest.raises(ValueError, match="samples must be 1 or more, got 0"):
        model.predict(images(), samples=0)


def test_calls_at_the_same_time_have_their_own_beta(conditional: bytes) -> None:
    model = load(conditional)
    betas = [0.001, 0.1] * 20
    expected = {beta: model(images(), beta=beta) for beta in betas}
    with ThreadPoolExecutor(4) as pool:
        for beta, found in zip(betas, pool.map(lambda beta: model(images(), beta=beta), betas), strict=True):
            torch.testing.assert_close(found, expected[beta], rtol=0, atol=0)


def test_its_weights_are_in_the_order_of_its_layers(conditional: bytes) -> None:
    names = [name for name, _ in load(conditional, beta=0.02).named_parameters() if not name.startswith("modulation")]
    layers = ("encoder.0", "encoder.1", "head.0")
    assert names == [f"{layer}.{what}" for layer in layers for what in ("weight", "bias")]


def test_it_says_what_it_is(conditional: bytes) -> None:
    words = repr(load(conditional, beta=0.02))
    assert "mlp of problem bottleneck, beta=0.02" in words and "weight [16, 64], bias [16]" in words


def test_a_network_for_every_beta_wants_one_in_its_range(conditional: bytes) -> None:
    for beta in (0.0009, 0.11, 0.0, float("nan")):
        with pytest.raises(ValueError, match=rf"range that was trained, 0.001 to 0.1, got {beta:g}"):
            load(conditional, beta=beta)
    with pytest.raises(ValueError, match=r"trained for every β from 0.001 to 0.1: name one, as model\(x, beta=0.01\)"):
        load(conditional)(images())
    with pytest.raises(ValueError, match="takes a beta and no preference"):
        load(conditional, preference={"pred": 0.5, "info": 0.5})


def test_a_network_for_every_preference_wants_a_share_of_each_task(tasks: bytes) -> None:
    known = {"class": 0.5, "rotation": 0.25, "reconstruction": 0.25}
    assert list(load(tasks, preference=known)(images())) == list(known)
    assert not load(tasks, preference=known).encode(images()).scale.any()
    with pytest.raises(ValueError, match="a share of each of class, rotation, reconstruction, got class"):
        load(tasks, preference={"class": 1.0})
    for wrong in ({**known, "class": 0.6}, {**known, "class": -0.5, "rotation": 1.25}):
        with pytest.raises(ValueError, match="must be 0 or more and sum to 1"):
            load(tasks, preference=wrong)
    with pytest.raises(ValueError, match="take a preference for class, rotation, reconstruction and no beta"):
        load(tasks, beta=0.01)
    with pytest.raises(ValueError, match=r"every preference: name one, as model\(x, preference={'class': …, 'rotation"):
        load(tasks).predict(images())


def test_an_ordinary_trial_takes_no_beta(ordinary: bytes) -> None:
    with pytest.raises(ValueError, match="has weighting fixed, which trains a network for one trade-off"):
        load(ordinary, beta=0.01)


def test_inputs_of_another_shape_or_kind_are_refused(conditional: bytes) -> None:
    model = load(conditional, beta=0.01)
    for x in (torch.rand(64), torch.rand(6, 8, 8), torch.rand(6, 3, 8, 8)):
        with pytest.raises(ValueError, match=r"inputs must be \[N, 1, 8, 8\] or \[N, 64\], got \["):
            model(x)
    with pytest.raises(ValueError, match=r"floats as in training, images in \[0, 1\], got torch.uint8"):
        model((images() * 255).byte())
    torch.testing.assert_close(model(images().double()), model(images()))


def test_a_toy_a_stranger_and_a_mutilated_checkpoint_are_refused(conditional: bytes) -> None:
    toy = trained(FIXED, {"name": "toy"}, training=EPOCH, model=MLP)
    with pytest.raises(ValueError, match="of problem toy is a vector and no network"):
        load(content(toy))
    with pytest.raises(ValueError, match="does not say which inputs it takes"):
        load(save({"weight": torch.zeros(2)}))
    tensors = unpack(conditional)
    del tensors["encoder.0.bias"]
    start = 8 + int.from_bytes(conditional[:8], "little")
    said = json.loads(conditional[8:start])["__metadata__"]
    with pytest.raises(ValueError, match="has other tensors than its model mlp"):
        load(save(tensors, said))
