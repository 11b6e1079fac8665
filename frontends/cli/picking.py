"""`paretoscope pick`: one point of a study, and what can be done with it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from frontends.cli.exports import write
from frontends.cli.terminal import AsJson, StudyId, Token, Url, print_json, say
from frontends.client import Client, Study
from service.contract.metrics import ACCURACY, I_XZ, I_ZY
from service.contract.wording.numbers import number, setting


class Rule(StrEnum):
    KNEE = "knee"
    WEIGHTS = "weights"
    CONSTRAINT = "constraint"
    GAP = "gap"


def pick(
    study_id: StudyId,
    by: Annotated[Rule | None, typer.Option("--by", help="default: as the other options say, else knee")] = None,
    weights: Annotated[str | None, typer.Option("--weights", help=f"of objectives, as {I_XZ}:1,{I_ZY}:2")] = None,
    at_least: Annotated[str | None, typer.Option("--at-least", help=f"as {ACCURACY}:0.95")] = None,
    at_most: Annotated[str | None, typer.Option("--at-most", help=f"as {I_XZ}:8")] = None,
    then: Annotated[str | None, typer.Option("--then", help="the metric that decides within the bounds")] = None,
    arm: Annotated[str | None, typer.Option("--arm", help="only points of this arm")] = None,
    file: Annotated[Path | None, typer.Option("--yaml", help="write the study of this point alone there")] = None,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Pick one point: at the knee, by weights, within bounds, or at the largest gap; --yaml writes its own study."""
    usual = Rule.WEIGHTS if weights else Rule.CONSTRAINT if at_least or at_most else Rule.KNEE
    asked = {"weights": weights, "at_least": at_least, "at_most": at_most, "then": then, "arm": arm}
    with Client(url, token) as client:
        study = Study(client, study_id)
        answer = study.pick((by or usual).value, **asked)
        objectives = [each["metric"] for each in study.read()["spec"]["objectives"]]
    if file is not None:
        write(file, answer["yaml"].encode())
    if as_json:
        print_json(answer)
        return
    where = ", ".join(f"{name} {setting(value)}" for name, value in (answer["where"] or {}).items())
    say(f"{answer['trial']} of {answer['arm']}, seed {answer['seed']}" + (f", at {where}" if where else ""))
    say(f"  {answer['why']}")
    say("  " + ", ".join(f"{name} {number(answer['metrics'].get(name))}" for name in objectives))
    say("  " + ", ".join(f"{name} {setting(value)}" for name, value in answer["config"].items()))
    if answer["checkpoint"]:
        say(f"  weights: {answer['checkpoint']}")
    if file is not None:
        say(f"  {file}: a study of this configuration alone")
