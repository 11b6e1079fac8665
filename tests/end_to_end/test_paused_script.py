"""A script that is paused or whose process is killed goes on from what it saved, on a real Ray."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from frontends.client import Client
from tests.end_to_end.test_going_on import goes_on_after, kill, saved_after, trains
from tests.end_to_end.test_studies import processes_below
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

MORE = 40  # steps of a tenth of a second: many more than one can take between its last save and its end
WALK = """
import time

from paretoscope import trainable


@trainable(metrics={"gain": "maximize", "cost": "minimize"})
def walk(trial):
    begun = int(trial.saved or 0)
    for step in range(begun + 1, begun + MORE + 1 if begun else 10000):
        time.sleep(0.1)
        trial.report(gain=step, cost=begun)
        trial.save(str(step).encode())
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


def test_a_script_whose_process_is_killed_goes_on_from_its_save(
    cluster: Running, client: Client, tmp_path: Path
) -> None:
    """It would walk for a quarter of an hour; only one that begins at a save comes to an end."""
    (tmp_path / "walk.py").write_text(WALK.replace("MORE", str(MORE)))
    arm = {"name": "walk", "problem": {"name": "walk"}}
    study = client.submit({"name": "walk", "code": str(tmp_path / "walk.py"), "seeds": [0], "arms": [arm]})
    saved = until(lambda: saved_after(client, study), "a first save", 150)
    kill([pid for pid, title in processes_below(cluster.process.pid).items() if trains(title)])
    assert study.wait(timeout=150).read()["counts"]["finished"] == 1
    [trial] = study.trials()
    begun = int(trial["metrics"]["cost"])
    assert begun >= saved > 0 and trial["metrics"]["gain"] == begun + MORE
    assert goes_on_after(study.events()) == [begun]
    reports = study.trial(trial["id"])["reports"]
    assert [report["epoch"] for report in reports] == list(range(1, begun + MORE + 1)), "no step is made or told twice"
