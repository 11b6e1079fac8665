"""The arms side by side as a LaTeX table, for booktabs."""

from __future__ import annotations

import re

from service.analysis import Interval, Pair
from service.analysis.amounts import Amount
from service.analysis.compared import ArmCompared, Comparison
from service.analysis.single_words import note_words
from service.contract.metrics import SECONDS, described
from service.contract.wording.chosen_split import selection_words
from service.contract.wording.keys import key_label
from service.contract.wording.numbers import (
    MINUS,
    NONE,
    number,
    over_seeds,
    p_value,
    percent_range,
    setting,
    setting_range,
    spread,
)
from service.exports.version import VERSION

# A row that begins with [ or * would be read as an argument of the \\ or the rule before it.
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{character: f"{{{character}}}" for character in "[]*"},
}
GREEK = "α alpha β beta γ gamma δ delta ε varepsilon η eta θ theta κ kappa λ lambda μ mu ρ rho σ sigma τ tau φ varphi"
GREEK += " χ chi ψ psi ω omega Δ Delta Σ Sigma Φ Phi Ω Omega"
LETTERS = dict(zip(GREEK.split()[::2], GREEK.split()[1::2], strict=True))
SIGNS = {"±": "pm", "×": "times", "·": "cdot", "≤": "leq", "≥": "geq"}
MATHS = {sign: f"$\\{name}$" for sign, name in (LETTERS | SIGNS).items()} | {MINUS: "$-$"}
PLACE_NOTE = (
    " Distance: to the front of {baseline} of the same seed, in units of its ranges, below 0 is worse. Dominated: "
    r"share of the arm's front that it dominates, with Wilson's 95 \% interval. Lands at: its settings that land where "
    r"the arm lands. $\varepsilon$ and IGD$^+$: from the exact front where one is known, else from that of all arms."
)
UNLIKE = " None is given where the numbers of points per seed differ, with which hypervolume grows by itself."
TO_LATEX = str.maketrans(SPECIAL | MATHS)


def escaped(text: str) -> str:
    """A user's words as LaTeX prints them: no character is a command, and no line ends early."""
    return " ".join(text.split()).translate(TO_LATEX)


def in_maths(text: str) -> str:
    """A number, or several with words between them: `32.9 ± 12.1` is `$32.9 \\pm 12.1$`."""
    if text == NONE:
        return "--"
    number_of = r"−?\d[\d,]*(?:\.\d+)?(?:e−?\d+)?"
    return re.sub(rf"[+]?{number_of}(?: ± {number_of})?", lambda match: f"${_digits(match[0])}$", text)


def _digits(text: str) -> str:
    powers = re.sub(r"e(−?\d+)", r" \\times 10^{\1}", text)
    return powers.replace(",", "{,}").replace("±", r"\pm").replace(MINUS, "-")


def _over_seeds(interval: Interval | None) -> str:
    if interval is None:
        return "--"
    return in_maths(spread(interval.mean, interval.half_width, interval.low, interval.high))


def _p(pair: Pair | None) -> str:
    """`$0.0067$`, `$< 0.001$`."""
    if pair is None or pair.p_adjusted is None:
        return "--"
    return f"${p_value(pair.p_adjusted).removeprefix('p ').removeprefix('= ')}$"


def _amount(amount: Amount) -> str:
    return in_maths(setting_range(amount.mean, amount.lower, amount.upper))


def _place(arm: ArmCompared) -> list[str]:
    """Distance, dominated share, settings that land there, ε and IGD⁺, each with its interval."""
    place = arm.place.place
    distance, share = place.distance.told, percent_range(*place.domination[:3]).replace(" %", "")
    lands = {key: _amount(own) for key, own in place.amounts.items()} or {
        key: f"{_amount(least)} to {_amount(most)}" for key, (least, most) in place.between.items()
    }
    return [
        in_maths(spread(distance.mean, distance.half_width)),
        in_maths(share),
        " and ".join(rf"{escaped(key_label(key))} $\approx$ {text}" for key, text in lands.items()) or "--",
        *(_over_seeds(each) for each in arm.place.indicators),
    ]


def _row(arm: ArmCompared, pair: Pair | None, best: list[str], placed: bool, single: bool) -> str:
    result = arm.result
    cells = [
        escaped(arm.name),
        f"{arm.counts.finished}/{arm.counts.planned}",
        _over_seeds(result.hypervolume),
        "--" if pair is None or not pair.alike else _over_seeds(pair.paired.difference),
        _p(pair),
        *(_place(arm) if placed else []),
        *(_over_seeds(each) for each in (arm.against_single if single else ())),
        *(_over_seeds(result.best_over_seeds[metric]) for metric in best),
        in_maths(number(100 * result.front_share)),
        in_maths(number(arm.training_seconds)),
    ]
    return " & ".join(cells) + r" \\"


def _caption(comparison: Comparison, name: str) -> str:
    seeds = sorted({arm.result.hypervolume.seeds for arm in comparison.arms})
    uneven = f" ($n$ from {seeds[0]} to {seeds[-1]} by arm)" if len(seeds) > 1 else ""
    point = ", ".join(f"{described(axis.metric).title} {setting(axis.reference)}" for axis in comparison.objectives)
    tested = any(pair.p_adjusted is not None for pair in comparison.pairs)
    test = "; $p$: paired $t$-test, Holm's method" if tested else ""
    against = f" Difference: to {escaped(comparison.baseline)}, seed by seed{test}." if comparison.baseline else ""
    against += UNLIKE if any(not pair.alike for pair in comparison.pairs) else ""
    place = PLACE_NOTE.format(baseline=escaped(comparison.baseline or "")) if comparison.pairs else ""
    single = "" if comparison.single is None else f" {escaped(note_words(comparison.single))}"
    split = f" Trials were {escaped(selection_words(comparison.chooser))}." if comparison.chooser else ""
    lights = "".join(
        f" Estimates of {escaped(described(metric).label)} are at worst {escaped(lit.light.words)} on Gaussian tasks "
        "of their shape."
        for metric, lit in comparison.lights.items()
    )
    return (
        f"{escaped(name)}. Hypervolume: {escaped(over_seeds(comparison.seeds))}, $n = {comparison.seeds}${uneven}, "
        f"from the reference point {escaped(point)}.{split}{lights}{against}{place} Best: of "
        "each seed's trials the one that was chosen, mean over seeds. Lost without it: the part of the joint "
        f"hypervolume that only this arm attains.{single}"
    )


def latex_table(comparison: Comparison, name: str) -> str:
    """A row per arm: hypervolume, its difference to the baseline and its place as mean ± 95 % half width, cost."""
    best = list(comparison.arms[0].result.best)
    pairs = {pair.arm: pair for pair in comparison.pairs}
    heads = ["Arm", "Trials", "Hypervolume", "Difference", "$p$"]
    heads += ["Distance", r"Dominated {[}\%{]}", "Lands at", r"$\varepsilon$", "IGD$^+$"] if comparison.pairs else []
    heads += [r"$\Delta m$ {[}\%{]}", "Mean rank"] if comparison.single else []
    heads += [escaped(f"Best {described(metric).title}") for metric in best]
    heads += [r"Lost without it {[}\%{]}", escaped(f"Training time [{described(SECONDS).unit}]")]
    return "\n".join(
        [
            rf"% Paretoscope {VERSION}, study {comparison.study}. Needs \usepackage{{booktabs}}.",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_caption(comparison, name)}}}",
            rf"\label{{tab:{comparison.study}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
            r"\toprule",
            " & ".join(heads) + r" \\",
            r"\midrule",
            *(_row(arm, pairs.get(arm.name), best, bool(pairs), bool(comparison.single)) for arm in comparison.arms),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )
