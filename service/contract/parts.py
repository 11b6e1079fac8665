"""The places of an arm that may hold axes: its problem, weighting, model and training."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from service.contract.axes import Choice, Grid, Range, Searched
from service.contract.strict import Strict
from service.contract.study import Arm, Study

PLACES = ("problem", "weighting", "model", "training")


class Part(NamedTuple):
    """One place of an arm, with the keys the arm itself wrote there."""

    place: str
    value: Strict
    written: tuple[str, ...]

    def axes(self) -> dict[str, Grid | Searched]:
        found = {field: getattr(self.value, field) for field in type(self.value).model_fields}
        return {field: axis for field, axis in found.items() if isinstance(axis, (Grid, Range, Choice))}

    def grids(self) -> dict[str, Grid]:
        return {field: axis for field, axis in self.axes().items() if isinstance(axis, Grid)}

    def searched(self) -> dict[str, Searched]:
        """What a search suggests here; a range of whole numbers says so."""
        found = {field: axis for field, axis in self.axes().items() if not isinstance(axis, Grid)}
        return {
            field: axis.of_integers() if isinstance(axis, Range) and self._takes_integers(field, axis) else axis
            for field, axis in found.items()
        }

    def at(self, values: dict[str, Any]) -> Strict:
        return type(self.value).model_validate({**self.value.model_dump(by_alias=True), **values})

    def refusal(self, field: str, value: Any) -> str | None:
        """Why a field cannot have this value, if so."""
        error = self._error(field, value)
        return f"{error['msg']}, got {value!r}" if error else None

    def _error(self, field: str, value: Any) -> ErrorDetails | None:
        try:
            self.at({field: value})
        except ValidationError as error:
            return error.errors()[-1]
        return None

    def _takes_integers(self, field: str, axis: Range) -> bool:
        """By the range's own word, else whether the field refuses its bounds only because they are no integers."""
        if axis.range.integer is not None:
            return axis.range.integer
        if not (axis.range.from_.is_integer() and axis.range.to.is_integer()):
            return False
        error = self._error(field, axis.range.from_)
        return error is not None and (error["type"] == "int_type" or self.refusal(field, int(axis.range.from_)) is None)


def parts_of(study: Study, arm: Arm) -> list[Part]:
    def overridden(base: Strict, override: dict[str, Any]) -> Strict:
        return type(base).model_validate({**base.model_dump(by_alias=True), **override})

    return [
        Part("problem", arm.problem, tuple(type(arm.problem).model_fields)),
        Part("weighting", arm.weighting, tuple(type(arm.weighting).model_fields)),
        Part("model", overridden(study.model, arm.model), tuple(arm.model)),
        Part("training", overridden(study.training, arm.training), tuple(arm.training)),
    ]
