"""Four studies played from fixed numbers: a bottleneck under attack, two tasks, a search with a failed trial, and a
training for all βs beside a grid.

The tasks hold nothing out: what chooses there is what is shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tests.processes import Running

Metrics = dict[str, float | None]

BOTTLENECK: dict[str, Any] = {
    "name": "golden bottleneck",
    "model": {"name": "mlp", "widths": [16], "latent": 4},
    "training": {"epochs": 3, "batch_size": 256, "balance": {"mode": "partial"}},
    "seeds": [0, 1, 2],
    "evaluation": {"attacks": [{"name": "pgd", "epsilon": 0.03}], "estimators": ["infonce"], "gradients": True},
    "arms": [
        {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": [0.001, 0.01, 0.1]}}},
        {"name": "MIB", "weighting": {"name": "mib"}},
    ],
}
TASKS: dict[str, Any] = {"name": "multitask", "main": "left", "auxiliaries": ["right"]}
MULTITASK: dict[str, Any] = {
    "name": "golden tasks",
    "data": {"name": "overlaid", "validation_fraction": 0, "draw": "shared"},
    "training": {"epochs": 3},
    "seeds": [0, 1],
    "arms": [
        {
            "name": "weights by hand",
            "problem": TASKS,
            "weighting": {"name": "fixed", "weights": {"right": {"grid": [0.5, 2.0]}}},
        },
        {"name": "uniform", "problem": TASKS, "weighting": {"name": "uniform"}},
        {"name": "MGB", "problem": TASKS, "weighting": {"name": "mgb"}},
        {"name": "single tasks", "problem": TASKS, "weighting": {"name": "single"}},
    ],
}
SEARCH: dict[str, Any] = {
    "name": "golden search",
    "training": {"epochs": 3},
    "seeds": [0, 1],
    "arms": [
        {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": [0.001, 0.1]}}},
        {
            "name": "tuned",
            "weighting": {"name": "fixed", "beta": {"range": {"from": 1e-5, "to": 1.0, "scale": "log"}}},
            "search": {"name": "optuna", "sampler": "nsga2", "trials": 6},
        },
    ],
}

CURVES: dict[str, Any] = {
    "name": "golden curves",
    "training": {"epochs": 3},
    "seeds": [0, 1, 2],
    "arms": [
        {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": [0.001, 0.01, 0.1]}}},
        {"name": "all β", "weighting": {"name": "conditional", "points": 5, "verify": 2}},
    ],
}


def _bits(i: int, epoch: int) -> Metrics:
    rate = 30.0 / (1 + i % 5) + 6.0 / epoch
    label = 3.0 * (1 - math.exp(-rate / 8)) - 0.05 * (i % 3)
    accuracy = 0.3 + 0.2 * label
    flattered = 0.02 * ((i * 7) % 5 - 1)  # what the validation split shows beyond the test split
    return {
        "epoch": epoch,
        "seconds": 0.25 * epoch + 0.01 * i,
        "loss_pred": 2.3 - 0.6 * label,
        "loss_info": 0.7 * rate,
        "weight_pred": 1.0,
        "weight_info": 0.01 * (i + 1),
        "i_xz_bits": rate,
        "i_xz_bits_stderr": 0.1,
        "i_zy_bits": label,
        "i_zy_bits_stderr": 0.02,
        "accuracy": accuracy,
        "test_examples": 360,
        "train_accuracy": accuracy + 0.02 * (1 + i % 4),
        "generalization_gap": 0.02 * (1 + i % 4),
        "validation_i_xz_bits": rate - flattered,
        "validation_i_xz_bits_stderr": 0.12,
        "validation_i_zy_bits": label + flattered,
        "validation_i_zy_bits_stderr": 0.03,
        "validation_accuracy": accuracy + flattered / 2,
        "validation_test_examples": 287,
    }


def _curve(i: int, epoch: int) -> list[dict[str, Any]] | None:
    """The last one carries nothing at its largest β."""
    if epoch == 1:
        return None
    places = [(k, _bits(i + k, epoch)) for k in range(5)]
    rates = ("i_xz_bits", "validation_i_xz_bits")
    own = [{**measured, **{rate: (measured[rate] or 0.0) / (1 + k) for rate in rates}} for k, measured in places]
    if epoch == 3:
        own[4] |= dict.fromkeys(rates, 0.01)
    trained = ("epoch", "seconds", "loss_pred", "loss_info", "weight_pred", "weight_info")
    kept = [{name: value for name, value in each.items() if name not in trained} for each in own]
    return [{"where": {"beta": 10.0 ** (k - 4)}, "metrics": each} for k, each in enumerate(kept)]


def calibrated(name: str, known: float, bias: float, miss: float) -> Metrics:
    return {f"{name}_known": known, f"{name}_bias": bias, f"{name}_miss": miss}


def _attacked(i: int, epoch: int) -> Metrics:
    found = _bits(i, epoch)
    found |= {"i_xz_infonce_bits": min(8.0, (found["i_xz_bits"] or 0.0) / 2), "estimator_samples": 360}
    found |= {"balance_hidden-1": 0.4 / epoch}
    found |= {"gradient_norm_pred": 0.5 / epoch, "gradient_norm_info": 2.0 + 0.1 * i}
    found |= {"cosine_pred_info": (-0.45 if epoch == 1 else -0.02) + 0.01 * i}
    if epoch == 3:
        found |= calibrated("i_xz_bits", 16.0, 0.14, 0.19) | calibrated("i_xz_infonce_bits", 8.0, -1.3, 1.35)
        found |= {"robust_pgd": 0.5 * (found["accuracy"] or 0.0), "robust_images": 360}
    return found


def _tasks(i: int, epoch: int) -> Metrics:
    left, right = 0.5 + 0.03 * (i % 4) + 0.05 * epoch, 0.6 - 0.02 * (i % 5) + 0.05 * epoch
    return {
        "epoch": epoch,
        "seconds": 0.5 * epoch + 0.02 * i,
        **{f"loss_{task}": 2.0 - accuracy for task, accuracy in (("left", left), ("right", right))},
        "weight_left": 1.0,
        "weight_right": 0.5 + 0.1 * i,
        **{f"test_loss_{task}": 2.1 - accuracy for task, accuracy in (("left", left), ("right", right))},
        "accuracy_left": left,
        "accuracy_right": right,
        "accuracy": left,
        "mean_accuracy": (left + right) / 2,
        "worst_accuracy": min(left, right),
        "test_examples": 360,
    }


def _played(service: Running, spec: dict[str, Any], report: Callable[[int, int], Metrics], fails: int = -1) -> str:
    """Every trial reports three epochs and finishes, but for the one that `fails` in its second."""
    study = str(service.post("/api/studies", json=spec).json()["id"])
    trials = service.get(f"/api/studies/{study}/trials", limit=1000).json()["trials"]
    events: list[dict[str, Any]] = [{"uid": "go", "kind": "study_started"}]
    for i, trial in enumerate(trials):
        tid = trial["id"]
        started = {"uid": f"{tid}:started", "kind": "trial_started", "trial": tid, "host": "box"}
        if trial["arm"] == "tuned":
            started["config"] = {"weighting.beta": 10.0 ** (-5 + i / 3)}
        events.append(started)
        for epoch in range(1, 2 if i == fails else 4):
            metrics = report(i, epoch)
            lines = [f"epoch {epoch} of trial {i}"] if epoch == 1 else None
            sent = {"uid": f"{tid}:{epoch}", "kind": "report", "trial": tid, "metrics": metrics}
            points = _curve(i, epoch) if trial["arm"] == "all β" and not trial["verifies"] else None
            events.append({**sent, **({"log": lines} if lines else {}), **({"points": points} if points else {})})
        if i == fails:
            reason = "loss_pred became non-finite in epoch 2, step 1 (learning rate 0.001)"
            events.append({"uid": f"{tid}:failed", "kind": "trial_failed", "trial": tid, "reason": reason})
        else:
            events.append({"uid": f"{tid}:finished", "kind": "trial_finished", "trial": tid})
    events.append({"uid": "end", "kind": "study_finished", "reason": "1 of its trials failed" if fails >= 0 else None})
    answer = service.post(f"/api/studies/{study}/reports", json={"events": events})
    assert answer.json() == {"accepted": len(events), "duplicates": 0}, answer.text
    return study


def play_all(service: Running) -> dict[str, str]:
    """The study's id of each log."""
    return {
        "bottleneck": _played(service, BOTTLENECK, _attacked),
        "multitask": _played(service, MULTITASK, _tasks),
        "search": _played(service, SEARCH, _bits, fails=5),
        "curves": _played(service, CURVES, _bits),
    }
