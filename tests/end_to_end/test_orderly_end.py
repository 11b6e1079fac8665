"""`up` that is asked to end in the middle of a training: nothing of it is lost, and nothing is left behind."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from frontends.cli.local_ray import processes_of
from frontends.client import Client
from tests.end_to_end.test_going_on import SPEC, saved_after
from tests.end_to_end.test_studies import processes_below
from tests.processes import service_alone, short_home, until, up

pytestmark = pytest.mark.timeout(600)

EPOCHS = 10_000  # the most that a study may have; small batches make it last
LONG: dict[str, Any] = {**SPEC, "training": {**SPEC["training"], "epochs": EPOCHS, "batch_size": 16}}


def test_states_and_last_reports_are_kept_and_every_process_has_gone() -> None:
    """By default a state is saved after two minutes, so what is there was saved because of the end."""
    with short_home() as home:
        with up(home, PARETOSCOPE_LEAVE_SECONDS="60") as running, Client(running.url, running.token) as client:
            study = client.submit(LONG)
            until(lambda: study.read()["counts"]["running"] == 4 and study.read()["progress"] > 0, "reports", 200)
            assert saved_after(client, study) == 0
            seen = study.read()["last_seq"]
            started = set(processes_below(running.process.pid))
            running.process.send_signal(signal.SIGTERM)
            assert running.process.wait(timeout=150) == 0
        assert len(started) > 5 and not {process.pid for process in processes_of(home / "ray")} & started
        with (
            service_alone(home, PARETOSCOPE_TOKEN=running.token or "") as service,
            Client(service.url, running.token) as client,
        ):
            study = client.study(study.id)
            epoch, read = saved_after(client, study), study.read()
            assert read["state"] == "running" and read["last_seq"] > seen, "the next `up` goes on with it"
            assert {trial["metrics"]["epoch"] for trial in study.trials()} == {epoch}, "saved after the last report"
            assert 0 < epoch < EPOCHS
