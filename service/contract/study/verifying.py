"""Networks that are trained separately to check a curve: one β each, every other setting as the curve's arm has it."""

from __future__ import annotations

from service.contract.methods.weightings import Fixed, OfCurves
from service.contract.study.parts import Part, Parts
from service.contract.study.with_axes import with_axes


def verifying(parts: Parts) -> Parts | None:
    """The arm's parts with a grid of fixed βs for its weighting; none where its curve is not verified."""
    weighting = parts.weighting.value
    if not isinstance(weighting, OfCurves) or not weighting.verify:
        return None
    fixed = with_axes(Fixed).model_validate({"beta": {"grid": weighting.verified_betas}})
    return parts._replace(weighting=Part("weighting", fixed, ("name", "beta")))
