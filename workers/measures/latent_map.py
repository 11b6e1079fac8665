"""Latent maps: the codes of test examples in the plane, clean and attacked."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from service.contract.methods.attacks import Attack, label_of
from service.contract.study.study import Evaluation, LatentMap
from service.contract.wire.latent_map import MapFile, Place
from workers.data.split import Part
from workers.measures import attacks
from workers.measures.attacks.steps.ascent import Noise, Target, perturb
from workers.measures.information import ROWS

log = logging.getLogger(__name__)

Floats = NDArray[np.float64]


class Seen(NamedTuple):
    """What all members make of the same examples."""

    codes: Tensor  # [K, N, latent], the means of q(z|x)
    predicted: Tensor | None  # [K, N], read off the mean; none where labels are no classes


def latent_maps(
    target: Target, test: Part, evaluation: Evaluation, spec: LatentMap, members: Sequence[int]
) -> Iterator[tuple[int, MapFile]]:
    """The map of each of these members; one t-SNE of clean and attacked codes together."""
    part = test.some(slice(spec.points))
    x, y = part.block(slice(None))
    is_class = not y.is_floating_point()
    clean = _seen(target, x, is_class)
    attack = spec.attack_of(evaluation.attacks)
    attacked = _seen(target, _attacked(target, part, attack), is_class) if attack else None
    for k in members:
        codes = torch.cat([seen.codes[k] for seen in (clean, attacked) if seen]).double().cpu().numpy()
        if not np.isfinite(codes).all():
            log.warning("member %d has no latent map: its codes are not finite", k)
            continue
        drawn = plane(codes, spec.perplexity)
        yield (
            k,
            MapFile(
                points=len(part),
                labels=y[k].tolist() if is_class else None,
                predicted=_listed(clean, k),
                attack=label_of(attack) if attack else None,
                clean=_rounded(drawn.places[: len(part)]),
                attacked=_rounded(drawn.places[len(part) :]) if attacked else None,
                attacked_predicted=_listed(attacked, k),
                latent=codes.shape[1],
                method=drawn.method,
                perplexity=drawn.perplexity,
                kl_divergence=drawn.kl_divergence,
            ),
        )


class Plane(NamedTuple):
    """Places [n, 2] of codes, and how they came there."""

    places: Floats
    method: Literal["codes", "t-SNE"]
    perplexity: float | None = None
    kl_divergence: float | None = None


def plane(codes: Floats, perplexity: float) -> Plane:
    """Of codes [n, latent]; two dimensions or one are shown as they are."""
    count, latent = codes.shape
    if latent <= 2:
        return Plane(np.pad(codes, ((0, 0), (0, 2 - latent))), "codes")
    from sklearn.manifold import TSNE  # takes seconds to import, and only maps need it
    from threadpoolctl import threadpool_limits

    perplexity = min(perplexity, (count - 1) / 3)
    # The same code everywhere has no principal axes to start from.
    start = "pca" if np.ptp(codes, axis=0).max() > 0 else "random"
    with threadpool_limits(torch.get_num_threads()):
        tsne = TSNE(perplexity=perplexity, init=start, random_state=0)
        places = tsne.fit_transform(codes).astype(np.float64)
    return Plane(places, "t-SNE", perplexity, float(tsne.kl_divergence_))


@torch.no_grad()
def _seen(target: Target, x: Tensor, is_class: bool) -> Seen:
    """Of inputs [K, N, F]."""
    model, problem = target
    means = [problem.code(model.encode(rows)).mean for rows in torch.split(x, ROWS, dim=1)]
    codes = torch.cat(means, dim=1)
    return Seen(codes, model.decode(codes).argmax(-1) if is_class else None)


def _attacked(target: Target, part: Part, spec: Attack) -> Tensor:
    """Each member's own attacked images: [K, N, F]."""
    attack, parts = attacks.build(spec), []
    for start in range(0, len(part), ROWS):
        x0, ys = part.block(slice(start, start + ROWS))
        parts.append(perturb(attack, target, x0, ys, Noise(part.seeds, f"attack/{start}")))
    return torch.cat(parts, dim=1)


def _listed(seen: Seen | None, member: int) -> list[int] | None:
    return None if seen is None or seen.predicted is None else seen.predicted[member].tolist()


def _rounded(places: Floats) -> list[Place]:
    """Four digits are more than a pixel shows."""
    return [(float(f"{x:.4g}"), float(f"{y:.4g}")) for x, y in places]
