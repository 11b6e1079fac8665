"""Which settings of `evaluation` a metric depends on: studies agree in its values only where they agree in these."""

from __future__ import annotations

from service.contract.methods.attacks import label_of, metric_of
from service.contract.methods.problems import has_code
from service.contract.metrics import ESTIMATE, ESTIMATOR_SAMPLES, ROBUST_IMAGES, Kind, Metric, described
from service.contract.metrics.estimators import ESTIMATOR_NAMES
from service.contract.study.study import Arm, Study

Settings = dict[str, object]  # by where they are said, as `evaluation.samples`


def measured_with(study: Study, arm: Arm, metric: str) -> Settings:
    """Of a metric of this arm, on whichever split: what a different value of would give other numbers."""
    row, evaluation = _quantity(metric), study.evaluation
    samples: Settings = {"evaluation.samples": evaluation.samples}
    images: Settings = {"evaluation.attack_images": evaluation.attack_images}
    if row.kind is Kind.ROBUSTNESS:
        return {**_attack(study, row.name), **images, **samples}
    if row.name == ROBUST_IMAGES:
        return images
    if row.name == ESTIMATOR_SAMPLES or row.name in map(ESTIMATE.of, ESTIMATOR_NAMES):
        return {"evaluation.estimator_samples": evaluation.estimator_samples}
    of_code = row.measured or row.kind is Kind.GAP
    return samples if of_code and row.kind not in (Kind.OWN, Kind.COUNT) and has_code(arm.problem) else {}


def _quantity(metric: str) -> Metric:
    """The metric of the test split that this one is of: itself, or what it is the error or calibration of."""
    row = described(metric)
    while of := row.validation_of or row.error_of or row.calibrates:
        row = described(of)
    return row


def _attack(study: Study, metric: str) -> Settings:
    """Its parameters; what it is called is in the metric's name."""
    return {
        f"{field} of attack {label_of(attack)}": value
        for attack in study.evaluation.attacks
        if metric_of(attack) == metric
        for field, value in attack.model_dump(exclude={"label"}).items()
    }
