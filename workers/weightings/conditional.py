"""One network for every trade-off: loss-conditional training ("You Only Train Once", Dosovitskiy & Djolonga 2020)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from service.contract.methods.weightings import MOST_DRAWS
from service.contract.methods.weightings import Conditional as Spec
from service.contract.study.simplex import finest, mixtures
from service.contract.wire.events import Where
from workers.data.random_streams import Seeds
from workers.models.components.modulation import Told
from workers.weightings import Place, Setting, Weighting

DRAWS = 16  # βs of a batch, where each example may have its own: more cost more time
FEW = 0.1  # a concentration below which gammas are no longer numbers of single precision


def told_by(spec: Spec, by_beta: bool, terms: int) -> Told:
    """What a model must take in: β, or a preference for each term."""
    return Told(1 if by_beta else terms, spec.width, spec.modulates != "decoder", spec.modulates != "encoder")


def at_beta(spec: Spec, beta: float) -> list[float]:
    """What a model is told at a β."""
    return [2 * spec.beta.share(beta) - 1]


def at_preference(terms: Sequence[str], preference: Mapping[str, float]) -> list[float]:
    """What a model is told at a preference, a share for each term."""
    if preference.keys() != set(terms):
        raise ValueError(f"preference must have a share of each of {', '.join(terms)}, got {', '.join(preference)}")
    shares = [preference[term] for term in terms]
    if not min(shares) >= 0 or not math.isclose(sum(shares), 1, abs_tol=1e-6):
        raise ValueError(f"the shares of preference must be 0 or more and sum to 1, got {dict(preference)}")
    return [2 * share - 1 for share in shares]


def extreme(alpha: Tensor, generator: torch.Generator) -> Tensor:
    """Preferences of a Dirichlet distribution with small α, whose gammas underflow: Γ(α) is Γ(α+1)·U^{1/α}, in logs."""
    log_gamma = torch._standard_gamma(alpha + 1, generator=generator).log()
    u = torch.rand(alpha.shape, generator=generator).clamp_min(torch.finfo(alpha.dtype).tiny)
    return torch.softmax(log_gamma + u.log() / alpha, dim=-1)


class Conditional(Weighting):
    """With each example, or batch, a β or a preference p is drawn, the model is told of it, and its loss is weighted by
    it: w = (1, β), or w = n p. So the expected loss is that of every trade-off at once.

    `stch` descends μ·logsumexp(wℓ/μ) instead of Σ wℓ, whose weights are w softmax(wℓ/μ).
    """

    needs_gram = False

    def __init__(self, params: Sequence[Spec], setting: Setting) -> None:
        self._spec, self._setting = params[0], setting
        self._seeds = Seeds(setting.seeds, setting.device)
        self._betas = [p.beta for p in params]
        self._ends = torch.tensor([[b.from_, b.to] for b in self._betas], device=setting.device)  # [m, 2]
        self._mu = torch.tensor([[p.mu] for p in params], device=setting.device)
        self._drawn = torch.empty(0, device=setting.device)
        self._weights = torch.ones((), device=setting.device)  # of the batch that was drawn last: [m, B or 1, n]
        together = not setting.separable or self._spec.scalarization == "stch"
        self._draws = self._spec.draws or (1 if together else DRAWS if setting.by_beta else MOST_DRAWS)

    def told(self, epoch: int, step: int, rows: int) -> Tensor:
        if step == 0:
            self._drawn = self._draw(f"condition/{epoch}", min(self._draws, rows))
        shares = next(g for g in range(self._drawn.shape[2], 0, -1) if rows % g == 0)
        drawn, each = self._drawn[:, step, :shares], rows // shares
        if not self._setting.by_beta:  # tasks read rows of a batch, so each row is told its own
            return self._at_preferences(drawn.repeat_interleave(each, 1) if shares > 1 else drawn)
        told = self._at_betas(drawn)
        self._weights = self._weights.repeat_interleave(each, 1) if each > 1 else self._weights
        return told

    def _draw(self, stream: str, draws: int) -> Tensor:
        """Shares of the range of β [m, steps, draws], or preferences [m, steps, draws, n], of all batches of an epoch.

        The first batch is as large as any. A β is drawn from each of so many equal parts of the range, in random order.
        """
        shape = (self._setting.batches, draws)

        def parts(generator: torch.Generator) -> Tensor:
            order = torch.rand(shape, generator=generator).argsort(1)
            return (order + torch.rand(shape, generator=generator)) / draws

        if self._setting.by_beta:
            return self._seeds.spread(self._seeds.draw(stream, parts))
        alpha = torch.full((*shape, len(self._setting.terms)), self._spec.concentration)
        if self._spec.concentration < FEW:
            return self._seeds.spread(self._seeds.draw(stream, lambda g: extreme(alpha, g)))
        gamma = self._seeds.draw(stream, lambda g: torch._standard_gamma(alpha, generator=g))
        return self._seeds.spread(gamma / gamma.sum(-1, keepdim=True))

    def _at_betas(self, u: Tensor) -> Tensor:
        """What is told at shares u [m, B] of the range of β; the weights follow."""
        low, high = self._ends[:, :1], self._ends[:, 1:]
        beta = low + u * (high - low) if self._spec.beta.law == "uniform" else low * (high / low) ** u
        self._weights = torch.stack([torch.ones_like(beta), beta], dim=-1)
        return (2 * u - 1)[..., None]

    def _at_preferences(self, p: Tensor) -> Tensor:
        """What is told at preferences p [m, B, n]; the weights follow."""
        self._weights = p * p.shape[-1]
        return 2 * p - 1

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        w = self._weights.mean(1)  # [m, n]
        return w * torch.softmax(w * losses / self._mu, dim=1) if self._spec.scalarization == "stch" else w

    def by_example(self) -> Tensor | None:
        return None if self._draws == 1 else self._weights

    def middle(self) -> Tensor:
        """The middle of the range of β, or equal weights."""
        members, device = len(self._betas), self._setting.device
        if self._setting.by_beta:
            return self._at_betas(torch.full((members, 1), 0.5, device=device))
        n = len(self._setting.terms)
        return self._at_preferences(torch.full((members, 1, n), 1 / n, device=device))

    def places(self) -> list[Place]:
        """Evenly along the range of β from its least, or over all preferences."""
        if self._setting.by_beta:
            spreads = [betas.spread(self._spec.points) for betas in self._betas]
            return [self._place(i, spreads) for i in range(self._spec.points)]
        members, terms = len(self._betas), self._setting.terms
        n = len(terms)
        spread = mixtures(terms, finest(n, self._spec.points))
        shares = [{term: weight / n for term, weight in each.items()} for each in spread]
        told = (torch.tensor([[list(p.values())]] * members, device=self._setting.device) for p in shares)
        return [Place([p] * members, self._at_preferences(t)) for p, t in zip(shares, told, strict=True)]

    def _place(self, i: int, spreads: Sequence[Sequence[float]]) -> Place:
        where: list[Where] = [{"beta": betas[i]} for betas in spreads]
        share = i / (self._spec.points - 1) if self._spec.points > 1 else 0.5
        return Place(where, self._at_betas(torch.full((len(self._betas), 1), share, device=self._setting.device)))
