"""The metrics a trial reports: what each means, its unit, which way is better, where the front's reference lies."""

from __future__ import annotations

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
        "mean training KL to the prior, summed over latent dimensions",
    ),
    "weight_pred": Metric("weight of pred", "", "maximize", None, "mean weight of the prediction term in the epoch"),
    "weight_info": Metric(
        "weight of info",
        "",
        "maximize",
        None,
        "mean weight of the information term; for a fixed weighting this is β",
    ),
    "i_xz_bits": Metric("I(X;Z)", "bits", "minimize", 32.0, "upper bound by the KL to the prior, test split"),
    "i_zy_bits": Metric("I(Z;Y)", "bits", "maximize", 0.0, "lower bound H(Y) − cross-entropy, test split"),
    "accuracy": Metric("accuracy", "", "maximize", 0.0, "test accuracy, softmax averaged over latent samples"),
    "train_accuracy": Metric(
        "train accuracy", "", "maximize", 0.0, "accuracy on as many training images as there are test images"
    ),
    "generalization_gap": Metric("generalisation gap", "", "minimize", 1.0, "train accuracy − test accuracy"),
}
