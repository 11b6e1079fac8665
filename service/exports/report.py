"""The report, one HTML file that needs nothing else: verdict, arms, figures, trials, methods, papers, the study."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import orjson
import yaml

from service.analysis.candidates import objectives
from service.analysis.compared import compared
from service.contract.metrics import described
from service.contract.study.study import Study
from service.contract.wire.plotly import DrawnFigure
from service.contract.wording.numbers import plural, setting
from service.exports.methods import methods
from service.exports.report_tables import arms_table, trials_table
from service.exports.version import VERSION, software
from service.views.selectors import counts
from service.views.view import View

HERE = Path(__file__).parent
DASHBOARD = HERE.parent.parent / "frontends" / "dashboard"


@cache
def _variables() -> str:
    """The dashboard's colours: every `:root` rule of its style sheet."""
    return "\n".join(re.findall(r"^:root[^{]*\{[^}]*\}", (DASHBOARD / "style" / "base.css").read_text(), re.MULTILINE))


def script_json(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY).decode().replace("<", "\\u003c")


def _figure_section(name: str, figure: DrawnFigure) -> str:
    style = f' style="height: {figure.height:g}px"' if figure.height else ""
    box = (
        f'<div class="plot" id="figure-{name}" role="figure" aria-label="{escape(figure.summary)}"{style}></div>'
        if figure.empty is None
        else f'<div class="plot empty muted">{escape(figure.empty)}</div>'
    )
    finding = f"<p>{escape(figure.finding)}</p>" if figure.finding else ""
    caption = f"<h3>{escape(figure.title)}</h3>{finding}<p class='muted'>{escape(figure.subtitle)}</p>"
    return f"<figure><figcaption>{caption}</figcaption>{box}</figure>"


def filled(template: str, parts: dict[str, Callable[[], str]]) -> str:
    """Each {{name}} once, in one pass: what a user wrote is never read as a template."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]](), template)


def _facts(view: View) -> str:
    counted, study = counts(view), view.study
    when = f", {view.started_at[:10]}" if view.started_at else ""
    infeasible = f", {counted.infeasible:,} infeasible" if study.constraints else ""
    return (
        f"{view.id} · {view.state.value}{when} · {plural(len(study.arms), 'arm')}, "
        f"{counted.finished:,} of {plural(counted.planned, 'trial')} finished, "
        f"{counted.failed:,} failed, {counted.collapsed:,} collapsed{infeasible} · {plural(len(study.seeds), 'seed')}"
    )


def _made(view: View, now: datetime) -> str:
    versions = ", ".join(f"{package} {number}" for package, number in software().items())
    axes = objectives(view)
    point = ", ".join(f"{described(a.metric).label} {setting(a.reference)}" for a in axes if a.reference is not None)
    return (
        f"Made {now:%Y-%m-%d %H:%M} UTC by Paretoscope {VERSION} ({versions}). Seeds "
        f"{', '.join(map(str, view.study.seeds))}. Reference point {point}."
    )


def report(view: View, figures: Mapping[str, DrawnFigure], plotly: str, now: datetime | None = None) -> str:
    """The whole file as text, with the view's figures by name and the script that draws them."""
    drawn = {name: figure.plotly for name, figure in figures.items() if figure.empty is None}
    sections = "".join(_figure_section(name, figure) for name, figure in figures.items())
    comparison, done = compared(view), methods(view)
    ordered = {key: view.spec[key] for key in Study.model_fields if key in view.spec}
    spec = yaml.safe_dump(ordered, sort_keys=False, allow_unicode=True, width=100)
    parts: dict[str, Callable[[], str]] = {
        "title": lambda: escape(view.study.name),
        "facts": lambda: escape(_facts(view)),
        "verdict": lambda: escape(comparison.verdict),
        "arms": lambda: arms_table(comparison),
        "figures": lambda: f'<section><h2>Figures</h2><div class="figures">{sections}</div></section>',
        "trials": lambda: trials_table(view),
        "methods": lambda: escape(done.paragraph),
        "bibtex": lambda: escape(done.bibtex),
        "spec": lambda: escape(spec),
        "made": lambda: escape(_made(view, now or datetime.now(UTC))),
        "data": lambda: script_json(drawn),
        "variables": _variables,
        "plotly": lambda: plotly,
        "style": (HERE / "report.css").read_text,
        "script": (HERE / "report.js").read_text,
    }
    return filled((HERE / "report.html").read_text(), parts)
