"""Code of your own in a real browser: sent, read, and a study of it to start from; what is wrong with it is said."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages import Open, needs_chromium
from tests.processes import Running, service_alone, short_home, until
from tests.service.own_code import PROBLEM, SCRIPT

pytestmark = needs_chromium


def send(page: Page, file: Path) -> str:
    """The hash that the service gave it, which the page then asks for: of the answer itself Chromium shows a watcher
    nothing, as the request's body is a file."""
    with page.expect_request(lambda request: "/api/code/" in request.url) as asked:
        page.set_input_files("input[type=file]", file)
    return asked.value.url.rpartition("/")[2]


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """It takes code."""
    with short_home() as home, service_alone(home, PARETOSCOPE_ALLOW_CODE="true") as running:
        yield running


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.py"
    file.write_text(f"# read by nobody, and another for each test: {tmp_path}\n")
    return file


def test_a_file_becomes_a_study_to_start_from(running: Running, opened: Open, mine: Path) -> None:
    page = opened(running).goto("/new")
    code = send(page, mine)
    expect(page.locator(".own-code")).to_contain_text("mine.py is being read")
    running.post(f"/api/code/{code}/description", json={"problems": [PROBLEM]})
    expect(page.locator(".check-words")).to_have_text("18 trials in 2 arms")
    page.get_by_role("button", name="YAML", exact=True).click()
    text = page.get_by_label("The study as YAML").input_value()
    assert code in text and "{name: Mine}" in text
    page.get_by_role("button", name="Run this study").click()
    page.wait_for_url("**/studies/s*")
    studies = until(lambda: running.get("/api/studies").json()["studies"], "the study")
    assert studies[0]["name"] == "mine"


def test_a_folder_as_a_zip_becomes_one_too(running: Running, opened: Open, mine: Path) -> None:
    packed = mine.with_name("tasks.zip")
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("tasks/main.py", f"from parts import *  # {mine}\n")
        archive.writestr("tasks/parts.py", mine.read_text())
    page = opened(running).goto("/new")
    code = send(page, packed)
    assert running.get(f"/api/code/{code}").json()["entry"] == "main.py"
    kept = running.get(f"/api/code/{code}/content").content
    assert zipfile.ZipFile(io.BytesIO(kept)).namelist() == ["main.py", "parts.py"]
    running.post(f"/api/code/{code}/description", json={"problems": [PROBLEM]})
    expect(page.locator(".check-words")).to_have_text("18 trials in 2 arms")
    page.get_by_role("button", name="YAML", exact=True).click()
    text = page.get_by_label("The study as YAML").input_value()
    assert code in text and "name: tasks" in text


def test_its_problems_are_chosen_in_the_form_with_their_parameters_as_fields(
    running: Running, opened: Open, mine: Path
) -> None:
    page = opened(running).goto("/new")
    code = send(page, mine)
    running.post(f"/api/code/{code}/description", json={"problems": [PROBLEM, SCRIPT]})
    expect(page.locator(".check-words")).to_have_text("18 trials in 2 arms")
    expect(page.locator(".section.study")).to_contain_text(f"mine.py {code[:12]}")
    expect(page.locator(".section.data")).to_contain_text("What mine.py gives.")
    first = page.locator("#f-arms-0-problem")
    assert first.locator("option").all_inner_texts() == ["Mine", "forest"]
    page.locator("#f-arms-0-problem-width-how").select_option("list")
    page.locator("#f-arms-0-problem-width").fill("16, 64")
    expect(page.locator(".check-words")).to_have_text("33 trials in 2 arms")
    page.locator("#f-arms-0-problem-shape").select_option("deep")
    page.locator("#f-arms-0-problem-width").fill("0")
    expect(page.locator("#f-arms-0-problem-width-error")).to_contain_text("greater than or equal to 1")
    page.locator("#f-arms-0-problem-width").fill("8")
    page.locator("#f-arms-1-problem").select_option("forest")
    expect(page.locator("#f-arms-1-weighting")).to_have_count(0)
    expect(page.locator(".errors")).to_contain_text("'mae' is not reported by arm 'MGDA' (problem forest)")
    page.get_by_role("button", name="YAML", exact=True).click()
    text = page.get_by_label("The study as YAML").input_value()
    assert "problem: {name: Mine, width: {grid: [8]}, shape: deep}" in text and code in text


def test_a_reload_finds_the_code_again_by_its_hash(running: Running, opened: Open, mine: Path) -> None:
    page = opened(running).goto("/new")
    code = send(page, mine)
    running.post(f"/api/code/{code}/description", json={"problems": [PROBLEM]})
    expect(page.locator(".check-words")).to_have_text("18 trials in 2 arms")
    page.get_by_role("button", name="Run this study").click()
    page.wait_for_url("**/studies/s*")
    study = page.url.rpartition("/")[2]
    page.goto(f"{running.url}/new?from={study}")
    expect(page.locator("#f-arms-0-problem")).to_have_value("Mine")
    expect(page.locator(".check-words")).to_have_text("18 trials in 2 arms")


def test_code_that_the_service_knows_can_be_started_from(running: Running, opened: Open, mine: Path) -> None:
    sent = running.post("/api/code?entry=mine.py", content=mine.read_bytes(), headers={"Content-Type": "text/x-python"})
    code = sent.json()["hash"]
    running.post(f"/api/code/{code}/description", json={"problems": [PROBLEM, SCRIPT]})
    page = opened(running).goto("/new")
    assert "Mine" not in page.locator("#f-arms-0-problem option").all_inner_texts(), "a study of ours has ours"
    page.get_by_label("Start from").select_option(f"code:{code}")
    expect(page.locator(".check-words")).to_have_text("18 trials in 2 arms")
    expect(page.locator("#f-arms-0-problem")).to_have_value("Mine")
    page.reload()
    expect(page.get_by_label("Start from")).to_have_value(f"code:{code}")
    expect(page.locator("#f-arms-0-problem-width")).to_be_visible()


def test_what_is_wrong_with_it_is_said_beside_the_button(running: Running, opened: Open, mine: Path) -> None:
    page = opened(running).goto("/new")
    code = send(page, mine)
    fault = {"message": "NameError: <b>x</b>", "file": "mine.py", "line": 3}
    running.post(f"/api/code/{code}/description", json={"refusal": fault})
    expect(page.locator(".own-code .bad")).to_have_text("mine.py, line 3: NameError: <b>x</b>")
    expect(page.get_by_role("button", name="Your own code")).to_be_enabled()


def test_a_service_that_takes_no_code_says_so(alone: Running, opened: Open, mine: Path) -> None:
    watched = opened(alone)
    watched.refusals_expected = True
    page = watched.goto("/new")
    page.set_input_files("input[type=file]", mine)
    expect(page.locator(".own-code .bad")).to_contain_text("this needs a token with the scope 'code'")
