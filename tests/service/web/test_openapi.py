"""The OpenAPI schema: every JSON answer is a described class, errors have one shape, maps stand where they belong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from service.app import create_app
from service.settings import Settings

Schema = dict[str, Any]

DOCUMENT: Schema = create_app(Settings()).openapi()
SCHEMAS: dict[str, Schema] = DOCUMENT["components"]["schemas"]
VERBS = ("get", "post", "put", "patch", "delete")
OPERATIONS = {
    f"{verb.upper()} {path}": verbs[verb]
    for path, verbs in DOCUMENT["paths"].items()
    for verb in VERBS
    if verb in verbs
}

# Where keys are not known beforehand; everything else is a class with described fields.
MAPS = {
    "Arm.model": "by setting",
    "Arm.training": "by setting",
    "HandedTrial.config": "by setting",
    "HandedTrial.parameters": "by parameter",
    "ComparedArm.best": "by metric",
    "ComparedArm.matched": "by metric",
    "ComparedArm.optimism": "by metric",
    "ComparedPair.matched_p_adjusted": "by metric",
    "ComparedArm.amounts_to": "by setting",
    "ComparedArm.amounts_to_over_seeds": "by setting",
    "ComparisonAnswer.lights": "by metric",
    "AgainstExactFront.matched": "by metric",
    "AgainstSingleTasks.by_metric": "by metric",
    "AgainstSingleTasks.by_seed": "by seed",
    "SingleTasks.measures": "by task",
    **{f"{entry}.schema": "a JSON schema" for entry in ("Entry", "ProblemEntry", "SearchEntry", "EstimatorEntry")},
    "Vocabulary.letters": "by word of a parameter's name",
    "Vocabulary.markers": "by symbol",
    "Vocabulary.parameter_types": "by kind",
    "Vocabulary.study_defaults": "by key of a study",
    "Fixed.weights": "by term",
    "HypervolumeOverSeeds.by_seed": "by seed",
    "CurvePoint.where": "β, or by task",
    "CurvePoint.metrics": "by metric",
    "CurvePlace.where": "β, or by task",
    "CurvePlace.metrics": "by metric",
    "ConstantSetting.where": "β, or by task",
    "ConstantSetting.config": "by setting",
    "ConstantSetting.metrics": "by metric",
    "DrawnCurve.config": "by setting",
    "CurveAtPlace.where": "β, or by task",
    "CurveAtPlace.differences": "by metric",
    "VerifiedCurve.differences": "by metric",
    "VerifiedCurve.matched": "by metric",
    "FrontPoint.where": "β, or by task",
    "PickAnswer.where": "β, or by task",
    "PickAnswer.config": "by setting",
    "PickAnswer.metrics": "by metric",
    "PointAgainstFront.where": "β, or by task",
    "PointAgainstFront.matched": "by metric",
    "PointAgainstFront.amounts_to": "by setting",
    "FigureAnswer.data": "Plotly's traces",
    "FigureAnswer.layout": "Plotly's layout",
    "RefusedStudy.spec": "as it was written",
    "TrialAnswer.artifacts": "by file",
    "CohortState.members": "by trial, then by setting",
    "ComparedArm.best_over_seeds": "by metric",
    "ComparedArm.lands_between": "by setting",
    "Arm.problem": "parameters of a problem of your own",
    "Study.problem": "the same",
    "FigureKind.schema": "a JSON schema",
    **{
        f"{trial}.{field}": "by metric or setting"
        for trial in ("TrialRow", "TrialWithReports", "TrialAnswer")
        for field in ("config", "metrics", "intervals", "lights")
    },
    "TrialAnswer.reports": "by metric",
    "TrialWithReports.reports": "by metric",
}


def parts_of(schema: Schema) -> Iterator[Schema]:
    """The schema itself and all that stands in it, but not behind a reference."""
    yield schema
    inner = [each for key in ("anyOf", "oneOf", "allOf", "prefixItems") for each in schema.get(key, [])]
    inner += [schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict)]
    for each in inner:
        yield from parts_of(each)


def references(schema: Schema) -> set[str]:
    own = {part["$ref"].rpartition("/")[2] for part in parts_of(schema) if "$ref" in part}
    return own | {name for field in schema.get("properties", {}).values() for name in references(field)}


def reachable(names: set[str]) -> set[str]:
    seen: set[str] = set()
    while names - seen:
        name = (names - seen).pop()
        seen.add(name)
        names = names | references(SCHEMAS[name])
    return seen


def contents(operation: Schema, kind: str = "application/json") -> dict[str, Schema]:
    """The schema of each status that answers with this kind."""
    answers = operation["responses"].items()
    return {
        status: answer["content"][kind]["schema"] for status, answer in answers if kind in answer.get("content", {})
    }


ANSWERED = reachable(
    {
        name
        for operation in OPERATIONS.values()
        for schema in contents(operation).values()
        for name in references(schema)
    }
)
SENT = reachable({"Reports"})


def test_there_is_something_to_walk() -> None:
    assert len(OPERATIONS) >= 20
    assert {"StudyList", "TrialPage", "FrontAnswer", "ComparisonAnswer", "WholeStudy", "ErrorAnswer"} <= ANSWERED


@pytest.mark.parametrize("label", sorted(OPERATIONS))
def test_every_json_answer_names_its_schema(label: str) -> None:
    answers = contents(OPERATIONS[label])
    assert answers
    for status, schema in answers.items():
        named = [part for part in schema.get("anyOf", [schema]) if set(part) == {"$ref"}]
        assert named == schema.get("anyOf", [schema]), f"{status}: {schema}"


@pytest.mark.parametrize("name", sorted(ANSWERED | SENT))
def test_every_class_and_every_field_is_described(name: str) -> None:
    schema = SCHEMAS[name]
    assert schema.get("description") or "enum" in schema
    fields = schema.get("properties", {}).items()
    # What may also be null is described where it is not.
    assert not [
        name for name, part in fields if not any(each.get("description") for each in (part, *part.get("anyOf", [])))
    ]


@pytest.mark.parametrize("label", sorted(OPERATIONS))
def test_every_parameter_is_described(label: str) -> None:
    assert not [each["name"] for each in OPERATIONS[label].get("parameters", []) if not each.get("description")]


def is_open(schema: Schema) -> bool:
    """Whether some object in it may have keys that it does not name."""
    objects = [part for part in parts_of(schema) if part.get("type") == "object"]
    return any(part.get("additionalProperties", "properties" not in part) is not False for part in objects)


def test_maps_stand_only_where_maps_are_meant() -> None:
    maps = {
        f"{name}.{field}"
        for name in ANSWERED
        for field, part in SCHEMAS[name].get("properties", {}).items()
        if is_open(part)
    }
    assert maps == MAPS.keys()
    for name in ANSWERED:
        assert not is_open(SCHEMAS[name]), f"{name} takes any key"


@pytest.mark.parametrize("label", sorted(OPERATIONS))
def test_every_error_has_the_one_shape_and_stands_where_it_can_happen(label: str) -> None:
    operation = OPERATIONS[label]
    errors = {status: answer for status, answer in operation["responses"].items() if status >= "400"}
    for status, answer in errors.items():
        assert answer["content"] == {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorAnswer"}}}, (
            status
        )
        assert answer["description"]
    takes_body, takes_ids = "requestBody" in operation, "{" in label
    guarded = "/api/" in label or "/metrics" in label
    assert ("401" in errors) == guarded
    assert ("404" in errors) == takes_ids
    assert ("413" in errors) == takes_body
    assert ("422" in errors) == (takes_body or takes_ids or "parameters" in operation)
    assert ("503" in errors) == (guarded or "readyz" in label)


def test_every_schema_that_is_named_is_there() -> None:
    named = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps([OPERATIONS, SCHEMAS])))
    assert named <= set(SCHEMAS) and len(named) > 50


def test_what_a_state_can_refuse_is_documented() -> None:
    refused = {label for label, operation in OPERATIONS.items() if "409" in operation["responses"]}
    study = "/api/studies/{study_id}"
    assert refused == {
        "POST /api/studies",
        "DELETE /api/code/{code_hash}",
        f"POST {study}/cancel",
        f"POST {study}/pause",
        f"POST {study}/retry",
        f"POST {study}/extend",
        f"POST {study}/resume",
        f"PUT {study}/cohorts/{{key}}/state",
        f"POST {study}/reports",
        f"POST {study}/ask",
        f"DELETE {study}",
        f"GET {study}/pick",
        f"PUT {study}/trials/{{trial_id}}/artifacts/{{name}}",
    }


def test_the_frameworks_own_error_shape_is_gone() -> None:
    assert not [name for name in SCHEMAS if "ValidationError" in name]


def test_what_is_no_json_says_what_it_is() -> None:
    kinds = {
        label: set(operation["responses"]["200"]["content"])
        for label, operation in OPERATIONS.items()
        if "200" in operation["responses"]
    }
    study = "GET /api/studies/{study_id}"
    assert {label: kind for label, kind in kinds.items() if kind != {"application/json"}} == {
        f"{study}/events": {"text/event-stream"},
        "GET /metrics": {"text/plain"},
        f"{study}/export": {"text/csv", "text/x-tex", "application/vnd.apache.parquet", "application/json"},
        f"{study}/report": {"text/html"},
        f"{study}/cohorts/{{key}}/state": {"application/octet-stream"},
        f"{study}/trials/{{trial_id}}/artifacts/{{name}}": {"application/octet-stream", "application/json"},
        f"{study}/trials/{{trial_id}}/checkpoint": {"application/octet-stream"},
        f"{study}/code": {"application/octet-stream"},
        "GET /api/code/{code_hash}/content": {"application/octet-stream"},
    }


def test_every_body_is_documented() -> None:
    bodies = {
        label: {kind: part["schema"] for kind, part in operation["requestBody"]["content"].items()}
        for label, operation in OPERATIONS.items()
        if "requestBody" in operation
    }
    study = {"application/json": {"$ref": "#/components/schemas/Study"}, "application/yaml": {"type": "string"}}
    binary = {"type": "string", "format": "binary"}
    file = {"application/octet-stream": binary}
    assert bodies == {
        "POST /api/code": file,  # a zip and Python are taken by their own names too, which few generators know
        "POST /api/code/{code_hash}/description": {"application/json": {"$ref": "#/components/schemas/CodeReading"}},
        "POST /api/studies": study,
        "POST /api/studies/check": study,
        "POST /api/studies/{study_id}/ask": {"application/json": {"$ref": "#/components/schemas/Ask"}},
        "POST /api/studies/{study_id}/extend": {"application/json": {"$ref": "#/components/schemas/Extension"}},
        "PATCH /api/studies/{study_id}": {"application/json": {"$ref": "#/components/schemas/StudyNote"}},
        "PATCH /api/studies/{study_id}/trials/{trial_id}": {
            "application/json": {"$ref": "#/components/schemas/TrialNote"}
        },
        "POST /api/studies/{study_id}/reports": {"application/json": {"$ref": "#/components/schemas/Reports"}},
        "POST /api/tokens": {"application/json": {"$ref": "#/components/schemas/NewToken"}},
        "PUT /api/studies/{study_id}/cohorts/{key}/state": file,
        "PUT /api/studies/{study_id}/trials/{trial_id}/artifacts/{name}": file,
    }
