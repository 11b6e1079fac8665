"""What a form does with a value: read, put in its place, given in another way, left out where it is the default."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from tests.browser.pages import Run, needs_chromium
from tests.processes import Running

pytestmark = needs_chromium


def test_typed_text_becomes_the_value_that_is_meant(run: Run) -> None:
    number, text = {"kind": "number"}, {"kind": "text"}
    calls = [
        *([number, "0.5"], [number, " 1e-3 "], [number, "x"], [number, ""], [number, "  "], [number, "none"]),
        *([{**number, "nullable": True}, "none"], [text, " 12 "], [text, "true"], [{**text, "options": [1]}, "12"]),
        *([{"kind": "list"}, "64, 32,"], [{"kind": "list"}, "none"], [{"kind": "list"}, "a, 1"]),
    ]
    assert run("form/values", "typed", *calls) == [
        *(0.5, 0.001, "x", None, None, "none"),
        *(None, "12", "true", 12),
        *([64, 32], [], ["a", 1]),
    ]
    assert run("form/values", "shown", [[64, 32]], [[]], [None], [True], [0.001], ["a"]) == [
        *("64, 32", "none", "none", "true", "0.001", "a")
    ]


def test_a_value_is_put_where_its_path_says(page: Page) -> None:
    script = """async (edits) => {
      const { write, read, pathText, outwards } = await import("/assets/form/paths.js");
      const spec = { arms: [{ name: "a" }, { name: "b" }], training: { epochs: 3 } };
      for (const [path, value] of edits) write(spec, path, value ?? undefined);
      const text = pathText(["arms", 0, "weighting", "beta"]);
      return [spec, read(spec, ["arms", 0, "name"]) ?? null, text, outwards("a.b[2].c")];
    }"""
    edits = [
        [["arms", 1, "weighting", "beta"], 0.1],
        [["training", "epochs"], None],
        [["arms", 0], None],
        [["evaluation", "attacks", 0], {"name": "pgd"}],
    ]
    spec, name, text, around = page.evaluate(script, edits)
    assert spec == {"arms": [{"name": "b", "weighting": {"beta": 0.1}}], "evaluation": {"attacks": [{"name": "pgd"}]}}
    assert (name, text) == ("b", "arms[0].weighting.beta")
    assert around == ["a.b[2].c", "a.b[2]", "a.b", "a"]


def test_what_has_become_empty_goes_with_its_last_value_but_for_an_item_of_a_list(page: Page) -> None:
    script = """async ([spec, path]) => {
      const { write } = await import("/assets/form/paths.js");
      write(spec, path, undefined);
      return spec;
    }"""
    deep = {"training": {"balance": {"mode": "full"}}, "name": "x"}
    arms = {"arms": [{"name": "a"}, {"name": "b"}]}
    cases: list[tuple[dict[str, Any], list[Any], dict[str, Any]]] = [
        (deep, ["training", "balance", "mode"], {"name": "x"}),
        (
            {"training": {"balance": {"mode": "full"}, "epochs": 3}},
            ["training", "balance"],
            {"training": {"epochs": 3}},
        ),
        (arms, ["arms", 0, "name"], {"arms": [{}, {"name": "b"}]}),
        (arms, ["arms", 1], {"arms": [{"name": "a"}]}),
        ({"arms": [{"weighting": {"name": "mib"}}]}, ["arms", 0, "weighting", "name"], {"arms": [{}]}),
    ]
    for spec, path, left in cases:
        assert page.evaluate(script, [spec, path]) == left, path


def test_a_parameter_is_given_in_another_way_as_near_as_can_be(page: Page) -> None:
    script = """async ([value, kind, searched, mode]) => {
      const { axisControl } = await import("/assets/form/axis.js");
      const field = { label: "β", kind, axis: true, standard: 0.01, scales: ["linear", "log"], options: ["a", "b"] };
      let turned;
      const element = axisControl(field, { id: "x", value, onChange() {}, onMode: (now) => (turned = now) }, searched);
      const how = element.querySelector("select");
      how.value = mode;
      how.dispatchEvent(new Event("change"));
      return [[...how.options].map((option) => option.value), turned];
    }"""
    span = {"grid": {"from": 0.1, "to": 10, "count": 7, "scale": "log"}}
    cases: list[tuple[Any, str, bool, str, list[str], Any]] = [
        (0.01, "number", False, "list", ["value", "list", "span"], {"grid": [0.01]}),
        (
            0.01,
            "number",
            False,
            "span",
            ["value", "list", "span"],
            {"grid": {"from": 0.001, "to": 0.1, "count": 5, "scale": "log"}},
        ),
        (
            0,
            "number",
            False,
            "span",
            ["value", "list", "span"],
            {"grid": {"from": 0, "to": 1, "count": 5, "scale": "linear"}},
        ),
        (
            span,
            "number",
            True,
            "range",
            ["value", "range", "choice", "span"],
            {"range": {"from": 0.1, "to": 10, "scale": "log"}},
        ),
        (
            {"grid": {"from": 1, "to": 2, "count": 3, "scale": "linear"}},
            "number",
            True,
            "range",
            ["value", "range", "choice", "span"],
            {"range": {"from": 1, "to": 2, "scale": "linear"}},
        ),
        (
            {"grid": [3, 1]},
            "number",
            False,
            "span",
            ["value", "list", "span"],
            {"grid": {"from": 0.3, "to": 30, "count": 5, "scale": "log"}},
        ),
        ({"grid": [1, 2]}, "number", True, "choice", ["value", "range", "choice", "list"], {"choice": [1, 2]}),
        ({"choice": ["a", "b"]}, "enum", True, "value", ["value", "choice"], "a"),
    ]
    for value, kind, searched, mode, offered, wanted in cases:
        assert page.evaluate(script, [value, kind, searched, mode]) == [offered, wanted], (value, mode)


def test_a_study_is_written_without_its_defaults(page: Page, alone: Running) -> None:
    spec = {
        "name": "x",
        "training": {"epochs": 20, "batch_size": 64},
        "arms": [
            {"name": "a", "weighting": {"name": "mib", "mu": 0.3}},
            {"name": "b", "weighting": {"name": "uniform"}},
        ],
        "evaluation": {"attacks": [{"name": "pgd", "epsilon": 0.1}]},
    }
    whole = alone.post("/api/studies", json=spec).json()["spec"]
    script = """async (spec) => {
      const { withoutDefaults } = await import("/assets/form/sources.js");
      return withoutDefaults(spec, await (await fetch("/api/catalog")).json());
    }"""
    lean = page.evaluate(script, whole)
    assert lean == {
        "name": "x",
        "data": {"name": "digits"},
        "model": {"name": "mlp"},
        "training": {"batch_size": 64},
        "seeds": [0],
        "objectives": [{"metric": "i_xz_bits", "goal": "minimize"}, {"metric": "i_zy_bits", "goal": "maximize"}],
        "arms": [
            {"name": "a", "problem": {"name": "bottleneck"}, "weighting": {"name": "mib", "mu": 0.3}},
            {"name": "b", "problem": {"name": "bottleneck"}, "weighting": {"name": "uniform"}},
        ],
        "evaluation": {"attacks": [{"name": "pgd", "epsilon": 0.1}]},
    }
    assert alone.post("/api/studies", json=lean).json()["spec"] == whole
