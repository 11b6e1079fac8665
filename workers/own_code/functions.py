"""A user's `losses` and `measure` as functions of a model and a batch that give tensors in a known order, or say what
is wrong with what they gave."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from paretoscope.own import Problem
from workers.own_code.errors import at

Function = Callable[[nn.Module, Any], tuple[Tensor, ...]]


def losses_of(problem: Problem, terms: Sequence[str], folder: Path) -> Function:
    """Each term as a tensor without axes, in the order of the class."""

    def losses(model: nn.Module, batch: Any) -> tuple[Tensor, ...]:
        given = problem.losses(model, batch)
        return _scalars(given, terms, "losses", "term", "terms", problem.losses, folder)

    return losses


def metrics_of(problem: Problem, metrics: Sequence[str], folder: Path) -> Function:
    """Each declared metric as a tensor without axes, in the order of the class."""

    def measure(model: nn.Module, batch: Any) -> tuple[Tensor, ...]:
        given = problem.measure(model, batch)
        return _scalars(given, metrics, "measure", "metric", "metrics", problem.measure, folder)

    return measure


def _scalars(
    given: Any,
    names: Sequence[str],
    method: str,
    one: str,
    declared: str,
    function: Callable[..., Any],
    folder: Path,
) -> tuple[Tensor, ...]:
    if not isinstance(given, Mapping):
        raise at(function, folder, f"{method} must give a dict of one number per {one}, got {type(given).__name__}")
    if unknown := [name for name in given if name not in names]:
        known = ", ".join(names)
        raise at(function, folder, f"{method} gave {unknown[0]!r}, which is none of the declared {declared}: {known}")
    if missing := [name for name in names if name not in given]:
        raise at(function, folder, f"{method} gave no {one} {missing[0]!r}, which the class declares")
    return tuple(_scalar(given[name], name, method, one, function, folder) for name in names)


def _scalar(value: Any, name: str, method: str, one: str, function: Callable[..., Any], folder: Path) -> Tensor:
    if isinstance(value, Tensor):
        if value.numel() == 1:
            return value.reshape(())
        shape = list(value.shape)
        raise at(function, folder, f"{one} {name!r} of {method} must be one number, got a tensor of shape {shape}")
    try:
        return torch.tensor(float(value))
    except (TypeError, ValueError):
        said = type(value).__name__
        raise at(function, folder, f"{one} {name!r} of {method} must be one number, got {said}") from None
