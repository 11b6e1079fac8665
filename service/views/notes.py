"""What people say of a study or a trial: their notes, and where they want to find it."""

from __future__ import annotations

from typing import NamedTuple

from service.contract.wire.events import NoteEvent, StudyNoted


class Notes(NamedTuple):
    """As it was said last."""

    text: str = ""  # Markdown
    tags: tuple[str, ...] = ()
    pinned: bool = False
    archived: bool = False

    def after(self, event: NoteEvent) -> Notes:
        """What the event leaves out stays as it was."""
        noted = self
        if event.notes is not None:
            noted = noted._replace(text=event.notes)
        if event.tags is not None:
            noted = noted._replace(tags=tuple(dict.fromkeys(event.tags)))
        if isinstance(event, StudyNoted):
            pinned, archived = event.pinned, event.archived
            noted = noted._replace(
                pinned=noted.pinned if pinned is None else pinned,
                archived=noted.archived if archived is None else archived,
            )
        return noted
