"""How much may be asked for at once; the page says so before the service has to refuse."""

from __future__ import annotations

STUDIES_OVERLAID = 6
STUDIES_LISTED = 1000
METRIC_NAMES = 2000  # that trials of a study report, all together: columns of its tables
