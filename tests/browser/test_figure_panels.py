"""A figure in its panel: choices, brushes, picks, refusals, files; without a service and without plotly.js."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.pages import needs_chromium
from tests.browser.stage import play

pytestmark = needs_chromium


@pytest.fixture(scope="module", autouse=True)
def plotly(stage: Page) -> None:
    """The stand-in is there before the clock stands still."""
    stage.evaluate("import('/assets/figures/drawing.js').then(({ plotly }) => plotly()).then(() => null)")


# A panel in the page, its figure answered by the stage; `brush` and `picked` are what a reader did.
PANEL = """
  const { FigurePanel } = await load("figures/figure-panel");
  const { Brush } = await load("figures/brush");
  const picked = [];
  const brush = new Brush();
  const panel = new FigurePanel({ name: "f", title: "Front", address: () => "/f", filename: "x", controls: [],
    height: 0, onPick: (trial) => picked.push(trial), brush });
  document.getElementById("page").replaceChildren(panel.element);
  const brushed = () => (brush.trials ? [...brush.trials] : null);
"""


def panel(page: Page, script: str, argument: Any = None) -> Any:
    return play(page, f"async (stage, argument) => {{ {PANEL} {script} }}", argument)


def test_brushes_on_two_axes_select_what_lies_in_both(stage: Page) -> None:
    axes = [
        {"values": [1, 2, 3, 4], "constraintrange": [2, 4]},
        {"values": [1, 2, 3, 4], "constraintrange": [[0, 1], [3, 3]]},
        {"values": [9, 9, 9, 9]},
    ]
    figure = {"data": [{"type": "parcoords", "dimensions": axes}], "layout": {"meta": {"trials": ["a", "b", "c", "d"]}}}
    script = """stage.answers["/f"] = argument;
      await panel.refresh();
      const { plotly_restyle: restyle } = panel.plot.acts;
      restyle([{ "line.color": "red" }]);
      const untouched = brushed();
      restyle([{ "dimensions[0].constraintrange": [[2, 4]] }]);
      const both = brushed();
      for (const axis of panel.plot.data[0].dimensions) delete axis.constraintrange;
      restyle([{ "dimensions[0].constraintrange": [null] }]);
      return [untouched, both, brushed()];"""
    assert panel(stage, script, figure) == [None, ["c"], None]


def test_a_click_opens_the_trial_and_a_selection_is_told_once_per_trial(stage: Page) -> None:
    script = """const data = [{ x: [1], y: [1], customdata: ["t1"] }];
      stage.answers["/f"] = { data, layout: { xaxis: {}, yaxis: {} } };
      await panel.refresh();
      const { plotly_click: click, plotly_selected: selected, plotly_deselect: deselect } = panel.plot.acts;
      click({ points: [{ customdata: null }, { customdata: ["t9"] }] });
      click({ points: [{}, { customdata: "t1" }, { customdata: "t2" }] });
      selected({ range: {}, points: [{ customdata: "t1" }, { customdata: "t1" }, {}, { customdata: "t2" }] });
      const some = brushed();
      selected({ points: [] });
      selected(undefined);
      const kept = brushed();
      selected({ lassoPoints: {}, points: [{ customdata: "t3" }] });
      const lasso = brushed();
      deselect();
      return [picked, some, kept, lasso, brushed()];"""
    assert panel(stage, script) == [["t1"], ["t1", "t2"], ["t1", "t2"], ["t3"], None]


def test_a_refusal_stands_where_the_figure_would_and_a_loss_is_passed_on(stage: Page) -> None:
    script = """const refused = (status) => () => Response.json({ error: { message: `said ${status}` } }, { status });
      const told = [];
      for (const status of [422, 404, 499, 500, 503]) {
        stage.answers["/f"] = refused(status);
        told.push(await panel.refresh().then(() => "kept", (error) => error.message));
      }
      const note = panel.note.textContent;
      stage.answers["/f"] = new Error("lost");
      told.push(await panel.refresh().then(() => "kept", (error) => error.message));
      return [told, note, panel.note.textContent];"""
    told, note, lost = panel(stage, script)
    assert told == ["kept", "kept", "kept", "said 500", "said 503", "The service cannot be reached."]
    assert (note, lost) == ("said 503", "The service cannot be reached.")


def test_a_figure_says_what_it_shows_and_what_it_waits_for(stage: Page) -> None:
    script = """const layout = { xaxis: {}, yaxis: { ticktext: ["a"] }, meta: { subtitle: "mean of 3", empty: "" } };
      const points = [{ name: "a &lt;b&gt;", x: [1, 2], y: [1, 2], customdata: ["t1", "t2"] },
        { name: "a &lt;b&gt;", x: [3], y: [3], customdata: ["t3"] }, { name: "line", x: [1], y: [1] }];
      const [seen, findings] = [[], []];
      for (const [data, meta] of [[points, {}], [points, { summary: "said so" }], [[{ x: [null] }], {}],
          [[], { empty: "Waits for attacks." }], [points, { finding: "They conflict." }]]) {
        stage.answers["/f"] = { data, layout: { ...layout, meta: { ...layout.meta, ...meta } } };
        await panel.refresh();
        const { xaxis, yaxis } = panel.plot.layout;
        const ticks = [xaxis, yaxis].map((axis) => axis.showticklabels ?? true);
        seen.push([panel.plot.getAttribute("aria-label"), panel.note.textContent, ticks]);
        findings.push(panel.finding.hidden ? null : panel.finding.textContent);
      }
      return [seen, panel.subtitle.textContent, findings];"""
    seen, subtitle, findings = panel(stage, script)
    assert seen == [
        ["Front. a <b>: 3 trials. mean of 3", "", [True, True]],
        ["Front. said so. mean of 3", "", [True, True]],
        ["Front. mean of 3", "Points appear with the first reports.", [False, True]],
        ["Front. mean of 3", "Waits for attacks.", [False, True]],
        ["Front. They conflict.. mean of 3", "", [True, True]],
    ]
    assert subtitle == "mean of 3" and findings == [None, None, None, None, "They conflict."]


def test_a_figure_in_a_closed_tab_is_drawn_when_the_tab_opens(stage: Page) -> None:
    script = """const tab = document.createElement("div");
      tab.hidden = true;
      document.getElementById("page").replaceChildren(tab);
      tab.append(panel.element);
      stage.answers["/f"] = { data: [{ x: [1], y: [1] }], layout: { xaxis: {}, yaxis: {} } };
      await panel.refresh();
      const before = panel.plot.data ?? null;
      tab.hidden = false;
      await panel.draw();
      return [before, panel.plot.data.length];"""
    assert panel(stage, script) == [None, 2], "the trace, and the ring that is not yet round anything"


def test_a_brush_that_is_too_long_for_an_address_still_holds(stage: Page) -> None:
    script = """const told = [];
      brush.onChange(() => told.push(brush.version));
      const many = (count) => Array.from({ length: count }, (_, i) => `t${i}`);
      const inAddress = () => new URLSearchParams(location.search).getAll("brush").length;
      brush.set(many(60));
      const sixty = [inAddress(), brush.words.textContent, brush.element.hidden];
      brush.set(many(61));
      const more = [inAddress(), brush.trials.size, brush.element.hidden];
      brush.set([]);
      return [sixty, more, brush.trials, inAddress(), brush.element.hidden, told];"""
    sixty, more, none, left, hidden, told = panel(stage, script)
    assert sixty == [60, "60 trials selected, the others are muted", False]
    assert more == [0, 61, False]
    assert (none, left, hidden, told) == (None, 0, True, [2, 3, 4])


def control(param: str, kind: str = "choice", default: str = "a", **more: Any) -> dict[str, Any]:
    options = [["a", "A"], ["b", "B"], ["c", "C"]]
    return {"param": param, "label": param, "kind": kind, "options": options, "default": default, **more}


CONTROLS = """async (stage, [name, controls, search, choices, overlaid]) => {
  const { figurePanel } = await load("figures/controls");
  history.replaceState(null, "", `/studies/s${search}`);
  const again = [];
  const study = { id: "s/1", name: "n", arms: [{}, {}, {}], overlaid };
  const offer = { name, title: "Title", group: "g", controls };
  const panel = figurePanel(study, offer, { onPick() {}, again: (which) => again.push(which === panel) });
  const first = panel.address();
  const inputs = [...panel.element.querySelectorAll("select, .selects input")];
  const held = inputs.map((input) => input.value);
  for (const [place, value] of choices) {
    inputs[place].value = value;
    inputs[place].dispatchEvent(new Event("change"));
  }
  const needs = panel.box.style.getPropertyValue("--needs");
  return { first, held, address: panel.address(), search: location.search, again, needs };
}"""


def test_choices_of_a_figure_are_sent_and_kept_under_its_name(stage: Page) -> None:
    axes = [control("x"), control("y", default="b")]
    found = play(stage, CONTROLS, ["other", axes, "?other.x=c&x=b&other.y=nothing", [[1, "c"], [0, "a"]], None])
    assert found["first"] == "/api/studies/s%2F1/figures/other?x=c"
    assert found["held"] == ["c", "b"], "what is not offered is the default"
    assert found["address"] == "/api/studies/s%2F1/figures/other?y=c"
    assert found["search"] == "?x=b&other.y=c" and found["again"] == [True, True]
    front = play(stage, CONTROLS, ["pareto-front", axes, "?x=b", [], "s,t"])
    assert front["first"] == "/api/studies/s%2F1/figures/pareto-front?x=b&studies=s%2Ct"


def test_several_choices_of_one_kind_are_sent_in_their_order_with_the_defaults(stage: Page) -> None:
    arms = [control("arm"), control("arm", default="b")]
    found = play(stage, CONTROLS, ["difference", arms, "?difference.arm=b&difference.arm=c", [[1, "b"]], None])
    assert found["held"] == ["b", "c"]
    assert found["address"] == "/api/studies/s%2F1/figures/difference?arm=b&arm=b"
    assert found["search"] == "?difference.arm=b&difference.arm=b"


def test_a_number_for_a_figure_lies_in_its_bounds(stage: Page) -> None:
    numbers = [control("eps", kind="number", default="", options=[])]
    asks = [("?f.eps=0.5", "0.5"), ("?f.eps=3", ""), ("?f.eps=0", ""), ("?f.eps=1", "1"), ("?f.eps=x", "")]
    for search, held in asks:
        found = play(stage, CONTROLS, ["f", numbers, search, [], None])
        assert found["held"] == [held], search
        assert found["first"].endswith(f"?eps={held}" if held else "/figures/f")


def test_a_figure_with_a_row_per_arm_grows_with_the_arms(stage: Page) -> None:
    rows = stage.evaluate("JSON.parse(document.getElementById('vocabulary').textContent).row_per_arm")
    assert play(stage, CONTROLS, [rows[0], [], "", [], None])["needs"] == "188px"  # 3 rows of 36, and 80
    assert play(stage, CONTROLS, ["pareto-front", [], "", [], None])["needs"] == ""


def test_figures_stand_in_their_groups_in_the_order_of_the_page(stage: Page) -> None:
    script = """async () => {
      const { grouped } = await load("figures/controls");
      const { vocabulary } = await load("kit/vocabulary");
      const groups = vocabulary.figure_groups;
      const figures = groups.map(({ name }, i) => ({ name: `f${i}`, group: name })).reverse().slice(1);
      const { above, tabs } = grouped(figures);
      const names = (some) => some.map(({ name }) => Number(name.slice(1)));
      return [groups.map((group) => group.is_tab), names(above), tabs.map((tab) => names(tab.figures))];
    }"""
    is_tab, above, tabs = play(stage, script)
    last = len(is_tab) - 1
    assert above == [i for i in reversed(range(last)) if not is_tab[i]]
    assert tabs == [[i] for i in range(last) if is_tab[i]], "the last group has no figure, and no tab"


def test_a_saved_figure_has_its_title_and_its_words_as_words(stage: Page) -> None:
    script = """const layout = { xaxis: {}, yaxis: {}, margin: { l: 1, b: 9 }, meta: { subtitle: "a <b>" } };
      stage.answers["/f"] = { data: [{ x: [1], y: [1] }], layout };
      await panel.refresh();
      const files = [];
      for (const button of panel.element.querySelectorAll(".save button")) {
        button.click();
        await stage.settle();
        files.push(window.Plotly.saved.file);
      }
      const { title, margin } = window.Plotly.saved.figure.layout;
      return [files, title.text, title.subtitle.text, margin];"""
    files, title, subtitle, margin = panel(stage, script)
    size = {"width": 900, "height": 600, "filename": "x"}
    assert files == [{**size, "format": "svg", "scale": 1}, {**size, "format": "png", "scale": 2}]
    assert (title, subtitle, margin) == ("Front", "a &lt;b>", {"l": 72, "b": 9, "t": 96})


def test_a_number_out_of_bounds_is_not_asked_for(stage: Page) -> None:
    numbers = [control("eps", kind="number", default="", options=[])]
    for value, again in (("3", []), ("0", []), ("0.5", [True])):
        found = play(stage, CONTROLS, ["f", numbers, "", [[0, value]], None])
        assert found["again"] == again and found["search"] == ("?f.eps=0.5" if again else ""), value


def test_a_figure_has_the_tools_that_its_kind_can_use(stage: Page) -> None:
    script = """const seen = [];
      for (const trace of [{ x: [1], y: [1] }, { type: "scatter3d", x: [1], y: [1], z: [1] },
          { type: "parcoords", dimensions: [{ values: [1] }] }]) {
        stage.answers["/f"] = { data: [trace], layout: { xaxis: {}, yaxis: {} } };
        await panel.refresh();
        seen.push([panel.plot.config.displayModeBar, panel.plot.config.modeBarButtons[0][0]]);
      }
      return seen;"""
    assert panel(stage, script) == [["hover", "zoom2d"], ["hover", "zoom3d"], [False, "zoom2d"]]


def test_a_figure_is_drawn_and_saved_in_the_colours_of_the_theme(stage: Page) -> None:
    script = """stage.answers["/f"] = { data: [{ x: [1], y: [1] }], layout: { xaxis: {}, yaxis: {},
        meta: { subtitle: "<i>a <b>" } } };
      await panel.refresh();
      const save = async () => {
        panel.element.querySelector(".save button").click();
        await stage.settle();
        const { layout } = window.Plotly.saved.figure;
        return [panel.plot.layout.font.color, layout.paper_bgcolor, layout.title.subtitle.text];
      };
      const before = await save();
      document.getElementById("theme").click();
      await stage.settle();
      const after = await save();
      document.getElementById("theme").click();
      localStorage.clear();
      delete document.documentElement.dataset.theme;
      const { colours } = await load("kit/theme");
      return [before, after, colours().page];"""
    before, after, page = panel(stage, script)
    assert before[0] != after[0] and before[1] == page != after[1], "ink and page change places"
    assert before[2] == "&lt;i>a &lt;b>"


def test_the_curve_of_an_open_trial_has_the_colour_of_its_arm(stage: Page) -> None:
    script = """async () => {
      const { TrialDrawer } = await load("pages/trial-drawer");
      const arms = [{ name: "a", colour: "red", symbol: "circle" }, { name: "b", colour: "blue", symbol: "square" }];
      const of = (name, kind) => [name, { name, label: name, kind, unit: "", family: null, summarises: null }];
      const metrics = new Map([of("epoch", "epoch"), of("accuracy", "accuracy"), of("i_zy_bits", "relevance")]);
      const drawer = new TrialDrawer({ id: "s", arms, spec: { objectives: [] } }, metrics, () => {});
      document.getElementById("page").replaceChildren(drawer.element);
      const reports = [{ epoch: 1, accuracy: 0.5 }, { epoch: 2, accuracy: 0.75 }];
      const trial = { id: "t1", arm: "b", seed: 0, state: "finished", reason: null, config: {}, metrics: {},
        intervals: {}, lights: {}, artifacts: {}, reports, points: [], log: [], training_seconds: 1, started_at: null };
      stage.answers["/api/studies/s/trials/t1"] = trial;
      drawer.open("t1");
      await drawer.refresh();
      const [line] = drawer.curve.data;
      const seen = [line.line.color, line.y, drawer.heading.querySelector("path").getAttribute("fill")];
      drawer.close();
      return seen;
    }"""
    assert play(stage, script) == ["blue", [0.5, 0.75], "blue"]
