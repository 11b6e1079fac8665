"""Shared fixtures, and which tests come first and stay together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

from tests.order import in_turn, together
from tests.postgres import Server, postgresql
from tests.processes import Running, service_alone, short_home

# How long an example takes says how busy the machine is, nothing about the code.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: in_turn(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A file at a time, as asked for, but those that share the cluster are one."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    files = LoadFileScheduling(config, log)
    files._split_scope = together
    return files


@pytest.fixture(scope="session")
def service() -> Iterator[Running]:
    """The service without Ray: studies stay queued, events are posted by the tests."""
    with short_home() as home, service_alone(home) as running:
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
