"""What a file of your own is written with: `Problem`, `Metric` and `trainable`. Nothing here needs torch or Ray."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

if TYPE_CHECKING:
    from torch import Tensor, nn

Goal = Literal["minimize", "maximize"]


@dataclass(frozen=True)
class Metric:
    """A metric of your own: which way is better, and what is known of it."""

    goal: Goal
    unit: str = ""
    reference: float | None = None  # its part of the hypervolume's reference point; none: the worst value of a study
    doc: str = ""
    low: float | None = None  # the least it can be; none: no such end
    high: float | None = None


class Problem:
    """Loss terms that Paretoscope trains and weighs. Annotated fields of the subclass are its parameters.

    Optional methods: `shared(model)` gives the parameters that all terms share, or their names; `schedule(epoch,
    epochs)` a factor on the learning rate; `optimizer(parameters)` a torch.optim.Optimizer. `code(model, x)` gives mean
    and standard deviation of a Gaussian code of the first tensor of a batch, `decode(model, z)` logits of the classes
    in the second, `logits(model, x)` logits of an input. What they are for is in docs/own-code.md.
    """

    terms: ClassVar[tuple[str, ...]] = ()
    metrics: ClassVar[Mapping[str, Goal | Metric]] = {}

    # Types are read at run time, so none of them names torch.
    shared: ClassVar[Callable[..., Any] | None] = None
    schedule: ClassVar[Callable[..., float] | None] = None
    optimizer: ClassVar[Callable[..., Any] | None] = None
    code: ClassVar[Callable[..., Any] | None] = None
    decode: ClassVar[Callable[..., Any] | None] = None
    logits: ClassVar[Callable[..., Any] | None] = None

    def __init__(self, **values: Any) -> None:
        checked = parameters_of(type(self))(**values)
        for name in type(checked).model_fields:
            setattr(self, name, getattr(checked, name))

    def data(self, seed: int) -> Mapping[str, Any]:
        """Splits `train` and `test`, and `validation` if it is not to be drawn from `train`.

        Each is a tuple of tensors of one length, one tensor, or a torch Dataset.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method data(self, seed)")

    def model(self) -> nn.Module:
        """A fresh model: torch's random numbers stand at the trial's seed."""
        raise NotImplementedError(f"{type(self).__name__} has no method model(self)")

    def losses(self, model: Any, batch: Any) -> Mapping[str, Tensor]:
        """One scalar per term."""
        raise NotImplementedError(f"{type(self).__name__} has no method losses(self, model, batch)")

    def measure(self, model: Any, batch: Any) -> Mapping[str, Tensor | float]:
        """One scalar per metric, a mean over the batch: without gradients, in evaluation mode."""
        raise NotImplementedError(f"{type(self).__name__} has no method measure(self, model, batch)")


class Trainable:
    """A function that trains by itself and reports: what `trainable` makes of it. Called, it is the function."""

    def __init__(self, function: Callable[..., Any], metrics: Mapping[str, Goal | Metric]) -> None:
        self.function, self.metrics = function, metrics
        self.__name__ = function.__name__
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def trainable(metrics: Mapping[str, Goal | Metric]) -> Callable[[Callable[..., Any]], Trainable]:
    """Marks `def train(trial, depth: int = 4, …)` as a script whose trials report these metrics."""

    def mark(function: Callable[..., Any]) -> Trainable:
        return Trainable(function, metrics)

    return mark


def parameters_of(owner: type[Problem] | Trainable) -> type[BaseModel]:
    """The parameters of a problem or a script as a pydantic class, in the order they are written."""
    fields = _of_signature(owner) if isinstance(owner, Trainable) else _of_class(owner)
    return create_model(owner.__name__, __config__=_STRICT, **fields)


_STRICT = ConfigDict(extra="forbid", protected_namespaces=(), arbitrary_types_allowed=True)


def _of_class(owner: type[Problem]) -> dict[str, Any]:
    """Annotations over the MRO, the base's first; what a subclass gives as a value is the default."""
    hints = get_type_hints(owner, include_extras=True)
    own = {name: hint for name, hint in hints.items() if not (_is_of_class(hint) or name.startswith("_"))}
    return {name: (hint, getattr(owner, name, ...)) for name, hint in own.items() if name not in _SAID}


_SAID = ("terms", "metrics")  # what a class says of itself, even where it is annotated


def _is_of_class(hint: Any) -> bool:
    return hint is ClassVar or get_origin(hint) is ClassVar


def _of_signature(owner: Trainable) -> dict[str, Any]:
    """All but the first, the trial; one without a type has that of its default."""
    hints = get_type_hints(owner.function, include_extras=True)
    fields: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(owner.function).parameters.items())[1:]:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            raise TypeError(f"{owner.__name__} takes {parameter}: its parameters must have names")
        default = ... if parameter.default is parameter.empty else parameter.default
        if name not in hints and default is ...:
            raise TypeError(f"parameter {name!r} of {owner.__name__} needs a type or a default")
        fields[name] = (hints.get(name, type(default)), default)
    return fields
