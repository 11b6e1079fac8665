"""A trained trial as a torch.nn.Module: the weights by their names in the checkpoint, and the model that reads them."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from service.contract.methods.weightings import Conditional, Fvib, OfCurves
from service.contract.wording.numbers import setting
from workers.models import Conditioned, Model, Sizes
from workers.models.components.latent_code import Code
from workers.sending.checkpoint import Said
from workers.trained.lending import Borrower
from workers.weightings import fvib
from workers.weightings.conditional import at_beta, at_preference, told_by

Preference = Mapping[str, float]


class Network(nn.Module):
    """What all networks share: inputs, weights, and where between its objectives the network is.

    Inputs are as they were in training: images [N, channels, height, width] in [0, 1], or the same as rows
    [N, features]; texts as numbers of words [N, length]. A network that was trained for every β or preference is at
    one of them by `at`, or by what a call names.
    """

    _by_beta: ClassVar[bool]  # whether it is told a β, else a preference

    def __init__(self, said: Said, tensors: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.said = said
        self._at: tuple[str, list[float]] | None = None  # in words, and as the model is told
        self._sizes = self._sizes_of(tensors)
        self._borrower: Borrower | None = Borrower(said.model, self._sizes)
        if {name: tensor.shape for name, tensor in tensors.items()} != self._borrower.shapes:
            raise ValueError(f"the checkpoint of trial {said.trial} has other tensors than its model {said.model.name}")
        for name in self._borrower.shapes:  # in the order of the layers: that of a file may be any
            _put(self, name, tensors[name].clone(), name in self._borrower.trained)

    @abstractmethod
    def forward(self, x: Tensor, *, beta: float | None = None, preference: Preference | None = None) -> Any:
        """The outputs of the decoder at the mean of the code: logits, where they are of classes."""

    @abstractmethod
    def predict(
        self,
        x: Tensor,
        samples: int | None = None,
        *,
        beta: float | None = None,
        preference: Preference | None = None,
    ) -> Any:
        """The probabilities of the classes, as those behind the accuracy that was reported."""

    @abstractmethod
    def encode(self, x: Tensor, *, beta: float | None = None, preference: Preference | None = None) -> Code:
        """The code of each input: mean and scale, [N, latent] each."""

    def at(self, beta: float | None = None, preference: Preference | None = None) -> Self:
        """From now on at this β or preference, where a call names no other; of neither, each call must name one."""
        self._at = self._told(beta, preference)
        return self

    @contextmanager
    def _model(self, beta: float | None, preference: Preference | None) -> Iterator[Model]:
        """The model with the weights that the module has now, told where it is."""
        told = self._told(beta, preference) or self._at
        if told is None and (spec := self._covering):
            every = f"β from {setting(spec.beta.from_)} to {setting(spec.beta.to)}" if self._by_beta else "preference"
            example = (
                "beta=0.01"
                if self._by_beta
                else f"preference={{{', '.join(f'{term!r}: …' for term in self.said.terms)}}}"
            )
            raise ValueError(f"trial {self.said.trial} was trained for every {every}: name one, as model(x, {example})")
        if self._borrower is None:
            self._borrower = Borrower(self.said.model, self._sizes)
        tensors = {**dict(self.named_parameters()), **dict(self.named_buffers())}
        with self._borrower.lent(tensors, self.training) as model:
            if told is not None and isinstance(model, Conditioned):
                model.condition(self._like(torch.tensor([[told[1]]])))
            yield model

    def _rows(self, x: Tensor) -> Tensor:
        """Inputs as the model takes them: [1, N, features]."""
        shape, words = self.said.inputs
        if x.dim() < 2 or tuple(x.shape[1:]) not in (shape, (math.prod(shape),)):
            images = "" if words else f"[N, {', '.join(map(str, shape))}] or "
            raise ValueError(f"inputs must be {images}[N, {math.prod(shape)}], got {list(x.shape)}")
        if not words and not x.is_floating_point():
            raise ValueError(f"inputs must be floats as in training, images in [0, 1], got {x.dtype}")
        return (x if words else x.to(next(self.parameters()).dtype)).flatten(1)[None]

    def _like(self, values: Tensor) -> Tensor:
        return values.to(next(self.parameters()))

    @property
    def _covering(self) -> OfCurves | None:
        weighting = self.said.weighting
        return weighting if isinstance(weighting, OfCurves) else None

    @abstractmethod
    def _outputs(self) -> tuple[int, tuple[float, ...]]:
        """Of the encoder: how many, and the numbers that train with it."""

    def _told(self, beta: float | None, preference: Preference | None) -> tuple[str, list[float]] | None:
        spec, terms, name = self._covering, self.said.terms, self.said.weighting.name
        if beta is None and preference is None:
            return None
        if spec is None:
            raise ValueError(
                f"trial {self.said.trial} has weighting {name}, which trains a network for one trade-off: "
                "only those of weightings conditional and fvib take a beta or a preference"
            )
        if self._by_beta:
            if beta is None or preference is not None:
                raise ValueError("a bottleneck takes a beta and no preference")
            told = fvib.at_beta(spec, beta) if isinstance(spec, Fvib) else at_beta(spec, beta)
            return f"beta={setting(beta)}", told
        if preference is None or beta is not None:
            raise ValueError(f"several tasks take a preference for {', '.join(terms)} and no beta")
        return f"preference={dict(preference)}", at_preference(terms, preference)

    def _sizes_of(self, tensors: Mapping[str, Tensor]) -> Sizes:
        """Heads have as many outputs as their last biases in the checkpoint."""
        shape, vocabulary = self.said.inputs
        last = len(self.said.model.head)
        several = [f"heads.{i}.{last}.bias" for i in range(len(self.said.terms))]
        biases = [tensors.get(name) for name in several]
        first, *others = (len(bias) for bias in [b for b in biases if b is not None] or [tensors[f"head.{last}.bias"]])
        outputs, scalars = self._outputs()
        constants = len(tensors.get("head.constants", ()))
        latent, told, sharpness = self.said.model.latent, None, None
        if isinstance(self._covering, Conditional):
            told = told_by(self._covering, self._by_beta, len(self.said.terms))
        elif self._covering:  # what it was multiplied by is in the checkpoint
            outputs, latent, sharpness = first - 1, first - 1, 1.0
        return Sizes(
            math.prod(shape),
            outputs,
            latent,
            first,
            shape,
            scalars,
            tuple(others),
            vocabulary,
            told,
            sharpness,
            constants,
        )

    def extra_repr(self) -> str:
        parts = [f"trial {self.said.trial}", f"{self.said.model.name} of problem {self.said.problem.name}"]
        return ", ".join([*parts, *([self._at[0]] if self._at else [])])

    def __getstate__(self) -> dict[str, Any]:
        """Without the borrower, whose layers are built again: pickles hold weights and what they are of."""
        return {**self.__dict__, "_borrower": None}


class Part(nn.Module):
    """A part of the names in a checkpoint: `encoder` of `encoder.0.weight`."""

    def extra_repr(self) -> str:
        own = {**self._parameters, **self._buffers}
        return ", ".join(f"{name} {list(tensor.shape)}" for name, tensor in own.items() if tensor is not None)


def _put(root: nn.Module, name: str, tensor: Tensor, trained: bool) -> None:
    *path, last = name.split(".")
    part = root
    for step in path:
        if step not in dict(part.named_children()):
            part.add_module(step, Part())
        part = part.get_submodule(step)
    if trained:
        part.register_parameter(last, nn.Parameter(tensor))
    else:
        part.register_buffer(last, tensor)
