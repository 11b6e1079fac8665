"""The preset that a newcomer is offered, on the page and on the command line."""

from __future__ import annotations

DEMO_PRESET = "beta-vs-mib-digits"
