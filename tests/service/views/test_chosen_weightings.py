"""Trials whose weighting a search chose: what readers of a study see of them, from the log to figures and exports."""

from __future__ import annotations

import json
from typing import Any

import plotly.graph_objects as go

from service.analysis.compared import compared
from service.analysis.trial_table import columns
from service.contract.study.parsing import check_study
from service.contract.wire.events import TrialState
from service.exports.flat_tables import trials_table
from service.exports.methods import methods
from service.figures import FIGURES, figures_of
from service.figures.figure import Asked
from service.views.fold import StudyView
from service.views.told import told_by
from tests.service.studies import MANUAL, bottleneck_of, event, tell

BETA = {"range": {"from": 0.01, "to": 1.0, "scale": "log"}}
RATE = {"range": {"from": 1.0, "to": 9.0}}
ANY: dict[str, Any] = {
    "name": "any",
    "weighting": {
        "choice": [
            {"name": "fixed", "beta": BETA},
            {"name": "target-rate", "rate_bits": RATE},
            {"name": "mib", "mu": 0.1},
        ]
    },
    "search": {"name": "optuna", "trials": 18},
}
CHOSEN: list[dict[str, Any]] = [
    {"weighting.name": "fixed", "weighting.beta": 0.02},
    {"weighting.name": "fixed", "weighting.beta": 0.5},
    {"weighting.name": "target-rate", "weighting.rate_bits": 4.0},
    {"weighting.name": "target-rate", "weighting.rate_bits": 8.0},
    {"weighting.name": "mib"},
    {"weighting.name": "mib"},
]


def trained() -> StudyView:
    """A grid, and a search of which each seed tried every weighting twice; all trials have ended."""
    view = bottleneck_of(MANUAL, ANY, seeds=[0, 1, 2])
    for i, (trial, own) in enumerate(view.trials.items()):
        config = None if own.planned.arm != "any" else CHOSEN[(i - 9) // 3]
        tell(view, event("trial_started", trial=trial, config=config))
        for epoch in (1, 2):
            bits = {"i_xz_bits": 2.0 + (i * 1.37) % 9, "i_zy_bits": 1.0 + (i * 0.41) % 2, "accuracy": 0.5 + 0.01 * i}
            held = {f"validation_{name}": value for name, value in bits.items()}
            weights = {"weight_pred": 1.0, "weight_info": 0.1, "seconds": float(epoch)}
            tell(view, event("report", trial=trial, metrics={"epoch": epoch, **bits, **held, **weights}))
        tell(view, event("trial_finished", trial=trial))
    tell(view, event("study_finished"))
    return view


def test_a_trial_shows_its_weighting_and_what_that_has() -> None:
    shown = [trial.planned.config for trial in trained().trials.values() if trial.planned.arm == "any"]
    own = [{key: value for key, value in config.items() if key.startswith("weighting.")} for config in shown[::3]]
    assert own[:2] == CHOSEN[:2] and own[2]["weighting.rate_bits"] == 4.0
    assert own[4]["weighting.mu"] == 0.1 and "weighting.rate_bits" not in own[4]


def test_a_name_that_is_no_choice_makes_no_study_unreadable() -> None:
    view = bottleneck_of(ANY, seeds=[0])
    first = next(iter(view.trials))
    tell(view, event("trial_started", trial=first, config={"weighting.name": "gone", "weighting.x": 1.0}))
    assert view.trials[first].state is TrialState.RUNNING


def test_every_figure_that_the_study_has_draws_it() -> None:
    view = trained()
    drawn = {name: FIGURES[name].build(Asked(view)) for name in figures_of(view)}
    assert {"importance", "parallel-coordinates", "pareto-front", "beta-sensitivity"} <= drawn.keys()
    for figure in drawn.values():
        go.Figure(figure)
        json.dumps(figure, allow_nan=False)


def test_the_comparison_the_table_and_the_methods_have_it() -> None:
    view = trained()
    comparison = compared(view)
    assert {arm.name: arm.automatic for arm in comparison.arms} == {"manual β": False, "any": True}
    assert comparison.baseline == "manual β" and comparison.words["any"]
    assert {"weighting.name", "weighting.beta", "weighting.rate_bits"} <= set(columns(view)["varied"])
    assert {column.name for column in trials_table(view).columns} >= {"config.weighting.name", "config.weighting.beta"}
    said = methods(view)
    among = "weighting chosen by the search among fixed: beta between 0.01 and 1; target-rate"
    assert among in said.paragraph and "mib [@" in said.paragraph


def test_an_earlier_search_is_told_by_the_weighting_that_each_trial_had() -> None:
    """MIB is another one with another μ; of the grid those βs count that lie in the range."""
    narrow = {"choice": [{"name": "fixed", "beta": {"range": {"from": 0.05, "to": 1.0}}}, {"name": "mib"}]}
    arm = {**ANY, "name": "new", "weighting": narrow}
    told = told_by(trained(), check_study({"name": "t", "seeds": [0], "arms": [arm]}), "new")
    assert sorted(each.values["weighting.beta"] for each in told) == [0.1, 0.5, 1.0]
    assert all(each.values["weighting.name"] == "fixed" for each in told)
