"""The metrics a trial reports: what each means, its unit, which way is better, what it can be.

A metric is a row of the table, a name that holds another name (`robust_pgd`) is the member of a family.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from service.contract.metrics.metric import Bound, Family, Goal, Kind, Metric, Named
from service.contract.metrics.table import (
    ACCURACY,
    ALPHA_GAP,
    ATTACK_METRICS,
    BALANCE,
    BALANCE_METRICS,
    BEST_EPOCH,
    BIAS,
    BOTTLENECK_METRICS,
    CALIBRATIONS,
    COMMON_METRICS,
    COSINE,
    COSINE_MEAN,
    EPOCH,
    ERROR,
    ESTIMATE,
    ESTIMATOR_METRICS,
    ESTIMATOR_SAMPLES,
    F1,
    F2,
    FAMILIES,
    GAP,
    GRADIENT_METRICS,
    GRADIENT_NORM,
    I_XZ,
    I_ZY,
    INFO,
    KEEPING_METRICS,
    KL_PRIOR,
    KNOWN_BITS,
    LOSS,
    LOSS_GAP,
    MEAN_ACCURACY,
    METRICS,
    MISS,
    MULTITASK_METRICS,
    OVERFITTING_RATIO,
    POWER_SUM,
    PRED,
    ROBUST,
    ROBUST_IMAGES,
    SECONDS,
    SPREAD,
    TASK_ACCURACY,
    TEST_EXAMPLES,
    TEST_LOSS,
    TOY_METRICS,
    TRAIN_ACCURACY,
    VALIDATION,
    WEIGHT,
    WEIGHTING_METRICS,
    WORST_ACCURACY,
)

OF_TRAINING = (*COMMON_METRICS, *KEEPING_METRICS)  # what no point of a trial's curve has for itself
SINGLE = (
    METRICS
    | ESTIMATOR_METRICS
    | ATTACK_METRICS
    | WEIGHTING_METRICS
    | KEEPING_METRICS
    | BALANCE_METRICS
    | GRADIENT_METRICS
)


def metric(name: str) -> Metric | None:
    """A metric by its name: a row of its own, or a member of a family. None where there is no such metric.

    One of a study's own code is known by the name that its study gives.
    """
    return name.row if isinstance(name, Named) else _of_table(name)


@lru_cache(maxsize=4096)
def _of_table(name: str) -> Metric | None:
    if name in SINGLE:
        return SINGLE[name]
    return next((row for family in FAMILIES if (row := family.metric(name)) is not None), None)


def described(name: str) -> Metric:
    """A metric that is known to exist."""
    row = metric(name)
    if row is None:
        raise KeyError(name)
    return row


def of_kind(names: Iterable[str], *kinds: Kind) -> list[str]:
    """Those of these metrics that are of one of the kinds, in their order; none of the validation split."""
    rows = [(name, metric(name)) for name in names]
    return [name for name, row in rows if row is not None and row.validation_of is None and row.kind in kinds]


def accuracies(names: Iterable[str]) -> list[str]:
    """Those measured on the test split, attacked or not: neither of the training split nor a mean over tasks."""
    rows = [(name, metric(name)) for name in of_kind(names, Kind.ACCURACY, Kind.ROBUSTNESS)]
    return [name for name, row in rows if row is not None and row.training_of is None and row.summarises is None]


def on_training_split(name: str) -> str | None:
    """What a metric of the test split is called on the training split, where it is measured there too."""
    return next((row.name for row in SINGLE.values() if row.training_of == name), None)


__all__ = [
    "ACCURACY",
    "ALPHA_GAP",
    "ATTACK_METRICS",
    "BALANCE",
    "BALANCE_METRICS",
    "BEST_EPOCH",
    "BIAS",
    "BOTTLENECK_METRICS",
    "CALIBRATIONS",
    "COMMON_METRICS",
    "COSINE",
    "COSINE_MEAN",
    "EPOCH",
    "ERROR",
    "ESTIMATE",
    "ESTIMATOR_METRICS",
    "ESTIMATOR_SAMPLES",
    "F1",
    "F2",
    "FAMILIES",
    "GAP",
    "GRADIENT_METRICS",
    "GRADIENT_NORM",
    "INFO",
    "I_XZ",
    "I_ZY",
    "KL_PRIOR",
    "KNOWN_BITS",
    "LOSS",
    "LOSS_GAP",
    "MEAN_ACCURACY",
    "METRICS",
    "MISS",
    "MULTITASK_METRICS",
    "OF_TRAINING",
    "OVERFITTING_RATIO",
    "POWER_SUM",
    "PRED",
    "ROBUST",
    "ROBUST_IMAGES",
    "SECONDS",
    "SINGLE",
    "SPREAD",
    "TASK_ACCURACY",
    "TEST_EXAMPLES",
    "TEST_LOSS",
    "TOY_METRICS",
    "TRAIN_ACCURACY",
    "VALIDATION",
    "WEIGHT",
    "WEIGHTING_METRICS",
    "WORST_ACCURACY",
    "Bound",
    "Family",
    "Goal",
    "Kind",
    "Metric",
    "Named",
    "accuracies",
    "described",
    "metric",
    "of_kind",
    "on_training_split",
]
