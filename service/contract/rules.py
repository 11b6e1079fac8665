"""Rules between the parts of a study, each broken one with its path: what no part can see by itself."""

from __future__ import annotations

from collections.abc import Iterator

from service.contract.axes import listed
from service.contract.data import Images
from service.contract.errors import Detail
from service.contract.metrics import metric
from service.contract.problems import Bottleneck
from service.contract.study import Study


def broken(study: Study) -> list[Detail]:
    """Every rule that the study breaks."""
    return [*_objectives(study), *_evaluation(study), *_weightings(study)]


def _objectives(study: Study) -> Iterator[Detail]:
    """An objective must be reported by every arm, or its front would leave some of them out."""
    for i, objective in enumerate(study.objectives):
        lacking = next((arm for arm in study.arms if objective.metric not in study.metrics_of(arm)), None)
        if lacking is None:
            continue
        known = ", ".join(name for name in study.metrics_of(lacking) if (m := metric(name)) and m.reference is not None)
        of_arm = f"arm {lacking.name!r} (problem {lacking.problem.name})"
        rule = f"{objective.metric!r} is not reported by {of_arm}; it reports {known}"
        if objective.metric.startswith("robust_"):
            rule += "; accuracy under attack needs its attack in evaluation.attacks"
        elif objective.metric.startswith("i_xz_"):
            rule += "; an estimate needs its estimator in evaluation.estimators"
        yield Detail(path=f"objectives[{i}].metric", message=rule)


def _evaluation(study: Study) -> Iterator[Detail]:
    others = [arm for arm in study.arms if arm.problem.name != "bottleneck"]
    for what in ("attacks", "estimators"):
        if getattr(study.evaluation, what) and others:
            arm = others[0]
            rule = f"needs problem bottleneck in every arm, got {arm.problem.name!r} in arm {arm.name!r}"
            yield Detail(path=f"evaluation.{what}", message=rule)
    if study.evaluation.attacks and not isinstance(study.data, Images):
        rule = f"attacks change pixels in [0, 1]: they need images, got data {study.data.name!r}"
        yield Detail(path="evaluation.attacks", message=rule)


def _weightings(study: Study) -> Iterator[Detail]:
    """Without a rate there is nothing to weigh against: an automatic weighting would never train the encoder."""
    for i, arm in enumerate(study.arms):
        if not isinstance(arm.problem, Bottleneck):
            if arm.weighting.name == "target-rate":
                rule = f"target-rate holds the information term of a bottleneck, got problem {arm.problem.name!r}"
                yield Detail(path=f"arms[{i}].weighting.name", message=rule)
        elif "none" in listed(arm.problem.rate) and arm.weighting.name not in ("fixed", "uniform"):
            rule = "rate none has no information term to weigh: use weighting fixed or uniform"
            yield Detail(path=f"arms[{i}].problem.rate", message=f"{rule}, got {arm.weighting.name!r}")
