"""What /metrics tells Prometheus: requests by their outcome, events, streams, studies and the store."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ROUTED = "paretoscope.routed"  # in a request's scope: where routes leave their address
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "other"  # a method that a client made up: one label for all of them, or each would be kept for ever
WAITING_OR_RUNNING = "studies that wait in the queue, run or are paused"
LAG = "seconds from a report to the log, in the last batch of the running study that was latest; 0 when none runs"
SILENCE = "seconds since the last event of the running study that has been silent longest; 0 when none runs"


class Gauges:
    """Counters that grow while the service runs, and readings that are taken when somebody asks."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "paretoscope_http_requests",
            "answers by method, address and status; 5xx are errors of the service",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._events = Counter("paretoscope_events", "events that drivers have sent", registry=self._registry)
        self._begun = time.monotonic()
        self._heard: dict[str, float] = {}  # when a study's last event came
        self._lags: dict[str, float] = {}  # how late the last batch of a study was

    def heard(self, study_id: str, events: int, since: float | None = None) -> None:
        """`since` is when the first of them happened, by the clock of whoever sent them."""
        self._heard[study_id] = time.monotonic()
        self._lags[study_id] = 0.0 if since is None else max(0.0, time.time() - since)
        self._events.inc(events)

    def answered(self, method: str, route: str, status: int) -> None:
        self._requests.labels(method if method in METHODS else OTHER, route, str(status)).inc()

    def text(self, readings: Mapping[str, int], running: list[str], streams: int, store_bytes: int) -> bytes:
        """In Prometheus' format: `readings` are the studies in each state that has not ended."""
        for kept in (self._heard, self._lags):
            for study in kept.keys() - set(running):  # a copy: batches come in meanwhile
                kept.pop(study, None)
        silences = [time.monotonic() - self._heard.get(study, self._begun) for study in running]
        now = [
            _by_state(readings),
            GaugeMetricFamily("paretoscope_silence_seconds", SILENCE, max(silences, default=0.0)),
            GaugeMetricFamily("paretoscope_report_lag_seconds", LAG, max(list(self._lags.values()), default=0.0)),
            GaugeMetricFamily("paretoscope_event_streams", "open streams of events", streams),
            GaugeMetricFamily("paretoscope_store_bytes", "size of the database", store_bytes),
        ]
        return generate_latest(self._registry) + generate_latest(_Readings(now))


class _Readings(CollectorRegistry):
    """A registry of values that were just read."""

    def __init__(self, values: list[Metric]) -> None:
        super().__init__()
        self._values = values

    def collect(self) -> Iterator[Metric]:
        yield from self._values


def _by_state(readings: Mapping[str, int]) -> Metric:
    family = GaugeMetricFamily("paretoscope_studies", WAITING_OR_RUNNING, labels=["state"])
    for state, count in readings.items():
        family.add_metric([state], count)
    return family


class Counting:
    """Middleware: every answer is counted by the address it was routed to, never by what a client wrote there."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500
        scope[ROUTED] = routed = list[str]()

        async def listen(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, listen)
        finally:
            gauges: Gauges = scope["app"].state.parts.gauges
            gauges.answered(scope["method"], routed[0] if routed else "none", status)
