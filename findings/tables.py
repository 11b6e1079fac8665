"""Tables: a row per arm, configuration or metric, a column per quantity; the row gives what a quantity leaves out.

`by arm | trials | hypervolume | mean(METRIC) as its name`, `by arm(MIB; ARML) | …`,
`by configuration(manual β) | mean(METRIC)`, `by metric(METRIC; METRIC) | mean(VIB) as VIB`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from findings.expression import Arguments, Question, arguments, parsed, unknown
from findings.finding import Finding
from findings.quantities import Quantity, quantity_named
from findings.wording import Said
from service.analysis import LEAST_SEEDS
from service.contract.metrics import ACCURACY, I_XZ, described
from service.contract.wording.numbers import over_seeds
from service.figures.drawing.trial_labels import config_label
from service.views.selectors import configurations, varied_keys
from service.views.view import View

BY = re.compile(r"by (arm|configuration|metric)\s*(?:\((.*)\))?", re.DOTALL)
WILSON = "95 % Wilson interval "
AS = re.compile(r"(.*?)\s+as\s+(.*)", re.DOTALL)


class Row(NamedTuple):
    label: str
    given: Arguments


class Column(NamedTuple):
    quantity: Quantity
    given: Arguments
    heading: str | None

    def question(self, finding: Finding, view: View, row: Row) -> Question:
        """What the row gives comes first: `difference(accuracy; plain)` is the row's arm minus plain."""
        arms = (*(row.given.arms if "ARM" in self.quantity.usage else ()), *self.given.arms)
        metrics = (*row.given.metrics, *self.given.metrics)
        given = self.given._replace(arms=arms, metrics=metrics, among=row.given.among)
        question = Question(finding, view, given)
        self.quantity.check(question)
        return question


def is_table(text: str) -> bool:
    return BY.match(text.strip()) is not None


def table(finding: Finding, view: View, text: str) -> str:
    """As Markdown."""
    by, *columns = [part.strip() for part in text.split("|")]
    rows, columns_of = list(_rows(view, by)), [_column(view, column) for column in columns]
    if not rows or not columns_of:
        raise ValueError("a table needs a row and a column: by arm | trials | hypervolume")
    questions = [[column.question(finding, view, row) for column in columns_of] for row in rows]
    cells = [
        [column.quantity.say(question) for column, question in zip(columns_of, row, strict=True)] for row in questions
    ]
    heads = [
        column.heading or column.quantity.headed(question)
        for column, question in zip(columns_of, questions[0], strict=True)
    ]
    counted = {(cell.seeds, cell.of) for row in cells for cell in row if cell.seeds}
    seeds = next(iter(counted))[0] if len(counted) == 1 else None  # one number for all: said once, above
    told = f"({_over(seeds, cells)})" if seeds else ""
    first = " ".join(filter(None, [_first(by), told]))
    lines = [[first, *heads], ["---"] * (len(heads) + 1)]
    lines += [[row.label, *(_cell(c, seeds) for c in own)] for row, own in zip(rows, cells, strict=True)]
    return "\n".join(f"| {' | '.join(map(_escaped, line))} |" for line in lines)


def _over(seeds: int, cells: list[list[Said]]) -> str:
    """A table without a single interval does not promise any; those of counts are not mean ± half width."""
    texts = [cell.text for row in cells for cell in row]
    if seeds < LEAST_SEEDS or any("±" in text for text in texts):
        return over_seeds(seeds)
    return f"{WILSON if any(text.endswith(' %)') for text in texts) else ''}over {seeds} seeds"


def _cell(said: Said, above: int | None) -> str:
    """With its number of seeds unless that is said above the table."""
    return said.text if above is not None and said.seeds == above else said.alone


def _first(by: str) -> str:
    match = BY.fullmatch(by)
    return "" if match is None else {"metric": "", "arm": "arm", "configuration": "configuration"}[match[1]]


def _rows(view: View, by: str) -> Iterator[Row]:
    match = BY.fullmatch(by)
    if match is None:
        raise ValueError(f"{by!r}: a table is by arm, by configuration or by metric, with some of them in brackets")
    kind, inner = match.groups()
    given = arguments(view, [part.strip() for part in (inner or "").split(";") if part.strip()])
    strange = [*given.words, *given.numbers, *given.conditions]
    if strange:
        raise ValueError(unknown(view, str(strange[0])))
    arms = given.arms or tuple(arm.name for arm in view.study.arms)
    if kind == "metric":
        if not given.metrics:
            raise ValueError(f"by metric needs their names in brackets: by metric({ACCURACY}; {I_XZ})")
        yield from (Row(described(name).title, Arguments(metrics=(name,))) for name in given.metrics)
    elif kind == "arm":
        yield from (Row(arm, Arguments(arms=(arm,))) for arm in arms)
    else:
        for arm in arms:
            for trials in configurations(view, arm):
                label = config_label(view.trials[trials[0]].planned.config, varied_keys(view, arm))
                among = Arguments(arms=(arm,), among=frozenset(trials))
                yield Row(", ".join(filter(None, [arm if len(arms) > 1 or not label else "", label])), among)


def _column(view: View, text: str) -> Column:
    match = AS.fullmatch(text)
    asked, heading = match.groups() if match else (text, None)
    name, parts = parsed(asked)
    return Column(quantity_named(name), arguments(view, parts), heading)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
