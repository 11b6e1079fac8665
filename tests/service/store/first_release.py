"""A database as 0.1.0 made and filled it: its own statements, written down from that release."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sql

TABLES = (
    """CREATE TABLE studies (
        number {serial}, id VARCHAR(32) NOT NULL, spec TEXT NOT NULL, state VARCHAR(16) NOT NULL,
        created_at VARCHAR(32) NOT NULL, idempotency_key VARCHAR(200), UNIQUE (id), UNIQUE (idempotency_key)
    )""",
    "CREATE INDEX ix_studies_state ON studies (state)",
    """CREATE TABLE events (
        study VARCHAR(32) NOT NULL, seq INTEGER NOT NULL, uid VARCHAR(200) NOT NULL, at VARCHAR(32) NOT NULL,
        kind VARCHAR(32) NOT NULL, body TEXT NOT NULL, PRIMARY KEY (study, seq), UNIQUE (study, uid),
        FOREIGN KEY(study) REFERENCES studies (id)
    )""",
)
SERIAL = {"sqlite": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT", "postgresql": "SERIAL PRIMARY KEY"}
AT = "2026-01-01T00:00:00.000Z"


def fill(engine: sql.Engine, spec: dict[str, Any], trial: str, epochs: int) -> None:
    """Two studies: `old` has reported and runs, `later` waits. Epochs and counts were floats then."""
    study = "INSERT INTO studies (id, spec, state, created_at, idempotency_key) VALUES (:id, :spec, :state, :at, :key)"
    event = "INSERT INTO events (study, seq, uid, at, kind, body) VALUES (:study, :seq, :uid, :at, :kind, :body)"
    reports = [
        ("report", f"{trial}:{i}", {"trial": trial, "arm": "a", "metrics": {"epoch": float(i), "accuracy": i / 10}})
        for i in range(1, epochs + 1)
    ]
    started = ("study_started", "service:started:1", {"job": "old", "attempt": 1})
    told = [("study_queued", "service:queued", {}), started, *reports]
    text = json.dumps(spec, ensure_ascii=False, sort_keys=True)
    with engine.begin() as connection:
        for statement in TABLES:
            connection.execute(sql.text(statement.format(serial=SERIAL[engine.dialect.name])))
        for name, state, key in (("old", "running", "key"), ("later", "queued", None)):
            row = {"id": name, "spec": text, "state": state, "at": AT, "key": key}
            connection.execute(sql.text(study), row)
        for seq, (kind, uid, body) in enumerate(told, 1):
            told_row = {"study": "old", "seq": seq, "uid": uid, "at": AT, "kind": kind, "body": json.dumps(body)}
            connection.execute(sql.text(event), told_row)
        first = {"study": "later", "seq": 1, "uid": "service:queued", "at": AT, "kind": "study_queued", "body": "{}"}
        connection.execute(sql.text(event), first)
