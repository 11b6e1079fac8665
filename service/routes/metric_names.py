"""How many names of metrics the trials of a study may report: a list of trials and its tables have them all."""

from __future__ import annotations

from collections.abc import Sequence

from service.contract.wire.ceilings import METRIC_NAMES
from service.contract.wire.errors import Detail
from service.contract.wire.events import Event, Report
from service.routes.dependencies import Parts


def too_many_names(parts: Parts, study_id: str, batch: Sequence[Event]) -> dict[str, Detail]:
    """Reports, by uid, that bring names of metrics beyond those that a study may have: each is a column of its tables.

    Only where there are new ones is the view brought up to date.
    """
    reports = [(i, event) for i, event in enumerate(batch) if isinstance(event, Report)]
    known = set(parts.views.names(study_id))
    if all(known.issuperset(_names(event)) for _, event in reports):
        return {}
    with parts.views.read(study_id) as view:
        known = view.names.copy()
    refused = {}
    for i, event in reports:
        names = _names(event)
        if len(known | names) <= METRIC_NAMES:
            known |= names
        elif more := sorted(names - known):
            rule = f"trials of a study report at most {METRIC_NAMES:,} names of metrics in all"
            refused[event.uid] = Detail(path=f"events[{i}].metrics", message=f"{rule}, got {more[0]!r} besides")
    return refused


def _names(event: Report) -> set[str]:
    return set(event.metrics).union(*(point["metrics"] for point in event.points or ()))
