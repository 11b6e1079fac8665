"""Latent maps: the codes of test examples in the plane, clean and attacked."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from service.contract.attacks import metric_of
from service.contract.study import Evaluation, LatentMap
from workers import attacks
from workers.attacks.loop import Noise, Target, perturb
from workers.information import ROWS
from workers.problems import Split

log = logging.getLogger(__name__)

Floats = NDArray[np.float64]


class Seen(NamedTuple):
    """What all members make of the same examples."""

    codes: Tensor  # [K, N, latent], the means of q(z|x)
    predicted: Tensor | None  # [K, N], read off the mean; none where labels are no classes


def latent_maps(
    target: Target, split: Split, evaluation: Evaluation, spec: LatentMap, members: Sequence[int]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The map of each of these members, ready for JSON; one t-SNE of clean and attacked codes together."""
    x, y = split.data.x_test[: spec.points], split.data.y_test[: spec.points]
    is_class = not y.is_floating_point()
    clean = _seen(target, x, is_class)
    attack = evaluation.attacks[0] if evaluation.attacks else None
    attacked = _seen(target, _attacked(target, split, evaluation, x, y), is_class) if attack else None
    for k in members:
        codes = torch.cat([seen.codes[k] for seen in (clean, attacked) if seen]).double().cpu().numpy()
        if not np.isfinite(codes).all():
            log.warning("member %d has no latent map: its codes are not finite", k)
            continue
        places, how = plane(codes, spec.perplexity)
        yield (
            k,
            {
                "points": len(x),
                "labels": y.tolist() if is_class else None,
                "predicted": _listed(clean, k),
                "attack": metric_of(attack).removeprefix("robust_") if attack else None,
                "clean": _rounded(places[: len(x)]),
                "attacked": _rounded(places[len(x) :]) if attacked else None,
                "attacked_predicted": _listed(attacked, k),
                "latent": codes.shape[1],
                **how,
            },
        )


def plane(codes: Floats, perplexity: float) -> tuple[Floats, dict[str, Any]]:
    """Places [n, 2] of codes [n, latent], and how they were found. Two dimensions or one are shown as they are."""
    count, latent = codes.shape
    if latent <= 2:
        places = np.pad(codes, ((0, 0), (0, 2 - latent)))
        return places, {"method": "codes", "perplexity": None, "kl_divergence": None}
    from sklearn.manifold import TSNE  # takes seconds to import, and only maps need it
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    perplexity = min(perplexity, (count - 1) / 3)
    # The same code everywhere has no principal axes to start from.
    start = "pca" if np.ptp(codes, axis=0).max() > 0 else "random"
    with threadpool_limits(torch.get_num_threads()):
        found = TSNE(perplexity=perplexity, init=start, random_state=0)
        places = found.fit_transform(codes)
    how = {"method": "t-SNE", "perplexity": perplexity, "kl_divergence": float(found.kl_divergence_)}
    return places.astype(np.float64), how


@torch.no_grad()
def _seen(target: Target, x: Tensor, is_class: bool) -> Seen:
    """Of inputs [N, F], the same for all members, or [K, N, F]."""
    model, problem = target
    members = model.encoder.flat.shape[0]
    everyone = x.expand(members, -1, -1)
    means = [problem.code(model.encode(rows)).mean for rows in torch.split(everyone, ROWS, dim=1)]
    codes = torch.cat(means, dim=1)
    return Seen(codes, model.decode(codes).argmax(-1) if is_class else None)


def _attacked(target: Target, split: Split, evaluation: Evaluation, x: Tensor, y: Tensor) -> Tensor:
    """Each member's own attacked images: [K, N, F]."""
    attack, members = attacks.build(evaluation.attacks[0]), split.seeds.members
    parts = []
    for start in range(0, len(x), ROWS):
        rows = slice(start, start + ROWS)
        x0, ys = x[rows].expand(members, -1, -1), y[rows].expand(members, -1)
        parts.append(perturb(attack, target, x0, ys, Noise(split.seeds, f"attack/{start}")))
    return torch.cat(parts, dim=1)


def _listed(seen: Seen | None, member: int) -> list[int] | None:
    return None if seen is None or seen.predicted is None else seen.predicted[member].tolist()


def _rounded(places: Floats) -> list[list[float]]:
    """Four digits are more than a pixel shows."""
    return [[float(f"{value:.4g}") for value in place] for place in places]
