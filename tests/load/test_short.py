"""The short form of `make load`: what every client hears, not how soon."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.load.storm import Storm, weather
from tests.processes import Running, service_alone, short_home


@pytest.fixture(scope="module")
def service() -> Iterator[Running]:
    with short_home() as home, service_alone(home) as running:
        yield running


@pytest.mark.parametrize("studies", [1, 2])
def test_every_client_hears_every_event_once_and_in_order(service: Running, studies: int) -> None:
    storm = Storm(clients=20, writers=2, studies=studies, epochs=20, pause=0.05)
    seen = weather(service, storm)
    assert seen.faults == []
    assert seen.events == 3 * studies + 2 * 5 * 22
    assert seen.deliveries == 20 * seen.events / studies
