"""Bodies that have a chance to be taken: a schema alone hardly ever makes a study that is one."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from service.contract.study.expansion import expand
from service.contract.study.parsing import check_study
from service.contract.wire.cohort_state import key_of
from service.store.code import hash_of
from tests.service.elsewhere import far_study
from tests.service.own_code import SCRIPT
from tests.service.routes.test_cohorts import content as saved_state

SPEC: dict[str, Any] = {
    "name": "small",
    "seeds": [0, 1],
    "training": {"epochs": 3},
    "arms": [{"name": "a", "weighting": {"name": "fixed", "beta": {"grid": [0.1, 1.0]}}}],
}
TRIALS = [trial.id for trial in expand(check_study(SPEC))]
MEMBERS: dict[str, Any] = {trial: {} for trial in TRIALS}
KEY = key_of(MEMBERS)
STATE = saved_state(MEMBERS)
SOURCE = b"# nobody imports this\n"
CODE = hash_of({"main.py": SOURCE}, "main.py")
FAR: dict[str, Any] = {**far_study(), "code": CODE}  # refused until somebody has sent and described it
JSON, BINARY = "application/json", "application/octet-stream"


def event(chance: random.Random) -> dict[str, Any]:
    """One that a driver may send, in no order that a driver would keep."""
    trial = chance.choice([*TRIALS, *TRIALS, "t000000000000"])
    kind = chance.choice(["report"] * 6 + ["trial_started"] * 4 + ["trial_finished", "trial_failed"])
    kind = chance.choice([kind] * 12 + ["study_started"] * 3 + ["study_finished", "study_failed"])
    made: dict[str, Any] = {"uid": f"{kind}:{chance.randrange(60)}", "kind": kind}
    if not kind.startswith("study_"):
        made["trial"] = trial
    if kind == "report":
        values = [0.5, None, 1e300, -1.0, 0]
        made["metrics"] = {"epoch": chance.choice([1, 2, 3, 4, -1, 10**12]), "accuracy": chance.choice(values)}
    if kind.endswith("_failed"):
        made["reason"] = "it died"
    return made


def reports(chance: random.Random) -> dict[str, Any]:
    started = [{"uid": "s", "kind": "study_started"}] if chance.random() < 0.5 else []
    return {"events": [*started, *(event(chance) for _ in range(chance.randrange(1, 12)))]}


def extension(chance: random.Random) -> dict[str, Any]:
    wishes: list[dict[str, Any]] = [
        {"seeds": [chance.randrange(100)]},
        {"epochs": chance.randrange(1, 50)},
        {"grid": {"a": {"weighting.beta": [chance.random()]}}},
    ]
    return chance.choice(wishes)


def study(chance: random.Random) -> dict[str, Any]:
    return {**chance.choice([SPEC, SPEC, FAR]), "name": f"study {chance.randrange(1000)}"}


def code(chance: random.Random) -> bytes:
    return chance.choice([SOURCE, b"PK\x03\x04 no archive", b"#" * chance.randrange(1, 9)])


def ask(chance: random.Random) -> dict[str, Any]:
    return chance.choice([{}, {"arm": "far"}, {"arm": "nobody's"}, {"lease_seconds": 1}])


def description(chance: random.Random) -> dict[str, Any]:
    return chance.choice([{"problems": [SCRIPT]}, {"refusal": {"message": "no"}}])


def token(chance: random.Random) -> dict[str, Any]:
    return {"name": "made", "scopes": [chance.choice(["read", "write", "code", "ingest"])]}


MADE: dict[str, Callable[[random.Random], Any]] = {
    "POST /api/studies": study,
    "POST /api/studies/{study_id}/reports": reports,
    "POST /api/studies/{study_id}/extend": extension,
    "POST /api/studies/{study_id}/ask": ask,
    "PUT /api/studies/{study_id}/cohorts/{key}/state": lambda chance: STATE,
    "POST /api/code": code,
    "POST /api/code/{code_hash}/description": description,
    "POST /api/tokens": token,
}


def likely(label: str, chance: random.Random) -> tuple[Any, str] | None:
    """A body and its type for this call, or none where the schema's own will do."""
    if label not in MADE:
        return None
    made = MADE[label](chance)
    return made, BINARY if isinstance(made, bytes) else JSON
