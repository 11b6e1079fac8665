"""schemathesis' state machine over the linked document: studies are made, reported to, paused, extended, deleted …"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, seed, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.fuzz.bodies import KEY, likely
from tests.fuzz.links import linked
from tests.processes import Running

CHECKS = [status_code_conformance, content_type_conformance, response_schema_conformance]
STEPS = 40  # of a scenario
TOO_MANY = 30  # complaints, after which nothing is learnt from more
LIKELY = 0.8  # bodies that a study or a driver would send; the others are what the schema makes
PLAIN = 0.5  # questions without parameters, most of which ask for what is not there
WITHOUT_RAY = {"GET /readyz"}  # which says 503 here, as documented


class Told:
    """What was asked and answered, and what was made by it."""

    def __init__(self) -> None:
        self.answers: Counter[tuple[str, int]] = Counter()
        self.complaints: list[str] = []
        self.made: set[str] = set()
        self.deleted: set[str] = set()
        self.tokens: set[str] = set()
        self.code: set[str] = set()

    @property
    def cases(self) -> int:
        return sum(self.answers.values())

    def note(self, label: str, place: dict[str, Any], response: Any) -> None:
        self.answers[label, response.status_code] += 1
        study = place.get("study_id")
        if study in self.deleted and response.status_code < 300:
            self.complaints.append(f"{label} of a study that was deleted answered {response.status_code}")
        if response.status_code == 201 and label == "POST /api/code":
            self.code.add(response.json()["hash"])
        elif response.status_code == 201:
            made = self.made if label == "POST /api/studies" else self.tokens
            made.add(response.json()["id"])
        elif response.status_code == 204 and label == "DELETE /api/studies/{study_id}":
            self.deleted.add(str(study))
        elif response.status_code == 204 and label == "DELETE /api/code/{code_hash}":
            self.code.discard(str(place["code_hash"]))
        elif response.status_code == 204 and label == "DELETE /api/tokens/{token_id}":
            self.tokens.discard(str(place["token_id"]))


def workflow(service: Running, told: Told, chance: random.Random) -> Any:
    """The machine's class. What breaks a rule is noted and not raised: a second run would meet another service."""
    schema = schemathesis.openapi.from_dict(linked(service.get("/openapi.json").json(), KEY))
    schema.config.update(base_url=service.url)

    class Workflow(schema.as_state_machine()):  # type: ignore[misc]
        def before_call(self, case: Any) -> None:
            body = likely(case.operation.label, chance) if chance.random() < LIKELY else None
            if body is not None:
                case.body, case.media_type = body
            if case.query and chance.random() < PLAIN:
                case.query = {}

        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"headers": service.headers, "timeout": 60}

        def after_call(self, response: Any, case: Any) -> None:
            told.note(case.operation.label, case.path_parameters or {}, response)

        def validate_response(self, response: Any, case: Any, **_: Any) -> None:
            checks = CHECKS if case.operation.label in WITHOUT_RAY else [*CHECKS, not_a_server_error]
            try:
                case.validate_response(response, checks=checks)
            except FailureGroup as failures:
                if len(told.complaints) < TOO_MANY:
                    told.complaints += [f"{case.operation.label}: {failure}" for failure in failures.exceptions]

    return Workflow


def play(service: Running, cases: int, begin: int) -> Told:
    """Scenarios from this seed until so many requests were answered, or too much was complained of."""
    told = Told()
    machine = workflow(service, told, random.Random(begin))
    of_unknown = {rule: None for rule in machine.root_rules if "study_id" in rule}  # would be most of the requests
    for number in range(cases):  # each scenario has a request at least
        if told.cases >= cases or len(told.complaints) >= TOO_MANY:
            break
        seeded: Any = seed(begin + number)(type(f"Scenarios{number}", (machine,), dict(of_unknown)))
        seeded.run(
            settings=settings(
                max_examples=5,
                stateful_step_count=STEPS,
                deadline=None,
                database=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
        )
    return told
