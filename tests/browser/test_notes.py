"""Notes, tags and names in a real browser: written on a study's page, found in the list, never taken for markup."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import Open, needs_chromium, submit
from tests.processes import Running

pytestmark = needs_chromium

EVIL = "<img src=x onerror=window.hit=1>"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_what_is_written_is_shown_at_once_and_found_in_the_list(
    alone: Running, spec: dict[str, Any], opened: Open, width: int, scheme: str
) -> None:
    study, _ = submit(alone, spec | {"name": f"plain {width}"})
    submit(alone, spec | {"name": "another"})
    watched = opened(alone, width, scheme)
    page = watched.goto(f"/studies/{study}")
    page.get_by_role("button", name="Add notes").click()
    page.get_by_label("Name").fill(f"table {width}")
    page.get_by_label("Tags").fill(f"paper, w{width}, paper")
    page.get_by_label("Notes, in Markdown").fill("# Why\nThe **first** try\n\n- one\n- `two`")
    page.get_by_label("pinned").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"table {width}")
    notes = page.get_by_role("region", name="Notes")
    expect(notes.get_by_role("heading", name="Why")).to_be_visible()
    expect(notes.locator("li")).to_have_text(["one", "two"])
    expect(notes.locator("strong")).to_have_text("first")
    expect(page.locator("#notes-form")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing lies beside the page"

    notes.get_by_role("link", name=f"w{width}").click()
    expect(page).to_have_url(re.compile(rf"/\?tag=w{width}$"))
    row = page.locator("tbody tr")
    expect(row).to_have_count(1)
    expect(row.locator("th a").first).to_have_text(f"table {width}")
    expect(row.locator(".tag")).to_have_text(["pinned", "paper", f"w{width}"])
    expect(row.locator(".excerpt")).to_have_text("Why · The first try · one · two")
    page = watched.goto("/?q=first+try")
    expect(row.filter(has_text=f"table {width}")).to_be_visible()


def test_an_archived_study_leaves_the_list_until_it_is_asked_for(
    alone: Running, spec: dict[str, Any], opened: Open
) -> None:
    study, _ = submit(alone, spec | {"name": "put away"})
    watched = opened(alone)
    page = watched.goto(f"/studies/{study}")
    page.get_by_role("button", name="Add notes").click()
    page.get_by_label("archived").check()
    with page.expect_response(lambda answer: answer.request.method == "PATCH" and answer.ok):
        page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("region", name="Notes")).to_contain_text("archived")
    page = watched.goto("/?q=put+away")
    expect(page.locator(".no-match")).to_be_visible()
    page.get_by_label("archived").check()
    expect(page.locator("tbody tr th a").first).to_have_text("put away")


def test_what_is_refused_is_said_and_nothing_is_lost(alone: Running, spec: dict[str, Any], opened: Open) -> None:
    study, _ = submit(alone, spec)
    watched = opened(alone)
    watched.refusals_expected = True
    page = watched.goto(f"/studies/{study}")
    page.get_by_role("button", name="Add notes").click()
    page.get_by_label("Notes, in Markdown").fill("kept")
    page.get_by_label("Name").fill(" ")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#notes-form .bad")).to_contain_text("name")
    expect(page.get_by_label("Notes, in Markdown")).to_have_value("kept")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Add notes")).to_be_focused()


MADE = """async (text) => {
  const { markdown } = await import("/assets/kit/markdown.js");
  const box = document.createElement("div");
  box.append(...markdown(text));
  return box.innerHTML;
}"""


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a\nb\n\nc", "<p>a<br>b</p><p>c</p>"),
        ("# A\ntext\n## B", "<h3>A</h3><p>text</p><h4>B</h4>"),
        ("see:\n- a\n- b\n1. c", "<p>see:</p><ul><li>a</li><li>b</li><li>c</li></ul>"),
        ("2) b", "<ol><li>b</li></ol>"),
        ("> said\n> twice", "<blockquote>said<br>twice</blockquote>"),
        ("```\n# <b>\n\n*x*\n```\nz", "<pre># &lt;b&gt;\n\n*x*</pre><p>z</p>"),
        ("```\nopen", "<p>```<br>open</p>"),
        ("*a* is **`b`**", "<p><em>a</em> is <strong><code>b</code></strong></p>"),
        ("2 * 3 * 4 ** 5", "<p>2 * 3 * 4 ** 5</p>"),
        ("[a](https://x.y) [b](/studies/s1)", None),
        ("[a](javascript:alert(1)) [b](//evil.example) [c](data:text/html,x)", None),
        (EVIL, "<p>&lt;img src=x onerror=window.hit=1&gt;</p>"),
    ],
)
def test_markdown_becomes_elements_and_text_stays_text(page: Page, text: str, made: str | None) -> None:
    html = page.evaluate(MADE, text)
    if made is not None:
        assert html == made
    elif "https" in text:
        assert re.findall(r'href="([^"]*)"', html) == ["https://x.y", "/studies/s1"]
    else:
        assert "<a" not in html and "javascript:alert" in html
