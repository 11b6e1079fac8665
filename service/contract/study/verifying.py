"""Networks that are trained separately to check a curve: a β, or preference, each; the rest as its arm."""

from __future__ import annotations

from service.contract.methods.problems import Bottleneck
from service.contract.methods.weightings import Fixed, OfCurves, Weighting, middles
from service.contract.parameters.with_axes import with_axes
from service.contract.study import simplex
from service.contract.study.parts import Part, Parts


def verifying(parts: Parts) -> Parts | None:
    """The arm's parts with fixed βs, or weights, for its weighting; none where its curve is not verified."""
    weighting = parts.weighting.value
    if not isinstance(weighting, OfCurves) or not weighting.verify:
        return None
    if not isinstance(parts.problem.value, Bottleneck):
        return parts._replace(weighting=_at_preferences(weighting, parts.weighting.terms))
    fixed = with_axes(Fixed).model_validate({"beta": {"grid": weighting.verified_betas}})
    return parts._replace(weighting=Part("weighting", fixed, ("name", "beta")))


def _at_preferences(weighting: OfCurves, terms: tuple[str, ...]) -> Part[Weighting]:
    """A preference p is what a weight of n·p for each of n terms descends."""
    steps = simplex.finest(len(terms), weighting.points)
    mixtures = list(simplex.mixtures(terms, steps))
    chosen = tuple(mixtures[i] for i in middles(len(mixtures), weighting.verify))
    return Part("weighting", Fixed.model_validate({"simplex": steps}), ("name",), terms, chosen)
