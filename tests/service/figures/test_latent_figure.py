"""What the figure of latent codes shows, from files as workers send them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from service.contract.wire.errors import InvalidInput
from service.figures.figure import Asked
from service.figures.latent_map import FIGURE, controls, draw_latent, latent_data
from service.store.artifacts import LATENT_MAP, Artifacts
from service.views.fold import StudyView
from service.views.maps import Maps
from service.views.overlay import Overlay
from tests.service.own_code import CODE, PROBLEM
from tests.service.studies import MIB, accuracy, bits, bottleneck_of, play, view_of

MAP = {
    "points": 4,
    "labels": [0, 0, 1, 1],
    "predicted": [0, 0, 1, 0],
    "attack": "pgd",
    "clean": [[0, 0], [2, 1], [5, 5], [7, 6]],
    "attacked": [[5, 5], [6, 6], [0, 1], [1, 0]],
    "attacked_predicted": [1, 1, 0, 1],
    "method": "t-SNE",
    "perplexity": 1.0,
    "kl_divergence": 0.1,
    "latent": 16,
}


def keep(artifacts: Artifacts, trial: str, study: str = "s1", **other: Any) -> None:
    with artifacts.draft(study, trial, LATENT_MAP) as draft:
        draft.file.write(json.dumps({**MAP, **other}).encode())
        draft.settle()


@pytest.fixture
def artifacts(tmp_path: Path) -> Artifacts:
    return Artifacts(tmp_path)


@pytest.fixture
def view() -> StudyView:
    """Three βs and MIB, two seeds, of which the first has maps; β 0.1 is the most accurate of the grid."""
    view = bottleneck_of(evaluation={"latent_map": {"points": 10}})
    for trial, value in zip(view.trials, (0.7, 0.9, 0.8, 0.95, 0.6, 0.5, 0.85, 0.8), strict=True):
        play(view, trial, accuracy(value))
    return view


def test_each_arm_shows_its_most_accurate_trial_that_has_a_map(view: StudyView, artifacts: Artifacts) -> None:
    seeds = {trial_id: trial.planned.seed for trial_id, trial in view.trials.items()}
    first = [trial_id for trial_id, seed in seeds.items() if seed == 0]
    for trial in first:
        keep(artifacts, trial)
    data = latent_data(view, Maps(artifacts))
    shown = [plots[0].trial for plots in data.trials]
    assert shown == [first[1], first[3]]  # 0.8 of the grid, and MIB; 0.9 and 0.95 are of the other seed
    assert [plots[0].heading for plots in data.trials] == ["manual β · β 0.1 · seed 0", "MIB · seed 0"]


def test_clean_and_attacked_are_two_plots_with_their_own_reading(view: StudyView, artifacts: Artifacts) -> None:
    trial = next(iter(view.trials))
    keep(artifacts, trial)
    data = latent_data(view, Maps(artifacts))
    ((clean, attacked),) = data.trials
    assert (clean.condition, clean.right, attacked.condition, attacked.right) == ("clean", 0.75, "under pgd", 0.25)
    assert attacked.places[0] == (5, 5) and data.points == 4
    assert (
        data.method
        == "t-SNE of clean and attacked together, 16 dimensions, perplexity 1: only neighbourhoods mean something"
    )


def test_a_chosen_trial_is_shown_alone(view: StudyView, artifacts: Artifacts) -> None:
    one, two, *_ = view.trials
    for trial in (one, two):
        keep(artifacts, trial)
    assert [plots[0].trial for plots in latent_data(view, Maps(artifacts), [two]).trials] == [two]
    assert latent_data(view, Maps(artifacts), list(view.trials)[2:3]).trials == [], "chosen, but without a map"
    with pytest.raises(InvalidInput, match="there is no trial 'nope'"):
        latent_data(view, Maps(artifacts), ["nope"])


def test_points_are_coloured_by_class_open_when_misclassified_and_numbered(
    view: StudyView, artifacts: Artifacts
) -> None:
    keep(artifacts, next(iter(view.trials)))
    drawn = draw_latent(latent_data(view, Maps(artifacts)), "s1")
    go.Figure(drawn)
    clean, numbers, attacked, _ = drawn["data"]
    colours = clean["marker"]["color"]
    assert colours[0] == colours[1] != colours[2] == colours[3] and attacked["marker"]["color"] == colours
    assert clean["marker"]["symbol"] == ["circle", "circle", "circle", "circle-open"]
    assert clean["text"][3] == "class 1, classified as 0"
    assert (numbers["text"], numbers["x"], numbers["y"]) == (["<b>0</b>", "<b>1</b>"], [0, 5], [0, 5])
    layout = drawn["layout"]
    assert layout["xaxis2"]["matches"] == "x" and layout["yaxis2"]["matches"] == "y"
    assert layout["annotations"][1]["text"].endswith("<br>under pgd, 25 % classified correctly")
    assert "manual β · β 0.01 · seed 0 under pgd: 25 % classified correctly" in layout["meta"]["summary"]


def test_codes_of_two_dimensions_without_classes_say_so(view: StudyView, artifacts: Artifacts) -> None:
    bare: dict[str, Any] = {
        "labels": None,
        "predicted": None,
        "attacked": None,
        "attack": None,
        "attacked_predicted": None,
    }
    for trial in list(view.trials)[::2]:
        keep(artifacts, trial, method="codes", latent=2, perplexity=None, **bare)
    data = latent_data(view, Maps(artifacts))
    assert data.method == "the code's own two dimensions" and [len(plots) for plots in data.trials] == [1, 1]
    drawn = draw_latent(data, "s1")
    go.Figure(drawn)
    assert len(drawn["data"]) == 2 and "matches" not in drawn["layout"]["xaxis2"]


def test_a_study_has_the_figure_when_it_asked_for_maps(view: StudyView, artifacts: Artifacts) -> None:
    assert FIGURE.is_for(view) and not FIGURE.is_for(bottleneck_of())
    drawn = FIGURE.build(Asked(view, maps=Maps(artifacts)))
    go.Figure(drawn)
    assert drawn["data"] == [] and drawn["layout"]["meta"]["empty"] == "Maps appear when their trials have finished."


def test_the_choice_lists_finished_trials_of_the_mapped_seeds(view: StudyView) -> None:
    (choice,) = controls(view)
    names = [label for _, label in choice.options]
    assert names == [
        "best of each arm",
        "manual β · β 0.01 · seed 0",
        "manual β · β 0.1 · seed 0",
        "manual β · β 1 · seed 0",
        "MIB · seed 0",
    ]
    assert choice.default == ""


def test_the_choice_of_an_overlay_has_the_mapped_seeds_of_all_its_studies(
    view: StudyView, artifacts: Artifacts
) -> None:
    other = bottleneck_of(MIB, name="t", seeds=[2, 3], evaluation={"latent_map": {"points": 10, "seeds": [3]}})
    other.id = "s2"
    for trial in other.trials:
        play(other, trial, accuracy(0.5))
    overlay = Overlay([view, other])
    last = [*other.trials][-1]
    keep(artifacts, last, "s2")
    (choice,) = controls(overlay)
    assert [trial for trial, _ in choice.options] == ["", *overlay.trials]
    assert choice.options[-1] == (f"s2/{last}", "t · MIB · seed 3"), "a seed that the first study does not have"
    assert [plots[0].trial for plots in latent_data(overlay, Maps(artifacts)).trials] == [f"s2/{last}"]


def test_an_overlay_finds_the_maps_of_its_studies(view: StudyView, artifacts: Artifacts) -> None:
    trial = next(iter(view.trials))
    keep(artifacts, trial)
    overlay = Overlay([view, view])
    assert overlay.id == "s1+s1"
    data = latent_data(overlay, Maps(artifacts), [f"s1/{trial}"])
    assert [plots[0].trial for plots in data.trials] == [f"s1/{trial}"]


def grid(count: int) -> dict[str, Any]:
    return {"name": "grid", "weighting": {"name": "fixed", "beta": {"grid": [0.1 * (i + 1) for i in range(count)]}}}


def test_at_most_four_trials_show_their_codes(tmp_path: Path) -> None:
    view = bottleneck_of(grid(6), seeds=[0], evaluation={"latent_map": {}})
    artifacts = Artifacts(tmp_path)
    for trial in view.trials:
        play(view, trial, accuracy(0.5))
        keep(artifacts, trial)
    assert len(latent_data(view, Maps(artifacts), list(view.trials)).trials) == 4
    drawn = FIGURE.build(Asked(view, trials=tuple(view.trials), maps=Maps(artifacts)))["layout"]
    assert drawn["meta"]["height"] == 4 * 240 + 16
    assert (drawn["xaxis4"]["matches"], drawn["yaxis8"]["matches"]) == ("x3", "y7"), "attacked beside its own clean one"
    assert [drawn[f"xaxis{n}"]["domain"] for n in ("", 2)] == [pytest.approx([0, 0.47]), pytest.approx([0.53, 1])]
    assert drawn["yaxis"]["domain"] == pytest.approx([1 - 228 / 960, 1 - 36 / 960])
    assert drawn["yaxis3"]["domain"] == pytest.approx([0.75 - 228 / 960, 0.75 - 36 / 960])


def test_where_nothing_is_hit_or_missed_the_codes_are_of_the_trial_with_the_most_relevance(tmp_path: Path) -> None:
    data = {"name": "gaussian"}
    view = bottleneck_of(grid(3), seeds=[0], data=data, evaluation={"latent_map": {}})
    artifacts = Artifacts(tmp_path)
    for trial, place in zip(view.trials, ((3.0, 1.0), (4.0, 2.0), (5.0, 1.5)), strict=True):
        play(view, trial, bits(place))
        keep(artifacts, trial)
    best = list(view.trials)[1]
    assert [plots[0].trial for plots in latent_data(view, Maps(artifacts)).trials] == [best]


def test_only_finished_trials_of_a_bottleneck_have_codes_to_choose() -> None:
    view = bottleneck_of(MIB, seeds=[0, 1, 2], evaluation={"latent_map": {"seeds": [0, 1, 2]}})
    done, failed, running = view.trials
    play(view, done, accuracy(0.5))
    play(view, failed, accuracy(0.5), end="trial_failed")
    play(view, running, accuracy(0.5), end="")
    (choice,) = controls(view)
    assert [trial for trial, _ in choice.options] == ["", done]


def test_a_problem_of_one_s_own_with_a_code_is_shown_too(artifacts: Artifacts) -> None:
    coded = {**CODE, "problems": [{**PROBLEM, "hooks": ["code"]}]}
    arm = {"name": "own", "problem": {"name": "Mine"}, "weighting": {"name": "mgda"}}
    asked = {"name": "s", "code": coded, "arms": [arm], "evaluation": {"latent_map": {}}}
    view = view_of(asked)
    (trial,) = view.trials
    play(view, trial, bits((2.0, None)))
    keep(artifacts, trial)
    assert [plot.trial for plots in latent_data(view, Maps(artifacts)).trials for plot in plots] == [trial, trial]
