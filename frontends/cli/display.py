"""What the terminal shows: tables, progress bars, times; the same colour per arm as in the figures."""

from __future__ import annotations

from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from frontends.connection import Answer
from service.contract.metrics import ACCURACY
from service.contract.wording.keys import key_label
from service.contract.wording.numbers import (
    NONE,
    duration,
    left,
    number,
    over_seeds,
    percent,
    percent_range,
    setting,
    setting_range,
    spread,
)
from service.contract.wording.palette import arm_style


def studies_table(studies: list[Answer]) -> Table:
    table = Table("study", "name", "state", "trials", "failed", "progress", box=None, header_style="bold")
    for study in studies:
        counts = study["counts"]
        table.add_row(
            study["id"],
            Text(study["name"]),  # a user's words, no markup
            state_words(study),
            f"{counts['finished']}/{counts['planned']}",
            str(counts["failed"]),
            percent(study["progress"]),
        )
    return table


def state_words(study: Answer) -> str:
    """With what lists say besides: that it is interrupted, or cannot be read."""
    besides = next((what for what in ("unreadable", "interrupted") if study.get(what)), None)
    return f"{study['state']}, {besides}" if besides else str(study["state"])


def progress_view(study: Answer, width: int = 80) -> Table:
    """One bar per arm, and the study's state in words; no bars on a narrow terminal."""
    head = Text(f"{study['name']}  ", style="bold")
    head.append(state_words(study), style="not bold")
    if study["state"] == "queued" and study.get("queue_position"):
        head.append(f", place {study['queue_position']} in the queue", style="not bold")
    if study["eta_seconds"] is not None:
        head.append(f" · {left(study['eta_seconds'])}", style="not bold")
    table = Table.grid(padding=(0, 2))
    rows = Table.grid(padding=(0, 2))
    room = min(30, width - 54 - max((len(arm["name"]) for arm in study["arms"]), default=0))
    for i, arm in enumerate(study["arms"]):
        colour, counts = arm_style(i)[0], arm["counts"]
        done = counts["finished"] + counts["failed"] + counts.get("stopped", 0)
        failed = "".join(f" · {counts[what]} {what}" for what in ("failed", "stopped") if counts.get(what))
        bar = ProgressBar(
            total=1.0, completed=arm["progress"], width=room, complete_style=colour, finished_style=colour
        )
        words = f"{done}/{counts['planned']} trials{failed} · hypervolume {number(arm['hypervolume'])}"
        rows.add_row(Text(arm["name"], style=colour), *([bar] if room >= 8 else []), words)
    table.add_row(head)
    table.add_row(rows)
    if (flattered := study.get("flattered")) and any(arm["hypervolume"] for arm in study["arms"]):
        table.add_row(f"Hypervolumes: {flattered}.")
    for why in filter(None, (study.get("unreadable"), study.get("interrupted"))):
        table.add_row(Text(why))
    if study.get("lost_events"):
        table.add_row(f"{study['lost_events']} events of its log were lost: a part of the database was damaged.")
    return table


def comparison_table(comparison: Answer) -> Table:
    """The arms side by side, with the uncertainty over seeds.

    Against single tasks Δm and mean rank take the place of the main task's accuracy: eighty columns hold no more.
    """
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("arm", min_width=6)
    table.add_column("trials", justify="right")
    shown = _best_shown(comparison)
    best = "best acc." if shown == ACCURACY else f"best {shown}"
    quality = ("Δm %", "mean rank") if comparison["single"] else (best,)
    for title in ("hypervolume", "distance", *quality, "training"):
        table.add_column(title, justify="right", no_wrap=True)
    for i, arm in enumerate(comparison["arms"]):
        counts, volume, distance = arm["counts"], arm["hypervolume"], arm["distance"]
        is_baseline = arm["name"] == comparison["baseline"]
        table.add_row(
            Text(arm["name"], style=arm_style(i)[0]),
            trials_words(counts),
            spread(volume["mean"], volume["half_width"], volume["low"], volume["high"]),
            "baseline" if is_baseline else spread(distance["mean"], distance["half_width"]),
            *_quality(arm, bool(comparison["single"]), shown),
            duration(arm["training_seconds"]),
        )
    return table


def places_table(comparison: Answer) -> Table:
    """Where the arms lie, in a table of its own: eighty columns hold no more."""
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("arm", min_width=6)
    for title in ("lands at", "dominated", "ε", "IGD⁺"):
        table.add_column(title, justify="right", no_wrap=title in ("ε", "IGD⁺"))
    for i, arm in enumerate(comparison["arms"]):
        dominated = arm["dominated_over_seeds"]
        table.add_row(
            Text(arm["name"], style=arm_style(i)[0]),
            _lands(arm),
            percent_range(dominated["mean"], dominated["lower"], dominated["upper"]),
            _over_seeds(arm["epsilon_over_seeds"]),
            _over_seeds(arm["igd_plus_over_seeds"]),
        )
    return table


def _lands(arm: Answer) -> str:
    """`β ≈ 0.0488 (0.031 to 0.077)`; of an arm that draws a front the least and the largest."""
    amounts = {key: [own] for key, own in arm["amounts_to_over_seeds"].items()} or arm.get("lands_between", {})
    texts = {key: " to ".join(map(_setting_over_seeds, ends)) for key, ends in amounts.items()}
    return " and ".join(f"{key_label(key)} ≈ {text}" for key, text in texts.items()) or NONE


def _setting_over_seeds(amount: Answer) -> str:
    return setting_range(amount["mean"], amount["lower"], amount["upper"])


def _best_shown(comparison: Answer) -> str:
    """The accuracy, or the first objective where no arm has one: in a study of your own code."""
    has_accuracy = any(arm["best"].get(ACCURACY) is not None for arm in comparison["arms"])
    ended = any(value is not None for arm in comparison["arms"] for value in arm["best"].values())
    return ACCURACY if has_accuracy or not ended else str(comparison["objectives"][0]["metric"])


def _quality(arm: Answer, single: bool, shown: str) -> list[str]:
    if single:
        return [_over_seeds(arm["delta_m"]), _over_seeds(arm["mean_rank"])]
    return [_over_seeds(arm.get("best_over_seeds", {}).get(shown))]


def _over_seeds(answer: Answer | None) -> str:
    if answer is None:
        return NONE
    return spread(answer["mean"], answer["half_width"], answer["low"], answer["high"])


def trials_words(counts: Answer) -> str:
    """`34/36, 1 failed, 2 collapsed`: how others ended only where some did."""
    wrong = [f"{counts[what]} {what}" for what in ("failed", "stopped", "collapsed", "infeasible") if counts.get(what)]
    return ", ".join([f"{counts['finished']}/{counts['planned']}", *wrong])


def objectives_line(comparison: Answer) -> str:
    axes = comparison["objectives"]
    names = ", ".join(f"{axis['goal']} {axis['metric']}" for axis in axes)
    reference = ", ".join(setting(axis["reference"]) for axis in axes)
    volume = f"Hypervolume: {over_seeds(comparison['seeds'])}, from the reference point ({reference})."
    baseline = comparison["baseline"]
    distance = f" Distance: to {baseline}’s front, in units of its ranges; below 0 is worse." if baseline else ""
    if comparison["pairs"]:
        distance += f" Dominated: by {baseline}, Wilson’s 95 % interval. Lands at: its settings that land there."
    selection = f" {comparison['selection_words'].capitalize()}." if comparison["selection_words"] else ""
    lights = "".join(f" {lit['words']}." for lit in comparison["lights"].values())
    single = f" {comparison['single']['words']}" if comparison["single"] else ""
    return f"Objectives: {names}.{selection} {volume}{distance}{lights}{single}"


def size(count: int | None) -> str:
    """54.9 MB."""
    if count is None:
        return NONE
    return f"{number(count / 1e6)} MB" if count >= 1e6 else f"{number(count / 1e3)} kB"
