"""Which metrics of gradients there are, and who reports them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from service.contract.methods.problems import MADE_TASKS, Bottleneck, TaskName, ToyProblem
from service.contract.methods.task_data import ATTRIBUTES, CensusIncome, Overlaid, Yeast
from service.contract.metrics import COSINE, Kind, described, metric
from service.contract.metrics.gradients import EVERY_PAIR, gradient_metrics, mean_cosine, watched_pairs
from service.contract.metrics.metric import NAME
from service.contract.study.parsing import check_study
from service.contract.wire.errors import InvalidInput

TASKS = {"name": "multitask", "main": "class", "auxiliaries": ["rotation", "random-labels"]}


def reported(*arms: dict[str, Any], **parts: Any) -> list[set[str]]:
    """What each arm reports of gradients."""
    study = check_study({"name": "s", "arms": [{"name": str(i), **arm} for i, arm in enumerate(arms)], **parts})
    kinds = (Kind.COSINE, Kind.LENGTH)
    return [{name for name in study.metrics_of(arm) if described(name).kind in kinds} for arm in study.arms]


def test_a_cosine_is_known_by_both_its_terms_hyphens_included() -> None:
    row = described("cosine_class_random-labels")
    assert (row.kind, row.low, row.high, row.measured) == (Kind.COSINE, -1, 1, False)
    assert row.label == "cosine of class and random-labels"
    assert metric("cosine_class") is None and metric("cosine_a_b_c") is None
    assert described("gradient_norm_random-labels").low == 0
    assert described("cosine_mean").summarises == COSINE.name


def test_no_term_has_an_underscore_so_that_names_of_pairs_can_be_read() -> None:
    terms = {*Bottleneck.terms, *ToyProblem.terms, *MADE_TASKS, *ATTRIBUTES}
    terms |= {column for data in (Overlaid(), Yeast(), CensusIncome()) for column in data.columns}
    assert all(re.fullmatch(NAME, term) for term in terms)
    field, _ = TaskName.__metadata__  # type: ignore[attr-defined]
    (rule,) = field.metadata
    assert "_" not in rule.pattern and not re.match(rule.pattern, "two_words")


def test_up_to_four_terms_have_all_pairs_and_more_those_with_the_main_one() -> None:
    assert [len(watched_pairs("abcdef"[:n])) for n in (1, 2, 3, 4, 5, 6)] == [0, 1, 3, 6, 4, 5]
    assert EVERY_PAIR == 4 and all(first == "a" for first, _ in watched_pairs("abcde"))
    assert gradient_metrics(("pred", "info")) == ["gradient_norm_pred", "gradient_norm_info", "cosine_pred_info"]
    assert len(gradient_metrics(Yeast().columns)) == 14 + 13 + 1
    assert [mean_cosine("abc"[:n]) for n in (1, 2, 3)] == [None, "cosine_a_b", "cosine_mean"]


def test_weightings_that_compare_gradients_report_them_and_others_when_asked() -> None:
    fixed, mib = {"weighting": {"name": "fixed"}}, {"weighting": {"name": "mib"}}
    own = set(gradient_metrics(("pred", "info")))
    assert reported(fixed, mib) == [set(), own]
    assert reported(fixed, mib, evaluation={"gradients": True}) == [own, own]
    many = {"problem": TASKS, "weighting": {"name": "uniform"}}
    assert "cosine_class_random-labels" in reported(many, evaluation={"gradients": True})[0]
    toy = {"problem": {"name": "toy"}, "weighting": {"name": "mgda"}}
    assert "cosine_f1_f2" in reported(toy)[0]


def test_feedback_without_gradients_cannot_be_watched() -> None:
    aligned = {"weighting": {"name": "fixed"}, "training": {"feedback": "dfa"}}
    assert reported(aligned) == [set()]
    with pytest.raises(InvalidInput) as refused:
        reported({"weighting": {"name": "mib"}}, aligned, evaluation={"gradients": True})
    ((path, message),) = [(detail.path, detail.message) for detail in refused.value.details]
    assert path == "evaluation.gradients" and message.endswith("dfa has no gradients to watch, got it in arm '1'")


def test_an_objective_of_gradients_needs_every_arm_watched() -> None:
    goals = [{"metric": "cosine_pred_info", "goal": "maximize", "reference": -1.0}]
    goals.append({"metric": "i_zy_bits", "goal": "maximize", "reference": 0.0})
    with pytest.raises(InvalidInput, match=r"watched with evaluation\.gradients"):
        reported({"weighting": {"name": "fixed"}}, objectives=goals)
    assert reported({"weighting": {"name": "fixed"}}, objectives=goals, evaluation={"gradients": True})
