"""Of an arm: its hypervolume, and its place against the baseline's front and the exact one."""

from __future__ import annotations

from findings.expression import Question
from findings.quantities.quantity import Quantity
from findings.quantities.studies import arm_of
from findings.wording import Said, mean, signed
from service.analysis import Pair
from service.analysis.arm_places import ArmPlace
from service.analysis.compared import compared
from service.analysis.place_words import lands_words, standing_words
from service.analysis.spread import Spread
from service.contract.metrics import described
from service.contract.wording.numbers import NONE, p_value, percent, percent_range, percent_spread

OF_BASELINE = Said("baseline")


def _is_baseline(question: Question) -> bool:
    return compared(question.view).baseline == question.arm


def _place(question: Question) -> ArmPlace:
    return arm_of(question).place


def _read(spread: Spread, question: Question) -> Said:
    """By one reading of the front between its points where one is named, else by the one that decides."""
    reading = question.given.words[0] if question.given.words else "told"
    return signed(getattr(spread, reading), question.seeds)


def _of_place(question: Question, text: str) -> Said:
    """Something that is said over the seeds that the arm and the baseline share."""
    return Said(text, _place(question).place.seeds or question.seeds, question.seeds)


def hypervolume(question: Question) -> Said:
    return mean(arm_of(question).result.hypervolume, question.seeds)


def distance(question: Question) -> Said:
    return OF_BASELINE if _is_baseline(question) else _read(_place(question).place.distance, question)


def matched(question: Question) -> Said:
    if _is_baseline(question):
        return OF_BASELINE
    gaps = _place(question).place.matched
    if question.metric not in gaps:
        raise ValueError(f"{question.metric} is not an objective; objectives: {', '.join(gaps)}")
    return _read(gaps[question.metric], question)


def _other(question: Question) -> str:
    """The objective at whose value the gap is taken."""
    objectives = [objective.metric for objective in question.view.study.objectives]
    return " and ".join(described(metric).label for metric in objectives if metric != question.metric)


def exact_distance(question: Question) -> Said:
    exact = _place(question).exact
    if exact is None:
        raise ValueError("the exact front of this study is not known")
    return signed(exact.distance, question.seeds)


def exact_gap(question: Question) -> Said:
    exact = _place(question).exact
    if exact is None or question.metric not in exact.matched:
        raise ValueError(f"no exact front is known in {question.metric}")
    return signed(exact.matched[question.metric], question.seeds)


def amounts_to(question: Question) -> Said:
    return _of_place(question, lands_words(_place(question).place) or NONE)


def dominated(question: Question) -> Said:
    return _of_place(question, percent_range(*_place(question).place.domination[:3]))


def standing(question: Question) -> Said:
    return OF_BASELINE if _is_baseline(question) else _of_place(question, standing_words(_place(question)))


def matched_p(question: Question) -> Said:
    gaps = _place(question).gaps
    if question.metric not in gaps:
        raise ValueError(f"{question.metric} has no gap at a matched value; with one: {', '.join(gaps)}")
    return _of_place(question, p_value(gaps[question.metric].p_adjusted))


def _pair(question: Question) -> Pair | None:
    return next((pair for pair in compared(question.view).pairs if pair.arm == question.arm), None)


def hypervolume_difference(question: Question) -> Said:
    pair = _pair(question)
    return OF_BASELINE if pair is None else signed(pair.paired.difference, question.seeds)


def hypervolume_p(question: Question) -> Said:
    pair = _pair(question)
    if pair is None:
        return OF_BASELINE
    return Said(p_value(pair.p_adjusted), pair.paired.difference.seeds, question.seeds)


def hypervolume_share(question: Question) -> Said:
    pair = _pair(question)
    if pair is None:
        return OF_BASELINE
    ratio = pair.paired.ratio
    return Said(percent_spread(ratio.mean, ratio.half_width), ratio.seeds, question.seeds)


QUANTITIES = [
    Quantity("hypervolume(ARM)", "mean over seeds", hypervolume),
    Quantity(
        "hypervolume difference(ARM)",
        "to the baseline, paired over seeds; for arms that draw fronts",
        hypervolume_difference,
    ),
    Quantity(
        "hypervolume p(ARM)",
        "of the paired test of that difference, adjusted over all arms; for fronts of as many points",
        hypervolume_p,
    ),
    Quantity(
        "hypervolume share(ARM)", "of the baseline's; only for arms that draw fronts themselves", hypervolume_share
    ),
    Quantity(
        "lost without(ARM)",
        "part of the joint front that only this arm attains",
        lambda q: Said(percent(arm_of(q).result.front_share), q.seeds),
    ),
    Quantity(
        "distance(ARM; [step|line])",
        "signed, to the baseline's front, in units of the objectives' ranges; "
        "by its step or its line if named, else by the one that decides, 0 between them",
        distance,
        lambda q: f"distance to {compared(q.view).baseline}’s front",
    ),
    Quantity(
        "matched(METRIC; ARM; [step|line])",
        "gap to the baseline's front in an objective at the same value of the other; above 0 is better",
        matched,
        lambda q: f"{described(q.metric).title} at the same {_other(q)}",
    ),
    Quantity("exact distance(ARM)", "signed, to the front that is known by formula", exact_distance),
    Quantity(
        "exact gap(METRIC; ARM)",
        "to the exact front at the same value of the other objective",
        exact_gap,
        lambda q: f"{described(q.metric).title} against the exact front",
    ),
    Quantity("amounts to(ARM)", "the baseline's setting that lands there, as: β ≈ 0.02 (0.01 to 0.04)", amounts_to),
    Quantity("standing(ARM)", "on the front, below it, … in words", standing, lambda q: "place"),
    Quantity(
        "p(ARM)",
        "of the test of its distance, adjusted over all arms",
        lambda q: _of_place(q, p_value(_place(q).p_adjusted)),
    ),
    Quantity(
        "matched p(METRIC; ARM)", "of the test of that gap, adjusted over all arms and both objectives", matched_p
    ),
    Quantity("dominated(ARM)", "share of its front, with Wilson's interval, as: 40 % (12 to 77)", dominated),
    Quantity(
        "beyond(ARM)",
        "share of its front that the baseline's does not reach",
        lambda q: _of_place(q, percent(_place(q).place.beyond)),
    ),
    Quantity(
        "epsilon(ARM)",
        "additive ε-indicator against the joint or exact front, mean over seeds",
        lambda q: mean(_place(q).indicators.epsilon, q.seeds),
        lambda q: "ε",
    ),
    Quantity(
        "igd plus(ARM)",
        "against the joint or exact front, mean over seeds",
        lambda q: mean(_place(q).indicators.igd_plus, q.seeds),
        lambda q: "IGD⁺",
    ),
]
