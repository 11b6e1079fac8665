"""Parts of the form by themselves: fields from schemas, a trial as a study, drafts, what a check says, the editor."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from tests.browser.pages import needs_chromium
from tests.browser.stage import play

pytestmark = needs_chromium

# A control for each field; `does` is done to its inputs, and what it says it became comes back.
CONTROL = """async (stage, [field, value, does]) => {
  const { control } = await load("form/field");
  const now = [];
  const whole = { label: "x", hint: "", required: false, nullable: false, axis: false, scales: [], ...field };
  const element = control(whole, { id: "x", value: value ?? undefined, onChange: (next) => now.push(next ?? "none") });
  const box = document.createElement("div");
  box.append(element);
  const inputs = [...box.querySelectorAll("input, select")];
  const before = inputs.map((each) => (each.type === "checkbox" ? each.checked : each.value));
  for (const [place, to] of does) {
    const input = inputs[place];
    if (typeof to === "boolean") input.checked = to;
    else if (input.matches("select")) input.selectedIndex = to;
    else input.value = to;
    input.dispatchEvent(new Event(input.type === "text" ? "input" : "change"));
  }
  const words = [...box.querySelectorAll("select option")].map((option) => option.text);
  return { before, now, holds: inputs[0].placeholder, words };
}"""


def control(page: Page, field: dict[str, Any], value: Any, *does: tuple[int, Any]) -> Any:
    return play(page, CONTROL, [field, value, list(does)])


def test_a_box_is_unticked_also_where_ticked_is_the_default(stage: Page) -> None:
    for standard in (True, False):
        field = {"kind": "boolean", "standard": standard}
        found = control(stage, field, None, (0, not standard), (0, standard))
        assert found["before"] == [standard] and found["now"] == [not standard, "none"]
    assert control(stage, {"kind": "boolean", "standard": True}, False)["before"] == [False]


def test_a_choice_keeps_its_type_and_its_default_is_left_out(stage: Page) -> None:
    field = {"kind": "enum", "standard": 1, "options": [1, 2, "three"]}
    found = control(stage, field, None, (0, 1), (0, 0), (0, 2))
    assert found["before"] == ["1"] and found["now"] == [2, "none", "three"]
    odd = control(stage, field, 7, (0, 3))
    assert odd["before"] == ["7"] and odd["words"] == ["1", "2", "three", "7, not known"] and odd["now"] == [7]


def test_ticks_are_written_in_the_order_of_the_catalog(stage: Page) -> None:
    field = {"kind": "several", "standard": ["b"], "options": ["a", "b", "c"]}
    found = control(stage, field, None, (2, True), (0, True), (1, False), (0, False), (2, False))
    assert found["before"] == [False, True, False]
    assert found["now"] == [["b", "c"], ["a", "b", "c"], ["a", "c"], ["c"], "none"]


def test_a_default_stands_in_grey_in_few_digits(stage: Page) -> None:
    number = {"kind": "number", "standard": 8 / 255}
    assert control(stage, number, None)["holds"] == "0.03137"
    assert control(stage, number, 0, (0, "0.5"), (0, "")) | {"words": []} == {
        **{"before": ["0"], "now": [0.5, "none"]},
        **{"holds": "0.03137", "words": []},
    }
    assert control(stage, {**number, "required": True}, None)["holds"] == ""
    assert control(stage, {"kind": "number", "standard": None, "nullable": True}, None)["holds"] == "none"
    assert control(stage, {"kind": "list", "standard": [64, 64]}, None)["holds"] == "64, 64"


def test_a_schema_says_what_kind_of_field_it_needs(stage: Page) -> None:
    script = """async (stage, properties) => {
      const { fieldsOf } = await load("form/parameter-schema");
      const span = { properties: { scale: { enum: ["linear", "log"] } } };
      const schema = { properties, required: ["needed"], $defs: { Span: span } };
      return fieldsOf(schema).map(({ name, kind, axis, nullable, required, standard, options, scales }) =>
        [name, kind, axis, nullable, required, standard ?? null, options ?? null, scales]);
    }"""
    grid = {"$ref": "#/$defs/Grid"}
    properties = {
        "name": {"const": "x"},
        "needed": {"type": "integer"},
        "maybe": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": 0.5},
        "axis": {"oneOf": [{"type": "number"}, grid, {"$ref": "#/$defs/Range"}], "default": 1},
        "word": {"anyOf": [{"enum": ["a", "b"]}, {"type": "number"}]},
        "one": {"const": "only"},
        "yes": {"type": "boolean", "default": True},
        "ticks": {"type": "array", "items": {"enum": ["p", "q"]}},
        "list": {"type": "array", "items": {"type": "integer"}},
        "terms": {"type": "object", "additionalProperties": {"oneOf": [{"type": "number"}, grid]}},
        "deep": {"type": "object"},
    }
    log = ["linear", "log"]
    assert play(stage, script, properties) == [
        ["needed", "number", False, False, True, None, None, log],
        ["maybe", "number", False, True, False, 0.5, None, log],
        ["axis", "number", True, False, False, 1, None, log],
        ["word", "text", False, False, False, None, ["a", "b"], log],
        ["one", "enum", False, False, False, None, ["only"], log],
        ["yes", "boolean", False, False, False, True, None, log],
        ["ticks", "several", False, False, False, None, ["p", "q"], log],
        ["list", "list", False, False, False, None, None, log],
        ["terms", "map", False, False, False, None, None, log],
        ["deep", "other", False, False, False, None, None, log],
    ]


def test_the_ends_of_a_grid_are_typed_and_taken_away(stage: Page) -> None:
    script = """async () => {
      const { axisControl, canShow } = await load("form/axis");
      const field = { label: "β", kind: "number", axis: true, standard: 0.01, scales: ["linear", "log"] };
      const now = [];
      const value = { grid: { from: 0.1, to: 10, count: 7 } };
      const place = { id: "x", value, onChange: (next) => now.push(structuredClone(next.grid)), onMode() {} };
      const element = axisControl(field, place, false);
      const [from, to, count] = element.querySelectorAll("input");
      const scale = element.querySelector("#x-scale");
      const shown = [from.value, to.value, count.value, scale.value];
      for (const [input, text] of [[from, "0.2"], [count, ""], [to, "ten"]]) {
        input.value = text;
        input.dispatchEvent(new Event("input"));
      }
      scale.value = "log";
      scale.dispatchEvent(new Event("change"));
      const values = [3, { grid: [1] }, { choice: [1] }, { range: { from: 1, to: 2 } }, { grid: 3 }, { range: [1] },
        { grid: [1], more: 2 }, { other: 1 }, null];
      return [shown, now, values.map((each) => canShow(field, each)),
        values.map((each) => canShow({ ...field, axis: false }, each))];
    }"""
    shown, now, axis, plain = play(stage, script)
    assert shown == ["0.1", "10", "7", "linear"]
    assert now == [
        {"from": 0.2, "to": 10, "count": 7},
        {"from": 0.2, "to": 10},
        {"from": 0.2, "to": "ten"},
        {"from": 0.2, "to": "ten", "scale": "log"},
    ]
    assert axis == [True, True, True, True, False, False, False, False, True]
    assert plain == [True, False, False, False, False, False, False, False, True]


def test_a_trial_as_a_study_has_its_arms_own_settings_and_its_own_values(stage: Page) -> None:
    spec = {
        **{"name": "s", "seeds": [0, 1], "training": {"epochs": 20, "batch_size": 64}, "model": {"name": "mlp"}},
        "arms": [
            {"name": "other", "weighting": {"name": "mib"}},
            {
                **{"name": "a", "problem": {"name": "bottleneck", "rate": {"form": "x", "own": 1}}},
                "search": {"name": "optuna", "trials": 9},
                "weighting": {"name": "fixed", "beta": {"grid": [0.1, 1]}, "simplex": 3},
                **{"training": {"epochs": 7}, "model": {"latent": 4}},
            },
        ],
    }
    config: dict[str, Any] = {"weighting.beta": 1, "training.learning_rate": 0.01, "seed": 5, "x.y": 1}
    config |= {"weighting.weights.a.b": 2, "weighting.weights.c": 3, "problem.rate.form": "kl"}
    script = """async (stage, [spec, trial]) => {
      const { oneTrial } = await load("form/sources");
      return [oneTrial(spec, trial), spec];
    }"""
    made, untouched = play(stage, script, [spec, {"arm": "a", "seed": 1, "config": config}])
    assert made == {
        **{"name": "s: one trial of a", "seeds": [1]},
        "training": {"epochs": 7, "batch_size": 64, "learning_rate": 0.01},
        "model": {"name": "mlp", "latent": 4},
        "arms": [
            {
                **{"name": "a", "problem": {"name": "bottleneck", "rate": {"form": "kl", "own": 1}}},
                "weighting": {"name": "fixed", "beta": 1, "weights": {"a.b": 2, "c": 3}},
            }
        ],
    }
    assert untouched == spec


def test_a_draft_is_kept_for_its_source_and_only_while_it_differs(stage: Page) -> None:
    script = """async () => {
      const { forgetDraft, keepDraft, keptDraft } = await load("form/drafts");
      const seen = [];
      const note = () => seen.push([keptDraft("a"), keptDraft("b")]);
      keepDraft("a", "new", "old"); note();
      keepDraft("b", "other", "old"); note();
      keepDraft("b", "old", "old"); note();
      keepDraft("a", "", "old"); note();
      forgetDraft(); note();
      sessionStorage.setItem("paretoscope-new-study", "{"); note();
      sessionStorage.clear();
      return seen;
    }"""
    none = [None, None]
    assert play(stage, script) == [["new", None], [None, "other"], none, ["", None], none, none]


CHECKED = """async (stage, calls) => {
  const { Checked } = await load("form/checked");
  let isForm = true;
  const went = [];
  const go = (place) => went.push(place);
  const checked = new Checked({ onLine: go, onField: go, isForm: () => isForm });
  const text = (part) => checked[part].textContent;
  const seen = calls.map(([name, value, asForm = true]) => {
    isForm = asForm;
    checked[name](value);
    for (const link of checked.list.querySelectorAll("button")) link.click();
    const cells = (row) => [...row.children].map((cell) => cell.textContent);
    const rows = [...checked.table.querySelectorAll("tbody tr")].map(cells);
    const errors = [...checked.list.children].map((item) => item.textContent);
    return [text("words"), text("cost"), text("basis"), rows, errors, checked.words.classList.contains("bad")];
  });
  return [seen, went];
}"""


def test_a_check_says_its_trials_and_their_cost_as_far_as_it_is_known(stage: Page) -> None:
    arms = [{"name": "a", "trials": 1200}, {"name": "b", "trials": 1}]
    cost: dict[str, Any] = {"training_seconds": 95.0, "wall_seconds": 61.0, "basis": "6 trials", "arms": []}
    each = [{"name": "b", "training_seconds": 5.0}, {"name": "a", "training_seconds": 90.0}]
    valid = {"trials": 1201, "arms": arms, "cost": {**cost, "arms": each}, "warnings": []}
    unknown = {**cost, "training_seconds": None, "wall_seconds": None, "basis": "nothing like it yet"}
    calls = [
        ["showCount", valid],
        ["showCount", {**valid, "trials": 1, "arms": arms[1:], "cost": {**cost, "wall_seconds": None}}],
        ["showCount", {**valid, "cost": unknown}],
        ["unreachable", None],
    ]
    (whole, training, none, lost), _ = play(stage, CHECKED, calls)
    rows = [["a", "1,200", "1 m 30 s"], ["b", "1", "5.0 s"]]
    words = "About 1 m 01 s in all, 1 m 35 s of training."
    assert whole == ["1,201 trials in 2 arms", words, "By 6 trials.", rows, [], False]
    assert training[:4] == ["1 trial in 1 arm", "About 1 m 35 s of training.", "By 6 trials.", [["b", "1", "–"]]]
    assert none[1:3] == ["How long it takes is not known yet.", "Nothing like it yet."]
    assert lost == ["Not checked: the service cannot be reached.", "", "", [], [], False]


UNKNOWN_COST: dict[str, Any] = {"training_seconds": None, "basis": "x", "arms": []}


def test_warnings_stand_below_the_arms_and_go_with_what_they_warned_of(stage: Page) -> None:
    script = """async (stage, warning) => {
      const { Checked } = await load("form/checked");
      let isForm = true;
      const went = [];
      const go = (place) => went.push(place);
      const checked = new Checked({ onLine: go, onField: go, isForm: () => isForm });
      const said = () => [...checked.warnings.children].map((item) => item.textContent);
      const valid = { trials: 1, arms: [], cost: { training_seconds: null, basis: "x", arms: [] } };
      checked.showCount({ ...valid, warnings: [warning] });
      const form = said();
      checked.warnings.querySelector("button").click();
      isForm = false;
      checked.redraw();
      const text = said();
      checked.warnings.querySelector("button").click();
      const isBad = checked.words.classList.contains("bad");
      checked.showErrors({ message: "wrong" });
      const wrong = said();
      checked.showCount({ ...valid, warnings: [] });
      return [form, text, went, isBad, wrong, said()];
    }"""
    warning = {"path": "arms[0].weighting.name", "message": "is uniform", "line": 4}
    form, text, went, is_bad, wrong, corrected = play(stage, script, warning)
    assert form == ["arms[0].weighting.name: is uniform"] and text == ["line 4 arms[0].weighting.name: is uniform"]
    assert went == ["arms[0].weighting.name", 4] and not is_bad
    assert wrong == corrected == []


def test_errors_lead_to_their_field_or_their_line(stage: Page) -> None:
    details = [{"path": "seeds[1]", "message": "no", "line": 4}, {"path": "", "message": "bare", "line": 2}]
    calls = [
        ["showErrors", {"message": "wrong", "details": details}],
        ["showErrors", {"message": "wrong", "details": details}, False],
        ["showErrors", {"message": "it broke", "details": []}],
        ["showCount", {"trials": 1, "arms": [], "cost": UNKNOWN_COST, "warnings": []}],
        ["redraw", None],
    ]
    (fields, lines, bare, right, still), went = play(stage, CHECKED, calls)
    assert fields == ["2 things to correct", "", "", [], ["seeds[1]: no", " bare"], True]
    assert lines[4] == ["line 4 seeds[1]: no", "line 2 bare"] and went == ["seeds[1]", 4, 2]
    assert (bare[0], bare[4]) == ("One thing to correct", ["it broke"])
    assert right[4:] == still[4:] == [[], False], "an error that is corrected does not come back"


def test_the_editor_numbers_marks_and_finds_its_lines(stage: Page) -> None:
    script = """async () => {
      const { Editor } = await load("form/editor");
      let inputs = 0;
      const editor = new Editor({ label: "x", onInput: () => (inputs += 1) });
      document.getElementById("page").replaceChildren(editor.element);
      editor.value = "a: 1\\nbb: 2\\n";
      const gutter = () => [...editor.gutter.children].map((line) => [line.textContent, line.className, line.title]);
      editor.mark([{ line: 2, message: "one" }, { line: 2, message: "two" }, { line: null, message: "none" }]);
      const marked = [gutter(), editor.text.getAttribute("aria-invalid")];
      editor.goTo(2);
      const found = editor.value.slice(editor.text.selectionStart, editor.text.selectionEnd);
      editor.text.value += "c";
      editor.text.dispatchEvent(new Event("input"));
      editor.mark([]);
      return [marked, found, gutter().length, inputs, editor.text.getAttribute("aria-invalid")];
    }"""
    (gutter, invalid), found, lines, inputs, valid = play(stage, script)
    assert gutter == [["1", "", ""], ["2", "marked", "one\ntwo"], ["3", "", ""]]
    assert (invalid, found, lines, inputs, valid) == ("true", "bb: 2", 3, 1, "false")


def test_the_editor_begins_at_its_first_line_and_its_numbers_go_with_the_text(stage: Page) -> None:
    script = """async () => {
      const { Editor } = await load("form/editor");
      const editor = new Editor({ label: "x", onInput() {} });
      document.getElementById("page").replaceChildren(editor.element);
      editor.value = Array.from({ length: 200 }, (_, i) => `line ${i}`).join("\\n");
      const start = [editor.text.selectionStart, editor.text.scrollTop];
      for (const part of [editor.text, editor.gutter]) Object.assign(part.style, { height: "60px", overflow: "auto" });
      editor.text.scrollTop = 90;
      editor.text.dispatchEvent(new Event("scroll"));
      return [start, editor.text.scrollTop, editor.gutter.scrollTop];
    }"""
    start, text, numbers = play(stage, script)
    assert start == [0, 0] and text == numbers == 90
