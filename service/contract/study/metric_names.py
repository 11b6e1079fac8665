"""Metrics as a study names them: those of its own code carry their row."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from service.contract.metrics import Named


class Unknown(str):
    """A metric that neither the study's code nor Paretoscope has, with those that the code has."""

    known: tuple[str, ...] = ()


def _kept(name: Any, text: ValidatorFunctionWrapHandler) -> Any:
    """A name that carries its row stays one; of a code that has no such metric it is said which it has."""
    if isinstance(name, Unknown):
        words = "{name} is not a metric of the study's code, which reports {known}"
        raise PydanticCustomError("unknown_metric", words, {"name": repr(str(name)), "known": ", ".join(name.known)})
    return name if isinstance(name, Named) else text(name)


MetricName = Annotated[str, WrapValidator(_kept)]
