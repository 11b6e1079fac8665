"""Tables, bars and sizes of the terminal, by value."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console, RenderableType

from frontends.cli.display import (
    comparison_table,
    objectives_line,
    places_table,
    progress_view,
    size,
    studies_table,
    trials_words,
)


def drawn(view: RenderableType, width: int = 100, colours: bool = False) -> str:
    console = Console(width=width, color_system="truecolor" if colours else None, force_terminal=colours)
    with console.capture() as capture:
        console.print(view)
    return capture.get()


def lines(view: RenderableType, width: int = 100) -> list[str]:
    return [" ".join(line.split()) for line in drawn(view, width).splitlines()]


def counts(**given: int) -> dict[str, int]:
    return {"planned": 4, "running": 0, "finished": 0, "failed": 0, "collapsed": 0, **given}


STUDY: dict[str, Any] = {
    "id": "s0123456789",
    "name": "a study",
    "state": "running",
    "eta_seconds": 192.0,
    "progress": 0.425,
    "counts": counts(planned=1200, finished=500, failed=2),
    "arms": [
        {"name": "manual β", "counts": counts(finished=2, failed=1), "progress": 0.5, "hypervolume": 65.312},
        {"name": "MIB", "counts": counts(), "progress": 0.0, "hypervolume": None},
    ],
}
COMPARISON: dict[str, Any] = {
    "selection_words": "chosen on the test split",
    "lights": {"i_xz_bits": {"light": "near", "words": "I(X;Z) ● at worst"}},
    "seeds": 3,
    "baseline": "manual β",
    "single": None,
    "pairs": [],
    "objectives": [
        {"metric": "i_xz_bits", "goal": "minimize", "reference": 32.04},
        {"metric": "i_zy_bits", "goal": "maximize", "reference": 1.234e-5},
    ],
    "arms": [
        {
            "name": "manual β",
            "counts": counts(finished=2, failed=1, collapsed=3),
            "hypervolume": {"mean": 65.312, "half_width": 2.4, "low": 64.0, "high": 66.0},
            "distance": {"mean": None, "half_width": None},
            "front_share": 0.884,
            "best": {"accuracy": 0.92},
            "best_over_seeds": {"accuracy": {"mean": 0.9, "half_width": 0.012, "low": 0.88, "high": 0.92}},
            "training_seconds": 192.4,
        },
        {
            "name": "MIB",
            "counts": counts(),
            "hypervolume": {"mean": None, "half_width": None, "low": None, "high": None},
            "distance": {"mean": -0.123, "half_width": 0.0456},
            "front_share": 0.001,
            "best": {},
            "best_over_seeds": {},
            "training_seconds": 0.0,
        },
    ],
}


def test_hypervolumes_of_trials_that_the_test_split_chose_are_marked_while_a_study_runs() -> None:
    why = "chosen on the test split itself, which flatters arms with many trials"
    assert f"Hypervolumes: {why}." in lines(progress_view({**STUDY, "flattered": why}))
    assert not any("Hypervolumes" in line for line in lines(progress_view(STUDY)))
    silent = {**STUDY, "flattered": why, "arms": STUDY["arms"][1:]}
    assert not any("Hypervolumes" in line for line in lines(progress_view(silent))), "nothing is there to be marked"


def test_a_study_is_a_row() -> None:
    assert lines(studies_table([STUDY]))[1] == "s0123456789 a study running 500/1200 2 43 %"


def test_progress_counts_ended_trials_and_names_failures() -> None:
    head, first, second = lines(progress_view(STUDY, 100))
    assert head == "a study running · 3 m 12 s left"
    assert first.startswith("manual β ━") and first.endswith("3/4 trials · 1 failed · hypervolume 65.3")
    assert second == "MIB 0/4 trials · hypervolume –", "a bar that has not begun is blank without colours"


@pytest.mark.parametrize(
    ("change", "head"),
    [
        ({"state": "finished", "eta_seconds": None}, "a study finished"),
        ({"state": "queued", "eta_seconds": None, "queue_position": 3}, "a study queued, place 3 in the queue"),
        ({"state": "queued", "eta_seconds": None, "queue_position": None}, "a study queued"),
        ({"state": "running", "eta_seconds": 0.0, "queue_position": 3}, "a study running · under 10 s left"),
    ],
)
def test_the_head_says_state_place_and_time_left(change: dict[str, Any], head: str) -> None:
    assert lines(progress_view({**STUDY, **change}, 100))[0] == head


def test_a_narrow_terminal_gets_no_bars() -> None:
    assert "━" in drawn(progress_view(STUDY, 80), 80)
    narrow = drawn(progress_view(STUDY, 60), 60)
    assert "━" not in narrow and "3/4 trials · 1 failed" in narrow


def test_a_bar_needs_eight_columns_beside_the_longest_name_and_takes_at_most_thirty() -> None:
    def bar(width: int) -> int:
        study = {**STUDY, "arms": [{**STUDY["arms"][0], "progress": 1.0}, STUDY["arms"][1]]}
        return drawn(progress_view(study, width), width).count("━")

    assert [bar(width) for width in (69, 70, 71, 92, 93, 200)] == [0, 8, 9, 30, 30, 30]


def test_a_bar_is_filled_by_the_progress_of_its_arm() -> None:
    assert drawn(progress_view(STUDY, 100)).count("━") == 15, "half of thirty"


def test_arms_have_the_colours_of_the_figures() -> None:
    for view in (progress_view(STUDY, 100), comparison_table(COMPARISON), places_table(placed_arms())):
        coloured = drawn(view, 120, colours=True)
        assert "\x1b[38;2;0;114;178mmanual β" in coloured and "\x1b[38;2;213;94;0mMIB" in coloured


def test_arms_are_compared_with_their_uncertainty() -> None:
    head, first, second = lines(comparison_table(COMPARISON))
    assert head == "arm trials hypervolume distance best acc. training"
    assert first == "manual β 2/4, 1 failed, 3 collapsed 65.3 ± 2.4 baseline 0.900 ± 0.012 3 m 12 s"
    assert second == "MIB 0/4 – −0.123 ± 0.046 – 0 s"


def placed_arms(**changed: Any) -> dict[str, Any]:
    """MIB is placed, the baseline is not."""
    over = {"mean": 0.0676, "half_width": 0.0031, "low": 0.06, "high": 0.07}
    share = {"mean": 0.4, "lower": 0.1176, "upper": 0.7693}
    amount = {"mean": 0.0488, "half_width": 0.2, "seeds": 5, "lower": 0.031, "upper": 0.077, "scale": "log"}
    place = {"epsilon_over_seeds": over, "igd_plus_over_seeds": {**over, "mean": 0.0245, "half_width": 0.0029}}
    nothing = {"mean": None, "half_width": None, "low": None, "high": None, "lower": None, "upper": None}
    manual, mib = COMPARISON["arms"]
    unplaced = {"dominated_over_seeds": nothing, "amounts_to_over_seeds": {}}
    lands = {"dominated_over_seeds": share, "amounts_to_over_seeds": {"weighting.beta": amount}}
    return {**COMPARISON, "arms": [{**manual, **place, **unplaced}, {**mib, **place, **lands, **changed}]}


def test_places_have_their_intervals() -> None:
    head, first, second = lines(places_table(placed_arms()))
    assert head == "arm lands at dominated ε IGD⁺"
    assert first == "manual β – – 0.0676 ± 0.0031 0.0245 ± 0.0029"
    assert second == "MIB β ≈ 0.0488 (0.031 to 0.077) 40 % (12 to 77) 0.0676 ± 0.0031 0.0245 ± 0.0029"
    shown = drawn(places_table(placed_arms(name="an arm with a long name")), width=80)
    assert "…" not in shown and "0.0676 ± 0.0031" in shown and "MIB" not in shown
    two = {"mean": 2.0, "half_width": None, "seeds": 2, "lower": None, "upper": None, "scale": "linear"}
    landed = placed_arms(amounts_to_over_seeds={"weighting.mu": two, "model.latent": two})
    assert "μ ≈ 2 and latent ≈ 2" in lines(places_table(landed))[2]
    ends = [{**two, "mean": 0.01, "lower": 0.008, "upper": 0.013}, two]
    drawing = placed_arms(amounts_to_over_seeds={}, lands_between={"weighting.beta": ends})
    assert "β ≈ 0.01 (0.008 to 0.013) to 2" in " ".join(lines(places_table(drawing))[2:])


def test_a_terminal_of_eighty_columns_shows_every_arm_and_figure_whole() -> None:
    shown = drawn(comparison_table(COMPARISON), width=80)
    assert "…" not in shown
    for words in ("arm", "manual β", "MIB", "hypervolume", "−0.123 ± 0.046", "3 m 12 s", "collapsed"):
        assert words in shown, words


def test_against_single_tasks_delta_m_and_mean_rank_take_the_place_of_one_accuracy() -> None:
    drop = {"mean": 1.234, "half_width": 0.5, "low": 1.0, "high": 1.5}
    rank = {"mean": 1.5, "half_width": 0.72, "low": 1.0, "high": 2.0}
    manual, mib = COMPARISON["arms"]
    arms = [{**manual, "delta_m": drop, "mean_rank": rank}, {**mib, "delta_m": None, "mean_rank": None}]
    comparison = {**COMPARISON, "arms": arms, "single": {"words": "Δm: relative drop."}}
    head, first, second = lines(comparison_table(comparison))
    assert head == "arm trials hypervolume distance Δm % mean rank training"
    assert first.endswith("65.3 ± 2.4 baseline 1.23 ± 0.50 1.50 ± 0.72 3 m 12 s")
    assert second == "MIB 0/4 – −0.123 ± 0.046 – – 0 s"
    assert objectives_line(comparison) == f"{objectives_line(COMPARISON)} Δm: relative drop."
    assert "…" not in drawn(comparison_table(comparison), width=80)


def test_the_objectives_are_told_with_the_reference_point() -> None:
    assert objectives_line(COMPARISON) == (
        "Objectives: minimize i_xz_bits, maximize i_zy_bits. Chosen on the test split."
        " Hypervolume: mean ± 95 % interval over 3 seeds,"
        " from the reference point (32, 1.23e−5). Distance: to manual β’s front, in units of its ranges;"
        " below 0 is worse. I(X;Z) ● at worst."
    )
    assert "Distance" not in objectives_line({**COMPARISON, "baseline": None})
    placed = objectives_line({**COMPARISON, "pairs": [{"arm": "MIB"}]})
    assert "below 0 is worse. Dominated: by manual β, Wilson’s 95 % interval. Lands at: its settings" in placed
    assert "Hypervolume: one seed, no interval, from" in objectives_line({**COMPARISON, "seeds": 1})


@pytest.mark.parametrize(
    ("count", "words"),
    [(None, "–"), (512, "0.512 kB"), (66_812, "66.8 kB"), (1_000_000, "1.00 MB"), (54_900_000, "54.9 MB")],
)
def test_a_size_has_three_digits_and_its_unit(count: int | None, words: str) -> None:
    assert size(count) == words


def test_a_study_that_cannot_be_read_has_its_row_and_says_why() -> None:
    study = {**STUDY, "state": "queued", "eta_seconds": None, "counts": counts(planned=0), "arms": []}
    study |= {"unreadable": "data.name: 'holograms' is not known", "lost_events": 3}
    assert "queued, unreadable" in lines(studies_table([study]))[1]
    shown = " ".join(lines(progress_view(study)))
    assert "data.name: 'holograms' is not known" in shown and "3 events of its log were lost" in shown


def test_an_interrupted_study_says_so_in_its_row_and_why_beside_its_progress() -> None:
    study = STUDY | {"state": "running", "interrupted": "Ray is away", "eta_seconds": None}
    assert "running, interrupted" in lines(studies_table([study]))[1]
    shown = lines(progress_view(study))
    assert shown[0].endswith("running, interrupted") and "Ray is away" in shown[-1]


def test_trials_that_were_stopped_have_ended_and_are_named() -> None:
    arm = {"name": "a", "counts": counts(finished=1, stopped=3), "progress": 1.0, "hypervolume": 1.0}
    assert "4/4 trials · 3 stopped" in lines(progress_view({**STUDY, "arms": [arm]}, 100))[1]
    assert trials_words(counts(finished=1, stopped=3)) == "1/4, 3 stopped"
