"""Each study says by which version of the contract its spec was written, and how long its log is."""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Specs of before are of the first version, and no log is known to have lost anything."""
    for name, value in (("spec_version", "1"), ("last_seq", "0"), ("lost_events", "0")):
        op.add_column("studies", sql.Column(name, sql.Integer, nullable=False, server_default=value))
    length = "SELECT COALESCE(MAX(seq), 0) FROM events WHERE events.study = studies.id"
    op.execute(f"UPDATE studies SET last_seq = ({length})")
