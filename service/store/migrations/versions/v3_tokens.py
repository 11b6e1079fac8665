"""Tokens with scopes, who submitted a study, and what the database knows about itself."""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    op.create_table(
        "tokens",
        sql.Column("id", sql.String(16), primary_key=True),
        sql.Column("hash", sql.String(64), unique=True, nullable=False),
        sql.Column("name", sql.String(80), nullable=False),
        sql.Column("scopes", sql.String(80), nullable=False),
        sql.Column("study", sql.String(32), index=True),
        sql.Column("created_at", sql.String(32), nullable=False),
        sql.Column("expires_at", sql.String(32)),
        sql.Column("studies_at_once", sql.Integer),
        sql.Column("trials", sql.Integer),
        sql.Column("bytes", sql.BigInteger),
    )
    op.create_table(
        "owners",
        sql.Column("study", sql.String(32), primary_key=True),
        sql.Column("token", sql.String(16), nullable=False, index=True),
        sql.Column("trials", sql.Integer, nullable=False),
    )
    op.create_table(
        "facts",
        sql.Column("name", sql.String(32), primary_key=True),
        sql.Column("value", sql.Text, nullable=False),
    )
