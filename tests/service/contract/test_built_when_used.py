"""What pydantic makes of the contract is made when it is first used: a start would take a fifth longer for it."""

from __future__ import annotations

import json
import subprocess
import sys

from pydantic import TypeAdapter

from service.contract.study.study import Study
from service.contract.vocabulary import Vocabulary, vocabulary
from service.contract.wire.answers.trials import TrialAnswer

BUILT = """
import json, service.app
from pydantic import BaseModel
from service.contract.parameters.strict import Strict

def kinds(kind):
    return [kind, *(own for each in kind.__subclasses__() for own in kinds(each))]

print(json.dumps([kind.__name__ for kind in kinds(Strict) if kind.__pydantic_complete__]))
"""


def test_a_service_that_starts_builds_what_a_study_has_by_default_and_nothing_else() -> None:
    done = subprocess.run([sys.executable, "-c", BUILT], capture_output=True, text=True, check=True)
    built = json.loads(done.stdout)
    assert "Limits" in built and not {"Study", "Arm", "Fixed", "WeightingChoice"} & set(built)
    assert len(built) < 20


def test_an_answer_is_described_when_it_is_first_sent() -> None:
    adapter = TypeAdapter(TrialAnswer)
    assert not adapter.pydantic_complete
    assert adapter.json_schema()["additionalProperties"] is False
    assert adapter.pydantic_complete


def test_the_page_has_the_limits_that_the_schema_of_a_study_has() -> None:
    schema, limits = Study.model_json_schema()["properties"], vocabulary().limits
    for field, own in (("seeds", limits.seeds), ("objectives", limits.objectives)):
        assert (own.least, own.most) == (schema[field]["minItems"], schema[field]["maxItems"])
    assert TypeAdapter(Vocabulary).dump_python(vocabulary())["limits"]["seeds"]["least"] == limits.seeds.least
