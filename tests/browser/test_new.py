"""A new study in a real browser: form and YAML are two views of one study, checked and costed before it runs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from service.contract.study.study import Evaluation
from tests.browser.pages import Open, needs_chromium, send, submit, trained
from tests.processes import Running

pytestmark = needs_chromium

ROUND_TRIP = """async (presets) => {
  const { toYaml } = await import("/assets/kit/yaml.js");
  const { StudyForm } = await import("/assets/form/study-form.js");
  const catalog = await (await fetch("/api/catalog")).json();
  const form = new StudyForm({ catalog, onChange: () => {} });
  return presets.map(({ name, spec }) => {
    form.show(spec);
    form.set(["name"], spec.name, { render: true });
    return { name, yaml: toYaml(form.spec) };
  });
}"""


def text_of(page: Page) -> str:
    return page.get_by_label("The study as YAML").input_value()


def counted(page: Page, words: str) -> None:
    expect(page.locator(".check-words")).to_have_text(words)


def written(running: Running, text: str) -> dict[str, Any]:
    """What the service reads in a text."""
    answer = running.post("/api/studies/check", content=text.encode(), headers={"Content-Type": "application/yaml"})
    return dict(answer.json()["spec"])


def test_a_new_study_is_checked_where_it_is_written(alone: Running, opened: Open) -> None:
    page = opened(alone).goto("/new?view=yaml")
    counted(page, "42 trials in 3 arms")
    editor = page.get_by_label("The study as YAML")
    text = editor.input_value()
    line = next(i for i, each in enumerate(text.splitlines(), 1) if each.startswith("seeds:"))

    editor.fill(text.replace("seeds: [0, 1, 2]", "seeds: [0, none]"))
    expect(page.locator(".gutter .marked")).to_have_text(str(line))
    expect(page.locator(".errors")).to_contain_text(f"line {line} seeds[1]")
    expect(page.get_by_role("button", name="Run this study")).to_be_disabled()

    editor.fill(text.replace("seeds: [0, 1, 2]", "seeds: [7]"))
    counted(page, "14 trials in 3 arms")
    expect(page.locator(".gutter .marked")).to_have_count(0)
    page.get_by_role("button", name="Run this study").click()
    page.wait_for_url(re.compile(r"/studies/s\w+$"))
    expect(page.locator("h1")).to_have_text("manual β, MIB, all β at once")

    page.get_by_role("link", name="Run again with changes").click()
    counted(page, "14 trials in 3 arms")


def test_form_and_yaml_are_two_views_of_one_study(alone: Running, opened: Open) -> None:
    page = opened(alone).goto("/new?preset=beta-vs-mib-digits")
    counted(page, "42 trials in 3 arms")
    page.get_by_label("how many seeds").fill("5")
    counted(page, "70 trials in 3 arms")
    page.get_by_role("button", name="YAML").click()
    expect(page).to_have_url(re.compile("view=yaml"))
    text = text_of(page)
    assert "seeds: [0, 1, 2, 3, 4]" in text
    assert text.startswith("# Is a hand-picked β as good as MIB, and need β be picked at all?"), (
        "the comment above stays"
    )

    editor = page.get_by_label("The study as YAML")
    editor.fill(text.replace("epochs: 40", "epochs: 7").replace("name: mlp", "name: cnn"))
    page.get_by_role("button", name="Form").click()
    expect(page.get_by_label("epochs", exact=True)).to_have_value("7")
    expect(page.locator("#f-model")).to_have_value("cnn")
    page.get_by_role("button", name="YAML").click()
    assert "epochs: 7" in text_of(page)


def test_every_preset_survives_the_form(alone: Running, opened: Open) -> None:
    presets = alone.get("/api/presets").json()["presets"]
    page = opened(alone).goto("/new")
    answers = page.evaluate(ROUND_TRIP, presets)
    assert len(answers) == len(presets) > 10
    for preset, answer in zip(presets, answers, strict=True):
        assert written(alone, answer["yaml"]) == preset["spec"], preset["name"]


def test_what_the_form_cannot_show_stays_and_is_said_to_be_set_in_yaml(alone: Running, opened: Open) -> None:
    page = opened(alone).goto("/new?preset=balance-rnn")
    counted(page, "12 trials in 6 arms")
    arm = page.locator(".arm-form", has_text="plain, balanced")
    arm.locator("summary").first.click()
    expect(arm.locator(".as-written")).to_have_text("{balance: {mode: full, p: 2}} set in YAML")
    page.get_by_label("how many seeds").fill("3")
    counted(page, "18 trials in 6 arms")
    page.get_by_role("button", name="YAML").click()
    spec = written(alone, text_of(page))
    assert (spec["seeds"], spec["arms"][1]["training"]) == ([0, 1, 2], {"balance": {"mode": "full", "p": 2}})


def test_an_error_stands_at_its_field(alone: Running, opened: Open) -> None:
    page = opened(alone).goto("/new")
    counted(page, "42 trials in 3 arms")
    epochs = page.get_by_label("epochs", exact=True)
    epochs.fill("0")
    counted(page, "One thing to correct")
    expect(page.locator("#f-training-epochs-error")).to_have_text(re.compile("greater than or equal to 1, got 0"))
    expect(epochs).to_have_attribute("aria-invalid", "true")
    expect(epochs).to_have_attribute("aria-describedby", re.compile("f-training-epochs-error"))
    page.locator(".arm-form summary").first.click()
    page.get_by_label("β from").fill("-1")
    counted(page, "2 things to correct")
    expect(page.locator("#f-arms-0-weighting-beta-error")).to_contain_text("a log scale needs from and to above 0")

    page.get_by_role("button", name="training.epochs").press("Enter")
    expect(epochs).to_be_focused()
    epochs.fill("")
    counted(page, "One thing to correct")
    expect(page.locator("#f-training-epochs-error")).to_be_empty()
    expect(epochs).to_have_attribute("placeholder", "20")


def test_arms_are_added_copied_renamed_and_removed(alone: Running, opened: Open) -> None:
    page = opened(alone).goto("/new?preset=empty")
    counted(page, "21 trials in 2 arms")
    page.get_by_role("button", name="Add an arm").press("Enter")
    name = page.locator("#f-arms-2-name")
    expect(name).to_be_focused()
    name.fill("UPGrad")
    page.locator("#f-arms-2-weighting").select_option("upgrad")
    counted(page, "24 trials in 3 arms")
    expect(page.locator(".arm-form").nth(2).locator("summary").first).to_contain_text("UPGrad upgrad")
    page.locator(".arm-form").first.get_by_role("button", name="Copy").click()
    counted(page, "42 trials in 4 arms")
    expect(page.locator("#f-arms-1-name")).to_have_value("manual β 2")
    page.locator(".arm-form").first.get_by_role("button", name="Remove").click()
    counted(page, "24 trials in 3 arms")
    page.get_by_role("button", name="YAML").click()
    spec = written(alone, text_of(page))
    assert [arm["name"] for arm in spec["arms"]] == ["manual β 2", "MIB", "UPGrad"]
    assert spec["arms"][2]["weighting"] == {"name": "upgrad"}


def test_a_parameter_becomes_a_grid_or_is_searched(alone: Running, opened: Open) -> None:
    page = opened(alone).goto("/new?preset=empty")
    counted(page, "21 trials in 2 arms")
    mu = "#f-arms-1-weighting-mu"
    page.locator(f"{mu}-how").select_option("list")
    page.locator(mu).fill("0.1, 0.2, 0.5")
    counted(page, "27 trials in 2 arms")
    page.locator("#f-arms-0-search").select_option("optuna")
    counted(page, "2 things to correct")
    expect(page.locator("#f-arms-0-weighting-beta-error")).to_contain_text("takes no grid")
    expect(page.locator("#f-arms-0-search-error")).to_contain_text("search optuna needs something to search")
    page.locator("#f-arms-0-weighting-beta-how").select_option("range")
    page.locator("#f-arms-0-search-trials").fill("12")
    counted(page, "21 trials in 2 arms")
    page.get_by_role("button", name="YAML").click()
    beta, mib = (arm["weighting"] for arm in written(alone, text_of(page))["arms"])
    assert beta["beta"] == {"range": {"from": 0.0001, "to": 1, "scale": "log"}}
    assert mib["mu"] == {"grid": [0.1, 0.2, 0.5]}


def test_objectives_and_attacks_are_chosen_in_the_form(alone: Running, opened: Open) -> None:
    page = opened(alone).goto("/new?preset=empty")
    expect(page.locator(".section.objectives")).to_contain_text("Those of the first arm’s problem: I(X;Z) and I(Z;Y).")
    hint = Evaluation.model_fields["attacks"].description or ""
    expect(page.locator("#f-evaluation-attacks-hint")).to_have_text(hint)
    page.get_by_role("button", name="Add an attack").click()
    page.get_by_role("button", name="Choose others").click()
    axis = page.locator("#f-objectives-1")
    expect(axis.locator("option", has_text=re.compile("^accuracy under pgd$"))).to_have_count(1)
    axis.select_option("robust_pgd")
    counted(page, "21 trials in 2 arms")
    page.get_by_role("button", name="YAML").click()
    spec = written(alone, text_of(page))
    assert spec["evaluation"] == {"attacks": [{"name": "pgd"}]}
    assert spec["objectives"][1] == {"metric": "robust_pgd", "goal": "maximize"}


def test_what_was_written_outlives_a_reload(alone: Running, opened: Open) -> None:
    page = opened(alone).goto("/new?preset=empty")
    page.get_by_label("name", exact=True).first.fill("not yet run")
    expect(page.locator(".restored")).to_be_hidden()
    page.reload()
    expect(page.get_by_label("name", exact=True).first).to_have_value("not yet run")
    expect(page.locator(".restored")).to_contain_text("Restored what was written here")
    page.get_by_role("button", name="Start over").click()
    expect(page.get_by_label("name", exact=True).first).to_have_value("a new study")
    page.reload()
    expect(page.get_by_label("name", exact=True).first).to_have_value("a new study")
    expect(page.locator(".restored")).to_be_hidden()


def test_yaml_that_cannot_be_read_is_corrected_as_yaml(alone: Running, opened: Open) -> None:
    page = opened(alone).goto("/new?view=yaml")
    counted(page, "42 trials in 3 arms")
    page.get_by_label("The study as YAML").fill("name: [")
    counted(page, "One thing to correct")
    page.get_by_role("button", name="Form").click()
    expect(page.locator(".unreadable")).to_contain_text("The form cannot show it: the study is not YAML")
    expect(page.locator(".form")).to_be_hidden()
    page.get_by_role("button", name="Correct it as YAML").click()
    page.get_by_label("The study as YAML").fill("name: x\narms: [{name: a, weighting: {name: mib}}]\n")
    counted(page, "1 trial in 1 arm")
    page.get_by_role("button", name="Form").click()
    expect(page.get_by_label("name", exact=True).first).to_have_value("x")


def test_the_cost_is_estimated_from_finished_trials(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    unlike = {"name": "mlp", "widths": [17], "latent": 3}
    study, trials = submit(alone, spec | {"name": "measured", "model": unlike})
    events = [event for place, trial in enumerate(trials) for event in trained(trial, place)]
    send(alone, study, {"kind": "study_started"}, *events, {"kind": "study_finished"})
    page = opened(alone).goto(f"/new?from={study}")
    # Each trial of three epochs took 1.5 s: 4 and 2 of them 6 s and 3 s.
    counted(page, "6 trials in 2 arms")
    expect(page.locator(".check-cost")).to_contain_text("9.0 s of training")
    expect(page.locator(".check-basis")).to_contain_text("6 finished trials of 'measured'")
    expect(page.locator(".check tbody tr")).to_have_text(
        [re.compile("manual β.*4.*6.0 s"), re.compile("MIB.*2.*3.0 s")]
    )
    page.get_by_label("epochs", exact=True).fill("30")
    expect(page.locator(".check-cost")).to_contain_text("1 m 30 s of training")
    page.locator("#f-data").select_option("mnist")
    expect(page.locator(".check-cost")).to_have_text("How long it takes is not known yet.")
    expect(page.locator(".check-basis")).to_have_text("No finished study with data mnist yet.")


def test_a_trial_is_copied_as_a_study_of_its_own(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    study, trials = submit(alone, spec | {"name": "source"})
    copied = alone.get(f"/api/studies/{study}/trials/{trials[1]}").json()
    page = opened(alone).goto(f"/new?from={study}&trial={trials[1]}&view=yaml")
    counted(page, "1 trial in 1 arm")
    expect(page.locator(".doc")).to_contain_text("One trial of source, arm manual β, seed 1")
    page.get_by_role("button", name="Run this study").click()
    page.wait_for_url(re.compile(r"/studies/s\w+$"))
    made = page.url.rsplit("/", 1)[1]
    only = alone.get(f"/api/studies/{made}/trials").json()["trials"]
    assert [(t["arm"], t["seed"], t["config"]) for t in only] == [("manual β", 1, copied["config"])]
    assert alone.get(f"/api/studies/{made}").json()["spec"]["model"]["widths"] == [16]


def test_a_study_is_written_and_run_with_the_keyboard_alone(alone: Running, opened: Open) -> None:
    page = opened(alone).goto("/new?preset=empty")
    counted(page, "21 trials in 2 arms")
    page.get_by_label("Start from").focus()
    for _ in ("Form", "YAML", "Your own code", "name"):
        page.keyboard.press("Tab")
    expect(page.get_by_label("name", exact=True).first).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("typed")
    page.get_by_role("button", name="Run this study").and_(page.locator(":enabled")).wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/studies/s\w+$"))
    expect(page.locator("h1")).to_have_text("typed")


def test_a_source_that_is_gone_is_named(alone: Running, opened: Open) -> None:
    watched = opened(alone)
    watched.refusals_expected = True
    page = watched.goto("/new?from=snowhere")
    expect(page.get_by_role("heading", name="There is no such study or trial to start from")).to_be_visible()
    expect(page.locator("main")).to_contain_text("snowhere")
    page.get_by_role("link", name="Start from a preset").click()
    counted(page, "42 trials in 3 arms")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_form_stacks_on_a_phone(alone: Running, opened: Open, scheme: str) -> None:
    page = opened(alone, width=390, scheme=scheme).goto("/new?preset=robustness-fashion")
    counted(page, "12 trials in 6 arms")
    expect(page.locator(".run-words")).to_have_text("12 trials in 6 arms")
    for summary in page.locator("details:not([open]) > summary").all():
        if summary.is_visible():
            summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
