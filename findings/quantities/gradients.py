"""Of watched gradients: whether they conflict, and what weighting gained where they do."""

from __future__ import annotations

from findings.expression import Question
from findings.folder import load, names
from findings.quantities.quantity import Quantity
from findings.replay import view_of
from findings.wording import Said, mean, signed
from service.analysis.compared import compared
from service.analysis.rank_correlation import RankCorrelation
from service.analysis.weighting_gains import Gain, RankedGains, StudyGains, weighting_gains
from service.contract.wording.numbers import NONE, number


def _own(question: Question) -> StudyGains:
    (study,) = weighting_gains([question.view]).studies
    return study


def _gain(gain: Gain, question: Question) -> Said:
    if gain.arm is None:
        return Said(NONE)
    said = signed(gain.gain, question.seeds)
    return said._replace(text=f"{said.text}, {gain.arm}")


def _all_kept(_: Question) -> RankedGains:
    return weighting_gains([view_of(load(name)) for name in names()])


def _correlation(correlation: RankCorrelation) -> Said:
    if correlation.rho is None:
        return Said(f"not known from {correlation.n} studies")
    return Said(f"{number(correlation.rho)} ({correlation.n} studies)")


def _words(question: Question) -> str:
    return compared(question.view).gradients or NONE


QUANTITIES = [
    Quantity("conflict", "whether the terms' gradients conflict, a sentence", lambda q: Said(_words(q))),
    Quantity("mean cosine", "of the terms' gradients, over watched arms", lambda q: mean(_own(q).cosine, q.seeds)),
    Quantity(
        "gain over baseline",
        "of the automatic arm that validation chooses: distance to the baseline's front",
        lambda q: _gain(_own(q).over_baseline, q),
    ),
    Quantity(
        "gain over uniform",
        "the same to the arm of uniform weights: mean over the objectives, in units of their ranges",
        lambda q: _gain(_own(q).over_uniform, q),
    ),
    Quantity(
        "gains by cosine",
        "rank correlation of gain over baseline and mean cosine, over all kept studies that have both",
        lambda q: _correlation(_all_kept(q).over_baseline),
    ),
    Quantity(
        "uniform gains by cosine",
        "the same with the gain over uniform weights",
        lambda q: _correlation(_all_kept(q).over_uniform),
    ),
]
