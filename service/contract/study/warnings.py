"""What a study may well do, but its author should know before it runs."""

from __future__ import annotations

from collections.abc import Iterator

from service.contract.metrics import PRED, described
from service.contract.study import fill_rules, limit_rules, stopping_rules
from service.contract.study.branched import in_each_branch
from service.contract.study.study import Study
from service.contract.wire.errors import Detail


def warnings(study: Study) -> list[Detail]:
    """Each with its path, as what is refused."""
    return in_each_branch(study, _warnings)


def _warnings(study: Study) -> list[Detail]:
    return [
        *_one_auxiliary(study),
        *_one_quantity(study),
        *_watched(study),
        *_nothing_held_out(study),
        *fill_rules.warned(study),
        *limit_rules.warned(study),
        *stopping_rules.warned(study),
    ]


def _one_auxiliary(study: Study) -> Iterator[Detail]:
    """Σα = K leaves nothing to choose where K = 1."""
    for i, arm in enumerate(study.arms):
        if arm.weighting.name == "arml" and len(arm.problem.terms) <= 2:
            terms = " and ".join(arm.problem.terms)
            rule = f"arml shares a sum of 1 among the terms after the first, and there is one: its weights of {terms}"
            yield Detail(path=f"arms[{i}].weighting.name", message=f"{rule} are 1, those of uniform")


def _one_quantity(study: Study) -> Iterator[Detail]:
    """Two views of one quantity hardly compete: their front is short, whatever the weighting."""
    main = study.arms[0].problem.terms[0]  # what a metric of the label is about, as `accuracy`
    seen: dict[str, str] = {}
    for i, objective in enumerate(study.objectives):
        quantity = described(objective.metric).quantity
        if quantity is None:
            continue
        term = main if quantity == PRED else quantity
        if term in seen:
            rule = f"{objective.metric} and {seen[term]} are two views of one quantity ({term})"
            yield Detail(path=f"objectives[{i}].metric", message=f"{rule}: there is hardly a trade-off between them")
        seen.setdefault(term, objective.metric)


def _nothing_held_out(study: Study) -> Iterator[Detail]:
    """A study that says how it chooses may have nothing to choose by but what it claims."""
    measured = any(described(objective.metric).measured for objective in study.objectives)
    if study.selection == "validation" and measured and not study.data.validation_fraction:
        rule = "there is no validation split to choose by, so trials are chosen on the test split itself"
        yield Detail(path="data.validation_fraction", message=f"{rule}, which flatters arms with many trials, got 0")


def _watched(study: Study) -> Iterator[Detail]:
    """Whoever compares costs should know that some arms pay for being watched, and others would pay anyway."""
    slowed = [arm.name for arm in study.arms if not arm.weighting.needs_gram]
    if study.evaluation.gradients and 0 < len(slowed) < len(study.arms):
        rule = f"takes a backward pass per term in arms whose weighting needs only one in all ({', '.join(slowed)})"
        yield Detail(path="evaluation.gradients", message=f"{rule}: the training times of these arms are not their own")
