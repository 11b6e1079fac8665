"""Everything a study may name, with its parameters: read off the contract, so it cannot fall behind it."""

from __future__ import annotations

from typing import Any, get_args

from service.contract.attacks import Attack
from service.contract.data import Data
from service.contract.estimators import ESTIMATORS
from service.contract.metrics import ESTIMATOR_METRICS, METRICS
from service.contract.models import Model
from service.contract.problems import RATES, Problem
from service.contract.searches import Search
from service.contract.strict import Strict
from service.contract.study import Evaluation, Limits, Objective, Resources, Training
from service.contract.weightings import Weighting


def _members(union: Any) -> list[type[Strict]]:
    """The classes of a discriminated union, or the one class."""
    args = get_args(union)
    if not args:
        return [union]
    inner = get_args(args[0])
    return list(inner) if inner else [args[0]]


# The parts of a study that are not chosen by name.
SECTIONS: dict[str, type[Strict]] = {
    "training": Training,
    "objective": Objective,
    "evaluation": Evaluation,
    "resources": Resources,
    "limits": Limits,
}


def _entry(kind: type[Strict], name: str | None = None) -> dict[str, Any]:
    return {
        "name": name or kind.model_fields["name"].default,
        "doc": " ".join((kind.__doc__ or "").split()),
        "schema": kind.model_json_schema(),
    }


def catalog(figures: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "data": [_entry(kind) for kind in _members(Data)],
        "models": [_entry(kind) for kind in _members(Model)],
        "problems": [_entry(kind) for kind in _members(Problem)],
        "rates": [{"name": name, "doc": doc, "schema": {}} for name, doc in RATES.items()],
        "weightings": [_entry(kind) for kind in _members(Weighting)],
        "searches": [_entry(kind) for kind in _members(Search)],
        "attacks": [_entry(kind) for kind in _members(Attack)],
        "estimators": [{"name": name, "kind": e.kind, "doc": e.doc, "schema": {}} for name, e in ESTIMATORS.items()],
        "sections": [_entry(kind, name) for name, kind in SECTIONS.items()],
        "metrics": [{"name": name, **metric._asdict()} for name, metric in (METRICS | ESTIMATOR_METRICS).items()],
        "figures": figures,
    }
