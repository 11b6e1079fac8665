"""What a user takes home: tables, everything as JSON, the report, the methods with their papers."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Annotated, Literal

import orjson
from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response, StreamingResponse

from service.analysis.compared import compared
from service.answers.whole import whole
from service.contract.wire.answers.exports import MethodsAnswer, WholeStudy
from service.exports.flat_tables import TableName, table_of
from service.exports.formats import csv_pieces, parquet_bytes
from service.exports.latex import latex_table
from service.exports.methods import methods
from service.exports.names import disposition, file_stem
from service.exports.report import report
from service.figures import FIGURES, figures_of
from service.figures.figure import Asked
from service.routes.dependencies import PartsOf, StudyId, asks
from service.views.maps import Maps
from service.views.view import View
from service.web.assets import plotly_script
from service.web.openapi import FILE, TEXT, Route, answers
from service.web.policies import OF_REPORTS, POLICY

router = APIRouter(tags=["exports"], route_class=Route)

Format = Annotated[
    Literal["csv", "json", "parquet", "latex"], asks("json has everything, latex the comparison, the others one table")
]
Table = Annotated[TableName, asks("a row per trial, per point of the trials, or per report")]
PARQUET, LATEX = "application/vnd.apache.parquet", "text/x-tex"


@router.get(
    "/studies/{study_id}/export",
    response_class=Response,
    responses=answers({"text/csv": TEXT, LATEX: TEXT, PARQUET: FILE}, json=WholeStudy),
)
def export_study(study_id: StudyId, parts: PartsOf, format: Format = "csv", table: Table = "trials") -> Response:
    """A table as CSV or Parquet, a row per trial, point or report; the arms as LaTeX; everything as JSON."""
    with parts.views.read(study_id) as view:
        stem = file_stem(view.study.name, study_id)
        if format == "latex":
            text = latex_table(compared(view), view.study.name)
            headers = _named(f"{stem}-comparison.tex")
            return Response(text, media_type=f"{LATEX}; charset=utf-8", headers=headers)
        everything = whole(view) if format == "json" else None
        rows = table_of(view, table)
    if everything is not None:
        return Response(
            orjson.dumps(everything, option=orjson.OPT_NON_STR_KEYS),
            media_type="application/json",
            headers=_named(f"{stem}.json"),
        )
    headers = _named(f"{stem}-{table}.{format}")
    if format == "parquet":
        return Response(parquet_bytes(rows), media_type=PARQUET, headers=headers)
    return StreamingResponse(csv_pieces(rows), media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/studies/{study_id}/report", response_class=Response, responses=answers({"text/html": TEXT}))
def read_report(study_id: StudyId, parts: PartsOf) -> HTMLResponse:
    """One HTML file with everything in it; it works offline."""
    with parts.views.read(study_id) as view:
        name = f"{file_stem(view.study.name, study_id)}.html"
        headers = {**_named(name, "inline"), POLICY: OF_REPORTS}
        return HTMLResponse(report_of(view, parts.maps), headers=headers)


def report_of(view: View, maps: Maps | None, now: datetime | None = None) -> str:
    """The report with every figure that the study has something for."""
    asked = Asked(view, maps=maps)
    figures = {name: FIGURES[name].with_words(asked) for name in figures_of(view)}
    return report(view, figures, _plotly(), now)


@router.get("/studies/{study_id}/methods")
def read_methods(study_id: StudyId, parts: PartsOf) -> MethodsAnswer:
    """What was done, in a paragraph with citations, and their BibTeX."""
    with parts.views.read(study_id) as view:
        return methods(view)


@cache
def _plotly() -> str:
    return plotly_script().read_text(encoding="utf-8")


def _named(filename: str, kind: str = "attachment") -> dict[str, str]:
    return {"Content-Disposition": disposition(filename, kind)}
