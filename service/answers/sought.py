"""Which studies somebody looks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from service.contract.wire.answers.studies import StudySummary


class Sought(NamedTuple):
    """What they have in common. Those that are archived are found only by asking for them."""

    text: str | None = None
    tag: str | None = None
    data: str | None = None
    arm: str | None = None
    pinned: bool | None = None
    archived: bool = False

    def fits(self, study: StudySummary) -> bool:
        """Every word of the text stands somewhere in what a list shows of the study."""
        shown = "\n".join(_shown(study)).casefold()
        return (
            study.archived is self.archived
            and self.pinned in (None, study.pinned)
            and self.tag in (None, *study.tags)
            and self.data in (None, study.data)
            and self.arm in (None, *(arm.name for arm in study.arms))
            and all(word in shown for word in (self.text or "").casefold().split())
        )


def _shown(study: StudySummary) -> Sequence[str]:
    arms = [arm.name for arm in study.arms]
    return [study.id, study.name, study.data, study.excerpt, study.state.value, *study.tags, *arms]
