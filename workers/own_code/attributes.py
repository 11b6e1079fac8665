"""What user code keeps on its problem and modules from one batch to the next, besides parameters and buffers.

A running mean on `self` belongs to one member: shared with others it would make each of them another than it is alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from torch import Tensor, nn

OF_TORCH = ("training",)  # set by whoever trains or measures
ABSENT = object()
Kept = Sequence[object]  # a value for each place


class Attributes:
    """The places, attributes of a problem and of the modules of its model, that its losses write anew."""

    def __init__(self, problem: object, model: nn.Module) -> None:
        self._objects: list[dict[str, object]] = [vars(problem), *map(vars, model.modules())]
        self._places: list[tuple[dict[str, object], str]] = []
        self.first: Kept = ()

    @property
    def change(self) -> bool:
        return bool(self._places)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Places are those that change within; what stood there is put back."""
        before = [dict(each) for each in self._objects]
        try:
            yield
        finally:
            for each, first in zip(self._objects, before, strict=True):
                names = [name for name in {**first, **each} if each.get(name, ABSENT) is not first.get(name, ABSENT)]
                own = [name for name in names if name not in OF_TORCH]
                self._places += [(each, name) for name in own]
                self.first = [*self.first, *(first.get(name, ABSENT) for name in own)]
            self.begin()

    def begin(self) -> None:
        """As before the first batch."""
        self.put(self.first)

    def now(self) -> Kept:
        return [each.get(name, ABSENT) for each, name in self._places]

    def put(self, kept: Kept) -> None:
        for (each, name), value in zip(self._places, kept, strict=True):
            if value is ABSENT:
                each.pop(name, None)
            else:
                each[name] = value


class OfMembers:
    """What is kept for each of so many members, where anything is."""

    def __init__(self, attributes: Attributes, count: int) -> None:
        self._attributes, self._count = attributes, count
        self.begin()

    def begin(self) -> None:
        attributes = self._attributes
        attributes.begin()
        self._each = [attributes.now() for _ in range(self._count)] if attributes.change else []

    @contextmanager
    def of(self, k: int) -> Iterator[None]:
        """Its own stands in the places within."""
        if not self._each:
            yield
            return
        self._attributes.put(self._each[k])
        yield
        self._each[k] = self._attributes.now()

    def adopt(self) -> None:
        """What stands in the places after members trained together; a tensor there is of no use alone."""
        first = self._attributes.first
        now = [old if isinstance(new, Tensor) else new for new, old in zip(self._attributes.now(), first, strict=True)]
        self._each = [now for _ in self._each]

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """For what only measures."""
        each, now = list(self._each), self._attributes.now()
        try:
            yield
        finally:
            self._each = each
            self._attributes.put(now)
