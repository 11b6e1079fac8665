"""The estimators of information and what each one is. Study, metrics and catalog read this table."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

Kind = Literal["lower", "upper", "estimate"]
KINDS: dict[Kind, str] = {"lower": "lower bound", "upper": "upper bound", "estimate": "estimate, not a bound"}


class Estimator(NamedTuple):
    kind: Kind
    label: str
    doc: str
    least: float | None = None  # what it cannot go below; a noisy one may tell less than nothing


# Those that a study may ask for; every report has marginal-kl as I(X;Z), cross-entropy as I(Z;Y), and prior-kl.
EstimatorName = Literal["pairwise-lower", "pairwise-upper", "infonce", "mine", "ksg"]
ESTIMATOR_NAMES: tuple[EstimatorName, ...] = get_args(EstimatorName)

KSG_DIMENSIONS = 5  # of the input, and of the code, beyond which neighbours tell too little

ESTIMATORS: dict[str, Estimator] = {
    "marginal-kl": Estimator(
        "upper",
        "marginal KL",
        "I(X;Z) ≤ KL to a marginal fitted to the codes of the training split, a Gaussian or one per class, for every "
        "Gaussian code",
    ),
    "prior-kl": Estimator(
        "upper",
        "prior KL",
        "I(X;Z) ≤ KL to the prior N(0, I), for every Gaussian code; loose where the code's scale is free",
    ),
    "cross-entropy": Estimator("lower", "cross-entropy", "I(Z;Y) ≥ H(Y) − cross-entropy"),
    "pairwise-lower": Estimator(
        "lower",
        "pairwise lower",
        "I(X;Z) of N points, Bhattacharyya distances, at most log2 N (Kolchinsky & Tracey 2017)",
        0.0,
    ),
    "pairwise-upper": Estimator(
        "upper",
        "pairwise upper",
        "I(X;Z) of N points, KL divergences, at most log2 N: bounds the N points, not more",
        0.0,
    ),
    "infonce": Estimator(
        "lower",
        "InfoNCE",
        "I(X;Z) by telling the input of a code from the N with the encoder's densities, one latent sample per input, "
        "at most log2 N",
    ),
    "mine": Estimator(
        "lower",
        "MINE",
        "I(X;Z) by the Donsker–Varadhan bound (Belghazi et al. 2018): a critic of (x, z) is trained on half of the N "
        "points, stopped by a quarter and measured on the last quarter; the dearest of all, and noisy near log2 N",
    ),
    "ksg": Estimator(
        "estimate",
        "KSG",
        "I(X;Z) from the 3 nearest neighbours of N pairs (Kraskov et al. 2004), for at most "
        f"{KSG_DIMENSIONS} dimensions of the input and of the code: beyond, it is far too low and refused; finite "
        "though meaningless for a code without noise",
    ),
}
