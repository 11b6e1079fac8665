"""Figures as their modules make them: curves, brushes, choices and sketches, without service and plotly.js."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from service.contract.metrics import described
from tests.browser.pages import needs_chromium
from tests.browser.stage import play

pytestmark = needs_chromium


CURVE = """async (stage, [rows, reports, objectives]) => {
  const { curveFigure } = await load("figures/curve");
  const metrics = new Map(rows.map((row) => [row.name, row]));
  return curveFigure(reports, "#123456", metrics, objectives);
}"""


def curve(page: Page, names: str, reports: list[dict[str, Any]], objectives: list[dict[str, Any]] | None = None) -> Any:
    rows = [dict(described(name)._asdict()) for name in names.split()]
    return play(page, CURVE, [rows, reports, objectives or []])


def test_a_learning_curve_has_every_reported_value_also_zero(stage: Page) -> None:
    reports: list[dict[str, Any]] = [
        {"epoch": 1, "accuracy": 0.0, "i_xz_bits": 3.0, "i_zy_bits": None},
        {"epoch": 2, "accuracy": None, "i_xz_bits": 0.0, "i_zy_bits": 0.5},
        {"epoch": 3, "accuracy": 0.5, "i_xz_bits": 1.0},
    ]
    figure = curve(stage, "epoch i_xz_bits i_zy_bits accuracy", reports)
    lines = {line["name"]: (line["x"], line["y"], line["yaxis"], line["mode"]) for line in figure["data"]}
    assert lines == {
        "accuracy": ([1, 3], [0.0, 0.5], "y", "lines"),
        "I(X;Z)": ([1, 2, 3], [3.0, 0.0, 1.0], "y2", "lines"),
        "I(Z;Y)": ([2], [0.5], "y2", "markers"),
    }
    assert [line["legend"] for line in figure["data"]] == ["legend", "legend2", "legend2"]
    assert [line["line"]["dash"] for line in figure["data"]] == ["solid", "solid", "dot"]
    assert {line["line"]["color"] for line in figure["data"]} == {"#123456"}
    assert figure["layout"]["xaxis"]["title"]["text"] == "epoch"
    assert figure["layout"]["yaxis2"]["title"]["text"] == "bits"


def test_a_learning_curve_has_no_more_lines_than_dashes(stage: Page) -> None:
    terms = "abcdef"
    names = " ".join(["epoch", *(f"weight_{term}" for term in terms), "accuracy_a"])
    report = {"epoch": 1, "accuracy_a": 0.1, **{f"weight_{term}": 1.0 for term in terms}}
    lines = curve(stage, names, [report], [{"metric": "accuracy_a"}])["data"]
    assert [line["yaxis"] for line in lines] == ["y", "y2", "y2", "y2", "y2"]


def test_a_dark_page_lifts_muted_points_and_no_more_than_to_full(stage: Page) -> None:
    script = """async () => {
      const { lit } = await load("figures/look");
      const trace = { opacity: 0.5, marker: { opacity: [0.1, 0.9], size: 4 } };
      const root = document.documentElement;
      root.dataset.theme = "dark";
      const dark = [lit(trace), lit({ x: [1] }), lit({ marker: { opacity: 0.2 } })];
      root.dataset.theme = "light";
      const light = lit(trace) === trace;
      delete root.dataset.theme;
      return [dark, light];
    }"""
    dark, light = play(stage, script)
    assert dark[0]["opacity"] == 0.9 and dark[0]["marker"] == {"opacity": [pytest.approx(0.18), 1], "size": 4}
    assert dark[1:] == [{"x": [1]}, {"marker": {"opacity": pytest.approx(0.36)}}] and light


def test_a_trace_is_known_by_its_name_and_kind_wherever_it_stands(stage: Page) -> None:
    script = """async () => {
      const { named } = await load("figures/look");
      const [a, b, line] = [{ name: "a" }, { name: "b" }, { name: "a", mode: "lines" }];
      const uids = (traces) => named(traces, null).map(({ uid }) => uid);
      const [first, second] = [uids([a, line, b, a]), uids([b, a, line])];
      const coordinates = { type: "parcoords" };
      return [first, second, named([coordinates], 7)[0].uirevision, named([coordinates], null)[0].uirevision ?? null];
    }"""
    first, second, freed, kept = play(stage, script)
    assert len(set(first)) == 4 and second == [first[2], first[0], first[1]]
    assert (freed, kept) == (7, None)


def test_a_figures_own_layout_wins_over_the_pages(stage: Page) -> None:
    script = """async () => {
      const { themed } = await load("figures/look");
      return themed({ xaxis: { showline: false }, yaxis3: {}, scene: { zaxis: { showbackground: true } }, title: "t" });
    }"""
    layout = play(stage, script)
    assert layout["xaxis"]["showline"] is False and layout["yaxis3"]["showline"] is True and layout["title"] == "t"
    assert layout["scene"]["zaxis"]["showbackground"] is True and layout["scene"]["xaxis"]["showbackground"] is False


# A pen that writes down where it goes. The box is 556 × 328, so the plot's field is 56 … 544 by 280 … 40.
SKETCH = """async (stage, figure) => {
  const { sketch } = await load("figures/sketch");
  const [words, marks, lines] = [[], [], []];
  const pen = new Proxy({ measureText: () => ({ width: 10 }) }, { get(target, name) {
    if (name === "fillText") return (text, x, y) => words.push([text, Math.round(x), Math.round(y)]);
    if (name === "translate") return (x, y) => marks.push([Math.round(x), Math.round(y)]);
    if (name === "moveTo" || name === "lineTo") return (x, y) => lines.push([name[0], Math.round(x), Math.round(y)]);
    return name in target ? target[name] : () => {};
  } });
  const made = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = () => pen;
  const box = document.createElement("div");
  Object.defineProperties(box, { clientWidth: { value: 556 }, clientHeight: { value: 328 } });
  try {
    const remove = sketch(box, figure);
    const shown = box.children.length;
    remove?.();
    return { drawn: remove !== null, shown, left: box.children.length, words, marks, lines };
  } finally {
    HTMLCanvasElement.prototype.getContext = made;
  }
}"""


def test_a_sketch_puts_points_where_plotly_will(stage: Page) -> None:
    points = {"mode": "markers", "x": [0, 5, None, 10], "y": [1, 10, 5, 100], "customdata": ["a", "b", "c", "d"]}
    layout = {
        "xaxis": {"range": [0, 10]},
        "yaxis": {"type": "log", "range": [0, 2]},
        "margin": {"l": 56, "r": 12, "b": 48},
    }
    found = play(stage, SKETCH, {"data": [points], "layout": layout})
    assert found["drawn"] and (found["shown"], found["left"]) == (1, 0)
    assert [mark for mark in found["marks"] if mark[0] > 0 and mark != [14, 160]] == [[56, 280], [300, 160], [544, 40]]
    ticks = [text for text, _, _ in found["words"]]
    assert ticks[:6] == ["0", "2", "4", "6", "8", "10"] and ticks[6:9] == ["1", "10", "100"]


def test_a_sketch_steps_and_breaks_its_lines(stage: Page) -> None:
    stepped = {"mode": "lines", "x": [0, 10, None, 0, 10], "y": [0, 10, None, 10, 0], "line": {"shape": "hv"}}
    layout = {"xaxis": {"range": [0, 10]}, "yaxis": {"range": [0, 10]}}
    lines = play(stage, SKETCH, {"data": [stepped], "layout": layout})["lines"]
    assert lines == [
        *(["m", 56, 280], ["l", 544, 280], ["l", 544, 40]),
        *(["m", 56, 40], ["l", 544, 40], ["l", 544, 280]),
    ]
    up = play(stage, SKETCH, {"data": [{**stepped, "line": {"shape": "vh"}}], "layout": layout})["lines"]
    assert up[:3] == [["m", 56, 280], ["l", 56, 40], ["l", 544, 40]]


def test_a_sketch_leaves_out_what_the_figure_hides_and_what_it_cannot_draw(stage: Page) -> None:
    flat = {"mode": "markers", "x": [1], "y": [1]}
    axes: dict[str, Any] = {"xaxis": {}, "yaxis": {}}
    cases = [
        ([flat], axes, True),
        ([{**flat, "visible": "legendonly"}], axes, False),
        ([{**flat, "type": "bar"}], axes, False),
        ([flat, {**flat, "type": "scatter3d"}], axes, False),
        ([flat], {**axes, "xaxis2": {}}, False),
        ([{**flat, "y": [None]}], axes, False),
        ([{**flat, "y": [0]}], {**axes, "yaxis": {"type": "log"}}, False),
    ]
    for data, layout, drawn in cases:
        assert play(stage, SKETCH, {"data": data, "layout": layout})["drawn"] is drawn, (data, layout)


def test_a_spark_says_what_it_grew_from_and_to(stage: Page) -> None:
    script = """async () => {
      const { Spark } = await load("figures/spark");
      const spark = new Spark();
      return [null, [null, 0, 2.5], [3, 3], []].map((values) => {
        spark.set(values);
        return [spark.latest.textContent, spark.svg.hasAttribute("hidden"), spark.svg.getAttribute("aria-label")];
      });
    }"""
    none, grown, still, _ = play(stage, script)
    assert none == ["–", True, None]
    assert grown == ["2.50", False, "hypervolume from 0 to 2.50"] and still == ["3.00", False, "hypervolume 3.00"]


# Like the pen above, but it writes down with which colour it filled and stroked its marks, and where they lie.
COLOURS = """async (stage, figure) => {
  const { sketch } = await load("figures/sketch");
  const [filled, stroked, marks] = [[], [], []];
  const pen = new Proxy({ measureText: () => ({ width: 10 }) }, { get(target, name) {
    if (name === "fill") return (path) => path && filled.push(target.fillStyle);
    if (name === "stroke") return (path) => path && stroked.push(target.strokeStyle);
    if (name === "translate") return (x, y) => marks.push([Math.round(x), Math.round(y)]);
    return name in target ? target[name] : () => {};
  } });
  const made = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = () => pen;
  const box = document.createElement("div");
  Object.defineProperties(box, { clientWidth: { value: 556 }, clientHeight: { value: 328 } });
  try {
    sketch(box, figure);
    return { filled, stroked, marks: marks.filter(([x]) => x > 0) };
  } finally {
    HTMLCanvasElement.prototype.getContext = made;
  }
}"""


def test_a_sketch_has_the_shades_of_its_marks_and_leaves_open_ones_open(stage: Page) -> None:
    scale = [[0, "pale"], [1, "strong"]]
    marker = {"color": [0.1, 0.9], "colorscale": scale, "cmin": 0, "cmax": 1, "symbol": ["circle", "circle-open"]}
    points = {"mode": "markers", "x": [1, 2], "y": [1, 2], "marker": marker, "showlegend": False}
    found = play(stage, COLOURS, {"data": [points], "layout": {"xaxis": {}, "yaxis": {}}})
    assert (found["filled"], found["stroked"]) == (["pale"], ["strong"])


def test_a_sketch_is_scaled_by_its_trials_and_begins_at_no_zero_on_a_log_axis(stage: Page) -> None:
    trials = {"mode": "markers", "x": [10, 100], "y": [0, 10], "customdata": ["a", "b"], "showlegend": False}
    known = {"mode": "lines", "x": [1, 100_000], "y": [0, 10], "showlegend": False}
    layout = {"xaxis": {"type": "log", "rangemode": "tozero"}, "yaxis": {"range": [0, 10]}}
    marks = play(stage, COLOURS, {"data": [known, trials], "layout": layout})["marks"]
    # A twentieth of room on each side of 10 … 100, over the field's 56 … 544.
    assert [x for x, _ in marks if 56 < x < 544] == [78, 522]


def test_all_points_of_a_trial_are_ringed_on_the_axes_that_have_it_first(stage: Page) -> None:
    script = """async () => {
      const { ringOf } = await load("figures/look");
      const strong = { x: [1, 2, 3], y: [4, 5, 6], customdata: ["t1", "t2", "t1"] };
      const muted = { x: [7], y: [8], customdata: ["t1"] };
      const elsewhere = { x: [9], y: [9], xaxis: "x2", yaxis: "y2", customdata: ["t1"] };
      const traces = [{ x: [0], y: [0] }, strong, muted, elsewhere];
      const rings = ["t1", "t2", "t3", null].map((trial) => ringOf(traces, trial));
      return rings.map(({ x, y, marker }) => [x, y, marker?.size]);
    }"""
    many, single, *none = play(stage, script)
    assert many == [[1, 3, 7], [4, 6, 8], 12] and single == [[2], [5], 16]
    assert none == [[[], [], None]] * 2


def test_marks_stand_at_their_means_with_their_intervals_and_no_lower_than_the_axis_shows(stage: Page) -> None:
    script = """async () => {
      const { Pointer } = await load("figures/pointer");
      const axis = (scale) => ({ _offset: 50, _length: 200, d2p: (value) => scale * value });
      const plot = { _fullLayout: { xaxis: axis(10), yaxis: axis(-1) } };
      const axes = [{ metric: "a", least: 0.5 }, { metric: "b", least: null }];
      const over = (mean, half_width, low = mean, high = mean) => ({ mean, half_width, low, high });
      const pointer = new Pointer();
      const shown = () => [...pointer.field.children].map((mark) => [
        mark.dataset.x, mark.dataset.y, mark.querySelector("path").getAttribute("class"),
        [...mark.querySelectorAll("line")].map((line) => ["x1", "y1", "x2", "y2"].map((key) => line.getAttribute(key))),
      ]);
      const look = { colour: "red", symbol: "circle" };
      pointer.show(plot, axes, [
        { x: over(3, 1), y: over(7, 2), look, open: false },
        { x: over(0.1, null), y: over(6, null, 5, 8), look, open: true },
        { x: over(null, null), y: over(6, null), look, open: true },
      ]);
      const both = shown();
      const box = ["x", "width"].map((key) => pointer.field.getAttribute(key));
      pointer.show({}, axes, [{ x: over(3, 1), y: over(7, 2), look, open: false }]);
      return [both, box, shown()];
    }"""
    both, box, undrawn = play(stage, script)
    assert both == [
        ["30.0", "-7.0", "full", [["20", "-7", "40", "-7"], ["30", "-5", "30", "-9"]]],
        ["5.0", "-6.0", "open", [["5", "-6", "5", "-6"], ["5", "-5", "5", "-8"]]],
    ]
    assert box == ["50", "200"] and undrawn == []


def test_a_place_is_found_again_by_its_values(stage: Page) -> None:
    script = """async () => {
      const { placeNear, valuesIn, placeInAddress } = await load("kit/curve-places");
      const betas = [0.0001, 0.01, 1].map((beta) => ({ where: { beta } }));
      const shares = [[0, 1], [0.5, 0.5], [1, 0]].map(([left, right]) => ({ where: { left, right } }));
      return [
        [[], [0.0001], [0.09], [0.11], [50], [0.1, 0.9]].map((values) => placeNear(betas, values)),
        [[1, 0], [0.1, 0.9], [0, 1]].map((values) => placeNear(shares, values)),
        placeNear([{ where: { beta: 0 } }, { where: { beta: 1 } }], [0]),
        [null, "", "x", "0.1,x", "0.25", "0.25,0.75"].map(valuesIn),
        [placeInAddress([0.01234567]), placeInAddress([0.25, 0.75]), placeInAddress([])],
      ];
    }"""
    betas, shares, zero, values, texts = play(stage, script)
    assert betas == [1, 0, 1, 2, 2, 1] and shares == [2, 0, 0] and zero == 0
    assert values == [[], [], [], [], [0.25], [0.25, 0.75]] and texts == ["0.0123457", "0.25,0.75", ""]


def test_nothing_is_ringed_in_space(stage: Page) -> None:
    script = """async () => {
      const { ringOf } = await load("figures/look");
      const deep = { type: "scatter3d", x: [1], y: [2], z: [3], customdata: ["t1"] };
      const flat = { x: [4], y: [5], customdata: ["t1"] };
      return [ringOf([deep], "t1"), ringOf([deep, flat], "t1").x];
    }"""
    assert play(stage, script) == [None, [4]]
