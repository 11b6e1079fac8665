"""A user's `code`, `decode` and `logits` as what measures and attacks ask of a model and its problem."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from paretoscope.own import Problem
from workers.data.random_streams import Seeds
from workers.models.components.latent_code import Code
from workers.own_code.errors import at
from workers.own_code.functions import Function
from workers.own_code.hooked import Hooked
from workers.own_code.running_members import OneByOne, Way
from workers.problems.rates import kl_to_prior

Shape = tuple[torch.Size, torch.dtype]


class OwnCoding:
    """Coder and coding in one: inputs [K, B, features] become s = (mean, scale, x) where there is a code, else (x,)."""

    latent = 0  # until the first input was encoded

    def __init__(self, problem: Problem, way: Way, alone: OneByOne, seeds: Seeds, shape: Shape, folder: Path) -> None:
        self._shape, self._dtype = shape

        def hooked(method: Callable[..., Any] | None, function: Callable[..., Function]) -> Hooked | None:
            return method and Hooked(method, function(method, folder), way, alone, seeds, folder)

        self._code = hooked(problem.code, _codes_of)
        self._decode = hooked(problem.decode, _logits_of)
        self._logits = hooked(problem.logits, _logits_of)
        self._last: tuple[Tensor, Tensor] | None = None

    def begin(self) -> None:
        """An evaluation."""
        self._last = None
        for hook in (self._code, self._decode, self._logits):
            if hook:
                hook.begin()

    def encode(self, x: Tensor) -> tuple[Tensor, ...]:
        x = x.reshape(*x.shape[:2], *self._shape)
        x = x if self._dtype.is_floating_point else x.to(self._dtype)
        code = self._code(x) if self._code else []
        if code:
            self.latent = code[0].shape[-1]
        return (*code, x)

    def decode(self, z: Tensor) -> Tensor:
        """Without a method for it there is nothing to say: mean and log-variance of a label that nobody has."""
        return self._decode(z)[0] if self._decode else z.new_zeros(*z.shape[:2], 2)

    def code(self, s: tuple[Tensor, ...]) -> Code:
        return Code(s[0], s[1])

    def rate(self, s: tuple[Tensor, ...]) -> Tensor:
        return kl_to_prior(self.code(s))

    def logits(self, model: Any, s: tuple[Tensor, ...], noise: Tensor) -> Tensor:
        if self._decode is not None:
            return self._decode(torch.addcmul(s[0], s[1], noise.to(s[0].dtype)))[0]
        if self._logits is None:
            raise ValueError("an attack needs a method logits, or code and decode")
        if self._last is None or self._last[0] is not s[-1] or self._logits.is_random:
            self._last = (s[-1], self._logits(s[-1])[0])  # without random numbers every sample is the same
        return self._last[1]


def _codes_of(method: Callable[..., Any], folder: Path) -> Function:
    def code(model: nn.Module, x: Tensor) -> tuple[Tensor, ...]:
        given = method(model, x)
        if not isinstance(given, (tuple, list)) or len(given) != 2 or not all(isinstance(t, Tensor) for t in given):
            said = (
                f"{type(given).__name__} of {len(given)}" if isinstance(given, (tuple, list)) else type(given).__name__
            )
            raise at(method, folder, f"code must give two tensors, mean and standard deviation, got {said}")
        mean, scale = given
        if mean.dim() != 2 or len(mean) != len(x):
            said = f"mean of shape {list(mean.shape)} for {len(x)} inputs"
            raise at(method, folder, f"code must give a row of numbers per input, got a {said}")
        try:
            return mean, scale.expand_as(mean)
        except RuntimeError:
            said = f"{list(scale.shape)} and {list(mean.shape)}"
            raise at(method, folder, f"standard deviation and mean of code must have one shape, got {said}") from None

    return code


def _logits_of(method: Callable[..., Any], folder: Path) -> Function:
    def logits(model: nn.Module, x: Tensor) -> tuple[Tensor, ...]:
        given = method(model, x)
        if not isinstance(given, Tensor) or given.dim() != 2 or len(given) != len(x):
            said = f"shape {list(given.shape)}" if isinstance(given, Tensor) else type(given).__name__
            rule = f"{method.__name__} must give logits [{len(x)}, classes] of so many rows"
            raise at(method, folder, f"{rule}, got {said}")
        return (given,)

    return logits
