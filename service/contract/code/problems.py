"""A problem of a user's own code as a part of a study: a class with the parameters that its description names."""

from __future__ import annotations

import functools
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import Field, create_model

from service.contract.code.description import Described, Parameter
from service.contract.metrics import LOSS, TEST_LOSS, WEIGHT
from service.contract.study.axes import MayVary
from service.contract.study.strict import Strict
from service.contract.study.with_axes import with_axes

TYPES: dict[str, type] = {"bool": bool, "int": int, "float": float, "str": str}


class OwnProblem(Strict):
    """A problem or a script of the study's own code; its parameters are those of the class or function."""

    described: ClassVar[Described]

    name: str = Field(description="of a class or function of the study's code")

    @property
    def is_script(self) -> bool:
        """Whether it trains by itself; else Paretoscope trains its loss terms."""
        return self.described.kind == "script"

    @property
    def terms(self) -> tuple[str, ...]:
        return tuple(self.described.terms)

    @property
    def declared(self) -> list[str]:
        """Metrics of its own, in the order of the code."""
        return [metric.name for metric in self.described.metrics]

    @property
    def objectives(self) -> tuple[str, ...]:
        """The first two metrics that it declares, else its only one and the loss of its main term."""
        if len(self.declared) > 1 or self.is_script:
            return tuple(self.declared[:2])
        return (*self.declared, TEST_LOSS.of(self.terms[0]))

    @property
    def metrics(self) -> list[str]:
        """What a trial reports, besides what every trial does."""
        of_terms = [family.of(term) for family in (LOSS, WEIGHT, TEST_LOSS) for term in self.terms]
        return [*of_terms, *self.declared]

    def values(self) -> dict[str, Any]:
        """Its parameters, as the code takes them."""
        return {name: value for name, value in self.model_dump().items() if name != "name"}

    def __reduce__(self) -> tuple[object, ...]:
        """Its class is made at run time, so it travels as its description and what it holds."""
        return _again, (self.described.model_dump_json(), self.model_dump(by_alias=True))


def _again(described: str, body: dict[str, object]) -> OwnProblem:
    return of_study(Described.model_validate_json(described)).model_validate(body)


def of_study(described: Described) -> type[OwnProblem]:
    """The class by which a study is checked: each parameter a value or an axis."""
    return with_axes(of_trial(described))


def of_trial(described: Described) -> type[OwnProblem]:
    """The class of a trial's values."""
    return _made(described.model_dump_json())


@functools.lru_cache(maxsize=256)
def _made(text: str) -> type[OwnProblem]:
    described = Described.model_validate_json(text)
    fields: dict[str, Any] = {parameter.name: _field(parameter) for parameter in described.parameters}
    name = (Literal[described.name], Field(described.name, description="selects this one among its kind"))
    made = create_model(described.name, __base__=OwnProblem, __doc__=described.doc or None, name=name, **fields)
    made.described = described
    return cast(type[OwnProblem], made)


def _field(parameter: Parameter) -> tuple[Any, Any]:
    """Its type and what pydantic knows of it."""
    kind: Any = Literal[tuple(parameter.choices)] if parameter.choices else TYPES[parameter.kind]
    bounds = Field(ge=parameter.at_least, gt=parameter.above, le=parameter.at_most, lt=parameter.below)
    if any(bound is not None for bound in (parameter.at_least, parameter.above, parameter.at_most, parameter.below)):
        kind = Annotated[kind, bounds]
    kind = Annotated[kind, MayVary()]
    default = ... if parameter.required else parameter.default
    return (kind | None if parameter.optional else kind), Field(default, description=parameter.doc or parameter.name)
