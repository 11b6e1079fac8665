"""The `studies` of a query: one study, or several laid over each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Annotated

from fastapi import Query

from service.contract.errors import Detail, InvalidInput
from service.overlay import MOST, Overlay
from service.routes.dependencies import Parts
from service.store.views import StudyView

Studies = Annotated[str | None, Query(max_length=400, description="ids with commas between: laid over each other")]


@contextmanager
def read_studies(parts: Parts, study_id: str, studies: str | None) -> Iterator[StudyView]:
    """The study itself, or an overlay of it and the others asked for."""
    wanted = list(dict.fromkeys([study_id, *(part.strip() for part in (studies or "").split(",") if part.strip())]))
    if len(wanted) > MOST:
        message = f"at most {MOST} studies can be laid over each other, got {len(wanted)}"
        raise InvalidInput(message, [Detail(path="studies", message=message)])
    with ExitStack() as held:
        # Always in the same order, so that two readers never wait for each other.
        views = {each: held.enter_context(parts.views.read(each)) for each in sorted(wanted)}
        yield views[study_id] if len(wanted) == 1 else Overlay([views[each] for each in wanted])
