"""Accuracy under attack, of every member at once."""

from __future__ import annotations

import torch
from torch import Tensor

from service.contract.methods.attacks import metric_of
from service.contract.metrics import ROBUST_IMAGES
from service.contract.study.study import Evaluation
from workers.data.random_streams import Seeds
from workers.measures import attacks
from workers.measures.attacks.ascent import Attack, Noise, Target, perturb
from workers.measures.coding import Columns
from workers.measures.information import ROWS


def robustness(target: Target, x: Tensor, y: Tensor, seeds: Seeds, evaluation: Evaluation) -> Columns:
    """`robust_<label>` of every listed attack on the first images of x [N, F], y [N], and how many they are."""
    x, y = x[: evaluation.attack_images], y[: evaluation.attack_images]
    robust = {
        metric_of(spec): accuracy(attacks.build(spec), target, x, y, seeds, evaluation.samples).tolist()
        for spec in evaluation.attacks
    }
    return {**robust, ROBUST_IMAGES: [float(len(x))] * seeds.members}


def accuracy(attack: Attack, target: Target, x: Tensor, y: Tensor, seeds: Seeds, samples: int) -> Tensor:
    """Share of images that a member still gets right: [K]; not a number where its predictions are none."""
    hits = torch.zeros(seeds.members, device=x.device, dtype=torch.float64)
    for start in range(0, len(x), ROWS):
        x0 = x[start : start + ROWS].expand(seeds.members, -1, -1)
        ys = y[start : start + ROWS].expand(seeds.members, -1)
        attacked = perturb(attack, target, x0, ys, Noise(seeds, f"attack/{start}"))
        p = _prediction(target, attacked, seeds, samples, start)
        right = (p.argmax(-1) == ys).double()
        hits += torch.where(p.isfinite().all(-1), right, torch.nan).sum(1)
    return hits / len(x)


@torch.no_grad()
def _prediction(target: Target, x: Tensor, seeds: Seeds, samples: int, start: int) -> Tensor:
    """Softmax averaged over latent samples [K, B, classes], with the noise of the clean accuracy, not the attack's."""
    model, problem = target
    s = model.encode(x)
    mean = torch.zeros((), device=x.device)
    for j in range(samples):
        noise = Noise(seeds, f"test/{j}").normal(str(start), x.shape[1], problem.latent)
        mean = mean + problem.logits(model, s, noise).softmax(-1) / samples
    return mean
