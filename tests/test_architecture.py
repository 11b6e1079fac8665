"""Who may import whom, proved in a fresh interpreter."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest


def modules_after(statement: str) -> set[str]:
    code = f"{statement}; import sys; print(' '.join(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return set(answer.stdout.split())


@pytest.mark.parametrize(
    ("room", "forbidden"),
    [
        ("service.app", {"torch", "ray", "workers", "frontends", "sklearn", "scipy", "plotly"}),
        ("service.contract.parsing", {"torch", "ray", "fastapi", "sqlalchemy", "numpy", "service.store", "workers"}),
        ("workers.driver", {"fastapi", "torch", "frontends", "service.store", "service.routes"}),
        ("workers.training", {"ray", "fastapi", "sklearn", "torchvision", "frontends"}),
        ("workers.artifacts", {"ray", "fastapi", "sklearn", "torchvision", "frontends", "service.artifacts"}),
        ("frontends.client", {"torch", "ray", "fastapi", "service"}),
        ("frontends.cli.commands", {"torch", "ray", "fastapi", "sqlalchemy"}),
    ],
)
def test_a_room_stays_out_of_the_others(room: str, forbidden: set[str]) -> None:
    assert not modules_after(f"import {room}") & forbidden


def test_the_service_is_imported_faster_than_torch() -> None:
    """Start-up is a promise; a ratio of processor time within one run holds on any machine, however busy."""

    def seconds(statement: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", statement], check=True, timeout=120)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    seconds("import service.app")
    assert min(seconds("import service.app") for _ in range(2)) < min(seconds("import torch") for _ in range(2))
