"""The metrics a trial reports: what each means, its unit, which way is better, where the front's reference lies."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from service.contract.estimators import ESTIMATOR_NAMES, ESTIMATORS, KINDS, metric_name

Goal = Literal["minimize", "maximize"]


class Metric(NamedTuple):
    label: str
    unit: str
    goal: Goal
    reference: float | None
    doc: str


COMMON_METRICS: dict[str, Metric] = {
    "epoch": Metric("epoch", "", "minimize", None, "passes over the training data"),
    "seconds": Metric("training time", "s", "minimize", None, "this trial's share of its cohort's training time"),
}

BOTTLENECK_METRICS: dict[str, Metric] = {
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
    "i_xz_bits_stderr": Metric(
        "standard error of I(X;Z)", "bits", "minimize", None, "of the mean over test examples; the model is given"
    ),
    "i_zy_bits": Metric("I(Z;Y)", "bits", "maximize", 0.0, "lower bound H(Y) − cross-entropy, test split"),
    "i_zy_bits_stderr": Metric(
        "standard error of I(Z;Y)", "bits", "minimize", None, "of the mean over test examples; the model is given"
    ),
    "accuracy": Metric("accuracy", "", "maximize", 0.0, "test accuracy, softmax averaged over latent samples"),
    "test_examples": Metric("test examples", "", "maximize", None, "test examples behind accuracy, I(X;Z) and I(Z;Y)"),
    "train_accuracy": Metric(
        "train accuracy", "", "maximize", 0.0, "accuracy on as many training images as there are test images"
    ),
    "generalization_gap": Metric("generalisation gap", "", "minimize", 1.0, "train accuracy − test accuracy"),
}

TOY_METRICS: dict[str, Metric] = {
    "f1": Metric("f1", "", "minimize", 1.0, "first objective of the toy problem after the epoch"),
    "f2": Metric("f2", "", "minimize", 1.0, "second objective of the toy problem after the epoch"),
    "loss_f1": Metric("f1 (mean of the epoch)", "", "minimize", 1.0, "mean of f1 over the epoch's updates"),
    "loss_f2": Metric("f2 (mean of the epoch)", "", "minimize", 1.0, "mean of f2 over the epoch's updates"),
    "weight_f1": Metric("weight of f1", "", "maximize", None, "mean weight of f1 in the epoch"),
    "weight_f2": Metric("weight of f2", "", "maximize", None, "mean weight of f2; for a fixed weighting this is β"),
}

MULTITASK_METRICS: dict[str, Metric] = {
    "mean_accuracy": Metric(
        "mean accuracy", "", "maximize", 0.0, "mean over the tasks that have an accuracy, test split"
    ),
    "worst_accuracy": Metric("worst accuracy", "", "maximize", 0.0, "smallest over the tasks that have an accuracy"),
}

METRICS = COMMON_METRICS | BOTTLENECK_METRICS | TOY_METRICS | MULTITASK_METRICS

# Reported only when evaluation.estimators asks.
ESTIMATOR_METRICS: dict[str, Metric] = {
    **{
        metric_name(name): Metric(
            f"I(X;Z), {e.label}", "bits", "minimize", 32.0, f"{KINDS[e.kind]}, test split: {e.doc}"
        )
        for name, e in ESTIMATORS.items()
        if name in ESTIMATOR_NAMES
    },
    "estimator_samples": Metric("estimator samples", "", "maximize", None, "N, the test points of the estimators"),
}

BALANCE = "largest |ln(‖OUT‖/‖IN‖)| of a layer's hidden units after the epoch, in the balance's norm; 0 is balanced"

ROBUST_IMAGES = Metric("attacked images", "", "maximize", None, "test images behind every accuracy under attack")


def metric(name: str) -> Metric | None:
    """A metric by its name: one of the tables, `robust_<label>` of the study's attacks, or `balance_<layer>`."""
    if name == "robust_images":
        return ROBUST_IMAGES
    if found := re.fullmatch(r"robust_([a-z0-9-]+)", name):
        doc = f"test accuracy under the attack {found[1]}, softmax averaged over latent samples"
        return Metric(f"accuracy under {found[1]}", "", "maximize", 0.0, doc)
    if found := re.fullmatch(r"balance_([a-z]+(?:-[a-z]+)*(?:-[0-9]+)?)", name):
        return Metric(f"imbalance of {found[1]}", "", "minimize", None, BALANCE)
    return METRICS.get(name) or ESTIMATOR_METRICS.get(name) or _task_metric(name)


def _task_metric(name: str) -> Metric | None:
    """`loss_<task>`, `weight_<task>`, `test_loss_<task>` and `accuracy_<task>`, whose tasks each study chooses."""
    found = re.fullmatch(r"(loss|weight|test_loss|accuracy)_([a-z0-9][a-z0-9-]*)", name)
    if found is None:
        return None
    what, task = found.groups()
    if what == "accuracy":
        return Metric(f"accuracy of {task}", "", "maximize", 0.0, f"test accuracy of the task {task}")
    if what == "weight":
        return Metric(f"weight of {task}", "", "maximize", None, f"mean weight of the task {task} in the epoch")
    split = "training, mean of the epoch" if what == "loss" else "test split"
    return Metric(f"loss of {task} ({'train' if what == 'loss' else 'test'})", "", "minimize", 3.0, f"{task}, {split}")


def described(name: str) -> Metric:
    """A metric that is known to exist."""
    found = metric(name)
    if found is None:
        raise KeyError(name)
    return found
