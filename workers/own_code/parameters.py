"""The parameters of a user's problem or script, from their types to what the contract says of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic.fields import FieldInfo

from paretoscope.own import Problem, Trainable, parameters_of
from service.contract.methods.own_description import Parameter
from service.contract.wording.numbers import setting
from service.contract.wording.plain_text import LONGEST_WORD, hidden_in
from workers.own_code.errors import at, explained

KINDS: dict[type, Literal["bool", "int", "float", "str"]] = {bool: "bool", int: "int", float: "float", str: "str"}
TAKEN = {"name", "trial", *(name for name in dir(Problem) if not name.startswith("_"))}
BOUNDS = ((Ge, "ge", "at_least"), (Gt, "gt", "above"), (Le, "le", "at_most"), (Lt, "lt", "below"))


def parameters(own: type[Problem] | Trainable, folder: Path) -> list[Parameter]:
    """In the order they are written; CodeError for one that a study could not set."""
    try:
        fields = parameters_of(own).model_fields
    except Exception as error:
        words = explained(error, folder).words
        raise at(own, folder, f"the parameters of {own.__name__} cannot be read: {words}") from error
    return [_parameter(name, field, own, folder) for name, field in fields.items()]


def _parameter(name: str, field: FieldInfo, own: type[Problem] | Trainable, folder: Path) -> Parameter:
    whose = f"parameter {name!r} of {own.__name__}"
    if name in TAKEN:
        raise at(own, folder, f"{whose}: this name is taken, choose another")
    members = _members(field.annotation)
    kinds = [kind for kind in members if kind is not NoneType]
    rules = list(field.metadata)
    if len(kinds) == 1 and get_origin(kinds[0]) is Annotated:  # bounds on what is not None
        inner, *more = get_args(kinds[0])
        kinds, rules = [inner], [*rules, *more]
    choices = list(get_args(kinds[0])) if len(kinds) == 1 and get_origin(kinds[0]) is Literal else None
    kind = type(choices[0]) if choices else kinds[0] if len(kinds) == 1 else None
    if kind not in KINDS or any(type(choice) is not kind for choice in choices or ()):
        said = "bool, int, float, str, a Literal of one of them, or one of these or None"
        raise at(own, folder, f"{whose} must be {said}, got {_said(field.annotation)}")
    for choice in choices or ():
        if rule := _unshown(choice):
            raise at(own, folder, f"{whose}: its choice {choice!r} {rule}")
    required = field.is_required()
    default = None if required else field.get_default(call_default_factory=True, validated_data={})
    known = Parameter(
        name=name,
        kind=KINDS[kind],
        choices=choices,
        required=required,
        optional=len(kinds) < len(members),
        doc=field.description or "",
        **_bounds(rules, whose, own, folder),
    )
    if not required and (wrong := _wrong(default, known)):
        raise at(own, folder, f"{whose}: its default {default!r} {wrong}")
    return known.model_copy(update={"default": float(default) if kind is float and default is not None else default})


def _members(annotation: Any) -> list[Any]:
    """What a union is of; anything else is of itself."""
    return list(get_args(annotation)) if get_origin(annotation) in (Union, UnionType) else [annotation]


def _bounds(rules: list[Any], whose: str, own: type[Problem] | Trainable, folder: Path) -> dict[str, float]:
    bounds: dict[str, float] = {}
    for rule in [each for outer in rules for each in (outer.metadata if isinstance(outer, FieldInfo) else [outer])]:
        known = next(((attribute, name) for kind, attribute, name in BOUNDS if isinstance(rule, kind)), None)
        if known is None:
            raise at(own, folder, f"{whose}: a study knows bounds (ge, gt, le, lt), not {rule!r}")
        value = getattr(rule, known[0])
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise at(own, folder, f"{whose}: a bound must be a finite number, got {value!r}")
        bounds[known[1]] = value
    return bounds


def _wrong(default: Any, known: Parameter) -> str | None:
    """Which rule of its own a default breaks."""
    if default is None:
        return None if known.optional else f"needs a type that allows it: {known.kind} | None"
    if rule := _unshown(default):
        return rule
    if known.choices is not None:
        return None if default in known.choices else f"is none of {known.choices}"
    types = (int, float) if known.kind == "float" else next(kind for kind, name in KINDS.items() if name == known.kind)
    if not isinstance(default, types) or (isinstance(default, bool) and known.kind != "bool"):
        return f"is no {known.kind}"
    limits: list[tuple[float | None, Callable[[Any, Any], bool], str]] = [
        (known.at_least, operator.ge, "at least"),
        (known.above, operator.gt, "above"),
        (known.at_most, operator.le, "at most"),
        (known.below, operator.lt, "below"),
    ]
    for limit, holds, words in limits:
        if limit is not None and not holds(default, limit):
            return f"must be {words} {setting(limit)}"
    return None


def _unshown(value: Any) -> str | None:
    """Why a text can be no setting of a trial, which tables and terminals show; none for all that may."""
    if not isinstance(value, str) or (len(value) <= LONGEST_WORD and not hidden_in(value)):
        return None
    return hidden_in(value) or f"has {len(value):,} characters, at most {LONGEST_WORD:,} are allowed"


def _said(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) and not get_args(annotation) else str(annotation)
