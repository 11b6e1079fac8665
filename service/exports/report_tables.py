"""The tables of the report as HTML, every word of a user escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from service.analysis.candidates import front_ids
from service.analysis.compared import ArmCompared, Comparison
from service.analysis.lights import Lit, lights_of, worst_lights
from service.analysis.place_words import lands_words
from service.analysis.single_words import note_words
from service.contract.metrics import ACCURACY, described
from service.contract.wording.chosen_split import selection_words
from service.contract.wording.numbers import NONE, duration, number, over_seeds, percent, percent_range, setting, spread
from service.contract.wording.palette import arm_style
from service.views.selectors import varied_keys
from service.views.view import View

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


def _measured(value: float | None, lit: Lit | None) -> str:
    """A number behind the mark of its estimator, where it has one."""
    mark = (
        f'<span class="light" role="img" aria-label="error where the truth is known: {escape(lit.light.words)}" '
        f'title="{escape(lit.words)}">{lit.light.mark}</span>'
        if lit
        else ""
    )
    return f'<td class="num">{mark}{escape(number(value))}</td>'


def _single_cells(arm: ArmCompared) -> list[str]:
    """Δm and mean rank."""
    return [NONE if i is None else spread(i.mean, i.half_width, i.low, i.high) for i in arm.against_single]


def _arm_row(arm: ArmCompared, index: int, metrics: Sequence[str], comparison: Comparison) -> str:
    volume, place = arm.result.hypervolume, arm.place.place
    distance = place.distance.told
    cells = [
        f"{arm.counts.finished}/{arm.counts.planned}",
        str(arm.counts.failed),
        str(arm.counts.collapsed),
        *([str(arm.counts.infeasible)] if comparison.constraints else []),
        spread(volume.mean, volume.half_width, volume.low, volume.high),
        *(spread(each.mean, each.half_width, each.low, each.high) for each in arm.place.indicators),
        "baseline" if arm.name == comparison.baseline else spread(distance.mean, distance.half_width),
        percent_range(*place.domination[:3]),
        lands_words(place) or NONE,
        *(_single_cells(arm) if comparison.single else []),
        *(spread(i.mean, i.half_width, i.low, i.high) for i in map(arm.result.best_over_seeds.__getitem__, metrics)),
        duration(arm.training_seconds),
        percent(arm.result.front_share),
    ]
    return f"<tr>{_arm(arm.name, *arm_style(index))}{_cells(cells)}</tr>"


def arms_table(comparison: Comparison) -> str:
    """The arms side by side; the note says what the interval is."""
    metrics = list(comparison.arms[0].result.best)
    best = [f"Best {described(metric).title}" for metric in metrics]
    placed = ["ε", "IGD⁺", "Distance", "Dominated", "Lands at"]
    placed += ["Δm [%]", "Mean rank"] if comparison.single else []
    ended = ["Failed", "Collapsed", *(["Infeasible"] if comparison.constraints else [])]
    heads = ["Arm", "Trials", *ended, "Hypervolume", *placed, *best, "Training", "Front lost without it"]
    rows = [_arm_row(arm, i, metrics, comparison) for i, arm in enumerate(comparison.arms)]
    point = ", ".join(
        f"{described(axis.metric).label} {setting(axis.reference)} {described(axis.metric).unit}".strip()
        for axis in comparison.objectives
    )
    note = (
        f"Hypervolume: {over_seeds(comparison.seeds)}, from the reference point {point}. Front lost without it: the "
        "part of all arms’ joint hypervolume that only this arm attains, mean over seeds."
    )
    if comparison.constraints:
        note += f" Infeasible: breaks {', '.join(each.words for each in comparison.constraints)}; off every front."
    if words := selection_words(comparison.chooser):
        note += f" {words.capitalize()}."
    if comparison.baseline is not None:
        note += (
            f" Distance: to {comparison.baseline}’s front of the same seed, in units of its ranges, which depend on "
            "how far its settings reach; above 0 the mean against the straight lines between its trials, below 0 that "
            "against its steps, 0 between the two. Dominated: the share of an arm’s front that it dominates, with "
            "Wilson’s 95 % interval. Lands at: its settings that land where the arm lands, with the ends of their 95 % "
            "interval. ε and IGD⁺: additive ε-indicator and inverted generational distance plus, from the exact front "
            "where one is known, else from that of all arms; 0 is best."
        )
    if comparison.single is not None:
        note += f" {note_words(comparison.single)}"
    return f'{_table("Arms", heads, rows)}<p class="note muted">{escape(note)}</p>'


def trials_table(view: View) -> str:
    """The trials on the front first, then in the order of the spec; at most a few hundred."""
    on_front = front_ids(view)
    styles = {arm.name: arm_style(i) for i, arm in enumerate(view.study.arms)}
    chosen = sorted(view.trials, key=lambda trial: trial not in on_front)[:MOST_TRIALS]
    varied = {key for arm in view.study.arms for key in varied_keys(view, arm.name)}
    keys = [key for key in dict.fromkeys(k for t in view.trials.values() for k in t.planned.config) if key in varied]
    metrics = [objective.metric for objective in view.study.objectives]
    metrics += [ACCURACY] if ACCURACY in view.metrics and ACCURACY not in metrics else []
    rows = []
    for trial_id in chosen:
        trial = view.trials[trial_id]
        lights = lights_of(trial)
        state = "collapsed" if trial.collapsed else "infeasible" if trial.infeasible else trial.state.value
        words = f"{state}: {trial.reason}" if trial.reason else state
        rows.append(
            f"<tr>{_arm(trial.planned.arm, *styles[trial.planned.arm])}<td>{trial_id}</td>"
            f"<td{' class=bad' if trial.reason else ''}>{escape(words[:200])}</td>"
            f"<td>{'on the front' if trial_id in on_front else ''}</td>"
            + _cells([str(trial.planned.seed), *(setting(trial.planned.config.get(key)) for key in keys)])
            + "".join(_measured(trial.metrics.get(metric), lights.get(metric)) for metric in metrics)
            + f'<td class="num">{duration(trial.training_seconds)}</td></tr>'
        )
    heads = ["Arm", "Trial", "State", "Front", "Seed", *(key.split(".", 1)[1] for key in keys)]
    heads += [*(described(metric).title for metric in metrics), "Training"]
    table = _table("Trials", heads, rows, words=4, kind="trials")
    notes = [f"{lit.words}: no bound on the error here." for lit in worst_lights(view).values()]
    if any(trial.points for trial in view.trials.values()):
        notes.append("Of trials with many points: what they measure at the middle of their range.")
    if len(view.trials) > MOST_TRIALS:
        few = f"{len(chosen):,} of {len(view.trials):,} trials"
        notes.append(f"{few}, those on the front first; the CSV export has all of them.")
    return f'{table}<p class="note muted">{escape(" ".join(notes))}</p>' if notes else table
