"""The metrics a trial reports: what each means, its unit, which way is better, where the front's reference lies."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Goal = Literal["minimize", "maximize"]


class Metric(NamedTuple):
    label: str
    unit: str
    goal: Goal
    reference: float | None
    doc: str


METRICS: dict[str, Metric] = {
    "epoch": Metric("epoch", "", "minimize", None, "passes over the training data"),
    "seconds": Metric("training time", "s", "minimize", None, "this trial's share of its cohort's training time"),
    "loss_pred": Metric("cross-entropy (train)", "nats", "minimize", 2.31, "mean training cross-entropy of the epoch"),
    "loss_info": Metric(
        "rate (train)",
        "nats",
        "minimize",
        32.0,
        "mean training rate r, before any transform: KL to the prior (vib), pairwise bound (nib), 0 (none)",
    ),
    "weight_pred": Metric("weight of pred", "", "maximize", None, "mean weight of the prediction term in the epoch"),
    "weight_info": Metric(
        "weight of info",
        "",
        "maximize",
        None,
        "mean weight of the information term; for a fixed weighting this is β",
    ),
    "i_xz_bits": Metric(
        "I(X;Z)", "bits", "minimize", 32.0, "upper bound by the KL to the prior N(0, I), test split; null for rate none"
    ),
    "i_zy_bits": Metric("I(Z;Y)", "bits", "maximize", 0.0, "lower bound H(Y) − cross-entropy, test split"),
    "accuracy": Metric("accuracy", "", "maximize", 0.0, "test accuracy, softmax averaged over latent samples"),
    "train_accuracy": Metric(
        "train accuracy", "", "maximize", 0.0, "accuracy on as many training images as there are test images"
    ),
    "generalization_gap": Metric("generalisation gap", "", "minimize", 1.0, "train accuracy − test accuracy"),
}

# Reported only when evaluation.estimators asks; METRICS holds what every trial reports.
ESTIMATOR_METRICS: dict[str, Metric] = {
    "i_xz_pairwise-lower_bits": Metric(
        "I(X;Z), pairwise lower", "bits", "minimize", 32.0, "lower bound, Bhattacharyya distances, at most log2 N"
    ),
    "i_xz_pairwise-upper_bits": Metric(
        "I(X;Z), pairwise upper", "bits", "minimize", 32.0, "upper bound for the N points, KL, at most log2 N"
    ),
    "i_xz_infonce_bits": Metric(
        "I(X;Z), InfoNCE", "bits", "minimize", 32.0, "lower bound from one latent sample per point, at most log2 N"
    ),
    "estimator_samples": Metric("estimator samples", "", "maximize", None, "N, the test points of the estimators"),
}

ROBUST_IMAGES = Metric("attacked images", "", "maximize", None, "test images behind every accuracy under attack")


def metric(name: str) -> Metric | None:
    """A metric by name: one of the tables, or `robust_<label>`, whose labels each study chooses."""
    if name == "robust_images":
        return ROBUST_IMAGES
    if found := re.fullmatch(r"robust_([a-z0-9-]+)", name):
        doc = f"test accuracy under the attack {found[1]}, softmax averaged over latent samples"
        return Metric(f"accuracy under {found[1]}", "", "maximize", 0.0, doc)
    return METRICS.get(name) or ESTIMATOR_METRICS.get(name)


def described(name: str) -> Metric:
    """A metric that is known to exist."""
    found = metric(name)
    if found is None:
        raise KeyError(name)
    return found
