"""The form of a study as a whole: parts keep their values, arms their place, errors stand where they belong."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from playwright.sync_api import Page
from pydantic import TypeAdapter

from service.answers.studies import metric_rows
from service.contract.catalog import Catalog, catalog
from tests.browser.pages import needs_chromium
from tests.browser.stage import play

pytestmark = needs_chromium

CATALOG = TypeAdapter(Catalog).dump_python(catalog([]), mode="json")


@pytest.fixture(scope="module", autouse=True)
def whole_catalog(stage: Page) -> None:
    stage.evaluate("(text) => { window.catalog = JSON.parse(text); }", json.dumps(CATALOG))


# The form of a study, and its spec after each of what is done to it.
FORM = """
  const { StudyForm } = await load("form/study-form");
  const page = document.getElementById("page");
  const told = [];
  const form = new StudyForm({ catalog, onChange: (spec) => told.push(structuredClone(spec)) });
  page.replaceChildren(form.element);
  const at = (id) => document.getElementById(id);
  const button = (words, place = form.element) =>
    [...place.querySelectorAll("button")].find((each) => each.textContent === words);
  const type = (id, text) => { at(id).value = text; at(id).dispatchEvent(new Event("input")); };
  const pick = (id, value) => { at(id).value = value; at(id).dispatchEvent(new Event("change")); };
  const arms = () => [...form.element.querySelectorAll(".arm-form")];
"""
ARM = {"name": "a", "weighting": {"name": "mib"}}


def form(page: Page, spec: dict[str, Any], script: str) -> Any:
    return play(page, f"async (stage, spec) => {{ {FORM} form.show(spec); {script} }}", spec)


def test_the_first_parameter_of_an_unwritten_part_writes_its_name_too(stage: Page) -> None:
    script = """type("f-data-train_fraction", "0.5");
      const written = structuredClone(form.spec.data);
      type("f-data-train_fraction", "");
      const taken = structuredClone(form.spec.data);
      type("f-training-epochs", "3");
      return [written, taken, form.spec.training, told.at(-1).training];"""
    written, taken, training, told = form(stage, {"name": "x", "arms": [ARM]}, script)
    assert written == {"name": "digits", "train_fraction": 0.5} and taken == {"name": "digits"}
    assert training == told == {"epochs": 3}, "a section has no name"


def test_another_choice_keeps_what_it_shares_and_starts_with_what_it_needs(stage: Page) -> None:
    script = """pick("f-arms-0-search", "optuna");
      const searched = structuredClone(form.spec.arms[0].search);
      type("f-arms-0-search-trials", "12");
      pick("f-arms-0-search", "optuna");
      const kept = structuredClone(form.spec.arms[0].search);
      pick("f-arms-0-search", "grid");
      pick("f-model", "cnn");
      return [searched, kept, form.spec.arms[0].search, form.spec.model];"""
    spec = {"name": "x", "arms": [ARM], "model": {"name": "mlp", "latent": 5, "activation": "linear", "head": [9]}}
    searched, kept, grid, model = form(stage, spec, script)
    assert searched == {"name": "optuna", "trials": 30} and kept == {"name": "optuna", "trials": 12}
    assert grid == {"name": "grid"} and model == {"name": "cnn", "latent": 5, "head": [9]}


def test_arms_keep_what_they_are_and_whether_they_are_open(stage: Page) -> None:
    script = """const names = () => form.spec.arms.map((arm) => arm.name);
      const open = () => arms().map((arm) => arm.open);
      const seen = [[names(), open()]];
      arms()[1].open = true;
      await stage.settle();
      button("Copy", arms()[1]).click();
      seen.push([names(), open()]);
      form.spec.arms[2].weighting.beta.grid.push(9);
      const deep = form.spec.arms[1].weighting.beta.grid;
      button("Copy", arms()[1]).click();
      button("Remove", arms()[0]).click();
      seen.push([names(), open()]);
      button("Add an arm").click();
      const added = form.spec.arms.at(-1);
      while (form.spec.arms.length > 1) button("Remove", arms()[0]).click();
      return [seen, deep, added, button("Remove", arms()[0]).disabled];"""
    fixed = {"name": "b", "weighting": {"name": "fixed", "beta": {"grid": [1]}}}
    seen, deep, added, last = form(stage, {"name": "x", "arms": [ARM, fixed, {**ARM, "name": "c"}]}, script)
    assert seen[0] == [["a", "b", "c"], [False, False, False]], "few arms are open at first, three are many"
    assert seen[1] == [["a", "b", "b 2", "c"], [False, True, True, False]]
    assert seen[2] == [["b", "b 3", "b 2", "c"], [True, True, True, False]]
    assert (deep, last) == ([1], True), "a copy shares nothing with its origin, and one arm stays"
    first = next(entry["name"] for entry in CATALOG["weightings"] if entry["first_choice"])
    assert added == {"name": "arm 2", "weighting": {"name": first}}


def test_an_arm_says_in_a_line_what_it_is(stage: Page) -> None:
    script = """const line = () => form.element.querySelector(".arm-gist").textContent;
      const lines = [line()];
      pick("f-arms-0-search", "optuna");
      lines.push(line());
      return lines;"""
    arm = {**ARM, "weighting": {"name": "mib", "mu": {"grid": [1, 2]}}, "training": {"epochs": 3}, "model": {}}
    plain, searched = form(stage, {"name": "x", "arms": [arm]}, script)
    assert plain == "mib, mu {grid: [1, 2]}, training {epochs: 3}"
    assert searched == "mib, mu {grid: [1, 2]}, 30 trials by tpe, training {epochs: 3}"


def test_seeds_and_their_count_write_each_other(stage: Page) -> None:
    script = """const [list, count] = ["f-seeds", "f-seeds-count"];
      const most = JSON.parse(document.getElementById("vocabulary").textContent).limits.seeds.most;
      const seen = [];
      const note = () => seen.push([form.spec.seeds ?? null, at(list).value, at(count).value]);
      type(list, "3, 7"); note();
      type(count, "3"); note();
      for (const wrong of ["0", "1.5", "x", String(most + 1), ""]) type(count, wrong);
      const kept = form.spec.seeds;
      type(count, String(most));
      const all = form.spec.seeds.length === most;
      type(list, " "); note();
      return [seen, kept, all];"""
    seen, kept, everyone = form(stage, {"name": "x", "arms": [ARM]}, script)
    assert seen == [[[3, 7], "3, 7", "2"], [[0, 1, 2], "0, 1, 2", "3"], [None, " ", "1"]]
    assert kept == [0, 1, 2] and everyone


def test_objectives_take_the_goal_of_their_metric_and_are_never_too_few(stage: Page) -> None:
    script = """const limits = JSON.parse(document.getElementById("vocabulary").textContent).limits.objectives;
      const remove = () => [...form.element.querySelectorAll('[aria-label^="Remove axis"]')];
      const locked = remove().map((each) => each.disabled);
      pick("f-objectives-0", "accuracy");
      const changed = structuredClone(form.spec.objectives[0]);
      pick("f-objectives-0-goal", "minimize");
      type("f-objectives-0-reference", "0.5");
      const own = structuredClone(form.spec.objectives[0]);
      type("f-objectives-0-reference", " ");
      const bare = structuredClone(form.spec.objectives[0]);
      while (!at("add-objective").disabled) at("add-objective").click();
      const many = form.spec.objectives.map(({ metric }) => metric);
      const free = remove().map((each) => each.disabled);
      remove()[0].click();
      return [locked, changed, own, bare, many, limits, free, form.spec.objectives.length];"""
    axes = [{"metric": "i_xz_bits", "goal": "minimize", "reference": 3}, {"metric": "i_zy_bits", "goal": "maximize"}]
    spec = {"name": "x", "arms": [ARM], "objectives": axes}
    locked, changed, own, bare, many, limits, free, left = form(stage, spec, script)
    assert locked == [True, True] and limits["least"] == 2
    assert changed == {"metric": "accuracy", "goal": "maximize"}, "the reference of another metric is dropped"
    assert own == {"metric": "accuracy", "goal": "minimize", "reference": 0.5}
    assert bare == {"metric": "accuracy", "goal": "minimize"}
    assert len(many) == len(set(many)) == limits["most"] and free == [False] * len(many) and left == len(many) - 1


def test_what_chooses_is_not_offered_as_an_objective(stage: Page) -> None:
    script = """form.metrics = rows;
      form.show(spec);
      const names = [...at("f-objectives-0").options].map(({ value }) => value);
      at("add-objective").click();
      return [names, form.spec.objectives.map(({ metric }) => metric), at("add-objective").disabled];"""
    names = ["validation_accuracy", "accuracy", "i_xz_bits", "i_zy_bits", "validation_i_xz_bits"]
    rows = orjson.dumps(metric_rows(names)).decode()
    axes = [{"metric": "i_xz_bits", "goal": "minimize"}, {"metric": "i_zy_bits", "goal": "maximize"}]
    spec = {"name": "x", "arms": [ARM], "objectives": axes}
    offered, added, full = form(stage, spec, f"const rows = {rows}; {script}")
    assert offered == ["accuracy", "i_xz_bits", "i_zy_bits"]
    assert added == ["i_xz_bits", "i_zy_bits", "accuracy"] and full


def test_attacks_are_added_one_by_one_and_the_last_takes_its_list_along(stage: Page) -> None:
    script = """const first = catalog.attacks.find((entry) => entry.first_choice).name;
      button("Add an attack").click();
      button("Add an attack").click();
      const two = form.spec.evaluation.attacks.map(({ name }) => name);
      button("Remove this attack").click();
      const one = structuredClone(form.spec.evaluation);
      button("Remove this attack").click();
      return [first, two, one, form.spec.evaluation ?? null];"""
    first, two, one, none = form(stage, {"name": "x", "arms": [ARM]}, script)
    rest = [entry["name"] for entry in CATALOG["attacks"] if entry["name"] != first]
    assert two == [first, rest[0]] and one == {"attacks": [{"name": rest[0]}]} and none is None


def test_when_every_attack_is_used_the_next_is_what_a_form_starts_from(stage: Page) -> None:
    used = [{"name": entry["name"]} for entry in CATALOG["attacks"]]
    first = next(entry["name"] for entry in CATALOG["attacks"] if entry["first_choice"])
    script = """button("Add an attack").click();
      return form.spec.evaluation.attacks.at(-1);"""
    assert form(stage, {"name": "x", "arms": [ARM], "evaluation": {"attacks": used}}, script) == {"name": first}


def test_an_axis_offers_what_can_be_one_with_the_reference_it_has_anyway(stage: Page) -> None:
    script = """const options = [...at("f-objectives-0").options].map((option) => option.value);
      return [options, at("f-objectives-0-reference").placeholder, at("f-objectives-0-reference").value];"""
    axes = [{"metric": "i_xz_bits", "goal": "minimize", "reference": 3}, {"metric": "i_zy_bits", "goal": "maximize"}]
    options, usual, own = form(stage, {"name": "x", "arms": [ARM], "objectives": axes}, script)
    metrics = {metric["name"]: metric["reference"] for metric in CATALOG["metrics"]}
    assert options == [name for name, reference in metrics.items() if reference is not None] != list(metrics)
    assert (usual, own) == (f"{metrics['i_xz_bits']:g}", "3")


def test_constraints_are_added_changed_and_taken_away(stage: Page) -> None:
    script = """at("add-constraint").click();
      const added = structuredClone(form.spec.constraints);
      pick("f-constraints-0", "accuracy");
      pick("f-constraints-0-side", "at_least");
      type("f-constraints-0-bound", "0.9");
      const changed = structuredClone(form.spec.constraints);
      const offered = [...at("f-constraints-0").options].map(({ value }) => value);
      button("Remove", form.element.querySelector(".section.constraints")).click();
      return [added, changed, offered, "constraints" in form.spec];"""
    added, changed, offered, left = form(stage, {"name": "x", "arms": [ARM]}, script)
    (first,) = added
    row = next(metric for metric in CATALOG["metrics"] if metric["name"] == first["metric"])
    side = "at_most" if row["goal"] == "minimize" else "at_least"
    assert first == {"metric": row["name"], side: row["reference"]}
    assert changed == [{"metric": "accuracy", "at_least": 0.9}]
    assert "seconds" in offered and not left


def test_constraints_of_a_study_are_shown_as_they_are_and_told_trials_are_not_copied(stage: Page) -> None:
    script = """const { withoutDefaults } = await load("form/sources");
      const lean = withoutDefaults({ ...spec, objectives: [] }, catalog);
      const shown = ["f-constraints-0", "f-constraints-0-side", "f-constraints-0-bound"].map((id) => at(id).value);
      return [shown, lean.constraints, lean.arms[0].search];"""
    told = [{"seed": 0, "values": {}, "objectives": [1.0, 2.0]}]
    search = {"name": "optuna", "sampler": "gp", "trials": 4, "from": ["s1"], "told": told}
    bounds = [{"metric": "accuracy", "at_least": None, "at_most": 0.5}]
    whole = {"model": {"name": "mlp"}, "data": {"name": "digits"}, "constraints": bounds}
    arm = {**ARM, "problem": {"name": "bottleneck"}, "search": search}
    shown, constraints, lean = form(stage, {"name": "x", "arms": [arm], **whole}, script)
    assert shown == ["accuracy", "at_most", "0.5"] and constraints == [{"metric": "accuracy", "at_most": 0.5}]
    assert lean == {"name": "optuna", "sampler": "gp", "trials": 4, "from": ["s1"]}


def test_a_choice_of_weightings_is_set_in_yaml_and_a_trial_of_it_has_the_one_that_was_chosen(stage: Page) -> None:
    script = """const { oneTrial, withoutDefaults } = await load("form/sources");
      const [arm] = arms();
      const lean = withoutDefaults({ ...spec, objectives: [] }, catalog).arms[0].weighting;
      const config = { "weighting.name": "fixed", "weighting.beta": 0.5 };
      const alone = oneTrial(spec, { arm: "a", seed: 0, config });
      return [arm.querySelector(".as-written").textContent, arm.querySelector(".arm-gist").textContent, lean,
        alone.arms[0].weighting, "stopping" in alone];"""
    fixed = {"name": "fixed", "beta": {"range": {"from": 0.1, "to": 1}}}
    choice = {"choice": [fixed, {"name": "mib", "mu": 0.2}]}
    search = {"name": "optuna", "trials": 9}
    arm = {**ARM, "problem": {"name": "bottleneck"}, "weighting": choice, "search": search}
    whole = {"model": {"name": "mlp"}, "data": {"name": "digits"}, "seeds": [0], "stopping": {"name": "halving"}}
    written, gist, lean, alone, stops = form(stage, {"name": "x", "arms": [arm], **whole}, script)
    assert written == "{choice: [{name: fixed, beta: {range: {from: 0.1, to: 1}}}, {name: mib, mu: 0.2}]} set in YAML"
    assert gist == "one of fixed, mib, 9 trials by tpe"
    assert lean == {"choice": [fixed, {"name": "mib"}]} and alone == {"name": "fixed", "beta": 0.5} and not stops


def test_a_search_without_a_number_of_trials_says_that_it_lacks_one(stage: Page) -> None:
    script = """return form.element.querySelector(".arm-gist").textContent;"""
    spec = {"name": "x", "arms": [{**ARM, "search": {"name": "optuna", "sampler": "nsga2"}}]}
    assert form(stage, spec, script) == "mib, ? trials by nsga2"


def test_a_search_that_fills_a_front_is_chosen_and_told_like_any_other(stage: Page) -> None:
    """Its budget stays when another search had one; its tolerance is among the fields that are shown first."""
    script = """pick("f-arms-0-search", "optuna");
      type("f-arms-0-search-trials", "12");
      pick("f-arms-0-search", "fill");
      type("f-arms-0-search-tolerance", "0.3");
      form.render();
      return [form.spec.arms[0].search, at("f-arms-0-search-tolerance").value,
        form.element.querySelector(".arm-gist").textContent];"""
    search, shown, gist = form(stage, {"name": "x", "arms": [ARM]}, script)
    assert search == {"name": "fill", "trials": 12, "tolerance": 0.3} and shown == "0.3"
    assert gist == "mib, 12 trials by fill"


def test_errors_stand_at_their_field_or_at_what_is_around_it(stage: Page) -> None:
    script = """const error = (id) => at(`${id}-error`).textContent;
      form.mark([{ path: "training.epochs", message: "one" }, { path: "training.epochs", message: "two" },
        { path: "arms[0].weighting.mu.grid[2]", message: "three" }, { path: "arms", message: "four" },
        { path: "nowhere.at.all", message: "five" }]);
      const around = form.element.querySelector(".section.arms .rows > .field-error").textContent;
      const seen = [error("f-training-epochs"), error("f-arms-0-weighting-mu"), around];
      const invalid = () => [...form.element.querySelectorAll("[aria-invalid]")].map(({ id }) => id);
      const marked = invalid();
      form.render();
      const again = error("f-training-epochs");
      arms()[0].open = false;
      form.goTo("arms[0].weighting.mu.grid[2]");
      const there = [arms()[0].open, document.activeElement.id];
      form.mark([]);
      return [seen, marked, again, there, invalid(), form.element.querySelectorAll(".wrong").length];"""
    spec = {"name": "x", "arms": [{**ARM, "weighting": {"name": "mib", "mu": {"grid": [1, 2, -3]}}}]}
    seen, marked, again, there, after, wrong = form(stage, spec, script)
    assert seen == ["one; two", "three", "four"] and again == "one; two"
    assert marked == ["f-training-epochs", "f-arms-0-weighting-mu-how"]
    assert there == [True, "f-arms-0-weighting-mu-how"] and (after, wrong) == ([], 0)


def test_what_a_check_learned_is_offered_and_does_not_take_the_place_of_what_was_chosen(stage: Page) -> None:
    script = """const words = () => form.element.querySelector(".section.objectives").textContent;
      const metrics = catalog.metrics.slice(0, 3);
      form.learn({ metrics, objectives: [{ metric: metrics[0].name, goal: "minimize", reference: 3 }] });
      const offered = words().includes(metrics[0].label);
      button("Choose others").click();
      const written = structuredClone(form.spec.objectives);
      form.learn({ metrics, objectives: [{ metric: metrics[1].name, goal: "maximize" }] });
      return [offered, written, metrics[0].name, form.ownObjectives.length, form.ownObjectives[0].metric];"""
    offered, written, name, count, own = form(stage, {"name": "x", "arms": [ARM]}, script)
    assert offered and written == [{"metric": name, "goal": "minimize"}] and (count, own) == (1, name)


def test_what_is_written_stands_before_the_rest_which_is_counted(stage: Page) -> None:
    script = """const rows = () => form.element.querySelector(".section.training .rows");
      const first = () => [...rows().children].filter((each) => each.matches(".field")).map((each) =>
        each.querySelector("input, select").id);
      const more = rows().querySelector("details.more");
      const count = more.querySelectorAll(":scope > .field").length;
      return [first(), more.querySelector("summary").textContent, count];"""
    first, words, count = form(stage, {"name": "x", "arms": [ARM], "training": {"l1": 0.1}}, script)
    assert "f-training-l1-how" in first and " l1" not in words
    assert words.startswith(f"{count} more: ") and len(words.split(", ")) == count


def test_a_check_that_comes_while_someone_types_leaves_the_field_alone(stage: Page) -> None:
    script = """const typing = at("f-objectives-0-reference");
      typing.focus();
      form.learn({ metrics: catalog.metrics.slice(0, 9), objectives: [] });
      const during = at("f-objectives-0-reference") === typing && document.activeElement === typing;
      typing.blur();
      form.learn({ metrics: catalog.metrics.slice(0, 8), objectives: [] });
      return [during, at("f-objectives-0-reference") === typing];"""
    axes = [{"metric": "i_xz_bits", "goal": "minimize"}, {"metric": "i_zy_bits", "goal": "maximize"}]
    assert form(stage, {"name": "x", "arms": [ARM], "objectives": axes}, script) == [True, False]
