"""The two tables of 0.1.0: studies and their events."""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op

revision = "1"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "studies",
        sql.Column("number", sql.Integer, primary_key=True, autoincrement=True),
        sql.Column("id", sql.String(32), unique=True, nullable=False),
        sql.Column("spec", sql.Text, nullable=False),
        sql.Column("state", sql.String(16), nullable=False, index=True),
        sql.Column("created_at", sql.String(32), nullable=False),
        sql.Column("idempotency_key", sql.String(200), unique=True),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "events",
        sql.Column("study", sql.String(32), sql.ForeignKey("studies.id"), primary_key=True),
        sql.Column("seq", sql.Integer, primary_key=True),
        sql.Column("uid", sql.String(200), nullable=False),
        sql.Column("at", sql.String(32), nullable=False),
        sql.Column("kind", sql.String(32), nullable=False),
        sql.Column("body", sql.Text, nullable=False),
        sql.UniqueConstraint("study", "uid"),
    )
