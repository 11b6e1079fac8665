"""What is said of arms against training each of their tasks alone."""

from __future__ import annotations

from service.analysis.delta_m import AgainstSingle, DeltaM
from service.analysis.intervals import Interval
from service.contract.wording.lists import listed
from service.contract.wording.numbers import plural, spread

MOST_NAMED = 4  # tasks in a sentence; of more, how many they are
SINGLE = "single tasks"
SEEDS = {1: "one seed: no interval", 2: "two seeds: no interval"}


def drop_words(own: DeltaM | None, baseline: str = "", other: DeltaM | None = None) -> str:
    """`Against single tasks it loses 1.20 ± 0.80 %, the grid loses 0.40 ± 0.30 % (Δm over 2 tasks, 3 seeds).`"""
    if own is None or own.mean.mean is None:
        return ""
    seeds = SEEDS.get(own.mean.seeds, f"{own.mean.seeds} seeds")
    said = f"it {_change(own.mean)}"
    if other is not None and other.mean.mean is not None:
        few = "" if other.mean.seeds == own.mean.seeds else f" over {plural(other.mean.seeds, 'seed')}"
        said += f", {baseline} {_change(other.mean)}{few}"
    return f"Against {SINGLE} {said} (Δm over {plural(len(own.by_axis), 'task')}, {seeds})."


def _change(drop: Interval) -> str:
    """Loses or gains; where an interval holds 0, or seeds are too few for one, neither."""
    mean, half, low, high = drop.mean or 0.0, drop.half_width, drop.low, drop.high
    if half is None:
        return f"is not shown to lose or gain, {spread(mean, half, low, high)} %"
    if abs(mean) <= half:
        return f"is not shown to lose or gain, {spread(mean, half)} %"
    return f"{'gains' if mean < 0 else 'loses'} {spread(abs(mean), half)} %"


def note_words(against: AgainstSingle) -> str:
    """What Δm and the mean rank in a table are."""
    tasks = list(against.measures)
    named = f" ({listed(tasks)})" if len(tasks) <= MOST_NAMED else ""
    words = (
        f"Δm: relative drop against {SINGLE} of the same seed, mean over {plural(len(tasks), 'task')}{named}, in "
        "percent; below 0 is a gain. Mean rank: over the same tasks, among the arms that have all of them; 1 is best."
    )
    if against.without:
        one = len(against.without) == 1
        seeds = f"Seed{'' if one else 's'} {listed([str(seed) for seed in against.without])}"
        missing = "not every task has a single trial with a result there"
        words += f" {seeds} {'has' if one else 'have'} neither: {missing}."
    return words
