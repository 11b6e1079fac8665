"""Parameters of the weightings. Each turns losses (and their Gram matrix) into weights: see workers/weightings."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from service.contract.methods.problems import TaskName
from service.contract.metrics import ALPHA_GAP
from service.contract.parameters.axes import Axis, Grid, Keyed, Scale, Span, check_bounds
from service.contract.parameters.strict import Strict
from service.contract.wording.numbers import setting

Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=1)]
Decay = Annotated[float, Field(ge=0, lt=1)]
Held = Annotated[float, Field(ge=1e-6, le=1e6)]  # by single precision, also as a divisor

MOST_POINTS = 256  # of one trial's curve
LEAST_BETA, LARGEST_BETA = 1e-30, 1e30  # well within single precision, also multiplied by a loss
WIDEST_RATIO = 1e30  # of two βs, which single precision holds too
CLOSEST_BETAS = 1e-5  # of the larger: single precision tells 1e-7 apart, and a range has many βs
MOST_VERIFIED = 64  # βs at which a curve is checked
MOST_DRAWS = 2**16  # βs of a batch: one for each example of the largest


class Fixed(Strict):
    """Constant weights: the manual grid. (1, β) for two terms, with β on the information in nats, summed over
    dimensions; or a weight for each term by its name; or a grid over all mixtures of the terms.
    """

    needs_gram: ClassVar[bool] = False

    name: Literal["fixed"] = "fixed"
    beta: Axis[NonNegative] | None = Field(1e-2, description="weight of the second of two terms: the information")
    weights: dict[str, Axis[NonNegative]] = Field(
        {}, max_length=64, description="weight of each term by its name, 1 where none is given"
    )
    simplex: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        None,
        description="a grid: every mixture of the terms in steps of 1/simplex, times the number of terms",
    )

    @model_validator(mode="before")
    @classmethod
    def _beta_gives_way(cls, value: Any) -> Any:
        """Its default does, where the weights are given otherwise."""
        if isinstance(value, dict) and (value.get("weights") or value.get("simplex")):
            return {"beta": None, **value}
        return value

    @model_validator(mode="after")
    def _says_it_once(self) -> Fixed:
        other = "weights" if self.weights else "simplex" if self.simplex else None
        if other and self.beta is not None:
            raise ValueError(f"give beta or {other}, not both")
        if not other and self.beta is None:
            raise ValueError("give beta, weights or simplex, got none of them")
        return self


class Uniform(Strict):
    """Every weight is 1, which for the bottleneck is β = 1."""

    needs_gram: ClassVar[bool] = False

    name: Literal["uniform"] = "uniform"


class Single(Strict):
    """One task alone: weight 1 on it and 0 on all others, so that the encoder learns from this task only while every
    head learns its own (problem multitask). What the tasks reach alone is what Δm is measured against.
    """

    needs_gram: ClassVar[bool] = False

    name: Literal["single"] = "single"
    task: Axis[TaskName] | None = Field(
        None, description="the task that the encoder learns; none: each task of the problem in turn, a trial for each"
    )


class TargetRate(Strict):
    """Holds the information term at a rate: β follows by dual ascent, so evenly spaced rates cover the front evenly."""

    needs_gram: ClassVar[bool] = False

    name: Literal["target-rate"] = "target-rate"
    rate_bits: Axis[Positive] = Field(10.0, description="bits to hold the information term at while training")
    speed: Axis[Positive] = Field(0.1, description="step η of log β, per batch and unit of relative error")
    beta: Axis[Positive] = Field(1e-2, description="β to start from")
    beta_min: Axis[Positive] = Field(1e-6, description="β never falls below this")
    beta_max: Axis[Positive] = Field(1e2, description="β never rises above this")


def middles(places: int, count: int) -> list[int]:
    """So many places of a curve: the middle of each of as many equal parts of it."""
    return [(2 * i + 1) * places // (2 * count) for i in range(count)]


class Betas(Keyed):
    """The βs that one training covers, and how they are drawn."""

    known = ("from", "to", "law")

    from_: Annotated[float, Field(ge=0)] = Field(1e-4, alias="from", description="least β")
    to: Positive = Field(1.0, description="largest β")
    law: Literal["log-uniform", "uniform"] = Field(
        "log-uniform", description="log-uniform: equal ratios of β are equally likely; uniform: equal differences"
    )

    @model_validator(mode="before")
    @classmethod
    def _is_no_axis(cls, value: Any) -> Any:
        axis = next((kind for kind in ("grid", "range", "choice") if isinstance(value, dict) and kind in value), None)
        if axis or isinstance(value, int | float):
            got = f"a {axis}" if axis else repr(value)
            raise ValueError(f"one training covers all β from one to another: give {{from, to}}, got {got}")
        return value

    @model_validator(mode="after")
    def _is_a_range(self) -> Betas:
        check_bounds(self.from_, self.to, self._scale)
        for name, value in (("from", self.from_), ("to", self.to)):
            if value and not LEAST_BETA <= value <= LARGEST_BETA:
                held = f"from {setting(LEAST_BETA)} to {setting(LARGEST_BETA)}"
                raise ValueError(f"{name}: networks hold βs {held} (and from 0 with law uniform), got {setting(value)}")
        if self.law == "log-uniform" and self.to / self.from_ > WIDEST_RATIO:
            widest = f"to must be at most {setting(WIDEST_RATIO)} times from"
            raise ValueError(f"{widest}, got {setting(self.from_)} and {setting(self.to)}")
        if self.to - self.from_ < CLOSEST_BETAS * self.to:
            raise ValueError(
                f"from and to are too close for a network to tell apart, got {self.from_!r} and {self.to!r}"
            )
        return self

    @property
    def _scale(self) -> Scale:
        return "log" if self.law == "log-uniform" else "linear"

    def spread(self, count: int) -> list[float]:
        """So many βs over the range, both ends included; of one the middle."""
        span = Span.model_validate({"from": self.from_, "to": self.to, "count": max(count, 3), "scale": self._scale})
        between = span.values()[1:-1]
        return between if count == 1 else [self.from_, *(between if count > 2 else []), self.to]

    def within(self, points: int, count: int) -> list[float]:
        """So many of the βs of a curve with `points`."""
        return [self.spread(points)[i] for i in middles(points, count)]

    def share(self, beta: float) -> float:
        """Where a β lies in the range, from 0 to 1 on its law; ValueError where it lies outside."""
        low, high = self.from_, self.to
        if not low <= beta <= high:
            trained = f"{setting(low)} to {setting(high)}"
            raise ValueError(f"beta must lie in the range that was trained, {trained}, got {beta!r}")
        if self.law == "uniform":
            return (beta - low) / (high - low)
        return math.log(beta / low) / math.log(high / low)


class Conditional(Strict):
    """One training, the whole front: the network is told β (of several tasks, a preference) with each example, drawn
    anew each time, and its layers are scaled and shifted by it. What it reports are points of a curve, one for each
    of `points` βs.
    """

    needs_gram: ClassVar[bool] = False

    name: Literal["conditional"] = "conditional"
    beta: Betas = Field(Betas(), description="the βs of a bottleneck: {from, to, law}")
    concentration: Axis[Held] = Field(
        1.0, description="of several tasks: preferences come from a Dirichlet distribution with this parameter"
    )
    draws: Annotated[int, Field(ge=1, le=MOST_DRAWS)] | None = Field(
        None,
        description="βs drawn for a batch, each for an equal share of its examples, one in each part of the range; at "
        "most one for each example; none: 16 (of several tasks: one preference for each example), but one where a "
        "term takes all examples of a batch together (rate nib, a transform, scalarization stch)",
    )
    scalarization: Literal["sum", "stch"] = Field(
        "sum", description="of several tasks: the weighted sum, or the smooth Tchebycheff form of the weighted losses"
    )
    mu: Axis[Held] = Field(0.2, description="temperature of stch; smaller is nearer to the largest loss")
    modulates: Literal["both", "encoder", "decoder"] = Field(
        "both",
        description="what is scaled and shifted: the layers of the encoder and its outputs, the code before the "
        "decoder, or both",
    )
    width: Annotated[int, Field(ge=0, le=1024)] = Field(
        0,
        description="hidden units of the networks that turn β into scales and shifts; 0: none, scales and shifts are "
        "quadratic in the place of β in its range",
    )
    points: Annotated[int, Field(ge=1, le=MOST_POINTS)] = Field(
        24,
        description="βs that are reported, spread over the range; of several tasks at most this many preferences, but "
        "each task alone always",
    )
    verify: Annotated[int, Field(ge=0, le=MOST_VERIFIED)] = Field(
        0,
        description="βs, or preferences, of the curve for which a network is trained separately besides, with each "
        "seed, to check the curve there; they count for no front and not for the arm's cost",
    )

    @property
    def verified_betas(self) -> list[float]:
        return self.beta.within(self.points, self.verify)


class Fvib(Strict):
    """Flexible VIB (Kudo et al. 2024): one network h(x) is drawn to the corners of a simplex, one for each class; code
    and decoder then follow for every β below 1 by a closed form, which is optimal for VIB up to the second order. For
    classes, rate vib and a linear decoder; the code has one dimension less than there are classes, whatever
    `model.latent` says.
    """

    needs_gram: ClassVar[bool] = False

    name: Literal["fvib"] = "fvib"
    beta: Betas = Field(Betas(), description="the βs of the curve: {from, to, law}, above 0 and at most 1")
    confidence: Share | None = Field(
        0.997,
        description="probability that the decoder gives a class whose corner the code hits, by the scale of its "
        "logits (the paper's confidence tuning); none: as the closed form has it, little with few classes",
    )
    points: Annotated[int, Field(ge=1, le=MOST_POINTS)] = Field(
        24, description="βs that are reported, spread over the range"
    )
    verify: Annotated[int, Field(ge=0, le=MOST_VERIFIED)] = Field(
        0,
        description="βs of the curve for which a network is trained separately besides, with each seed, to check the "
        "curve there; they count for no front and not for the arm's cost",
    )

    @property
    def verified_betas(self) -> list[float]:
        return self.beta.within(self.points, self.verify)


OfCurves = Conditional | Fvib  # one training of these covers many βs


class Mib(Strict):
    """Multi-objective IB: min-norm weights, a power, and the Smooth-IB term, each of which can be switched off.

    `info_scale` and `normalize` decide how far MIB compresses: they are its hidden β, so they are explicit here.
    """

    needs_gram: ClassVar[bool] = True

    name: Literal["mib"] = "mib"
    automatic: Axis[bool] = Field(True, description="min-norm weights; off: one half each (paper's 'w.o. aw')")
    power: Axis[Literal[1, 2]] = Field(2, description="exponent of the min-norm weights; 2 is the paper's sqrted")
    smoothing: Axis[bool] = Field(True, description="add the Smooth-IB term μ·logsumexp(ℓ/μ) (eq. 13)")
    mu: Axis[Positive] = Field(0.2, description="temperature μ of the Smooth-IB term")
    info_scale: Axis[Literal["sum", "dimension"] | Positive] = Field(
        "dimension",
        description="scale of the information term inside MIB: the sum, per latent dimension, or a number",
    )
    normalize: Axis[Literal["none", "l2", "loss", "loss+"]] = Field(
        "loss",
        description="divide each gradient by its length (l2), its loss, or both (loss+) before the min-norm step",
    )
    solver: Axis[Literal["exact", "frank-wolfe"]] = Field(
        "exact",
        description="exact: the min-norm point itself; frank-wolfe: near it, by the paper's steps 2/(t+2)",
    )


class Arml(Strict):
    """ARML (Shi et al. 2020): weights (1, α), where α brings Σ α_k g_k of K auxiliaries near the main term's gradient
    while Σα = K. With a single auxiliary, as for the bottleneck, α is 1.
    """

    needs_gram: ClassVar[bool] = True
    metrics: ClassVar[tuple[str, ...]] = (ALPHA_GAP,)

    name: Literal["arml"] = "arml"
    form: Axis[Literal["simplified", "two-stage"]] = Field(
        "simplified",
        description="simplified: α and the model move together; two-stage: first α with Langevin noise on the "
        "parameters, then the model with that α",
    )
    learning_rate: Axis[Positive] = Field(5e-2, description="step size of α; the paper's is between 5e-4 and 5e-2")
    every: Axis[Count] = Field(1, description="batches between two steps of α")
    average: Axis[bool] = Field(
        True,
        description="weigh by the mean of α, mostly over the last quarter of its steps, which settles; off: by α, "
        "as in the paper, which follows the noise of each batch",
    )
    normalize: Axis[Literal["none", "l2"]] = Field(
        "none", description="l2: α compares gradients of length one, so that short ones are not preferred"
    )
    gram: Axis[Literal["batch", "halves"]] = Field(
        "batch",
        description="batch: squared lengths of gradients include their noise; halves: products of gradients of the two "
        "halves of each batch, which on average do not, for one more backward pass per term",
    )
    gradient_average: Axis[Decay] = Field(
        0.0,
        description="α compares averages over past batches with this decay, less noisy; 0: the batch's own gradients",
    )
    stage: Axis[Share] = Field(0.5, description="two-stage: share of all steps in which α moves")
    noise: Axis[NonNegative] = Field(
        1e-6,
        description="two-stage: ε of the noise N(0, 2ε_t), ε_t = ε (1 + t)^−0.55; the posterior of N examples has the "
        "learning rate over N",
    )

    @model_validator(mode="after")
    def _grids_are_used(self) -> Arml:
        for field in ("stage", "noise"):
            if self.form == "simplified" and isinstance(getattr(self, field), Grid):
                raise ValueError(f"{field} has a grid but form 'simplified' does not use it")
        return self

    @model_validator(mode="after")
    def _lengths_are_squares(self) -> Arml:
        if self.gram == "halves" and self.normalize == "l2":
            raise ValueError("gram 'halves' may have negative squared lengths, so normalize must be 'none', got 'l2'")
        return self


class Mgb(Strict):
    """MGB: the main term's gradient, changed as little as possible so that it conflicts with no auxiliary."""

    needs_gram: ClassVar[bool] = True

    name: Literal["mgb"] = "mgb"


class Blending(Strict):
    """Gradient blending (Wang et al. 2020): each epoch w ∝ G/O², generalisation over squared overfitting of each term,
    Σw = 1. Learns from the validation split, so it needs `data.validation_fraction`.
    """

    needs_gram: ClassVar[bool] = False

    name: Literal["blending"] = "blending"
    window: Axis[Annotated[int, Field(ge=2, le=1000)]] = Field(5, description="epochs that G and O are measured over")
    warm_up: Axis[Annotated[int, Field(ge=0)]] = Field(5, description="epochs of equal weights at first, at least two")
    smoothing: Axis[Decay] = Field(0.5, description="decay of the average that smooths the loss curves; 0: none")
    tolerance: Axis[Annotated[float, Field(ge=0, le=1)]] = Field(
        0.3,
        description="overfitting below this share of generalisation counts as this share: terms that do not overfit "
        "have equal weights; 0: the paper's formula, which then weighs by noise",
    )
    floor: Axis[Annotated[float, Field(ge=0, le=1)]] = Field(
        0.05, description="least weight of a term, as a share of an equal weight: a term at 0 could never come back"
    )


class Config(Strict):
    """ConFIG (Liu et al. 2025): the direction whose cosine with every gradient is the same, as long as the gradients'
    projections on it together; it conflicts with none.
    """

    needs_gram: ClassVar[bool] = True

    name: Literal["config"] = "config"
    preference: Axis[Literal["equal"] | Share] = Field(
        "equal", description="share of the second term (the information) in the cosines"
    )


class DbMtl(Strict):
    """DB-MTL (Lin et al. 2023): averages of the gradients of log ℓ, all made as long as the longest of them."""

    needs_gram: ClassVar[bool] = True

    name: Literal["db-mtl"] = "db-mtl"
    decay: Axis[Decay] = Field(0.9, description="β of the average over past batches; 0: each batch's own gradients")
    fading: Axis[NonNegative] = Field(
        0.0, description="σ: in step t the decay is β/t^σ, so that late batches speak for themselves; 0: constant"
    )


class Go4align(Strict):
    """GO4Align (Shen et al. 2024): terms that learn alike form groups, and each has the mean weight of its group.

    A term's own weight is p Σℓ/ℓ, p ← p exp(−η ℓ) normalised; the groups are the best k-means of these weights.
    """

    needs_gram: ClassVar[bool] = False

    name: Literal["go4align"] = "go4align"
    groups: Axis[Annotated[int, Field(ge=1, le=64)]] = Field(2, description="groups, at most as many as terms")
    step_size: Axis[Positive] = Field(1e-4, description="step η of p, per batch and unit of loss")


class Tchebycheff(Strict):
    """The largest weighted loss alone (Bowman 1976): weight λ on it and 0 on the others; reaches non-convex fronts."""

    needs_gram: ClassVar[bool] = False

    name: Literal["tchebycheff"] = "tchebycheff"
    preference: Axis[Literal["equal"] | Share] = Field("equal", description="λ of the second term (the information)")


class _Gramian(Strict):
    """A weighting of torchjd that reads the Gram matrix."""

    needs_gram: ClassVar[bool] = True
    adapter: ClassVar[tuple[str, str]] = ("torchjd_adapter", "Gramian")


class _Halves(Strict):
    """A weighting of torchjd that reads the products of gradients of two independent halves of the batch."""

    needs_gram: ClassVar[bool] = True
    adapter: ClassVar[tuple[str, str]] = ("torchjd_adapter", "Halves")


class _Jacobian(Strict):
    """A weighting of torchjd that reads the gradients themselves."""

    needs_gram: ClassVar[bool] = True
    adapter: ClassVar[tuple[str, str]] = ("torchjd_adapter", "Jacobian")


class _Scalarizer(Strict):
    """A method of torchjd that reads the losses alone."""

    needs_gram: ClassVar[bool] = False
    adapter: ClassVar[tuple[str, str]] = ("torchjd_adapter", "Scalarizer")


class Mgda(_Gramian):
    """MGDA (Désidéri 2012; Sener & Koltun 2018): the min-norm point of the gradients' hull."""

    name: Literal["mgda"] = "mgda"
    epsilon: Positive = Field(1e-3, description="Frank–Wolfe stops at a step shorter than this")
    max_iters: Count = Field(100, description="Frank–Wolfe stops after this many steps")


class Upgrad(_Gramian):
    """UPGrad (Quinton & Rey 2024): each gradient projected so that it conflicts with none, then their mean."""

    name: Literal["upgrad"] = "upgrad"
    preference: Axis[Literal["equal"] | Share] = Field(
        "equal", description="share of the second term (the information) in the mean"
    )


class Pcgrad(_Gramian):
    """PCGrad (Yu et al. 2020): each gradient loses what conflicts with the others, in random order, then their sum."""

    name: Literal["pcgrad"] = "pcgrad"


class Cagrad(_Gramian):
    """CAGrad (Liu et al. 2021): the best worst-case descent within a ball around the mean gradient."""

    name: Literal["cagrad"] = "cagrad"
    c: Axis[NonNegative] = Field(0.5, description="radius of the ball, in lengths of the mean gradient")
    norm_eps: Positive = Field(1e-4, description="a gradient shorter than this counts as zero")


class NashMtl(_Gramian):
    """Nash-MTL (Navon et al. 2022): the bargaining solution Gα = 1/α, by a sequence of convex problems."""

    name: Literal["nash-mtl"] = "nash-mtl"
    max_norm: Axis[NonNegative] = Field(1.0, description="longest update; 0: any length")
    update_weights_every: Axis[Count] = Field(10, description="batches between two solutions, each of which is slow")
    optim_niter: Count = Field(20, description="convex problems per solution, at most")


class ImtlG(_Gramian):
    """IMTL-G (Liu et al. 2021): the update projects equally on every unit gradient; weights may be negative."""

    name: Literal["imtl-g"] = "imtl-g"


class AlignedMtl(_Gramian):
    """Aligned-MTL (Senushkin et al. 2023): the gradients are made orthogonal and equally long, then averaged."""

    name: Literal["aligned-mtl"] = "aligned-mtl"
    preference: Axis[Literal["equal"] | Share] = Field(
        "equal", description="share of the second term (the information) in the mean"
    )
    scale_mode: Axis[Literal["min", "median", "rmse"]] = Field(
        "min", description="length of the aligned gradients: smallest, median or mean eigenvalue"
    )


class Fairgrad(_Gramian):
    """FairGrad (Ban & Ji 2024): α-fair progress, Gw = w^(−1/α)."""

    name: Literal["fairgrad"] = "fairgrad"
    alpha: Axis[NonNegative] = Field(1.0, description="α: 0 equal weights, 1 proportional (Nash), large: max-min")
    max_iters: Count = Field(200, description="evaluations of the solver, at most")


class Dualproj(_Gramian):
    """DualProj (Lopez-Paz & Ranzato 2017): the mean gradient, moved as little as possible so that it conflicts with
    none.
    """

    name: Literal["dualproj"] = "dualproj"
    preference: Axis[Literal["equal"] | Share] = Field(
        "equal", description="share of the second term (the information) in the mean"
    )


class Gradvac(_Gramian):
    """GradVac (Wang et al. 2021): each gradient is turned until its cosines with the others are what they were on
    average; then their sum.
    """

    name: Literal["gradvac"] = "gradvac"
    beta: Axis[Annotated[float, Field(ge=0, le=1)]] = Field(
        0.5, description="share of this batch's cosines in the averages that are aimed at"
    )


class Pcd(_Gramian):
    """PCD (Varam & AlHajri 2026): the main gradient, moved as little as possible so that every other term gets a share
    τ of the progress that its own gradient would give it.
    """

    name: Literal["pcd"] = "pcd"
    tau: Axis[Annotated[float, Field(ge=0, le=1)]] = Field(
        0.02, description="share τ of their own progress that all terms but the first are sure of"
    )
    decay: Axis[Decay] = Field(0.999, description="decay of the mean squared lengths by which gradients are compared")


class CrMogm(_Gramian):
    """CR-MOGM (Zhou et al. 2022): the weights of another method, averaged over past batches."""

    name: Literal["cr-mogm"] = "cr-mogm"
    method: Axis[Literal["mgda", "pcgrad", "cagrad", "upgrad"]] = Field(
        "mgda", description="whose weights are averaged, with its own defaults"
    )
    smoothing: Axis[Decay] = Field(0.9, description="decay of the average; 0: the method itself")


class Modo(_Halves):
    """MoDo (Chen et al. 2024): weights λ that follow the min-norm point by one step per batch, along ABᵀλ + ρλ, where A
    and B are the gradients of two independent halves of the batch.
    """

    name: Literal["modo"] = "modo"
    learning_rate: Axis[Positive] = Field(0.1, description="step size γ of the weights")
    rho: Axis[NonNegative] = Field(0.1, description="ρ: pull towards equal weights")


class Sdmgrad(_Halves):
    """SDMGrad (Xiao et al. 2023): min-norm weights near a preferred direction, from the products of gradients of two
    independent halves of the batch.
    """

    name: Literal["sdmgrad"] = "sdmgrad"
    pull: Axis[NonNegative] = Field(0.3, description="λ: how strongly the update is drawn to the preferred direction")
    preference: Axis[Literal["equal"] | Share] = Field(
        "equal", description="share of the second term (the information) in the preferred direction"
    )
    learning_rate: Axis[Positive] = Field(10.0, description="step size of the weights in each batch")
    momentum: Axis[Decay] = Field(0.5, description="momentum of these steps")
    steps: Axis[Annotated[int, Field(ge=1, le=1000)]] = Field(20, description="steps of the weights per batch")


class ExcessMtl(_Jacobian):
    """ExcessMTL (He et al. 2024): weights grow with each term's excess risk, gᵀH⁻¹g with H from all squared gradients
    so far, relative to that of the warm-up.
    """

    name: Literal["excess-mtl"] = "excess-mtl"
    step_size: Axis[Positive] = Field(1.0, description="step size η of the log weights")
    warm_up: Axis[Annotated[int, Field(ge=0)]] = Field(
        3,
        description="epochs of equal weights at first, whose mean excess risk the later ones are divided by; 0: that "
        "of the first batch, as in the authors' program",
    )


class Uw(_Scalarizer):
    """Uncertainty weighting (Kendall et al. 2018): w = exp(−s)/2 with s learned from Σ exp(−s) ℓ/2 + s/2."""

    name: Literal["uw"] = "uw"
    learning_rate: Axis[Positive] = Field(0.025, description="learning rate (Adam) of the log variances s")


class Dwa(_Scalarizer):
    """Dynamic weight average (Liu et al. 2019): softmax of each term's loss over the one an epoch before."""

    name: Literal["dwa"] = "dwa"
    temperature: Axis[Positive] = Field(2.0, description="softmax temperature; larger is nearer to equal weights")


class Famo(_Scalarizer):
    """FAMO (Liu et al. 2023): descends log losses, with weights that follow which loss falls slowest."""

    name: Literal["famo"] = "famo"
    learning_rate: Axis[Positive] = Field(0.025, description="learning rate (Adam) of the logits")
    weight_decay: Axis[NonNegative] = Field(1e-3, description="decay of the logits towards equal weights")


class ImtlL(_Scalarizer):
    """IMTL-L (Liu et al. 2021): w = exp(s) with s learned from Σ exp(s) ℓ − s, which brings every w ℓ to 1."""

    name: Literal["imtl-l"] = "imtl-l"
    learning_rate: Axis[Positive] = Field(0.025, description="learning rate (Adam) of the log scales s")


class Stch(_Scalarizer):
    """Smooth Tchebycheff (Lin et al. 2024): μ·logsumexp(λℓ/μ), a smooth largest loss; reaches non-convex fronts."""

    name: Literal["stch"] = "stch"
    mu: Axis[Positive] = Field(0.2, description="temperature μ; smaller is nearer to the largest loss")
    preference: Axis[Literal["equal"] | Share] = Field("equal", description="λ of the second term (the information)")


class GeometricMean(_Scalarizer):
    """Geometric mean L of the losses (Chennupati et al. 2019): w = L/(nℓ), whatever their scales; losses above 0."""

    name: Literal["geometric-mean"] = "geometric-mean"


class Random(_Scalarizer):
    """Random weights (Lin et al. 2022): softmax of standard normal numbers, drawn anew for each batch."""

    name: Literal["random"] = "random"


class Cosmos(_Scalarizer):
    """COSMOS's objective (Ruchte & Grabocka 2021): Σ rℓ − λ cos(r, ℓ), which draws the losses to the ray of the
    preference r.
    """

    name: Literal["cosmos"] = "cosmos"
    penalty: Axis[NonNegative] = Field(1.0, description="λ; 0: the weighted sum")
    preference: Axis[Literal["equal"] | Share] = Field(
        "equal", description="r of the second term (the information): its weight in the sum, its part of the ray"
    )


class Pbi(_Scalarizer):
    """Penalty-based boundary intersection (Zhang & Li 2007): the losses' length along the preference and θ times their
    distance from it.
    """

    name: Literal["pbi"] = "pbi"
    theta: Axis[NonNegative] = Field(5.0, description="penalty θ of the distance; 0: the length alone")
    preference: Axis[Literal["equal"] | Share] = Field(
        "equal",
        description="part of the second term (the information) in the preferred direction: with less, its loss is "
        "pressed further down",
    )


BY_HAND = (
    "fixed",
    "uniform",
    "single",
    "target-rate",
)  # somebody chose what they weigh; others find it, or train for all
CONSTANT = ("fixed", "uniform", "single")  # their weights stay as they are written
REFERENCES = ("single",)  # by hand, but models of their own for each task: others are measured against them

Weighting = Annotated[
    Fixed
    | Uniform
    | Single
    | TargetRate
    | Conditional
    | Fvib
    | Mib
    | Arml
    | Mgb
    | Blending
    | Config
    | DbMtl
    | Go4align
    | Tchebycheff
    | Mgda
    | Upgrad
    | Pcgrad
    | Cagrad
    | NashMtl
    | ImtlG
    | AlignedMtl
    | Fairgrad
    | Dualproj
    | Gradvac
    | Pcd
    | CrMogm
    | Modo
    | Sdmgrad
    | ExcessMtl
    | Uw
    | Dwa
    | Famo
    | ImtlL
    | Stch
    | GeometricMean
    | Random
    | Cosmos
    | Pbi,
    Field(discriminator="name"),
]
