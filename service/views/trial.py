"""One trial as the log tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from service.contract.metrics import BEST_EPOCH, EPOCH, OF_TRAINING, SECONDS
from service.contract.study import outcomes
from service.contract.study.constraints import Judged
from service.contract.study.expansion import PlannedTrial, Slot
from service.contract.wire.events import LOG_LINES, Curve, Metrics, TrialState, Where
from service.views.notes import Notes


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
    token: str | None = None  # the id of its holder's; none: the owner's

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
    anew_since: str | None = None  # what was saved of it before is of another training; none: nothing is
    notes: Notes = field(default_factory=Notes)
    bounds: Sequence[Judged] = ()  # of its study, as what chooses sees them
    stopped_after: int | None = None  # the epoch after which the study's `stopping` ended it
    cut_off: bool = False  # whether its arm had spent its training seconds before its end

    @property
    def has_its_values(self) -> bool:
        """It finished, or its arm ended before it did and it counts with what it had reached."""
        return self.state is TrialState.FINISHED or self.cut_off

    @property
    def collapsed(self) -> bool:
        """The code carries nothing, anywhere on its curve if it has one, now that training is over."""
        if not self.has_its_values:
            return False
        if not self.curves:  # as ten thousand trials of most studies
            return outcomes.collapsed(self.metrics)
        return all(outcomes.collapsed(point["metrics"]) for point in self.points)

    @property
    def feasible(self) -> bool | None:
        """It keeps its study's constraints, somewhere on its curve if it has one; none where there are none, and while
        what they ask for was not measured. What ends without it does not keep them.
        """
        if not self.bounds or not self.metrics:
            return None
        each = [outcomes.feasible(own.metrics, self.bounds) for own in self.measured()]
        unknown = None if not self.state.is_over() else False
        return True if True in each else unknown if None in each else False

    @property
    def infeasible(self) -> bool:
        """Its training is over, it carries something, and breaks a constraint."""
        return self.has_its_values and self.feasible is False and not self.collapsed

    def counts_at(self, metrics: Metrics) -> bool:
        """Whether a place of its curve, or itself where it is a point, may lie on a front."""
        return not self.bounds or outcomes.feasible(metrics, self.bounds) is True

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
    def epoch(self) -> int:
        """The last that it reported; 0 before."""
        return int(self.metrics.get(EPOCH) or 0)

    @property
    def training_seconds(self) -> float | None:
        return self.metrics.get(SECONDS)

    @property
    def is_over(self) -> bool:
        """Whether nothing of it is left to train."""
        return self.state.is_over() or self.stopped_after is not None or self.cut_off

    @property
    def cut_short(self) -> bool:
        """It failed, or was stopped at a rung: its values are of fewer epochs than those that others claim."""
        return self.state is TrialState.FAILED or self.stopped_after is not None

    @property
    def counts_for_front(self) -> bool:
        kept = not self.bounds or self.feasible is True
        return bool(self.metrics) and not self.cut_short and not self.collapsed and kept

    def stop(self, epoch: int, reason: str, at: str) -> None:
        """It trains no further."""
        self.state, self.reason, self.ended_at, self.stopped_after = TrialState.STOPPED, reason, at, epoch

    def path(self, metric: str) -> dict[int, float]:
        """Its values by epoch; a resumed trial tells an epoch twice, the later time counts.

        A last report that was measured with the weights of an earlier epoch is no point of its curve.
        """
        told = ((report.get(EPOCH), report.get(metric)) for report in self.reports if not _is_of_another_epoch(report))
        return {int(epoch): value for epoch, value in told if epoch is not None and value is not None}

    def keep_log(self, lines: list[str] | None) -> None:
        if lines:
            self.log = [*self.log, *lines][-LOG_LINES:]

    def begin_anew(self, at: str) -> None:
        """Once more after it had failed."""
        self._forget()
        self.retries += 1
        self.anew_since = at

    def begin_longer(self, at: str) -> None:
        """It has more epochs to go, and its training is another one with them."""
        self._forget()
        self.extensions += 1
        self.anew_since = at

    def _forget(self) -> None:
        """As if it had never been trained; its log stays."""
        self.state, self.reason, self.started_at, self.ended_at = TrialState.PLANNED, None, None, None
        self.lease, self.stopped_after = None, None
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
        if self.is_over:
            return 1.0
        return min(1.0, (self.metrics.get(EPOCH) or 0.0) / self.planned.training.epochs)


def _is_of_another_epoch(report: Metrics) -> bool:
    return report.get(BEST_EPOCH) not in (None, 0, report.get(EPOCH))
