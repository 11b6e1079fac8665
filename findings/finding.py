"""A finished study as it is kept in `docs/findings`: its spec, its trials, the version, the date, the machine."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from service.contract.metrics import EPOCH
from service.contract.study.expansion import expand
from service.contract.study.parsing import check_study
from service.contract.wire.events import StudyState, TrialState

DIGITS = 6  # significant ones of a kept number: twice what is ever shown
Value = int | float | None


class Kept(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class KeptStudy(Kept):
    """The study as it was submitted and as it ended."""

    id: str
    state: StudyState
    reason: str | None
    created_at: datetime
    started_at: datetime
    ended_at: datetime
    spec: dict[str, Any]


class KeptPoint(Kept):
    """One of the many points of a trial."""

    where: dict[str, float]
    values: Annotated[list[Value], Field(description="of each metric of the finding")]


class KeptTrial(Kept):
    """A trial in the order of the spec; its settings follow from the spec but for those a search suggested."""

    arm: str
    seed: int
    state: TrialState = TrialState.FINISHED
    reason: str | None = None
    stopped_after: Annotated[int | None, Field(description="the epoch after which `stopping` ended it")] = None
    spared: Annotated[bool, Field(description="the search ended without it; it has no values")] = False
    ended: Annotated[float | None, Field(description="seconds after the study's start")] = None
    suggested: dict[str, Any] = {}
    values: Annotated[list[Value], Field(description="last value of each metric of the finding")]
    curves: Annotated[list[list[Value]], Field(description="values over reports of each curve of the finding")] = []
    points: Annotated[list[KeptPoint], Field(description="of a trial that has many, along its last curve")] = []


class Finding(Kept):
    """What a number in a text goes back to."""

    paretoscope: Annotated[str, Field(description="the version that measured")]
    commit: Annotated[str | None, Field(description="of the tree that measured, as `findings.commit` says it")] = None
    machine: str
    study: KeptStudy
    metrics: list[str]
    curves: list[str] = []
    trials: list[KeptTrial]


def rounded(value: Any) -> Any:
    """Six significant digits; what is no measured number as it is."""
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def kept(
    export: Mapping[str, Any],
    machine: str,
    curves: list[str],
    version: str | None = None,
    commit: str | None = None,
    only: Collection[str] = (),
) -> Finding:
    """The part of an exported study (`paretoscope export ID study.json`) that is kept, with some curves if asked for.

    Of all metrics, or `only` of some; `version` is the one that measured, where it is not the one that exported.
    """
    study, trials = export["study"], export["trials"]
    measured = [own["metrics"] for trial in trials for own in (trial, *trial.get("points", []))]
    metrics = list(dict.fromkeys(name for own in measured for name in own))
    for key, names in (("curves", curves), ("metrics", only)):
        if missing := [name for name in names if name not in metrics]:
            raise ValueError(f"{key}: no trial reported {missing[0]!r}; reported: {', '.join(metrics)}")
    metrics = [name for name in metrics if not only or name in only]
    over = list(dict.fromkeys([EPOCH, *curves])) if curves else []
    plans = expand(check_study(study["spec"]))
    known = {trial["id"]: trial for trial in trials}
    if strange := known.keys() - {plan.id for plan in plans}:
        raise ValueError(f"the spec plans no trial {min(strange)}")
    start = datetime.fromisoformat(study["started_at"])
    return Finding(
        paretoscope=version or export["paretoscope"],
        commit=commit,
        machine=machine,
        study=KeptStudy(**{key: study[key] for key in KeptStudy.model_fields}),
        metrics=metrics,
        curves=over,
        trials=[
            _kept(known[plan.id], plan.config, metrics, over, start)
            if plan.id in known
            else KeptTrial(arm=plan.arm, seed=plan.seed, state=TrialState.PLANNED, spared=True, values=[])
            for plan in plans
        ],
    )


def _kept(
    trial: Mapping[str, Any], planned: Mapping[str, Any], metrics: list[str], curves: list[str], start: datetime
) -> KeptTrial:
    return KeptTrial(
        arm=trial["arm"],
        seed=trial["seed"],
        state=trial["state"],
        reason=trial["reason"],
        stopped_after=trial.get("stopped_after"),  # exports of 0.1.0 have none
        ended=_after(start, trial["ended_at"]),
        suggested={key: rounded(value) for key, value in trial["config"].items() if key not in planned},
        values=[rounded(trial["metrics"].get(name)) for name in metrics],
        curves=[[rounded(report.get(name)) for report in _having(trial["reports"], curves)] for name in curves],
        points=[
            KeptPoint(where=point["where"], values=[rounded(point["metrics"].get(name)) for name in metrics])
            for point in trial.get("points", [])
        ],
    )


def _having(reports: list[dict[str, Any]], curves: list[str]) -> list[dict[str, Any]]:
    """Those that say something of a curve, and the last: not every epoch measures everything."""
    asked = [name for name in curves if name != EPOCH]
    return [each for each in reports[:-1] if any(each.get(name) is not None for name in asked)] + reports[-1:]


def _after(start: datetime, at: str | None) -> float | None:
    return None if at is None else round((datetime.fromisoformat(at) - start).total_seconds(), 3)


def finding_text(finding: Finding) -> str:
    """JSON with a line per trial, so that a diff can be read."""
    return "\n".join(_lines(finding)) + "\n"


def _lines(finding: Finding) -> Iterator[str]:
    body = finding.model_dump(mode="json", exclude={"trials"})
    yield "{"
    yield from (f" {json.dumps(key)}: {_compact(value)}," for key, value in body.items())
    yield ' "trials": ['
    for i, trial in enumerate(finding.trials, 1):
        line = _compact(trial.model_dump(mode="json", exclude_defaults=True))
        yield f"  {line}{'' if i == len(finding.trials) else ','}"
    yield " ]"
    yield "}"


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
