"""/metrics, as Prometheus reads it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from service.web.gauges import Gauges
from tests.service.bench import Bench
from workers.sending.reporter import Reporter
from workers.sending.study_client import StudyClient


def read(bench: Bench) -> dict[tuple[str, ...], float]:
    """Values by name and labels."""
    answer = bench.ask("GET", "/metrics")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/plain")
    samples = (sample for family in text_string_to_metric_families(answer.text) for sample in family.samples)
    return {(sample.name, *sample.labels.values()): sample.value for sample in samples}


def test_studies_are_counted_by_state(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    for _ in range(3):
        bench.submit()
    bench.launcher.tick()
    read_now = read(bench)
    assert read_now["paretoscope_studies", "running"] == bench.settings.studies_at_once == 2
    assert read_now["paretoscope_studies", "queued"] == 1


def test_answers_are_counted_by_address_not_by_what_was_asked(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    for wanted in ("a", "b", "c"):
        assert bench.ask("GET", f"/api/studies/{wanted}").status_code == 404
        assert bench.ask("GET", f"/nothing/{wanted}").status_code == 404
    counted = read(bench)
    assert counted["paretoscope_http_requests_total", "GET", "/studies/{study_id}", "404"] == 3
    assert counted["paretoscope_http_requests_total", "GET", "none", "404"] == 3
    assert not any("/nothing/a" in key for key in counted)


def test_methods_that_clients_make_up_are_counted_as_one(tmp_path: Path) -> None:
    """Each label is kept as long as the service runs, and nobody needs a token for this."""
    bench = Bench(tmp_path, token="secret")
    for method in ("BREW", "PRI", "A" * 1000):
        assert bench.ask(method, "/api/studies", headers={}).status_code in (401, 405)
    counted = {key[1:]: count for key, count in read(bench).items() if key[0] == "paretoscope_http_requests_total"}
    assert counted == {("other", "/studies", "405"): 3}


def test_batches_that_come_in_while_metrics_are_read_harm_nobody(tmp_path: Path) -> None:
    """Readings are taken in a thread of their own; what was heard meanwhile is told the next time."""
    gauges = Gauges()

    class Busy(list[str]):
        def __contains__(self, study: object) -> bool:
            gauges.heard(f"s{len(gauges._heard)}", 1, 0.0)
            return False

        def __iter__(self) -> Iterator[str]:
            gauges.heard(f"s{len(gauges._heard)}", 1, 0.0)
            return super().__iter__()

    for study in ("a", "b", "c"):
        gauges.heard(study, 1, 0.0)
    assert b"paretoscope_silence_seconds 0.0" in gauges.text({}, Busy(), 0, 0)


def test_errors_of_the_service_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(tmp_path)

    def broken(*arguments: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(bench.parts.store, "list_studies", broken)
    assert bench.ask("GET", "/api/studies", raise_errors=False).status_code == 500
    assert read(bench)["paretoscope_http_requests_total", "GET", "/studies", "500"] == 1


def test_a_running_study_that_says_nothing_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("service.web.gauges.time.monotonic", lambda: now)
    bench = Bench(tmp_path)
    assert read(bench)["paretoscope_silence_seconds",] == 0, "none runs"
    talking, silent = bench.submit(), bench.submit()
    bench.launcher.tick()
    now = 1040.0
    trial = bench.get(f"/api/studies/{talking}/trials")["trials"][0]["id"]
    event = {"uid": "u1", "kind": "trial_started", "trial": trial}
    for _ in range(2):  # the second is a duplicate
        assert bench.ask("POST", f"/api/studies/{talking}/reports", json={"events": [event]}).status_code == 200
    now = 1050.0
    counted = read(bench)
    assert (counted["paretoscope_silence_seconds",], counted["paretoscope_events_total",]) == (50, 1)
    bench.ask("POST", f"/api/studies/{silent}/cancel")
    assert read(bench)["paretoscope_silence_seconds",] == 10


def test_reports_that_come_late_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.web.gauges.time.time", lambda: 1000.0)
    bench = Bench(tmp_path)
    assert read(bench)["paretoscope_report_lag_seconds",] == 0, "none runs"
    study = bench.submit()
    bench.launcher.tick()
    trial = bench.trials(study)[0]
    path = f"/api/studies/{study}/reports"
    for i, (since, lag) in enumerate({"940.5": 59.5, "999": 1.0, "1001": 0.0}.items()):
        event = {"uid": f"u{i}", "kind": "trial_started", "trial": trial, "epoch": i}
        answer = bench.ask("POST", path, json={"events": [event]}, headers={"Paretoscope-Since": since})
        assert answer.status_code == 200 and read(bench)["paretoscope_report_lag_seconds",] == lag
    for since in ("soon", "nan", "-1"):
        answer = bench.ask("POST", path, json={"events": []}, headers={"Paretoscope-Since": since})
        assert answer.status_code == 422


def test_a_driver_says_since_when_its_reports_wait(tmp_path: Path) -> None:
    """Also where they are sent again: the time in which the service was away counts."""
    said: list[float] = []

    def answer(request: httpx.Request) -> httpx.Response:
        said.append(float(request.headers["Paretoscope-Since"]))
        return httpx.Response(200 if len(said) > 2 else 503, json={"accepted": 1, "duplicates": 0})

    begun = time.time()
    reporter = Reporter(StudyClient("http://service", None, "s1", httpx.MockTransport(answer)))
    reporter.report("t1", 1, {"epoch": 1})
    assert reporter.close(30) and len(said) == 3 and len(set(said)) == 1
    assert begun - 0.01 <= said[0] <= time.time()


def test_the_store_has_a_size(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    files = tmp_path.glob("paretoscope.db*")
    assert read(bench)["paretoscope_store_bytes",] == sum(file.stat().st_size for file in files) > 0


def test_counts_are_for_those_with_the_token(tmp_path: Path) -> None:
    assert Bench(tmp_path, token="secret").ask("GET", "/metrics", headers={}).status_code == 401
