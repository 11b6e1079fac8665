"""Trained trials as modules of torch, from the checkpoints that they left."""

from __future__ import annotations

from collections.abc import Mapping

from service.contract.methods import problems as specs
from workers.sending import checkpoint
from workers.trained.bottleneck import Bottleneck
from workers.trained.multitask import Multitask
from workers.trained.network import Network

__all__ = ["Bottleneck", "Multitask", "Network", "load"]


def load(content: bytes, beta: float | None = None, preference: Mapping[str, float] | None = None) -> Network:
    """The network of a checkpoint, ready to predict; at a β or a preference, where it was trained for all of them."""
    said, tensors = checkpoint.opened(content)
    if isinstance(said.problem, specs.ToyProblem):
        raise ValueError(f"trial {said.trial} of problem toy is a vector and no network: its checkpoint has it")
    kind = Multitask if isinstance(said.problem, specs.Multitask) else Bottleneck
    return kind(said, tensors).at(beta, preference).eval()
