"""A database as 0.1.0 made and filled it: its own statements, and the rows that its own code wrote.

`first_release.json` is what the service of 0.1.0 had in its database after three studies were submitted and told of
over HTTP, and how its code stored and expanded some of its presets. Nothing in it is written anew.
"""

from __future__ import annotations

import json
from pathlib import Path
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
WRITTEN: dict[str, list[dict[str, Any]]] = json.loads(Path(__file__).with_suffix(".json").read_text())
LENGTHS = {"old": 19, "done": 33, "later": 1}  # events of its studies: one runs, one has finished, one waits
UNDER_WAY = "taf246bd5a805"  # a trial of `old` that has told three of four epochs


def fill(engine: sql.Engine) -> None:
    """Epochs and counts were floats then."""
    with engine.begin() as connection:
        for statement in TABLES:
            connection.execute(sql.text(statement.format(serial=SERIAL[engine.dialect.name])))
        for table in ("studies", "events"):
            columns = list(WRITTEN[table][0])
            values = ", ".join(f":{column}" for column in columns)
            insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values})"
            connection.execute(sql.text(insert), WRITTEN[table])
