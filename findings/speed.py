"""What `make bench` measured, as it is kept in `docs/findings/speed.json`, and what a text can ask of it.

`ratio(ROW)`, `first(ROW)`, `second(ROW)`, `dates`, `machines`, `by row`, `by model`; of groups `by row(steps; grid)`,
`dates(grid)`, `machines(grid)`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal, get_args

from pydantic import Field

from findings.finding import Kept, rounded
from findings.folder import SPEED
from service.contract.wording.numbers import setting

Group = Literal["steps", "every", "cohort", "own", "models", "grid", "dashboard", "curves", "log", "store", "before"]
GROUPS: tuple[Group, ...] = get_args(Group)
NAME = SPEED.stem  # in a marker, where others name a study
OF_GROUPS = re.compile(r"(by row|by model|dates|machines)(?:\((.*)\))?")
OF_ROW = re.compile(r"([a-z]+)\((.*)\)")
NONE = "–"
WHOLE = 10  # from here on timings are told without decimals


def is_table(asked: str) -> bool:
    """Whether that is answered by a table: `by row`, `by model`."""
    match = OF_GROUPS.fullmatch(asked)
    return match is not None and match[1].startswith("by ")


class Timing(Kept):
    """Two times, or sizes, of one run, and how many times the second goes into the first."""

    group: Group
    what: Annotated[str, Field(description="as `first / second`")]
    ratio: Annotated[float | None, Field(description="none where only the first was possible")]
    values: Annotated[tuple[float, float] | None, Field(description="none where only the ratio was kept")]
    unit: Annotated[str, Field(description="of both values; s is wall time, CPU s that of all threads")]
    date: str
    machine: str
    paretoscope: Annotated[str, Field(description="the version that was measured")]
    commit: Annotated[str | None, Field(description="of the tree that was measured; none: not noted")]
    between: Annotated[tuple[float, float] | None, Field(description="95 % interval of a median over rounds")] = None
    stacking: Annotated[str | None, Field(description="of a user's model: how its cohort says that it trains")] = None
    apart: Annotated[
        float | None, Field(description="the largest difference of its stacked members' numbers to those alone")
    ] = None

    @property
    def measured(self) -> str:
        """`175 s / 13 s`."""
        return "" if self.values is None else " / ".join(f"{_timing(value)} {self.unit}" for value in self.values)

    @property
    def told(self) -> str:
        """`1.6`, or `1.62 (1.6 to 1.65)` where the ratio is a median over rounds."""
        if self.ratio is None:
            return NONE
        if self.between is None:
            return _timing(self.ratio)
        low, high = (setting(end, 3) for end in self.between)
        return f"{setting(self.ratio, 3)} ({low} to {high})"

    @property
    def when(self) -> str:
        return f"{self.date}, {self.commit or self.paretoscope}"


class Speed(Kept):
    """Rows by their keys."""

    rows: dict[str, Timing]


def load_speed() -> Speed:
    return Speed.model_validate_json(SPEED.read_bytes())


def renewed(speed: Speed, rows: Mapping[str, Timing]) -> Speed:
    """With these rows instead of those of the same keys; the others stay as they were. In the groups' order."""
    every = {**speed.rows, **rows}
    return Speed(rows=dict(sorted(every.items(), key=lambda row: GROUPS.index(row[1].group))))


def speed_text(speed: Speed) -> str:
    """JSON with a line per row, so that a diff can be read."""
    rows = {key: row.model_dump(mode="json") for key, row in speed.rows.items()}
    for row in rows.values():
        for key in ("between", "values"):
            row[key] = row[key] and [rounded(each) for each in row[key]]
        row |= {key: row[key] and rounded(row[key]) for key in ("ratio", "apart")}
        for key in ("between", "stacking", "apart"):
            if row[key] is None:
                del row[key]
    lines = [f"  {json.dumps(key)}: {json.dumps(row, ensure_ascii=False)}" for key, row in rows.items()]
    return "\n".join(['{"rows": {', ",\n".join(lines), "}}", ""])


def said(asked: str, speed: Speed | None = None) -> str:
    """What the kept rows answer."""
    speed = speed or load_speed()
    if match := OF_GROUPS.fullmatch(asked):
        return TOLD_OF_GROUPS[match[1]](_of_groups(speed, match[2]))
    match = OF_ROW.fullmatch(asked)
    tell = TOLD.get(match[1]) if match else None
    if match is None or tell is None:
        raise ValueError(f"{asked!r} is nothing that can be asked of {SPEED.name}: {__doc__.splitlines()[2]}")
    if match[2] not in speed.rows:
        raise ValueError(f"{SPEED.name} has no row {match[2]!r}; kept: {', '.join(speed.rows)}")
    return tell(speed.rows[match[2]])


def _value(row: Timing, which: int) -> str:
    if row.values is None:
        raise ValueError(f"of the row {row.what!r} only the ratio was kept")
    return f"{_timing(row.values[which])} {row.unit}"


TOLD: dict[str, Callable[[Timing], str]] = {
    "ratio": lambda row: row.told,
    "first": lambda row: _value(row, 0),
    "second": lambda row: _value(row, 1),
}


def _timing(value: float) -> str:
    """Two digits: the next run has another third."""
    return setting(round(value)) if value >= WHOLE else setting(value, 2)


def _of_groups(speed: Speed, groups: str | None) -> list[Timing]:
    asked = [group.strip() for group in groups.split(";")] if groups else list(GROUPS)
    if strange := [group for group in asked if group not in GROUPS]:
        raise ValueError(f"{strange[0]!r} is no group of rows; known: {', '.join(GROUPS)}")
    rows = [row for row in speed.rows.values() if row.group in asked]
    if not rows:
        raise ValueError(f"{SPEED.name} has no row of {', '.join(asked)}")
    return rows


def _dates(rows: Sequence[Timing]) -> str:
    dates = sorted({row.date for row in rows})
    return dates[0] if len(dates) == 1 else f"{', '.join(dates[:-1])} and {dates[-1]}"


def _machines(rows: Sequence[Timing]) -> str:
    return "; ".join(dict.fromkeys(row.machine for row in rows))


def _table(rows: Sequence[Timing]) -> str:
    lines = ["| what | ratio | measured | when |", "| --- | --- | --- | --- |"]
    return "\n".join([*lines, *(f"| {row.what} | {row.told} | {row.measured} | {row.when} |" for row in rows)])


def _models(rows: Sequence[Timing]) -> str:
    """What happens to models that nobody here wrote: whether they stack and why, what it gains, how near they stay."""
    lines = ["| model | do they stack? | one by one / stacked | largest difference | measured | when |"]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    for row in rows:
        if row.stacking is not None:
            stacks, why = ("yes" if row.stacking.startswith("stacked") else "no"), row.stacking.partition(": ")[2]
            apart = NONE if row.apart is None else setting(row.apart, 1)
            cells = [row.what.partition(":")[0], f"{stacks}: {why}", row.told, apart, row.measured, row.when]
            lines.append(f"| {' | '.join(cells)} |")
    if len(lines) == 2:
        raise ValueError(f"{SPEED.name} has no row of a model")
    return "\n".join(lines)


TOLD_OF_GROUPS = {"by row": _table, "by model": _models, "dates": _dates, "machines": _machines}
