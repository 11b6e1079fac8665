"""Codes with which the service ends, for who starts it again."""

from __future__ import annotations

STORE_AWAY = 4  # its database does not answer: it may later
