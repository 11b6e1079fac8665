"""Constraints of a study: what a metric must reach for a trial to count."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Annotated, NamedTuple

from pydantic import Field, model_validator

from service.contract.metrics import METRICS, ROBUST, described, metric
from service.contract.parameters.strict import Strict
from service.contract.study.metric_names import MetricName
from service.contract.wording.numbers import setting

Bound = Annotated[float, Field(allow_inf_nan=False)]


class Constraint(Strict):
    """A bound on a metric: a trial that breaks it is infeasible and lies on no front."""

    metric: MetricName = Field(description="a metric that every trial reports")
    at_least: Bound | None = Field(None, description="the least value that is feasible; or give at_most")
    at_most: Bound | None = Field(None, description="the largest value that is feasible; or give at_least")

    @model_validator(mode="after")
    def _is_one_bound(self) -> Constraint:
        given = [name for name in ("at_least", "at_most") if getattr(self, name) is not None]
        if len(given) != 1:
            got = f"{setting(self.at_least)} and {setting(self.at_most)}" if given else "neither"
            raise ValueError(f"give at_least or at_most, one of them, got {got}")
        if metric(self.metric) is None:
            raise ValueError(f"{self.metric!r} is not a metric; known: {', '.join(METRICS)}, {ROBUST.name}")
        return self

    @property
    def bound(self) -> float:
        (bound,) = (each for each in (self.at_least, self.at_most) if each is not None)
        return bound

    @property
    def sign(self) -> str:
        return "≤" if self.at_least is None else "≥"

    @property
    def words(self) -> str:
        """`accuracy ≥ 0.9`."""
        known = described(self.metric)
        return f"{known.label} {self.sign} {setting(self.bound)} {known.unit}".strip()

    def excess(self, value: float) -> float:
        """By how much a value breaks it, in the metric's unit; 0 or less where it holds."""
        return value - self.bound if self.at_least is None else self.bound - value

    def judged_by(self, chooser: str) -> Judged:
        return Judged(self, chooser)


class Judged(NamedTuple):
    """A constraint, and the metric by which it is judged: its own on the validation split where that chooses."""

    constraint: Constraint
    metric: str

    def excess(self, metrics: Mapping[str, float | None]) -> float | None:
        """By how much what was measured breaks it; none where its metric is missing or no number.

        What has no value on the split that chooses is judged by what it shows.
        """
        value = metrics.get(self.metric, metrics.get(self.constraint.metric))
        return None if value is None or not isfinite(value) else self.constraint.excess(value)
