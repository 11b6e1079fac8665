"""A script that says nothing for long is paused and goes on, on a real Ray."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from frontends.client import Client
from tests.processes import Running, until

pytestmark = pytest.mark.timeout(300)

SLOW = """
import time

from paretoscope import trainable


@trainable(metrics={"gain": "maximize", "cost": "minimize"})
def slow(trial, looks: bool = True):
    begun = b"begun" if looks else None
    if trial.saved != begun or not looks:
        for step in range(1000 if FIRST else 10):
            time.sleep(0.05)
            if looks and trial.should_stop:
                trial.save(b"begun")
                return
    trial.report(gain=1.0, cost=2.0)
"""


@pytest.fixture
def client(cluster: Running) -> Iterator[Client]:
    with Client(cluster.url, cluster.token) as client:
        yield client


def test_a_script_that_reports_once_is_paused_and_goes_on(client: Client, tmp_path: Path) -> None:
    """One looks whether it is to stop and saves; the other is made to leave and begins anew."""
    again = tmp_path / "again"
    (tmp_path / "slow.py").write_text(SLOW.replace("FIRST", f"not __import__('os').path.exists({str(again)!r})"))
    arms = [{"name": name, "problem": {"name": "slow", "looks": name == "looks"}} for name in ("looks", "sleeps")]
    study = client.submit({"name": "slow", "code": str(tmp_path / "slow.py"), "seeds": [0], "arms": arms})
    until(lambda: {trial["state"] for trial in study.trials()} == {"running"}, "both to run", 150)
    study.pause()
    until(lambda: not study.read().get("pausing"), "its processes to have left", 120)
    assert {trial["state"] for trial in study.trials()} == {"planned"} and study.read()["counts"]["failed"] == 0
    again.touch()
    study.resume()
    assert study.wait(timeout=150).read()["counts"]["finished"] == 2
    assert all(trial["metrics"]["gain"] == 1.0 for trial in study.trials())
