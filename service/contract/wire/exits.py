"""Codes with which the service ends, for whoever starts it again."""

from __future__ import annotations

BAD_SETTINGS = 2  # one of its variables breaks a rule: it will not start before that is changed
STORE_AWAY = 4  # its database does not answer, or the disk of its home is full: it may start later
