"""One trial as the log tells it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isfinite
from typing import NamedTuple

from service.contract.metrics import EPOCH, SECONDS
from service.contract.study import outcomes
from service.contract.study.expansion import PlannedTrial, Slot
from service.contract.wire.events import LOG_LINES, Curve, Metrics, TrialState, Where

OF_TRAINING = (EPOCH, SECONDS)  # metrics that no place has for itself


class Measured(NamedTuple):
    """What was measured at a place of a trial's curve; a trial that is a single point has no such place."""

    where: Where | None
    metrics: Metrics


class Lease(NamedTuple):
    """Somebody elsewhere trains it: how often and when they were heard of, and how long they may be silent."""

    id: str
    holder: str
    seconds: float
    heard_at: str
    heard: int = 0

    def told(self, at: str) -> Lease:
        """Whatever its holder tells renews it."""
        return self._replace(heard_at=at, heard=self.heard + 1)


@dataclass
class TrialView:
    """What was planned, what it reported, and how it ended."""

    planned: PlannedTrial | Slot
    state: TrialState = TrialState.PLANNED
    reason: str | None = None
    host: str | None = None
    lease: Lease | None = None
    started_at: str | None = None
    ended_at: str | None = None
    metrics: Metrics = field(default_factory=dict)
    reports: list[Metrics] = field(default_factory=list)
    curves: dict[int, Curve] = field(default_factory=dict)  # by the number of the report that brought them
    log: list[str] = field(default_factory=list)  # the last lines
    retries: int = 0  # how often it was begun anew after it had failed
    extensions: int = 0  # how often it got more epochs after it had finished

    @property
    def collapsed(self) -> bool:
        """The code carries nothing, anywhere on its curve if it has one, now that training is over."""
        measured = [point["metrics"] for point in self.points] or [self.metrics]
        return self.state is TrialState.FINISHED and all(map(outcomes.collapsed, measured))

    @property
    def points(self) -> Curve:
        """Its curve as it was measured last; empty for a trial that is a single point."""
        return next(reversed(self.curves.values()), [])

    def measured(self) -> list[Measured]:
        """By what it reported last: at each place of its curve, or as the single point that it is.

        What its training took is the same at every place.
        """
        if not self.points:
            return [Measured(None, self.metrics)]
        shared = {name: self.metrics[name] for name in OF_TRAINING if name in self.metrics}
        return [Measured(point["where"], {**shared, **point["metrics"]}) for point in self.points]

    def at(self, where: Where | None) -> Metrics:
        """What was measured last at a place of its curve; without one, what it reports over its epochs."""
        if where is None:
            return self.metrics
        return next((own.metrics for own in self.measured() if own.where == where), {})

    @property
    def training_seconds(self) -> float | None:
        return self.metrics.get(SECONDS)

    @property
    def counts_for_front(self) -> bool:
        return bool(self.metrics) and self.state is not TrialState.FAILED and not self.collapsed

    def path(self, metric: str) -> dict[int, float]:
        """Its finite values by epoch; a resumed trial tells an epoch twice, the later time counts."""
        told = ((report.get(EPOCH), report.get(metric)) for report in self.reports)
        return {
            int(epoch): value for epoch, value in told if epoch is not None and value is not None and isfinite(value)
        }

    def keep_log(self, lines: list[str] | None) -> None:
        if lines:
            self.log = [*self.log, *lines][-LOG_LINES:]

    def begin_anew(self) -> None:
        """Once more after it had failed."""
        self._forget()
        self.retries += 1

    def begin_longer(self) -> None:
        """It has more epochs to go, and its training is another one with them."""
        self._forget()
        self.extensions += 1

    def _forget(self) -> None:
        """As if it had never been trained; its log stays."""
        self.state, self.reason, self.started_at, self.ended_at = TrialState.PLANNED, None, None, None
        self.lease = None
        self.metrics, self.reports, self.curves = {}, [], {}

    def begin_elsewhere(self, lease: Lease) -> None:
        """Who has it now trains it from the beginning."""
        self._forget()
        self.state, self.lease = TrialState.RUNNING, lease
        self.host, self.started_at = lease.holder, lease.heard_at

    def give_back(self) -> None:
        """Nobody has it; what was told stays until somebody begins anew."""
        self.state, self.lease, self.host = TrialState.PLANNED, None, None

    def go_on(self) -> None:
        """It has more epochs to go."""
        self.state, self.reason, self.ended_at = TrialState.PLANNED, None, None
        self.extensions += 1

    def under(self, planned: PlannedTrial | Slot) -> TrialView:
        """The same trial under another plan: another arm's name."""
        return replace(self, planned=planned)

    @property
    def done(self) -> float:
        """Share of this trial that needs no more work, 0 to 1."""
        if self.state.is_over():
            return 1.0
        return min(1.0, (self.metrics.get(EPOCH) or 0.0) / self.planned.training.epochs)
