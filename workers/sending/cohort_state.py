"""A cohort's state as the content of a file, and back: safetensors, with the rest as JSON. Never a pickle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from pydantic import TypeAdapter
from safetensors import SafetensorError
from safetensors.torch import load as tensors_in
from safetensors.torch import save
from torch import Tensor

from service.contract.wire.cohort_state import METADATA, CohortState, Members, head_of
from service.contract.wire.epoch_report import EpochReport
from workers.training.loop import Progress

REPORTS = "reports"  # beside the tensors: what may not have reached the log when the state was saved
STATE = "state."
_SAID: TypeAdapter[list[EpochReport]] = TypeAdapter(list[EpochReport])


class Saved(NamedTuple):
    """Where to go on, and the last reports before that: the log takes those that it does not have."""

    progress: Progress
    reports: list[EpochReport]


def packed(members: Members, progress: Progress, reports: Sequence[EpochReport]) -> bytes:
    said = CohortState(
        members={trial: dict(values) for trial, values in members.items()},
        epoch=progress.epoch,
        epochs=progress.epochs,
        seconds=progress.seconds,
        failed=list(progress.failed),
    )
    # Copies: tensors that share memory cannot be written, and training goes on while they are sent.
    tensors = {f"{STATE}{name}": _copied(tensor) for name, tensor in progress.state().items()}
    text = torch.frombuffer(bytearray(_SAID.dump_json(list(reports))), dtype=torch.uint8)
    return save({**tensors, REPORTS: text}, {"format": "pt", METADATA: said.model_dump_json()})


def unpacked(content: bytes) -> Saved:
    """ValueError where it is no state, or not the whole of one."""
    try:
        said, tensors = head_of(content), tensors_in(content)
    except SafetensorError as error:
        raise ValueError(str(error)) from error
    if REPORTS not in tensors:
        raise ValueError(f"it has no {REPORTS!r}")
    reports = _SAID.validate_json(bytes(tensors.pop(REPORTS).tolist()))
    own = {name.removeprefix(STATE): tensor for name, tensor in tensors.items()}
    return Saved(Progress(said.epoch, said.seconds, tuple(said.failed), lambda: own, said.epochs), reports)


def _copied(tensor: Tensor) -> Tensor:
    return tensor.detach().to("cpu", copy=True).contiguous()
