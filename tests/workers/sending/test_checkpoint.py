"""A checkpoint is the member it was made of, in tensors that torch's own modules take."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
from safetensors.torch import load as unpack
from torch import nn

from service.contract.methods.data import Digits
from service.contract.methods.models import Cnn, Mlp, Model, Resnet18, Rnn, Transformer
from service.contract.methods.problems import Bottleneck
from service.contract.methods.weightings import Fixed
from service.contract.study.study import Training
from workers import data as datasets
from workers import models
from workers.data.random_streams import Seeds
from workers.sending import checkpoint
from workers.training.loop import Cohort

CPU = torch.device("cpu")
SIZES = models.Sizes(features=64, outputs=8, latent=4, classes=10, shape=(1, 8, 8), scalars=(0.5,))
STACKED: list[Model] = [
    Mlp(widths=[7, 6], latent=4, head=[5]),
    Cnn(channels=[3, 4], widths=[7], latent=4),
    Rnn(embedding=6, hidden=[5, 4], latent=4),
    Transformer(width=8, heads=2, layers=2, feed_forward=6, latent=4),
]


def built(spec: Model, *seeds: int, sizes: models.Sizes = SIZES) -> models.Model:
    return models.build(spec, sizes, Seeds(seeds, CPU))


def sent(model: models.Model, member: int) -> dict[str, torch.Tensor]:
    return unpack(checkpoint.packed(checkpoint.tensors_of(model), member, {}))


@torch.no_grad()
def outputs(model: models.Model, members: int) -> list[torch.Tensor]:
    x = torch.rand(3, 64, generator=torch.Generator().manual_seed(0)).expand(members, -1, -1)
    code, *scalars = model.encode(x)
    return [code, *scalars, model.decode(code[..., :4])]


@pytest.mark.parametrize("spec", STACKED, ids=lambda spec: spec.name)
def test_a_loaded_member_computes_what_the_saved_one_did(spec: Model) -> None:
    saved, other = built(spec, 1, 2, 3), built(spec, 8, 9)
    checkpoint.load(other, 1, sent(saved, 2))
    untouched, loaded = zip(*outputs(other, 2), strict=True)
    fresh = built(spec, 8, 9)
    assert len(loaded) == 3  # code, scalar, logits
    torch.testing.assert_close(loaded, tuple(each[2] for each in outputs(saved, 3)))
    torch.testing.assert_close(untouched, tuple(each[0] for each in outputs(fresh, 2)))


@pytest.mark.parametrize("spec", STACKED, ids=lambda spec: spec.name)
def test_every_weight_is_in_the_checkpoint(spec: Model) -> None:
    model = built(spec, 1)
    count = model.encoder.flat.shape[1] + model.head.flat.shape[1]
    assert sum(tensor.numel() for tensor in sent(model, 0).values()) == count


def test_the_tensors_of_a_perceptron_are_named_and_shaped_as_linear_layers() -> None:
    shapes = {name: tuple(tensor.shape) for name, tensor in sent(built(STACKED[0], 1), 0).items()}
    assert shapes == {
        "encoder.0.weight": (7, 64),
        "encoder.0.bias": (7,),
        "encoder.1.weight": (6, 7),
        "encoder.1.bias": (6,),
        "encoder.2.weight": (8, 6),
        "encoder.2.bias": (8,),
        "encoder.scalar.0": (),
        "head.0.weight": (5, 4),
        "head.0.bias": (5,),
        "head.1.weight": (10, 5),
        "head.1.bias": (10,),
    }


def test_heads_of_several_tasks_are_numbered() -> None:
    model = built(Mlp(widths=[], latent=4), 1, sizes=SIZES._replace(scalars=(), more_heads=(3,)))
    shapes = {name: tuple(tensor.shape) for name, tensor in sent(model, 0).items() if name.endswith("weight")}
    assert shapes == {"encoder.0.weight": (8, 64), "heads.0.0.weight": (10, 4), "heads.1.0.weight": (3, 4)}


@torch.no_grad()
def test_torch_layers_with_a_checkpoint_compute_the_same() -> None:
    model = built(Mlp(widths=[7], latent=4), 5, sizes=SIZES._replace(scalars=()))
    tensors = sent(model, 0)
    plain = nn.Sequential(nn.Linear(64, 7), nn.ReLU(), nn.Linear(7, 8))
    places = {"0": "0", "1": "2"}
    parts = (name.split(".") for name in tensors if name.startswith("encoder"))
    plain.load_state_dict({f"{places[i]}.{what}": tensors[f"encoder.{i}.{what}"] for _, i, what in parts})
    x = torch.rand(3, 64)
    torch.testing.assert_close(plain(x), model.encode(x[None])[0][0])


@torch.no_grad()
def test_torchvision_takes_the_checkpoint_of_a_resnet_with_its_running_statistics() -> None:
    from torchvision.models import resnet18

    model = built(Resnet18(latent=4, head=[]), 1, sizes=SIZES._replace(shape=(3, 16, 16), features=768))
    model.train(True)
    x = torch.rand(1, 6, 768)
    model.encode(x)
    model.train(False)
    tensors = sent(model, 0)
    module = resnet18(weights=None, num_classes=8)
    own = {name.removeprefix("encoder."): t for name, t in tensors.items() if name.startswith("encoder.")}
    assert own.pop("scalar.0").shape == ()
    module.load_state_dict(own, strict=True)
    assert own["bn1.num_batches_tracked"] == 1
    torch.testing.assert_close(module.eval()(x[0].view(6, 3, 16, 16)), model.encode(x)[0][0], rtol=1e-4, atol=1e-5)
    other = built(Resnet18(latent=4, head=[]), 2, sizes=SIZES._replace(shape=(3, 16, 16), features=768))
    checkpoint.load(other, 0, tensors)
    torch.testing.assert_close(other.encode(x)[0], model.encode(x)[0])


def test_a_checkpoint_of_another_model_is_refused() -> None:
    with pytest.raises(ValueError, match=r"it lacks \['encoder.2.bias'.*and has \[\]"):
        checkpoint.load(built(STACKED[0], 1), 0, sent(built(Mlp(widths=[7], latent=4, head=[5]), 1), 0))
    with pytest.raises(ValueError, match=r"it lacks \[\] and has \['encoder.2.bias', 'encoder.2.weight'\]"):
        checkpoint.load(built(Mlp(widths=[7], latent=4, head=[5]), 1), 0, sent(built(STACKED[0], 1), 0))


def test_a_toy_vector_has_a_checkpoint_too(cohorts: Any) -> None:
    from service.contract.methods.problems import ToyProblem

    trial = cohorts.trial("a", Fixed(beta=0.5))._replace(problem=ToyProblem())
    cohort = Cohort([trial], [datasets.load(Digits())], CPU)
    assert {name: tuple(t.shape) for name, t in sent(cohort.model, 0).items()} == {"encoder.vector": (8,)}


def test_the_metadata_say_what_the_weights_are_of(cohorts: Any) -> None:
    trial = cohorts.trial("t1", Fixed(beta=0.5), seed=7, epochs=3)._replace(config={"β": 1})
    said = checkpoint.metadata_of("s1", trial, Digits(), ("pred", "info"), checkpoint.Inputs((1, 8, 8)), 5)
    plain = ("format", "study", "trial", "arm", "seed", "config", "shape", "vocabulary", "samples")
    assert {name: said[name] for name in plain} == {
        "format": "pt",
        "study": "s1",
        "trial": "t1",
        "arm": "arm",
        "seed": "7",
        "config": '{"β": 1}',
        "shape": "[1, 8, 8]",
        "vocabulary": "0",
        "samples": "5",
    }
    assert Training.model_validate_json(said["training"]) == trial.training != Training()
    assert Digits.model_validate_json(said["data"]) == Digits()
    assert Mlp.model_validate_json(said["model"]) == trial.model
    assert Bottleneck.model_validate_json(said["problem"]) == trial.problem
    assert json.loads(said["weighting"])["beta"] == 0.5 and json.loads(said["terms"]) == ["pred", "info"]
