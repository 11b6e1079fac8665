"""Do you need it? One sentence about the terms' gradients: they hardly conflict, or conflict in this phase."""

from __future__ import annotations

from collections.abc import Sequence

from service.analysis.gradient_angles import HARDLY, Angles, grouped, over_seeds
from service.analysis.intervals import Interval, interval_words
from service.contract.wording.numbers import number

LONGER = 2.0  # times; a gradient that is longer by less is not mentioned


def gradients_sentence(watched: Sequence[Angles], arms: Sequence[str]) -> str | None:
    """Of all watched arms among a study's, one for each set of terms; none where nothing was watched."""
    return " ".join(_sentence(group, watched, arms) for group in grouped(watched)) or None


def _sentence(group: Angles, each: Sequence[Angles], arms: Sequence[str]) -> str:
    notes = [_lowest_pair(group), _between_arms([arm for arm in each if arm.terms == group.terms]), _lengths(group)]
    return "; ".join([_subject(group, arms) + conflict_words(group), *filter(None, notes)]) + "."


def _subject(group: Angles, arms: Sequence[str]) -> str:
    """Whose gradients; which arms only where they are not all."""
    terms = " and ".join(group.terms) if len(group.terms) == 2 else f"the {len(group.terms)} terms"
    if len(group.arms) == len(arms):
        return f"The gradients of {terms} "
    where = group.arms[0] if len(group.arms) == 1 else f"{len(group.arms)} of {len(arms)} arms"
    return f"In {where} the gradients of {terms} "


def conflict_words(angles: Angles) -> str:
    """`conflict in the first 12 epochs (mean cosine −0.31 ± 0.05 over 3 seeds), hardly after (0.02 ± 0.01 …)`.

    Over three seeds or more a conflict is one only if its interval lies below 0.
    """
    kind, epochs, others = angles.phase
    if kind == "never":
        agree = (angles.cosine.mean or 0.0) > HARDLY
        return f"{'agree' if agree else 'hardly conflict'} ({_cosine(angles.cosine)})"
    there, elsewhere = over_seeds(angles.mean, epochs), over_seeds(angles.mean, others)
    doubt = there.half_width is not None and (there.mean or 0.0) + there.half_width >= 0
    do, shown = ("may conflict", ": not shown") if doubt else ("conflict", "")
    at = f"({_cosine(there)}{shown})"
    rest = f"({interval_words(elsewhere)})"
    after = "and agree" if (elsewhere.mean or 0.0) > HARDLY else "hardly"
    if kind == "throughout":
        return f"{do} throughout {at}"
    if kind == "first":
        return f"{do} in {_first(epochs)} {at}, {after} after {rest}"
    if kind == "last":
        calm = "agree" if after != "hardly" else "hardly conflict"
        return f"{calm} in {_first(others)} {rest}, but {do} after {at}"
    return f"{do} in {len(epochs):,} of {len(epochs) + len(others):,} epochs {at}, {after} in the others {rest}"


def _cosine(interval: Interval) -> str:
    return f"mean cosine {interval_words(interval)}"


def _first(epochs: Sequence[int]) -> str:
    return "the first epoch" if epochs[-1] == 1 else f"the first {epochs[-1]:,} epochs"


def _lowest_pair(angles: Angles) -> str:
    """Of more than two terms, the pair whose gradients agree least."""
    if len(angles.terms) == 2:
        return ""
    known = {pair: cosine for pair, path in angles.pairs.items() if (cosine := over_seeds(path)).mean is not None}
    if not known:
        return ""
    (one, other), cosine = min(known.items(), key=lambda item: item[1].mean or 0.0)
    return f"{one} and {other} agree least ({interval_words(cosine)})"


def _between_arms(arms: Sequence[Angles]) -> str:
    """From which arm to which the mean goes, where they differ by more than hardly."""
    means = {arm.arms[0]: arm.cosine.mean or 0.0 for arm in arms}
    low, high = min(means, key=lambda name: means[name]), max(means, key=lambda name: means[name])
    if means[high] - means[low] <= HARDLY:
        return ""
    return f"from {number(means[low])} in {low} to {number(means[high])} in {high}"


def _lengths(angles: Angles) -> str:
    ratio = angles.ratio
    if ratio is None or 1 / LONGER < ratio < LONGER:
        return ""
    first, second = angles.terms
    longer, other = (second, first) if ratio > 1 else (first, second)
    return f"that of {longer} is {number(max(ratio, 1 / ratio))} times as long as that of {other}"
