"""From a class of parameters, as a trial has them, to the class that a study writes them in: values or axes."""

from __future__ import annotations

import functools
import operator
import types
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin

from pydantic import Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from service.contract.parameters.axes import MayVary, Varied
from service.contract.parameters.strict import Strict

S = TypeVar("S", bound=Strict)


class _HoldsAxes:
    """Made at run time, so it travels as the class it was made from and what it holds."""

    def __reduce__(self) -> tuple[object, ...]:
        part = cast(Strict, self)
        return _again, (without_axes(type(part)), part.model_dump(by_alias=True))


def _again(part: type[Strict], body: dict[str, object]) -> Strict:
    return with_axes(part).model_validate(body)


def with_axes(part: type[S]) -> type[S]:
    """A subclass of the same name and words whose fields marked by `Axis` also take grids, ranges and choices.

    To a reader of types it is the class itself: only what handles axes may ask a study's part for more.
    """
    return cast(type[S], _derived(part))


def without_axes(part: type[S]) -> type[S]:
    """The class of a trial's values."""
    return cast(type[S], part.__bases__[0]) if issubclass(part, _HoldsAxes) else part


@functools.cache
def _derived(part: type[Strict]) -> type[Strict]:
    hints = {
        name: Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation
        for name, info in part.model_fields.items()
    }
    wider = {name: hint for name, own in hints.items() if (hint := _widened(own)) != own}
    if not wider:
        return part
    infos = part.model_fields
    namespace = {
        "__module__": part.__module__,
        "__qualname__": part.__qualname__,
        "__doc__": part.__doc__,
        "__annotations__": wider,
        **{name: Field(infos[name].default, description=infos[name].description) for name in wider},
    }
    return cast(
        type[Strict], types.new_class(part.__name__, (part, _HoldsAxes), exec_body=lambda ns: ns.update(namespace))
    )


def _widened(hint: Any) -> Any:
    """The hint with every marked type replaced by value or axis, wherever in it the mark stands."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        kind, *metadata = inner
        at = next((i for i, each in enumerate(metadata) if isinstance(each, MayVary)), None)
        if at is None:
            return Annotated[(_widened(kind), *metadata)]
        value = Annotated[(kind, *metadata[:at])] if at else kind
        varied = cast(Any, Varied)[value]
        return Annotated[(varied, *metadata[at + 1 :])] if metadata[at + 1 :] else varied
    if origin in (Union, types.UnionType):
        return functools.reduce(operator.or_, map(_widened, inner))
    if origin is dict:
        return types.GenericAlias(dict, tuple(map(_widened, inner)))
    return _derived(hint) if isinstance(hint, type) and issubclass(hint, Strict) else hint


class TakesAxes:
    """Marks a field of a study that holds a part, or one of several: it is checked by the classes with axes."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(_as_written, handler(_widened(source)))


def _as_written(value: Any) -> Any:
    """A part that is there already is a body like any other, also when it was made without axes."""
    return value.model_dump(by_alias=True) if isinstance(value, Strict) else value
