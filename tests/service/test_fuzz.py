"""The OpenAPI schema, fuzzed: whatever is sent, the service never answers with a 5xx."""

from __future__ import annotations

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error

from tests.processes import Running

NOT_FUZZED = "readyz|/events$"  # 503 without Ray is the answer of the one; the other streams until its study ends


def test_nothing_that_is_sent_breaks_the_service(service: Running) -> None:
    """Operation by operation; schemathesis' own pytest plugin does not work with this pytest."""
    schema = schemathesis.openapi.from_url(f"{service.url}/openapi.json").exclude(path_regex=NOT_FUZZED)
    operations = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) >= 15
    for operation in operations:

        @given(case=operation.as_strategy())
        @settings(
            max_examples=25,
            deadline=None,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def fuzz(case: schemathesis.Case) -> None:
            case.call_and_validate(base_url=service.url, checks=[not_a_server_error], timeout=20)

        fuzz()
    assert "Traceback" not in service.log()
