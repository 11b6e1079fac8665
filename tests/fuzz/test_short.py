"""The short form of `make fuzz`: some scenarios, all hostile inputs over real HTTP, and what is left of them."""

from __future__ import annotations

from tests.fuzz.run import Run
from tests.processes import service_alone, short_home

CASES, SEED = 150, 13
MEMORY, COST = 2.0, 4.0  # looser than `make fuzz`: few requests, and a machine that does other things


def test_no_sequence_of_requests_breaks_the_service_or_leaves_anything() -> None:
    with short_home() as home, service_alone(home, PARETOSCOPE_TOKEN="fuzz of the service") as service:
        run = Run(service._replace(token="fuzz of the service"), CASES, SEED)
    assert run.complaints == []
    assert run.told.cases >= CASES and len(run.told.made) > 2
    assert run.memory < MEMORY and run.cost < COST, (run.before, run.after)
