"""Settings in words, as a methods section has them."""

from __future__ import annotations

from typing import Any

from service.contract.parameters.axes import Choice, Grid, Range
from service.contract.parameters.strict import Strict
from service.contract.wording.lists import listed
from service.contract.wording.numbers import setting

LISTED_IN_FULL = 3


def _axis_words(axis: Grid | Range | Choice) -> str:
    """A grid by its values, or by its ends where there are many."""
    if isinstance(axis, Range):
        return f"between {value_words(axis.range.from_)} and {value_words(axis.range.to)}"
    values = axis.choice if isinstance(axis, Choice) else axis.values()
    words = [value_words(value) for value in values]
    if len(words) > LISTED_IN_FULL and isinstance(axis, Grid):
        return f"in a grid of {len(words)} values from {words[0]} to {words[-1]}"
    return f"{'among' if isinstance(axis, Choice) else 'in'} {{{', '.join(words)}}}"


def value_words(value: Any) -> str:
    """A setting as it is read aloud."""
    if isinstance(value, (Grid, Range, Choice)):
        return _axis_words(value)
    if isinstance(value, dict):
        return listed([f"{name} {value_words(each)}" for name, each in value.items()])
    if isinstance(value, (list, tuple)):
        return "–".join(map(value_words, value)) or "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return setting(value, digits=6)


def settings_words(part: Strict, only_changed: bool = False) -> str:
    """`widths 64–64, latent 16`; where asked, only what is not as it comes."""
    settings = []
    for name, field in type(part).model_fields.items():
        value = getattr(part, name)
        is_part = isinstance(value, Strict) and not isinstance(value, (Grid, Range, Choice))
        if name == "name" or value in (None, {}) or is_part:
            continue
        if only_changed and value == field.get_default(call_default_factory=True):
            continue
        settings.append(f"{name.replace('_', ' ')} {value_words(value)}")
    return ", ".join(settings)
