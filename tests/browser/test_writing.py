"""Writing a new study: errors lead to their line, drafts belong to their source, a repeated submission is one study."""

from __future__ import annotations

import re

from playwright.sync_api import Route, expect

from tests.browser.pages import Open, needs_chromium
from tests.processes import Running

pytestmark = needs_chromium

SELECTED = "(text) => text.value.slice(text.selectionStart, text.selectionEnd)"


def test_an_error_leads_to_its_line(alone: Running, opened: Open) -> None:
    page = opened(alone).goto("/new?view=yaml&preset=empty")
    editor = page.get_by_label("The study as YAML")
    expect(page.locator(".check-words")).to_have_text("21 trials in 2 arms")
    text = editor.input_value()
    lines = text.replace("seeds: [0, 1, 2]", "seeds: [none]").splitlines()
    editor.fill("\n".join(lines))
    number = lines.index("seeds: [none]") + 1
    page.get_by_role("button", name=f"line {number}", exact=True).click()
    expect(editor).to_be_focused()
    assert editor.evaluate(SELECTED) == "seeds: [none]"
    expect(page.locator(".gutter .marked")).to_have_attribute("title", re.compile("valid integer"))


def test_a_draft_belongs_to_its_source(alone: Running, opened: Open) -> None:
    watched = opened(alone)
    page = watched.goto("/new?preset=empty")
    name = page.get_by_label("name", exact=True).first
    name.fill("a draft")
    watched.goto("/new?preset=concave-front")
    expect(name).not_to_have_value("")
    expect(name).not_to_have_value("a draft")
    expect(page.locator(".restored")).to_be_hidden()


def test_a_submission_that_is_repeated_has_the_key_of_the_first(alone: Running, opened: Open) -> None:
    watched = opened(alone)
    watched.refusals_expected = True
    page = watched.goto("/new?preset=empty")
    keys: list[str | None] = []

    def lose_first(route: Route) -> None:
        keys.append(route.request.headers.get("idempotency-key"))
        route.abort() if len(keys) == 1 else route.continue_()

    page.route("**/api/studies", lose_first)
    run = page.get_by_role("button", name="Run this study")
    expect(run).to_be_enabled()
    run.click()
    expect(page.locator(".errors")).to_contain_text("The service cannot be reached.")
    run.click()
    page.wait_for_url(re.compile(r"/studies/s\w+$"))
    assert len(keys) == 2 and keys[0] and keys[0] == keys[1]
    page.goto(f"{alone.url}/new?preset=empty")
    expect(run).to_be_enabled()
    run.click()
    page.wait_for_url(re.compile(r"/studies/s\w+$"))
    assert len(keys) == 3 and keys[2] != keys[0], "another study has another key"


def test_a_parameter_keeps_its_place_when_its_part_is_chosen_anew(alone: Running, opened: Open) -> None:
    """What is often set is seen at once, the rest behind `more`; what the new choice also has is kept."""
    page = opened(alone).goto("/new?preset=empty")
    training = page.locator(".section.training")
    expect(training.get_by_role("textbox", name="batch size")).to_be_visible()
    expect(page.locator("#f-training-l1")).to_be_hidden()
    page.locator("#f-model-latent").fill("5")
    page.locator("#f-model").select_option("cnn")
    expect(page.locator("#f-model-latent")).to_have_value("5")
    page.get_by_role("button", name="YAML").click()
    expect(page.get_by_label("The study as YAML")).to_have_value(re.compile(r"model: \{name: cnn, latent: 5\}"))
