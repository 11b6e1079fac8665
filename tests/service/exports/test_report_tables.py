"""The tables of the report, cell by cell: every number stands under its heading."""

from __future__ import annotations

import html
import re

from service.analysis import Interval
from service.analysis.candidates import front_ids
from service.analysis.compared import compared
from service.contract.wire.events import Metrics
from service.contract.wording.numbers import percent, setting_range, spread
from service.exports.methods import methods
from service.exports.report_tables import arms_table, trials_table
from service.views.fold import StudyView
from tests.service.analysis.test_lights import NEAR, ROUGH, grid
from tests.service.studies import FIXED, bottleneck_of, play, study_of


def over(each: Interval) -> str:
    return spread(each.mean, each.half_width, each.low, each.high)


def rows_of(table: str) -> list[dict[str, str]]:
    """Each row by its headings, as a reader sees it."""

    def texts(row: str) -> list[str]:
        cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        return [html.unescape(re.sub(r"<span[^>]*>.*?</span>|<[^>]+>", "", cell)) for cell in cells]

    heads, *rows = (texts(row) for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL))
    return [dict(zip(heads, row, strict=True)) for row in rows]


def uneven() -> StudyView:
    """Of the grid's six trials two fail, one collapses and three are finished; MIB's two are finished."""
    view = bottleneck_of()
    for i, (trial, t) in enumerate(view.trials.items()):
        rate, gain = (0.01, 0.0) if i == 2 else (4.0, 1.0 + i)
        last: Metrics = {"seconds": 10.0, "i_xz_bits": rate, "i_zy_bits": gain, "accuracy": 0.1 * i}
        play(view, trial, [last], "trial_failed" if i < 2 else "trial_finished")
        assert t.planned.seed == i % 2
    return view


def test_a_trials_reason_is_words_not_markup() -> None:
    view = bottleneck_of()
    trial = next(iter(view.trials))
    play(view, trial, [], "trial_failed")
    view.trials[trial].reason = "<img src=x onerror=alert(1)> & more"
    table = trials_table(view)
    assert "<img" not in table and "&lt;img src=x onerror=alert(1)&gt; &amp; more" in table


def test_a_long_reason_is_cut_between_its_letters_not_within_their_escapes() -> None:
    view = bottleneck_of()
    trial = next(iter(view.trials))
    play(view, trial, [], "trial_failed")
    view.trials[trial].reason = "<" * 300
    row = next(row for row in rows_of(trials_table(view)) if row["Trial"] == trial)
    assert row["State"] == ("failed: " + "<" * 300)[:200]


def test_an_arms_numbers_stand_under_their_headings() -> None:
    view = uneven()
    grid, mib = rows_of(arms_table(compared(view)))
    assert (grid["Arm"], grid["Trials"], grid["Failed"], grid["Collapsed"]) == ("manual β", "4/6", "2", "1")
    assert (mib["Arm"], mib["Trials"], mib["Failed"], mib["Collapsed"]) == ("MIB", "2/2", "0", "0")
    assert (grid["Training"], mib["Training"]) == ("1 m 00 s", "20 s")
    lost = "Front lost without it"  # of 7 and 8 bits of label at one rate, the grid has 5 and 6
    assert (grid[lost], mib[lost]) == ("0 %", "27 %")
    volume = compared(view).arms[1].result.hypervolume
    assert mib["Hypervolume"] == "196 and 224" and volume.mean == 28 * 7.5
    place = compared(view).arms[1].place
    distance = place.place.distance.told
    assert (grid["Distance"], mib["Distance"]) == ("baseline", spread(distance.mean, distance.half_width))
    assert [mib["ε"], mib["IGD⁺"]] == [over(each) for each in place.indicators]
    assert (grid["Dominated"], mib["Dominated"], grid["Lands at"]) == ("–", percent(place.place.dominated), "–")
    assert (grid["Best I(X;Z) [bits]"], grid["Best I(Z;Y) [bits]"]) == ("4.00", "5.00 and 6.00")
    assert (grid["Best accuracy"], mib["Best accuracy"]) == ("0.400 and 0.500", "0.600 and 0.700")


def test_what_an_arm_amounts_to_and_what_dominates_it_have_their_intervals() -> None:
    """In three seeds MIB is at β 0.01, 0.1 and 0.1 of the grid, and below it in one of them."""
    view = bottleneck_of(seeds=range(3))
    rates = {0.01: (10.0, 3.0), 0.1: (6.0, 2.0), 1.0: (2.0, 1.0)}
    own = [(10.0, 3.0), (6.0, 2.0), (6.2, 1.9)]
    for trial, t in view.trials.items():
        rate, gain = own[t.planned.seed] if t.planned.arm == "MIB" else rates[t.planned.config["weighting.beta"]]
        play(view, trial, [{"i_xz_bits": rate, "i_zy_bits": gain}])
    grid, mib = rows_of(arms_table(compared(view)))
    place = compared(view).arms[1].place
    amount = place.place.amounts["weighting.beta"]
    assert amount.lower is not None and mib["Dominated"] == "33 % (6 to 79)"
    assert mib["Lands at"] == f"β ≈ {setting_range(amount.mean, amount.lower, amount.upper)}"
    assert mib["ε"] == over(place.indicators.epsilon) and "±" in mib["ε"] and "±" in mib["IGD⁺"]
    assert (grid["Lands at"], grid["Dominated"]) == ("–", "–")
    assert "with Wilson’s 95 % interval" in arms_table(compared(view))


def test_the_methods_count_what_failed_and_what_collapsed() -> None:
    text = methods(uneven()).paragraph
    assert "Of 8 trials, 6 finished (1 of them collapsed to a code of less than 0.05 bit" in text
    assert "left out of every front) and 2 failed." in text


def test_the_note_says_seeds_and_reference() -> None:
    point = "from the reference point I(X;Z) 32 bits, I(Z;Y) 0 bits."
    assert f"two seeds, both values, no interval, {point}" in arms_table(compared(uneven()))
    assert f"mean ± 95 % interval over 3 seeds, {point}" in arms_table(compared(bottleneck_of(seeds=(0, 1, 2))))
    assert "one seed, no interval" in arms_table(compared(bottleneck_of(seeds=(0,))))


def test_a_trials_numbers_stand_under_their_headings() -> None:
    view = uneven()
    rows = {row["Trial"]: row for row in rows_of(trials_table(view))}
    failed, _, collapsed, *_, best = view.trials
    assert front_ids(view) == {best}
    assert list(rows) == [best, *(trial for trial in view.trials if trial != best)], "the front first"
    assert [trial for trial, row in rows.items() if row["Front"]] == [best]
    assert rows[failed]["State"] == "failed: a reason" and rows[collapsed]["State"] == "collapsed"
    assert (rows[best]["Arm"], rows[best]["State"], rows[best]["Seed"]) == ("MIB", "finished", "1")
    assert (rows[collapsed]["Seed"], rows[collapsed]["beta"], rows[best]["beta"]) == ("0", "0.1", "–")
    assert (rows[best]["I(X;Z) [bits]"], rows[best]["I(Z;Y) [bits]"], rows[best]["accuracy"]) == (
        "4.00",
        "8.00",
        "0.700",
    )
    assert rows[best]["Training"] == "10 s"


def test_an_estimate_stands_behind_its_mark_and_the_note_says_what_the_worst_means() -> None:
    table = trials_table(grid(NEAR, ROUGH, NEAR))
    assert (table.count(">●</span>8.00</td>"), table.count(">◐</span>8.00</td>")) == (2, 1)
    assert 'role="img" aria-label="error where the truth is known: within 5 %" title="on a Gaussian task' in table
    assert "I(X;Z) ◐ at worst, within 20 % on Gaussian tasks of this shape: no bound on the error here." in table
    assert "at worst" not in trials_table(grid({}, {}, {}))


def test_both_indicators_stand_under_their_own_names() -> None:
    view = bottleneck_of(seeds=(0,))
    places = ((2.0, 1.0), (8.0, 2.0), (20.0, 3.0), (6.0, 1.2))
    for trial, (rate, gain) in zip(view.trials, places, strict=True):
        play(view, trial, [{"i_xz_bits": rate, "i_zy_bits": gain}])
    arms = compared(view).arms
    indicators = [arm.place.indicators for arm in arms]
    assert indicators[1].epsilon != indicators[1].igd_plus
    shown = [(row["ε"], row["IGD⁺"]) for row in rows_of(arms_table(compared(view)))]
    assert shown == [(over(each.epsilon), over(each.igd_plus)) for each in indicators]


def test_weights_of_tasks_are_named_as_weights() -> None:
    heads = list(rows_of(trials_table(study_of({"name": "grid", "weighting": FIXED})))[0])
    assert "weights.right" in heads and "right" not in heads
