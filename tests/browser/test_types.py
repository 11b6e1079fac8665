"""The page's types of what the service answers say nothing that the answer's class does not."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pytest

from service.app import create_app
from service.settings import Settings
from tests.browser.test_scripts import DASHBOARD

Schema = dict[str, Any]

TYPES = (DASHBOARD / "kit" / "types.d.ts").read_text()
SCHEMAS: dict[str, Schema] = create_app(Settings()).openapi()["components"]["schemas"]

# The class, where the page calls an answer by a shorter name.
CLASSES = {
    "ArmLook": "ArmSummary",
    "Comparison": "ComparisonAnswer",
    "Control": "FigureControl",
    "Counts": "TrialCounts",
    "Curves": "CurvesAnswer",
    "Figure": "FigureAnswer",
    "FigureOffer": "OfferedFigure",
    "ListedStudy": "StudySummary",
    "Metric": "MetricRow",
    "OpenTrial": "TrialAnswer",
    "Pair": "ComparedPair",
    "PickedPoint": "PickAnswer",
    "Spec": "Study",
    "Spread": "OverSeeds",
    "Study": "StudyWithFigures",
    "Trial": "TrialRow",
}
# Of the browser, of Plotly and of JSON schemas.
NO_ANSWERS = {"Element", "FormCatalog", "PlotElement", "Schema", "Window"}


class Interface(NamedTuple):
    base: str | None
    fields: dict[str, str]


def interfaces(text: str) -> dict[str, Interface]:
    """Name, what it extends, and its own fields with their types."""
    return {
        name: Interface(base or None, dict(re.findall(r"^  (\w+)\??:\s*(.*?);$", body, re.MULTILINE | re.DOTALL)))
        for name, base, body in re.findall(
            r"^interface (\w+)(?: extends (\w+))? \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL
        )
    }


INTERFACES = interfaces(TYPES)
ANSWERS = sorted(set(INTERFACES) - NO_ANSWERS)


def untrue(name: str, known: dict[str, Interface], schema: Schema) -> list[str]:
    """Fields, inherited ones too, that the class does not have, or that may be null without the type saying so."""
    base, fields = known[name]
    wrong = untrue(base, known, schema) if base else []
    for field, kind in fields.items():
        answered = schema["properties"].get(field)
        if answered is None:
            wrong.append(f"{field}: no such field")
        elif {"type": "null"} in answered.get("anyOf", []) and not re.search(r"\b(null|any)\b", kind):
            wrong.append(f"{field}: may be null")
    return wrong


def test_every_interface_is_found() -> None:
    assert len(INTERFACES) == TYPES.count("\ninterface ")
    assert set(CLASSES) | NO_ANSWERS <= set(INTERFACES)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_type_of_the_page_is_true_to_its_answer(name: str) -> None:
    assert untrue(name, INTERFACES, SCHEMAS[CLASSES.get(name, name)]) == []


def test_a_type_that_is_not_true_is_seen() -> None:
    text = """
interface Look {
  name: string;
  shape?: string;
}

interface Refused extends Look {
  spec: Spec;
  reason: string | null;
}
"""
    nullable = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    schema = {"properties": {"name": {"type": "string"}, "spec": nullable, "reason": nullable}}
    assert untrue("Refused", interfaces(text), schema) == ["shape: no such field", "spec: may be null"]
