"""The Python client against a real service: figures for a notebook, tables for pandas, report and methods."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import pytest

from frontends.client import Client, ClientError, Study
from frontends.notebook import chosen, notebook_figure
from tests.frontends.played import begin
from tests.processes import Running

FIGURES = [{"name": name, "title": name} for name in ("attainment", "attainment-difference", "pareto-front")]


@pytest.fixture
def study(service: Running, spec: dict[str, Any]) -> Iterator[Study]:
    with Client(service.url) as client:
        yield client.study(begin(service, spec, end=True))


def test_a_figure_is_named_by_any_beginning_that_fits_one() -> None:
    assert chosen("pareto", FIGURES)["name"] == "pareto-front"
    assert chosen("attainment", FIGURES)["name"] == "attainment", "a whole name goes before a beginning"
    with pytest.raises(ClientError, match="'att' fits attainment, attainment-difference"):
        chosen("att", FIGURES)
    with pytest.raises(ClientError, match="'pie' is not a figure; known: attainment, "):
        chosen("pie", FIGURES)


def test_a_figure_is_ready_for_a_notebook(study: Study) -> None:
    figure = study.figure("pareto")
    assert isinstance(figure, go.Figure)
    assert figure.layout.title.text == "Pareto front"
    assert figure.layout.title.subtitle.text.startswith("less I(X;Z) and more I(Z;Y) is better")
    assert figure.layout.template.layout.plot_bgcolor == "white" and figure.layout.margin.t == 96
    assert {trace.name for trace in figure.data} >= {"manual β", "MIB"}
    assert study.figure("pareto-front", x="seconds").layout.xaxis.title.text == "training time [s]"


def test_a_subtitle_is_words_and_no_markup() -> None:
    layout = {"meta": {"subtitle": "less <b>β</b> is better"}, "margin": {"l": 7, "t": 1}}
    figure = notebook_figure({"data": [], "layout": layout}, "Front")
    assert figure.layout.title.subtitle.text == "less &lt;b>β&lt;/b> is better"
    assert (figure.layout.margin.l, figure.layout.margin.t) == (7, 96)


def test_the_front_is_that_of_the_objectives_or_of_two_metrics(study: Study) -> None:
    own, other = study.front(), study.front(x="seconds", y="i_xz_bits")
    assert (own["x"], own["y"]) == ("i_xz_bits", "i_zy_bits")
    assert (other["x"], other["y"]) == ("seconds", "i_xz_bits")


def test_one_trial_has_its_reports(study: Study) -> None:
    first = study.trials()[0]
    assert [report["epoch"] for report in study.trial(first["id"])["reports"]] == [3]
    with pytest.raises(ClientError, match="no trial"):
        study.trial("nothing")
    with pytest.raises(ClientError, match="has no checkpoint"):
        study.checkpoint(first["id"])


def test_trials_and_reports_are_data_frames(study: Study) -> None:
    frame = study.trials_frame()
    assert frame["i_xz_bits"].tolist() == [10.0, 9.0, 8.0, 7.0, 6.0, 5.0] and frame["on_front"].all()
    reports = study.trials_frame("reports")
    assert reports["epoch"].tolist() == [3] * 6 and "state" not in reports
    assert b"\\toprule" in study.export("latex")
    assert pd.read_csv(io.BytesIO(study.export()))["trial"].tolist() == frame["trial"].tolist()


def test_without_pandas_the_words_say_what_to_do(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ClientError, match="needs pandas: install it, or use export"):
        study.trials_frame()


def test_without_torch_the_words_say_what_to_do(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "workers"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ClientError, match="needs torch and safetensors: install them, or use checkpoint"):
        study.model(study.trials()[0]["id"])


def test_a_trial_without_weights_has_no_model(study: Study) -> None:
    with pytest.raises(ClientError, match="could not be kept, and its log says why") as refused:
        study.model(study.trials()[0]["id"])
    assert refused.value.status == 404


def test_report_and_methods_come_as_text(study: Study) -> None:
    assert study.report().startswith("<!doctype html>")
    assert "6 finished" in study.methods()["paragraph"]


def test_what_the_service_refuses_is_said_in_its_words(study: Study) -> None:
    with pytest.raises(ClientError) as refused:
        study.export("xlsx")
    assert refused.value.status == 422 and refused.value.details[0]["path"] == "format"
