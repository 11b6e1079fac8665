"""A study that names its own code: what its arms, objectives, data and model are by themselves then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from service.contract.methods.own_description import Code, Described
from service.contract.methods.own_problems import DESCRIBED, own_metrics
from service.contract.metrics import Named, described
from service.contract.metrics import metric as known_metric
from service.contract.study.metric_names import Unknown

Body = dict[str, Any]
OWN = {"name": "own"}


def with_code(body: Body) -> Body:
    """The body of a study whose arms and objectives know what the code says of them; as it is where it has no code."""
    code = _code(body.get("code"))
    if code is None:
        return body
    arms = body.get("arms")
    own: Body = {"model": OWN, **body, "code": code, "data": _data(body.get("data", {}))}
    if isinstance(arms, list):
        own["arms"] = [_arm(arm, code) if isinstance(arm, dict) else arm for arm in arms]
    if isinstance(body.get("problem"), dict):
        own["problem"] = _problem(body["problem"], code)
    rows = {str(name): name for each in code.problems for name in own_metrics(each)}
    for key in ("objectives", "constraints"):
        if isinstance(body.get(key), list):
            own[key] = [_with_row(each, rows) if isinstance(each, dict) else each for each in body[key]]
    return own


def _code(given: object) -> Code | None:
    """None also where it is wrong: then its own field says so."""
    try:
        return Code.model_validate(given) if isinstance(given, (dict, Code)) else None
    except ValidationError:
        return None


def _data(given: object) -> object:
    """Only how it is split may be asked for, so its name says itself."""
    return {**OWN, **given} if isinstance(given, dict) else given


def _arm(arm: Body, code: Code) -> Body:
    problem = arm.get("problem")
    if problem is None and len(code.problems) == 1:
        problem = {"name": code.problems[0].name}
    if not isinstance(problem, dict):
        return arm
    own = {**arm, "problem": _problem(problem, code)}
    described = own["problem"][DESCRIBED]
    if isinstance(described, Described) and described.kind == "script":  # it weighs nothing, or by itself
        own.setdefault("weighting", {"name": "uniform"})
    return own


def _problem(given: Body, code: Code) -> Body:
    """With its description, or the names that there are."""
    name = given.get("name")
    described = code.named(name) if isinstance(name, str) else None
    return {**given, DESCRIBED: described or [each.name for each in code.problems]}


def _with_row(named: Body, rows: Mapping[str, Named | str]) -> Body:
    """An objective or a constraint whose metric carries its row, or the names that there are."""
    metric = named.get("metric")
    if not isinstance(metric, str):
        return named
    if metric not in rows and known_metric(metric) is None:
        metric = Unknown(metric)
        metric.known = tuple(name for name in rows if described(rows[name]).is_objective)
    return {**named, "metric": rows.get(metric, metric)}
