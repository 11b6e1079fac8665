"""Names that look like Plotly's markup are shown as they were written, in every figure and in the report."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from service.contract.wire.plotly import PlotlyFigure
from service.figures import FIGURES
from service.figures.drawing.style import escaped
from service.figures.figure import Asked
from service.routes.exports import report_of
from service.store.artifacts import LATENT_MAP, Artifacts
from service.views.fold import StudyView
from service.views.maps import Maps
from service.views.overlay import Overlay
from tests.service.studies import FILLED, FIXED, MANUAL, MIB, bottleneck_of, play, study_of

NAME = 'a<b>c <a href="https://x">link</a> %{x}'
SHOWN = 'a&lt;b&gt;c &lt;a href="https://x"&gt;link&lt;/a&gt; %{x}'
MAP = {
    "points": 2,
    "labels": [0, 1],
    "predicted": [0, 1],
    "clean": [[0, 0], [2, 1]],
    "attack": None,
    "attacked": None,
    "attacked_predicted": None,
    "method": "codes",
    "perplexity": None,
    "kl_divergence": None,
    "latent": 2,
}
WORDS = ("name", "legendgroup", "text", "ticktext", "hovertemplate", "hovertext", "texttemplate", "label")


def named(view: StudyView) -> StudyView:
    """Every trial reports every metric."""
    for i, trial in enumerate(view.trials):
        metrics = [name for name in view.study.metrics if name != "epoch"]
        steps = [{name: 0.1 + 0.05 * ((i + j) % 7) + 0.1 * k for j, name in enumerate(metrics)} for k in range(3)]
        play(view, trial, [dict(step) for step in steps])
    return view


SEARCHED = {"name": "optuna", "sampler": "random", "trials": 30, "batch": 2}


@pytest.fixture
def artifacts(tmp_path: Path) -> Artifacts:
    return Artifacts(tmp_path)


@pytest.fixture
def view(artifacts: Artifacts) -> StudyView:
    """A grid and MIB, both of such a name, with all that figures ask for."""
    evaluation = {"attacks": [{"name": "fgsm"}], "latent_map": {"points": 10}}
    arms = [{**MANUAL, "name": NAME}, {**MIB, "name": f"{NAME} 2"}]
    halving = {"name": "halving", "keep": 0.5}
    view = named(bottleneck_of(*arms, evaluation=evaluation, training={"balance": {}}, stopping=halving))
    for trial in view.trials:
        with artifacts.draft("s1", trial, LATENT_MAP) as draft:
            draft.file.write(json.dumps(MAP).encode())
            draft.settle()
    return view


def words_of(part: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """All that Plotly reads; ticks of parallel coordinates it draws as they are, `meta` it does not draw."""
    if isinstance(part, dict):
        for name, value in part.items():
            if name not in ("meta", "dimensions"):
                yield from words_of(value, name)
    elif isinstance(part, list | tuple):
        for value in part:
            yield from words_of(value, key)
    elif isinstance(part, str) and key in WORDS:
        yield key, part


@pytest.mark.parametrize("name", FIGURES)
def test_no_figure_has_a_name_for_markup(name: str, view: StudyView, artifacts: Artifacts) -> None:
    tasks = named(study_of({"name": NAME, "weighting": FIXED}, {"name": "b", "weighting": {"name": "uniform"}}))
    filled = named(bottleneck_of({**FILLED, "name": NAME}))
    enough = named(bottleneck_of({**FILLED, "name": NAME, "search": SEARCHED}, limits={"gain": 0.01}))
    studies = [study for study in (view, Overlay([view]), tasks, filled, enough) if FIGURES[name].is_for(study)]
    assert studies
    for study in studies:
        asked = Asked(study, maps=Maps(artifacts))
        drawn = FIGURES[name].drawn(asked)
        go.Figure(drawn)
        found = list(words_of(drawn))
        assert not [each for each in found if "<a" in each[1] or "</a" in each[1] or "<b>c" in each[1]]
        assert not [words for key, words in found if key == "hovertemplate" and "link" in words and "%{x}" in words]
        built = FIGURES[name].build(asked)
        if name != "timeline":  # which ends now
            assert drawn["layout"]["meta"] == built["layout"]["meta"]
        ids, own = ([trace.get("customdata") for trace in each["data"]] for each in (drawn, built))
        assert ids == own, "they are not shown, they tell trials apart"


def test_the_name_is_there_as_it_is_shown(view: StudyView, artifacts: Artifacts) -> None:
    names = {trace["name"] for trace in FIGURES["pareto-front"].drawn(Asked(view))["data"]}
    assert {SHOWN, f"{SHOWN} 2"} <= names
    ticks = FIGURES["accuracy-by-method"].drawn(Asked(view))["layout"]["yaxis"]["ticktext"]
    assert ticks and all(tick.startswith("a&lt;b&gt;c") for tick in ticks), "cut to fit, and escaped"
    notes = FIGURES["latent-map"].drawn(Asked(view, maps=Maps(artifacts)))["layout"]["annotations"]
    assert notes[0]["text"].startswith("a&lt;b&gt;c") and "<br>clean" in notes[0]["text"]
    lines = FIGURES["parallel-coordinates"].drawn(Asked(view))["data"][0]["dimensions"][0]["ticktext"]
    assert lines and all(tick.startswith("a<b>c") for tick in lines), "Plotly reads no markup there: it would show &lt;"


def test_a_template_keeps_its_own_places_and_not_those_of_a_name() -> None:
    drawn: PlotlyFigure = {
        "data": [{"hovertemplate": f"%{{x:.3g}}<br>of {NAME}<extra>%{{fullData.name}}</extra>"}],
        "layout": {},
    }
    (trace,) = escaped(drawn, [NAME])["data"]
    assert trace["hovertemplate"] == (
        f"%{{x:.3g}}<br>of {SHOWN.replace('%{', '%&#123;')}<extra>%{{fullData.name}}</extra>"
    )
    own: PlotlyFigure = {"data": [{"hovertemplate": "%{x}<extra></extra>"}], "layout": {}}
    assert escaped(own, ["%{x}", "%{"]) == own


def test_words_of_figures_and_harmless_names_stay() -> None:
    trace = {"name": "R&D", "text": ["<b>3</b>", "a<br>b"], "ticktext": ["one<br>two"], "customdata": ["<b>"]}
    assert escaped({"data": [trace], "layout": {"meta": {"text": "<b>"}}}, ["R&D"]) == {
        "data": [trace],
        "layout": {"meta": {"text": "<b>"}},
    }
    odd = {"name": "a<br>b &lt; c", "text": ["<b>3</b> and <B>4</B>"]}
    assert escaped({"data": [odd], "layout": {}}, [])["data"] == [
        {"name": "a&lt;br&gt;b &amp;lt; c", "text": ["&lt;b&gt;3&lt;/b&gt; and &lt;B&gt;4&lt;/B&gt;"]}
    ]


def test_the_report_draws_them_so_too(view: StudyView, artifacts: Artifacts) -> None:
    text = report_of(view, Maps(artifacts))
    begin = text.index(">", text.index('id="figures"')) + 1
    figures = json.loads(text[begin : text.index("</script>", begin)])
    assert len(figures) > 10
    assert not [words for _, words in words_of(figures) if "<a" in words or "<b>c" in words]
