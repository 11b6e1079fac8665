"""The `studies` of a query: one study, or several laid over each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Annotated

from fastapi import Query

from service.contract.wire.ceilings import STUDIES_OVERLAID
from service.contract.wire.errors import Detail, InvalidInput
from service.routes.dependencies import Parts
from service.views.overlay import Overlay
from service.views.view import View

Studies = Annotated[str | None, Query(max_length=400, description="comma-separated ids of studies to overlay")]


@contextmanager
def read_studies(parts: Parts, study_id: str, studies: str | None) -> Iterator[View]:
    """The study itself, or an overlay of it and the others asked for."""
    wanted = list(dict.fromkeys([study_id, *(part.strip() for part in (studies or "").split(",") if part.strip())]))
    if len(wanted) > STUDIES_OVERLAID:
        message = f"at most {STUDIES_OVERLAID} studies can be overlaid, got {len(wanted)}"
        raise InvalidInput(message, [Detail(path="studies", message=message)])
    with ExitStack() as held:
        # Always in the same order, so that two readers never wait for each other.
        views = {each: held.enter_context(parts.views.read(each)) for each in sorted(wanted)}
        yield views[study_id] if len(wanted) == 1 else Overlay([views[each] for each in wanted])
