"""A problem of a user's own code as a part of a study: a class with the parameters that its description names."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, TypeAdapter, create_model
from pydantic_core import PydanticCustomError

from service.contract.methods.own_description import Described, OwnMetric, Parameter
from service.contract.metrics import (
    ACCURACY,
    ERROR,
    GAP,
    I_XZ,
    I_ZY,
    KL_PRIOR,
    LOSS,
    TEST_EXAMPLES,
    TEST_LOSS,
    TRAIN_ACCURACY,
    WEIGHT,
    Family,
    Kind,
    Metric,
    Named,
    metric,
)
from service.contract.parameters.axes import MayVary
from service.contract.parameters.strict import Strict
from service.contract.parameters.with_axes import with_axes, without_axes
from service.contract.wording.plain_text import Word

CODED = (I_XZ, ERROR.of(I_XZ), KL_PRIOR, ERROR.of(KL_PRIOR), TEST_EXAMPLES)  # of a code that the problem gives
READ = (I_ZY, ERROR.of(I_ZY), ACCURACY, TRAIN_ACCURACY, GAP)  # where it says how classes are read off it
TYPES: dict[str, Any] = {"bool": bool, "int": int, "float": float, "str": Word}
IN_SCHEMAS: dict[str, str] = {kind: TypeAdapter(own).json_schema()["type"] for kind, own in TYPES.items()}


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
    def objectives(self) -> tuple[str, ...]:
        """The first two metrics that it declares, else its only one and the loss of its main term."""
        declared = self.metrics[-len(self.described.metrics) :]
        if len(declared) > 1 or self.is_script:
            return tuple(declared[:2])
        return (*declared, _unbounded(TEST_LOSS, self.terms[0]))

    @property
    def metrics(self) -> list[str]:
        """What a trial reports, besides what every trial does; last what the code declares, in its order."""
        return [*own_metrics(self.described)]

    def values(self) -> dict[str, Any]:
        """Its parameters, as the code takes them."""
        return {name: value for name, value in self.model_dump().items() if name != "name"}

    def __reduce__(self) -> tuple[object, ...]:
        """Its class is made at run time, so it travels as its description and what it holds."""
        of_a_trial = without_axes(type(self)) is type(self)
        return _again, (self.described.model_dump_json(), self.model_dump(by_alias=True), of_a_trial)


def own_metrics(described: Described) -> list[Named | str]:
    """The metrics of a problem or script, each with its row: losses and weights of its terms, what is measured of its
    code, then what it declares."""
    losses = [_unbounded(family, term) for family in (LOSS, TEST_LOSS) for term in described.terms]
    weights = [WEIGHT.of(term) for term in described.terms]
    coded = [*(CODED if described.has_code else ()), *(READ if described.reads_code else ())]
    held_out = described.kind == "problem"  # a script measures where it likes
    return [*losses, *weights, *coded, *(Named(_row(metric, held_out)) for metric in described.metrics)]


FREE = (Kind.ACCURACY, Kind.GAP, Kind.LOSS, Kind.OBJECTIVE)  # kinds whose names are anybody's, as accuracy and f1


def is_kept(name: str) -> bool:
    """Whether a name means the same in every study, or of every split, so that no code may declare it."""
    row = metric(name)
    return row is not None and (row.kind not in FREE or row.validation_of is not None)


def reported_besides(terms: Sequence[str], reads_code: bool) -> list[str]:
    """What trials of a problem report under names that would else be free."""
    losses = [family.of(term) for family in (LOSS, TEST_LOSS) for term in terms]
    return [*losses, *(READ if reads_code else ())]


def _unbounded(family: Family, term: str) -> Named:
    """Nobody knows how large a loss of somebody's own is, or whether it can be negative."""
    return Named(family.member(term)._replace(reference=None, low=None))


def _row(metric: OwnMetric, held_out: bool) -> Metric:
    return Metric(
        metric.name,
        metric.name,
        metric.unit,
        metric.goal,
        metric.reference,
        metric.doc or f"{metric.name}, as the study's code measures it",
        Kind.OWN,
        low=metric.low,
        high=metric.high,
        measured=held_out,
    )


DESCRIBED = "described"  # the key under which a study hands a problem its description; never stored with it


def own_problem(value: Any) -> OwnProblem | None:
    """What a study wrote for a problem of its code, checked; none where it is no such problem."""
    if isinstance(value, OwnProblem):
        return value
    if not isinstance(value, dict) or DESCRIBED not in value:
        return None
    if not isinstance(value[DESCRIBED], Described):
        known = ", ".join(value[DESCRIBED])
        raise PydanticCustomError(
            "unknown_problem",
            "{name} is not in the study's code, which has {known}",
            {"name": repr(value.get("name")), "known": known},
        )
    return of_study(value[DESCRIBED]).model_validate({key: each for key, each in value.items() if key != DESCRIBED})


def _again(described: str, body: dict[str, object], of_a_trial: bool) -> OwnProblem:
    kind = of_trial if of_a_trial else of_study
    return kind(Described.model_validate_json(described)).model_validate(body)


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
    fields["name"] = (Literal[described.name], Field(described.name, description="selects this one among its kind"))
    made = create_model(described.name, __base__=OwnProblem, __doc__=described.doc or None, **fields)
    made.described = described
    return made


def _field(parameter: Parameter) -> tuple[Any, Any]:
    """Its type and what pydantic knows of it."""
    kind: Any = Literal[tuple(parameter.choices)] if parameter.choices else TYPES[parameter.kind]
    bounds = Field(ge=parameter.at_least, gt=parameter.above, le=parameter.at_most, lt=parameter.below)
    if any(bound is not None for bound in (parameter.at_least, parameter.above, parameter.at_most, parameter.below)):
        kind = Annotated[kind, bounds]
    kind = Annotated[kind, MayVary()]
    default = ... if parameter.required else parameter.default
    return (kind | None if parameter.optional else kind), Field(default, description=parameter.doc or parameter.name)
