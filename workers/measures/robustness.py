"""Accuracy under attack, of every member at once."""

from __future__ import annotations

import torch
from torch import Tensor

from service.contract.methods.attacks import metric_of
from service.contract.metrics import ROBUST_IMAGES
from service.contract.study.study import Evaluation
from workers.data.random_streams import Seeds
from workers.data.split import Part
from workers.measures import attacks
from workers.measures.attacks.steps.ascent import Attack, Noise, Target, perturb
from workers.measures.coding import Columns
from workers.measures.information import ROWS


def robustness(target: Target, part: Part, stream: str, evaluation: Evaluation) -> Columns:
    """`robust_<label>` of every listed attack on the first images of a split, and how many they are."""
    first = part.some(slice(evaluation.attack_images))
    robust = {
        metric_of(spec): accuracy(attacks.build(spec), target, first, stream, evaluation.samples).tolist()
        for spec in evaluation.attacks
    }
    return {**robust, ROBUST_IMAGES: [float(len(first))] * part.seeds.members}


def accuracy(attack: Attack, target: Target, part: Part, stream: str, samples: int) -> Tensor:
    """Share of images that a member still gets right: [K]; not a number where its predictions are none."""
    seeds = part.seeds
    hits = torch.zeros(seeds.members, device=seeds.device, dtype=torch.float64)
    for start in range(0, len(part), ROWS):
        x0, ys = part.block(slice(start, start + ROWS))
        attacked = perturb(attack, target, x0, ys, Noise(seeds, f"attack/{start}"))
        p = _prediction(target, attacked, seeds, samples, stream, start)
        right = (p.argmax(-1) == ys).double()
        hits += torch.where(p.isfinite().all(-1), right, torch.nan).sum(1)
    return hits / len(part)


@torch.no_grad()
def _prediction(target: Target, x: Tensor, seeds: Seeds, samples: int, stream: str, start: int) -> Tensor:
    """Softmax averaged over latent samples [K, B, classes], with the noise of the clean accuracy, not the attack's."""
    model, problem = target
    s = model.encode(x)
    mean = torch.zeros((), device=x.device)
    for j in range(samples):
        noise = Noise(seeds, f"{stream}/{j}").normal(str(start), x.shape[1], problem.latent)
        mean = mean + problem.logits(model, s, noise).softmax(-1) / samples
    return mean
