"""What a metric is, and what a family of metrics is: the columns of the table."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from enum import StrEnum
from functools import cached_property
from typing import Literal, NamedTuple

Goal = Literal["minimize", "maximize"]
Bound = Literal["lower", "upper", "estimate"]


class Kind(StrEnum):
    """What sort of quantity a metric is; whoever treats metrics differently goes by this, not by their names."""

    EPOCH = "epoch"
    TIME = "time"
    COUNT = "count"
    ERROR = "error"  # the standard error of another metric
    CALIBRATION = "calibration"  # how another metric's estimator does on a task whose information is known
    LOSS = "loss"
    WEIGHT = "weight"
    RATE = "rate"  # I(X;Z), bounded or estimated
    RELEVANCE = "relevance"  # I(Z;Y)
    ACCURACY = "accuracy"
    ROBUSTNESS = "robustness"  # accuracy under an attack
    GAP = "gap"
    IMBALANCE = "imbalance"
    SIZE = "size"  # of the weights
    SPREAD = "spread"  # of what a task makes of different examples
    COSINE = "cosine"  # of the angle between the gradients of terms
    LENGTH = "length"  # of a term's gradient
    DISTANCE = "distance"  # of a weighting from the weights that it looks for
    OBJECTIVE = "objective"  # a problem's own function
    OWN = "own"  # declared by a study's own code


OF_AN_EPOCH = {Kind.LOSS, Kind.WEIGHT, Kind.COSINE, Kind.LENGTH, Kind.DISTANCE, Kind.IMBALANCE, Kind.SIZE}


class Metric(NamedTuple):
    """A row of the table."""

    name: str
    label: str
    unit: str
    goal: Goal
    reference: float | None  # of the hypervolume; none: no front is measured by it
    doc: str
    kind: Kind
    low: float | None = None  # the least it can be; none: no such end
    high: float | None = None
    integer: bool = False
    bound: Bound | None = None  # how it relates to the quantity that it stands for
    error_of: str | None = None  # the metric whose standard error this is
    calibrates: str | None = None  # the metric whose estimator this tells about
    examples: str | None = None  # the metric that counts the examples behind this one
    measured: bool = False  # on the test split, and on the validation split where there is one
    training_of: str | None = None  # the metric of the test split that this is on the training split
    validation_of: str | None = None  # the metric of the test split that this is on the validation split
    summarises: str | None = None  # the family over whose members it is taken
    quantity: str | None = None  # the term of which it is one of several views; `pred` also stands for the main task
    family: str | None = None
    subject: str | None = None  # of a family's member: the task, term, attack, layer, estimator or metric

    @property
    def title(self) -> str:
        """`I(X;Z) [bits]`: the name on an axis or above a column."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label

    @property
    def is_objective(self) -> bool:
        """Whether a study may name it as one: fronts are measured by it, and not on the split that chooses."""
        return (self.reference is not None or self.kind is Kind.OWN) and self.validation_of is None

    @property
    def is_of_epoch(self) -> bool:
        """Whether it is told of an epoch of training, not measured of the network after it."""
        return self.kind in OF_AN_EPOCH and not self.measured and self.validation_of is None

    @property
    def bounds(self) -> tuple[float, float]:
        """Both ends of what it can be, ±∞ where it has none."""
        return -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high


class Named(str):
    """The name of a metric that no table has, with its row: of a study's own code."""

    row: Metric

    def __new__(cls, row: Metric) -> Named:
        name = super().__new__(cls, row.name)
        name.row = row
        return name

    def __reduce__(self) -> tuple[object, ...]:
        return Named, (self.row,)


PLACE = re.compile(r"<\w+>")
NAME = r"[a-z0-9][a-z0-9-]*"  # of a task, a term, an attack
METRIC_NAME = r"[a-z0-9][a-z0-9_-]*"


class Family:
    """Metrics whose names hold the name of something else, such as `robust_<attack>`: one row for all of them.

    `describe` takes what stands in the places and gives the member's row, or none where there is no such member. A
    name is put together and taken apart here only.
    """

    def __init__(self, name: str, describe: Callable[..., Metric | None], subject: str = NAME) -> None:
        self.name = name
        self._form = PLACE.sub("{}", name)
        self._describe, self._subject = describe, subject

    def of(self, *subjects: str) -> str:
        """The name of a member: `ROBUST.of("pgd")` is `robust_pgd`."""
        name = self._form.format(*subjects)
        if any(isinstance(subject, Named) for subject in subjects) and (row := self._describe(*subjects)):
            return Named(row._replace(name=name, family=self.name, subject="_".join(subjects)))
        return name

    def metric(self, name: str) -> Metric | None:
        """The member of this name, if it is one."""
        match = self._pattern.fullmatch(name)
        row = self._describe(*match.groups()) if match else None
        return row._replace(family=self.name, subject="_".join(match.groups())) if row and match else None

    def member(self, *subjects: str) -> Metric:
        """The row of a member that is known to exist."""
        row = self.metric(self.of(*subjects))
        if row is None:
            raise KeyError(self.of(*subjects))
        return row

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        fixed = map(re.escape, PLACE.split(self.name))
        return re.compile(f"({self._subject})".join(fixed))
