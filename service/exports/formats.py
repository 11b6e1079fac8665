"""A table as CSV, piece by piece, or as Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from service.exports.flat_tables import Kind, Table

ROWS_AT_ONCE = 500
FORMULAS = frozenset("=+-@")  # begin one in some spreadsheet
SPACES = " \t\r\n"


def csv_pieces(table: Table) -> Iterator[str]:
    """Quoted where needed (RFC 4180); a missing value is an empty field, floats keep every digit."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow([harmless(column.name) for column in table.columns])
    for i, row in enumerate(table.rows, 1):
        writer.writerow([harmless(cell) for cell in row])
        if i % ROWS_AT_ONCE == 0:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def harmless(cell: object) -> object:
    """A text that a spreadsheet would take for a formula, behind an apostrophe; numbers as they are."""
    return f"'{cell}" if isinstance(cell, str) and cell.lstrip(SPACES)[:1] in FORMULAS else cell


def parquet_bytes(table: Table) -> bytes:
    """Typed columns in which missing values are nulls."""
    import pyarrow as pa  # a third of a second, only this export needs it
    import pyarrow.parquet as pq

    types: dict[Kind, Any] = {"int": pa.int64(), "float": pa.float64(), "bool": pa.bool_(), "string": pa.string()}
    schema = pa.schema([(column.name, types[column.kind]) for column in table.columns])
    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, schema, compression="zstd") as writer:
        for rows in _batches(table):
            columns = [
                pa.array(cells, field.type) for cells, field in zip(zip(*rows, strict=True), schema, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
    return buffer.getvalue()


def _batches(table: Table, size: int = 50_000) -> Iterator[list[tuple[Any, ...]]]:
    batch: list[tuple[Any, ...]] = []
    for row in table.rows:
        batch.append(row)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
