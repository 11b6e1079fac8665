"""A service that wants a token."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.processes import Running, service_alone, short_home

TOKEN = "open-sesame-again"


@pytest.fixture(scope="session")
def guarded() -> Iterator[Running]:
    with short_home() as home, service_alone(home, PARETOSCOPE_TOKEN=TOKEN) as running:
        yield running
