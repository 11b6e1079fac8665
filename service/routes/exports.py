"""What a user takes home: tables, everything as JSON, the report, the methods with their papers."""

from __future__ import annotations

from typing import Any, Literal

import orjson
from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response, StreamingResponse

from service.exports.formats import csv_pieces, parquet_bytes
from service.exports.methods import methods
from service.exports.names import disposition, file_stem
from service.exports.report import report
from service.exports.tables import TableName, table_of
from service.exports.whole import whole
from service.routes.dependencies import PartsOf

router = APIRouter(tags=["exports"])

Format = Literal["csv", "json", "parquet"]
PARQUET = "application/vnd.apache.parquet"


@router.get("/studies/{study_id}/export", response_class=Response)
def export(study_id: str, parts: PartsOf, format: Format = "csv", table: TableName = "trials") -> Response:
    """A table as CSV or Parquet, a row per trial or per report; as JSON everything at once."""
    with parts.views.read(study_id) as view:
        stem = file_stem(view.study.name, study_id)
        everything = whole(view) if format == "json" else None
        found = table_of(view, table)
    if everything is not None:
        return Response(orjson.dumps(everything), media_type="application/json", headers=_named(f"{stem}.json"))
    headers = _named(f"{stem}-{table}.{format}")
    if format == "parquet":
        return Response(parquet_bytes(found), media_type=PARQUET, headers=headers)
    return StreamingResponse(csv_pieces(found), media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/studies/{study_id}/report", response_class=HTMLResponse)
def read_report(study_id: str, parts: PartsOf) -> HTMLResponse:
    """One HTML file with everything in it; it works offline."""
    with parts.views.read(study_id) as view:
        name = f"{file_stem(view.study.name, study_id)}.html"
        return HTMLResponse(report(view, parts.artifacts), headers=_named(name, "inline"))


@router.get("/studies/{study_id}/methods")
def read_methods(study_id: str, parts: PartsOf) -> dict[str, Any]:
    """What was done, in a paragraph with citations, and their BibTeX."""
    with parts.views.read(study_id) as view:
        return methods(view)


def _named(filename: str, kind: str = "attachment") -> dict[str, str]:
    return {"Content-Disposition": disposition(filename, kind)}
