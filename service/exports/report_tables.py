"""The tables of the report as HTML, every word of a user escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from service.answers import front_ids
from service.contract.metrics import described
from service.contract.palette import arm_style
from service.contract.writing import duration, number, percent, setting, spread
from service.figures.labels import varied_keys
from service.figures.style import title_of
from service.store.views import StudyView

MOST_TRIALS = 300
MARKS = {
    "circle": "●",
    "diamond": "◆",
    "square": "■",
    "triangle-up": "▲",
    "x": "✕",
    "star": "★",
    "cross": "✚",
    "hexagon": "⬢",
}


def _arm(name: str, colour: str, symbol: str) -> str:
    mark = f'<span class="mark" style="--arm: {colour}" aria-hidden="true">{MARKS[symbol]}</span>'
    return f'<th scope="row">{mark}{escape(name)}</th>'


def _table(label: str, heads: Sequence[str], rows: Sequence[str], words: int = 1, kind: str = "") -> str:
    """`words` columns of text, then numbers."""
    titles = "".join(
        f'<th scope="col"{"" if i < words else " class=num"}>{escape(head)}</th>' for i, head in enumerate(heads)
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}"><table class="{kind}">'
        f"<thead><tr>{titles}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _cells(values: Sequence[str]) -> str:
    return "".join(f'<td class="num">{escape(value)}</td>' for value in values)


def arms_table(comparison: dict[str, Any]) -> str:
    """The arms side by side; the note says what the interval is."""
    metrics = list(comparison["arms"][0]["best"])
    heads = ["Arm", "Trials", "Failed", "Collapsed", "Hypervolume", *(f"Best {title_of(m)}" for m in metrics)]
    rows = [
        "<tr>"
        + _arm(arm["name"], arm["colour"], arm["symbol"])
        + _cells(
            [
                f"{arm['counts']['finished']}/{arm['counts']['planned']}",
                str(arm["counts"]["failed"]),
                str(arm["counts"]["collapsed"]),
                spread(arm["hypervolume"]["mean"], arm["hypervolume"]["half_width"]),
                *(number(arm["best"][metric]) for metric in metrics),
                duration(arm["training_seconds"]),
                percent(arm["front_share"]),
            ]
        )
        + "</tr>"
        for arm in comparison["arms"]
    ]
    seeds = comparison["seeds"]
    over_seeds = f"mean ± 95 % interval over {seeds} seeds" if seeds > 1 else "one seed, no interval"
    point = ", ".join(
        f"{described(axis['metric']).label} {setting(axis['reference'])} {described(axis['metric']).unit}".strip()
        for axis in comparison["objectives"]
    )
    note = (
        f"Hypervolume: {over_seeds}, from the reference point {point}. Front share: of all arms’ non-dominated trials."
    )
    table = _table("Arms", [*heads, "Training", "Front share"], rows)
    return f'{table}<p class="note muted">{escape(note)}</p>'


def trials_table(view: StudyView) -> str:
    """The trials on the front first, then in the order of the spec; at most a few hundred."""
    on_front = front_ids(view)
    styles = {arm.name: arm_style(i) for i, arm in enumerate(view.study.arms)}
    chosen = sorted(view.trials, key=lambda trial: trial not in on_front)[:MOST_TRIALS]
    varied = {key for arm in view.study.arms for key in varied_keys(view, arm.name)}
    keys = [key for key in dict.fromkeys(k for t in view.trials.values() for k in t.planned.config) if key in varied]
    metrics = [objective.metric for objective in view.study.objectives]
    metrics += ["accuracy"] if "accuracy" in view.study.metrics and "accuracy" not in metrics else []
    rows = []
    for trial_id in chosen:
        trial = view.trials[trial_id]
        state = "collapsed" if trial.collapsed else trial.state.value
        words = f"{state}: {trial.reason}" if trial.reason else state
        rows.append(
            f"<tr>{_arm(trial.planned.arm, *styles[trial.planned.arm])}<td>{trial_id}</td>"
            f"<td{' class=bad' if trial.reason else ''}>{escape(words[:200])}</td>"
            f"<td>{'on the front' if trial_id in on_front else ''}</td>"
            + _cells([str(trial.planned.seed), *(setting(trial.planned.config.get(key)) for key in keys)])
            + _cells([number(trial.metrics.get(metric)) for metric in metrics])
            + f'<td class="num">{duration(trial.training_seconds)}</td></tr>'
        )
    heads = ["Arm", "Trial", "State", "Front", "Seed", *(key.split(".", 1)[1] for key in keys)]
    table = _table("Trials", [*heads, *map(title_of, metrics), "Training"], rows, words=4, kind="trials")
    if len(view.trials) <= MOST_TRIALS:
        return table
    note = f"{len(chosen):,} of {len(view.trials):,} trials, those on the front first; the CSV export has all of them."
    return f'{table}<p class="note muted">{note}</p>'
