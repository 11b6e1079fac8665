"""A member's weights as safetensors: named tensors without the member axis, and what they are of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from pydantic import TypeAdapter
from safetensors.torch import load as unpacked
from safetensors.torch import save
from torch import Tensor

from service.contract.methods.data import Data
from service.contract.methods.models import Model as ModelSpec
from service.contract.methods.problems import Problem
from service.contract.methods.weightings import Weighting
from service.contract.study.expansion import PlannedTrial
from workers.models import Model
from workers.training.loop import Naming


class Inputs(NamedTuple):
    """What a model reads: channels, height and width of an image (else 1, 1, features), words of a text's language."""

    shape: tuple[int, int, int]
    vocabulary: int = 0


OF_OWN_CODE = Inputs((0, 0, 0))  # only the code itself knows what its model reads


class Said(NamedTuple):
    """What the metadata of a checkpoint say about the model."""

    trial: str
    seed: int
    terms: tuple[str, ...]
    inputs: Inputs
    samples: int
    model: ModelSpec
    problem: Problem
    weighting: Weighting


def tensors_of(model: Naming) -> dict[str, Tensor]:
    """All members' tensors on the CPU, [K, …], copied once."""
    return {name: tensor.cpu().contiguous() for name, tensor in model.named().items()}


def packed(tensors: Mapping[str, Tensor], member: int, metadata: dict[str, str]) -> bytes:
    """One member of `tensors_of` as a file's content."""
    return save({name: tensor[member] for name, tensor in tensors.items()}, metadata)


def metadata_of(
    study: str, trial: PlannedTrial, data: Data, terms: tuple[str, ...], inputs: Inputs, samples: int
) -> dict[str, str]:
    """Texts, as the format wants them; the parts of the study as JSON, `terms` name the heads in their order.

    `samples` are the latent samples behind the accuracy that was reported.
    """
    parts = {"data": data, "model": trial.model, "problem": trial.problem, "weighting": trial.weighting}
    return {
        "format": "pt",
        "study": study,
        "trial": trial.id,
        "arm": trial.arm,
        "seed": str(trial.seed),
        "terms": json.dumps(terms, ensure_ascii=False),
        "shape": json.dumps(inputs.shape),
        "vocabulary": str(inputs.vocabulary),
        "samples": str(samples),
        "config": json.dumps(trial.config, ensure_ascii=False),
        **{name: part.model_dump_json(by_alias=True) for name, part in parts.items()},
        "training": trial.training.model_dump_json(by_alias=True),
    }


def opened(content: bytes) -> tuple[Said, dict[str, Tensor]]:
    """A file's content: what it is of, and its tensors by name."""
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])  # its length comes first
    said: dict[str, str] = header.get("__metadata__", {})
    if "shape" not in said:
        raise ValueError(
            "this checkpoint does not say which inputs it takes: it was written by an older version, or by another "
            "program; run the study again"
        )
    channels, height, width = json.loads(said["shape"])
    return Said(
        said["trial"],
        int(said["seed"]),
        tuple(json.loads(said["terms"])),
        Inputs((channels, height, width), int(said["vocabulary"])),
        int(said["samples"]),
        TypeAdapter[ModelSpec](ModelSpec).validate_json(said["model"]),
        TypeAdapter[Problem](Problem).validate_json(said["problem"]),
        TypeAdapter[Weighting](Weighting).validate_json(said["weighting"]),
    ), unpacked(content)


def load(model: Model, member: int, tensors: Mapping[str, Tensor]) -> None:
    """Put a checkpoint's tensors into one member of a model of the same shape."""
    own = model.named()
    if own.keys() != tensors.keys():
        missing, unknown = sorted(own.keys() - tensors.keys()), sorted(tensors.keys() - own.keys())
        raise ValueError(f"the checkpoint is of another model: it lacks {missing} and has {unknown}")
    for name, tensor in tensors.items():
        own[name][member].copy_(tensor)
