"""Shared fixtures: one service without Ray, one with Ray, each started once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

from tests.postgres import Server, postgresql
from tests.processes import OF_A_DATABASE, Running, service_alone, short_home, up

# How long an example takes says how busy the machine is, nothing about the code.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")


@pytest.fixture(scope="session")
def service() -> Iterator[Running]:
    """The service without Ray: studies stay queued, events are posted by the tests."""
    with short_home() as home, service_alone(home) as running:
        yield running


@pytest.fixture(scope="session")
def cluster() -> Iterator[Running]:
    """Ray and the service on this machine. Cohorts save half a second after their last save, at the end of an epoch; a
    process with code of its own may take 6 GB."""
    settings = {
        "PARETOSCOPE_SAVE_SECONDS": "0.5",
        "PARETOSCOPE_CODE_MEMORY_GB": "6",
        "PGPASSWORD": OF_A_DATABASE,
    }
    with short_home() as home, up(home, **settings) as running:
        yield running


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server; whoever wants it asks it for a database of their own."""
    with postgresql() as server:
        yield server


@pytest.fixture
def spec() -> dict[str, Any]:
    """A small study: two βs and MIB, two seeds, three epochs."""
    return {
        "name": "small",
        "model": {"name": "mlp", "widths": [16], "latent": 4},
        "training": {"epochs": 3, "batch_size": 256, "learning_rate": 0.03},  # enough to be above chance
        "seeds": [0, 1],
        "arms": [
            {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": [0.001, 0.1]}}},
            {"name": "MIB", "weighting": {"name": "mib"}},
        ],
    }
