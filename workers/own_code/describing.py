"""What a user's file offers, read off the imported module: problems and scripts in the order of their lines."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import ValidationError

from paretoscope.own import Metric, Problem, Trainable
from service.contract.methods.own_description import Described, Hook, OwnMetric
from service.contract.methods.own_problems import is_kept, reported_besides
from service.contract.metrics.metric import METRIC_NAME, NAME
from workers.own_code.errors import CodeError, at, place_of
from workers.own_code.loading import load
from workers.own_code.parameters import parameters

METHODS = {"data": 1, "model": 0, "losses": 2, "measure": 2}  # what a problem must have: arguments besides itself
HOOKS: dict[Hook, int] = {"shared": 1, "schedule": 2, "code": 2, "decode": 2, "logits": 2, "optimizer": 1}
GOALS = ("minimize", "maximize")

Offered = type[Problem] | Trainable


def describe(folder: Path, entry: str) -> list[Described]:
    """Every problem and script that the entry defines or imports from its folder; CodeError where a rule is broken."""
    folder = folder.resolve()
    return [_described(each, folder) for each in offered(load(folder, entry), folder, entry)]


def offered(module: ModuleType, folder: Path, entry: str) -> list[Offered]:
    """The classes and functions that a study may name: of the folder, or listed in the entry's `__all__`; none that
    begins with `_`."""
    listed = getattr(module, "__all__", ())
    named = [value for name, value in vars(module).items() if not name.startswith("_") and _is_offered(value, name)]
    own = [each for each in named if place_of(each, folder)[0] or each.__name__ in listed]
    if not own:
        raise CodeError("there is no problem in it: a class of paretoscope.Problem or a @trainable function", entry)
    return sorted(own, key=lambda each: (place_of(each, folder)[0] != entry, *place_of(each, folder)))


def _is_offered(value: object, name: str) -> bool:
    """By the name it was defined with: another name for it is not another problem."""
    if isinstance(value, Trainable):
        return value.__name__ == name
    # A class without terms that others build on is not offered itself.
    return isinstance(value, type) and issubclass(value, Problem) and value.__name__ == name and _is_whole(value)


def _is_whole(kind: type[Problem]) -> bool:
    derived = any(kind in other.__mro__[1:] for other in kind.__subclasses__())
    return kind is not Problem and not (derived and not kind.terms)


def _described(own: Offered, folder: Path) -> Described:
    file, line = place_of(own, folder)
    is_script = isinstance(own, Trainable)
    if not isinstance(own, Trainable):
        _check_methods(own, folder)
    elif not inspect.signature(own.function).parameters:
        raise at(own, folder, f"{own.__name__} needs a first argument: the trial")
    try:
        return Described(
            name=own.__name__,
            kind="script" if is_script else "problem",
            doc=(inspect.cleandoc(own.__doc__) if own.__doc__ and own.__doc__ != Problem.__doc__ else "")[:4000],
            file=file,
            line=line,
            terms=[] if isinstance(own, Trainable) else _terms(own, folder),
            metrics=_metrics(own, folder),
            parameters=parameters(own, folder),
            hooks=[] if isinstance(own, Trainable) else [hook for hook in HOOKS if getattr(own, hook) is not None],
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise at(own, folder, f"{own.__name__}: {f'{where}: ' if where else ''}{first['msg']}") from None


def _check_methods(kind: type[Problem], folder: Path) -> None:
    for name, count in METHODS.items():
        if getattr(kind, name) is getattr(Problem, name):
            raise at(kind, folder, f"{kind.__name__} needs a method {name}")
        _check_arguments(kind, name, count, folder)
    for hook, count in HOOKS.items():
        own = getattr(kind, hook)
        if own is not None and not callable(own):
            raise at(kind, folder, f"{hook} of {kind.__name__} must be a method, got {type(own).__name__}")
        if own is not None:
            _check_arguments(kind, hook, count, folder)


def _check_arguments(kind: type[Problem], name: str, count: int, folder: Path) -> None:
    method: Callable[..., Any] = getattr(kind, name)
    own = 0 if isinstance(inspect.getattr_static(kind, name), (staticmethod, classmethod)) else 1
    try:
        inspect.signature(method).bind(*[None] * (own + count))
    except TypeError as error:
        arguments = "one argument" if count == 1 else f"{count} arguments" if count else "no argument"
        raise at(method, folder, f"{name} of {kind.__name__} takes {arguments} besides self: {error}") from None
    except ValueError:  # a callable without a signature: it is tried when it is called
        return


def _terms(kind: type[Problem], folder: Path) -> list[str]:
    terms = kind.terms
    if isinstance(terms, str) or not isinstance(terms, (tuple, list)) or not terms:
        raise at(kind, folder, f"{kind.__name__} needs terms: names of its losses, as terms = ('class', 'price')")
    for term in terms:
        if not isinstance(term, str) or not re.fullmatch(NAME, term):
            raise at(kind, folder, f"a term of {kind.__name__} is lower case letters, digits and hyphens, got {term!r}")
    return list(terms)


def _metrics(own: Offered, folder: Path) -> list[OwnMetric]:
    given = own.metrics
    if not isinstance(given, Mapping) or not given:
        raise at(own, folder, f"{own.__name__} needs metrics: their names and goals, as {{'acc': 'maximize'}}")
    ours = [] if isinstance(own, Trainable) else reported_besides(_terms(own, folder), own.decode is not None)
    for name in given:
        if isinstance(name, str) and (name in ours or is_kept(name)):
            raise at(
                own, folder, f"metric {name!r} of {own.__name__}: Paretoscope reports one of this name, take another"
            )
    return [_metric(own, name, value, folder) for name, value in given.items()]


def _metric(own: Offered, name: object, value: object, folder: Path) -> OwnMetric:
    whose = f"metric {name!r} of {own.__name__}"
    if not isinstance(name, str) or not re.fullmatch(METRIC_NAME, name):
        raise at(own, folder, f"{whose}: a name is lower case letters, digits, hyphens and underscores")
    if not isinstance(value, Metric):
        value = Metric(value)  # type: ignore[arg-type]  # a goal, or what is refused in the next line
    if value.goal not in GOALS:
        raise at(own, folder, f"{whose} needs a goal, {' or '.join(map(repr, GOALS))}, got {value.goal!r}")
    return OwnMetric(name=name, **vars(value))
