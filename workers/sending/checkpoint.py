"""A member's weights as safetensors: named tensors without the member axis, and what they are of."""

from __future__ import annotations

import json
from collections.abc import Mapping

from safetensors.torch import save
from torch import Tensor

from service.contract.methods.data import Data
from service.contract.study.expansion import PlannedTrial
from workers.models import Model


def tensors_of(model: Model) -> dict[str, Tensor]:
    """All members' tensors on the CPU, [K, …], copied once."""
    return {name: tensor.cpu().contiguous() for name, tensor in model.named().items()}


def packed(tensors: Mapping[str, Tensor], member: int, metadata: dict[str, str]) -> bytes:
    """One member of `tensors_of` as a file's content."""
    return save({name: tensor[member] for name, tensor in tensors.items()}, metadata)


def metadata_of(study: str, trial: PlannedTrial, data: Data, terms: tuple[str, ...]) -> dict[str, str]:
    """Texts, as the format wants them; the parts of the study as JSON, `terms` name the heads in their order."""
    parts = {"data": data, "model": trial.model, "problem": trial.problem, "weighting": trial.weighting}
    return {
        "format": "pt",
        "study": study,
        "trial": trial.id,
        "arm": trial.arm,
        "seed": str(trial.seed),
        "terms": json.dumps(terms, ensure_ascii=False),
        "config": json.dumps(trial.config, ensure_ascii=False),
        **{name: part.model_dump_json(by_alias=True) for name, part in parts.items()},
        "training": trial.training.model_dump_json(by_alias=True),
    }


def load(model: Model, member: int, tensors: Mapping[str, Tensor]) -> None:
    """Put a checkpoint's tensors into one member of a model of the same shape."""
    own = model.named()
    if own.keys() != tensors.keys():
        missing, unknown = sorted(own.keys() - tensors.keys()), sorted(tensors.keys() - own.keys())
        raise ValueError(f"the checkpoint is of another model: it lacks {missing} and has {unknown}")
    for name, tensor in tensors.items():
        own[name][member].copy_(tensor)
