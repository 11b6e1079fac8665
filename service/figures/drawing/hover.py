"""What is said where a reader points: words written here, since Plotly would write numbers as d3 does, 1.23e+3."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from service.contract.wire.plotly import Trace
from service.contract.wording.numbers import number

ARM = "%{fullData.name}"


def hover(words: Iterable[str], beside: str = ARM) -> Trace:
    """The words of a trace's points, one each, with the arm's name beside them."""
    return {"text": list(words), "hovertemplate": f"%{{text}}<extra>{beside}</extra>"}


def value_lines(titles: Sequence[str], values: Sequence[float]) -> str:
    """`I(X;Z) [bits] 12.3<br>accuracy 0.920`: a line for each."""
    return "<br>".join([f"{title} {number(value)}" for title, value in zip(titles, values, strict=True)])
