"""How an example holds its tensors: one by itself, or many in tuples, lists and dicts, which may lie in each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple


class Form(NamedTuple):
    """A tuple, a named tuple or a dict, and what stands in its places; none in a place is a tensor."""

    kind: type
    keys: tuple[Any, ...]  # of a dict
    parts: tuple[Form | None, ...]

    @property
    def is_plain(self) -> bool:
        """Whether it is a tuple of tensors, as most are."""
        return self.kind is tuple and not any(self.parts)

    def of(self, columns: Iterator[Any]) -> Any:
        values = [next(columns) if part is None else part.of(columns) for part in self.parts]
        if self.kind is dict:
            return dict(zip(self.keys, values, strict=True))
        return tuple(values) if self.kind is tuple else self.kind(*values)


def put_together(form: Form | None, columns: Sequence[Any]) -> Any:
    """The columns of a batch as the user's functions take them."""
    if form is None:
        return columns[0]
    return tuple(columns) if form.is_plain else form.of(iter(columns))


def taken_apart(example: Any) -> tuple[list[Any], Form | None]:
    """What it holds, in order, and its form."""
    kind: type
    keys: tuple[Any, ...] = ()
    if isinstance(example, Mapping):
        keys, values, kind = tuple(example), list(example.values()), dict
    elif isinstance(example, (tuple, list)):
        values, kind = list(example), type(example) if hasattr(example, "_fields") else tuple
    else:
        return [example], None
    held = [taken_apart(value) for value in values]
    return [leaf for leaves, _ in held for leaf in leaves], Form(kind, keys, tuple(form for _, form in held))
