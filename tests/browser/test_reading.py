"""What a reader sees and chooses: numbers as answered, queries as meant, links that lead somewhere."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Error, Page, Request, Route, expect
from pydantic import TypeAdapter

from service.contract.vocabulary import Vocabulary, vocabulary
from service.contract.wording.numbers import spread
from tests.browser.pages import Open, Watched, needs_chromium, send, submit, trained, without_drawing
from tests.processes import Running, until

pytestmark = needs_chromium

TRIALS = 120
COUNTS = {"planned": 8, "running": 2, "finished": 3, "failed": 1, "stopped": 4, "collapsed": 5}


def study_of(alone: Running, name: str, betas: int = 2) -> tuple[str, list[str]]:
    grid = {"from": 0.001, "to": 1.0, "count": betas, "scale": "log"}
    spec: dict[str, Any] = {
        "name": name,
        "training": {"epochs": 3},
        "seeds": [0, 1],
        "arms": [
            {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": grid}}},
            {"name": "MIB", "weighting": {"name": "mib"}},
        ],
    }
    return submit(alone, spec)


@pytest.fixture(scope="module")
def finished(alone: Running) -> tuple[str, list[str]]:
    study, trials = study_of(alone, "read")
    events = [event for place, trial in enumerate(trials) for event in trained(trial, place)]
    send(alone, study, {"kind": "study_started"}, *events, {"kind": "study_finished"})
    return study, trials


@pytest.fixture(scope="module")
def large(alone: Running) -> str:
    return study_of(alone, "large", TRIALS // 2)[0]


def quiet(opened: Open, alone: Running) -> Watched:
    watched = opened(alone)
    without_drawing(watched.page)
    return watched


def changed(page: Page, pattern: str, change: Any) -> None:
    """Answers that match pass through `change`."""

    def answer(route: Route) -> None:
        try:
            found = route.fetch()
            body = found.json()
        except Error:  # the page has gone on to another address meanwhile
            return
        change(body)
        route.fulfill(response=found, json=body)

    page.route(re.compile(pattern), answer)


def test_counts_progress_and_time_are_shown_as_answered(alone: Running, opened: Open) -> None:
    study, _ = study_of(alone, "counted")

    now = {"state": "running", "counts": COUNTS, "progress": 0.42, "eta_seconds": 95, "reason": "slow"}

    def change(body: Any) -> None:
        for each in body.get("studies", [body]):
            if each["id"] == study:
                each.update(now)

    watched = quiet(opened, alone)
    changed(watched.page, rf"/api/studies(/{study}|\?.*)?$", change)
    page = watched.goto("/?q=counted")
    row = page.locator("tbody tr").first
    expect(row.locator(".state")).to_have_text("running")
    expect(row.locator(".eta")).to_have_text("42 % · 1 m 35 s left")
    expect(row.locator(".trials-cell")).to_have_text("3/8")
    expect(row.locator(".failed-cell")).to_have_text("1")
    expect(row.locator(".failed-cell")).to_have_class(re.compile(r"\bbad\b"))
    expect(page.locator(".list-head")).to_contain_text("1 study, 1 queued or running")
    page.goto(f"{alone.url}/studies/{study}")
    head = page.locator(".study-head")
    expect(head.locator(".state")).to_have_text("running 3/8 · 1 m 35 s left")
    expect(head.locator(".title .muted")).to_have_text("2 running · 1 failed · 4 stopped · 5 collapsed")
    expect(head.locator(".reason")).to_have_text("Slow")
    expect(head.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "42")
    assert head.locator(".progress > div").evaluate("(bar) => bar.style.width") == "42%"
    expect(page).to_have_title("3/8 · counted – Paretoscope")
    expect(page.locator("#announce")).to_have_text("The study is running 3/8.")
    now |= {"state": "paused", "eta_seconds": None}
    page.reload()
    expect(head.locator(".state")).to_have_text("paused 3/8")
    expect(head.locator(".title .muted")).to_have_text("1 failed · 4 stopped · 5 collapsed")


def test_the_arms_are_shown_as_compared(alone: Running, finished: tuple[str, list[str]], opened: Open) -> None:
    study, _ = finished
    compared = alone.get(f"/api/studies/{study}/comparison").json()
    page = quiet(opened, alone).goto(f"/studies/{study}")
    rows = page.locator(".arms tbody tr")
    expect(rows).to_have_count(2)
    heads = page.locator(".arms thead th:visible").all_inner_texts()
    assert heads[:4] == ["Arm", "Trials", "Failed, collapsed", "Hypervolume"]
    assert heads[5:9] == ["Lands at", "Dominated", "ε", "IGD⁺"]
    assert heads[9:] == [
        "Best I(X;Z) [bits]",
        "Best I(Z;Y) [bits]",
        "Best accuracy",
        "Training time",
        "Front lost without it",
    ]
    for i, arm in enumerate(compared["arms"]):
        cells = rows.nth(i).locator("th:visible, td:visible").all_inner_texts()
        assert cells[0] == arm["name"] and cells[1] == f"{arm['counts']['finished']}/{arm['counts']['planned']}"
        volume = arm["hypervolume"]
        assert cells[3] == spread(volume["mean"], volume["half_width"], volume["low"], volume["high"])
        assert (cells[4] == "baseline") == (arm["name"] == compared["baseline"])
        best = arm["best_over_seeds"]["accuracy"]
        assert cells[11] == spread(best["mean"], best["half_width"], best["low"], best["high"])
        assert cells[13] == f"{100 * arm['front_share']:.0f} %"
    expect(page.locator(".arms .panel-head")).to_contain_text(
        "two seeds, both values, no interval, reference point I(X;Z) 32, I(Z;Y) 0"
    )


class Asked:
    """The queries of the requests for trials, newest last."""

    def __init__(self, page: Page) -> None:
        self.page, self._urls = page, list[str]()
        page.on("request", self._note)

    def _note(self, request: Request) -> None:
        if "/trials?" in request.url:
            self._urls.append(request.url)

    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self._urls[-1]).query) if self._urls else {}

    def expect(self, **query: str | list[str]) -> None:
        wanted = {key: [value] if isinstance(value, str) else value for key, value in query.items()}
        until(lambda: self.page.evaluate("1") and self.query() == wanted, f"{wanted} is asked, not {self.query()}")


def test_the_table_asks_for_what_was_chosen(alone: Running, finished: tuple[str, list[str]], opened: Open) -> None:
    study, trials = finished
    page = quiet(opened, alone).goto(f"/studies/{study}")
    asked = Asked(page)
    page.get_by_role("tab", name="Trials").click()
    asked.expect(limit="100")
    state, arm = page.get_by_role("combobox", name="State"), page.get_by_role("combobox", name="Arm")
    options = state.locator("option").all_inner_texts()
    assert options == ["all", *vocabulary().trial_states, "collapsed", "infeasible", "on front"]
    state.select_option("on front")
    asked.expect(limit="100", front="true")
    state.select_option("collapsed")
    asked.expect(limit="100", collapsed="true")
    state.select_option("infeasible")
    asked.expect(limit="100", feasible="false")
    state.select_option("finished")
    arm.select_option("MIB")
    asked.expect(limit="100", state="finished", arm="MIB")
    page.get_by_label("Where").fill("  seed = 1 ")
    asked.expect(limit="100", state="finished", arm="MIB", where="seed = 1")
    assert parse_qs(urlsplit(page.url).query) == {
        **{"tab": ["trials"], "arm": ["MIB"], "state": ["finished"]},
        "where": ["seed = 1"],
    }
    arm.select_option("")
    state.select_option("")
    page.get_by_label("Where").fill("")
    asked.expect(limit="100")
    seed = page.locator('.trials th[data-column="seed"]')
    for sort, mark in (("seed", "ascending"), ("-seed", "descending")):
        seed.get_by_role("button").click()
        asked.expect(limit="100", sort=sort)
        expect(seed).to_have_attribute("aria-sort", mark)
    seed.get_by_role("button").click()
    asked.expect(limit="100")
    page.goto(f"{alone.url}/studies/{study}?tab=trials&brush={trials[0]}&brush={trials[2]}&only=brushed")
    asked.expect(limit="100", trial=[trials[0], trials[2]])
    expect(page.locator(".brushed")).to_contain_text("2 trials selected, the others are muted")
    page.get_by_label("selected only").uncheck()
    asked.expect(limit="100")


def test_a_sort_of_another_study_is_forgotten(alone: Running, finished: tuple[str, list[str]], opened: Open) -> None:
    watched = quiet(opened, alone)
    watched.refusals_expected = True
    page = watched.goto(f"/studies/{finished[0]}?tab=trials&sort=colour")
    expect(page.locator(".trials tbody tr")).to_have_count(6)
    expect(page).to_have_url(re.compile(r"\?tab=trials$"))


def test_trials_come_by_the_hundred(alone: Running, large: str, opened: Open) -> None:
    page = quiet(opened, alone).goto(f"/studies/{large}?tab=trials")
    asked = Asked(page)
    rows = page.locator(".trials tbody tr")
    expect(rows).to_have_count(100)
    expect(page.get_by_text("first 100 of 122 trials")).to_be_visible()
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(122)
    asked.expect(limit="200")
    expect(page.get_by_role("button", name="Show more")).to_be_hidden()
    expect(page.locator(".trials-panel .filters")).to_contain_text("122 trials")
    page.get_by_role("combobox", name="Arm").select_option("MIB")
    expect(rows).to_have_count(2)
    asked.expect(limit="100", arm="MIB")


def test_columns_are_chosen_and_the_usual_ones_come_back(
    alone: Running, finished: tuple[str, list[str]], opened: Open
) -> None:
    page = quiet(opened, alone).goto(f"/studies/{finished[0]}?tab=trials")
    heads = page.locator(".trials thead th")
    measured = ["i_xz_bits", "i_zy_bits", "accuracy"]
    usual = ["arm", "weighting.beta", "seed", "state", *measured, "training_seconds", "on_front"]
    names = "[...document.querySelectorAll('.trials thead th')].map((th) => th.dataset.column)"
    expect(heads).to_have_count(len(usual))
    assert page.evaluate(names) == usual
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("Epoch", exact=True).check()
    expect(page.locator('.trials th[data-column="epoch"]')).to_be_visible()
    expect(page.locator(".trials tbody tr").first.locator("td").nth(3)).to_have_text("3")
    offered = page.locator(".menu-items.columns label").all_inner_texts()
    assert [text.strip() for text in offered if "time" in text] == ["Training time"], "once, from the trial itself"
    page.get_by_role("button", name="Default columns").click()
    expect(page.locator('.trials th[data-column="epoch"]')).to_have_count(0)
    assert page.evaluate(names) == usual and "column=" not in page.url


def test_a_choice_in_a_figure_stands_in_the_address_under_its_name(
    alone: Running, finished: tuple[str, list[str]], opened: Open
) -> None:
    page = quiet(opened, alone).goto(f"/studies/{finished[0]}?tab=sensitivity")
    figure = page.locator('[data-figure="beta-sensitivity"] select').last
    with page.expect_request(re.compile(r"/figures/beta-sensitivity\?y=i_zy_bits$")):
        figure.select_option("i_zy_bits")
    expect(page).to_have_url(re.compile(r"\?tab=sensitivity&beta-sensitivity\.y=i_zy_bits$"))
    with page.expect_request(re.compile(r"/figures/beta-sensitivity\?y=i_zy_bits$")):
        page.reload()
    expect(figure).to_have_value("i_zy_bits")
    with page.expect_request(re.compile(r"/figures/beta-sensitivity$")):
        figure.select_option("accuracy")
    expect(page).to_have_url(re.compile(r"\?tab=sensitivity$"))


def test_every_download_leads_to_its_file(alone: Running, finished: tuple[str, list[str]], opened: Open) -> None:
    study, _ = finished
    page = quiet(opened, alone).goto(f"/studies/{study}")
    page.get_by_text("Download", exact=True).click()
    links = page.locator(".actions .menu-items a")
    expect(links).to_have_text([download.title for download in vocabulary().downloads])
    kinds = []
    for link in links.all():
        address = link.get_attribute("href") or ""
        assert link.get_attribute("download") is not None
        answer = httpx.get(alone.url + address, timeout=30, trust_env=False)
        assert answer.status_code == 200, address
        kinds.append(answer.headers["content-type"].partition(";")[0])
    assert kinds == [
        "text/html",
        "text/csv",
        "text/csv",
        "application/vnd.apache.parquet",
        "text/x-tex",
        "application/json",
    ]
    page.keyboard.press("Escape")
    expect(links.first).to_be_hidden()


def test_single_keys_do_what_the_card_says(alone: Running, finished: tuple[str, list[str]], opened: Open) -> None:
    study, trials = finished
    watched = quiet(opened, alone)
    page = watched.goto(f"/studies/{study}?tab=trials")
    expect(page.locator(".trials tbody tr")).to_have_count(6)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(page).to_have_url(re.compile(rf"trial={trials[0]}$"))
    page.keyboard.press("Escape")
    expect(page.locator(".drawer")).to_be_hidden()
    theme = "document.documentElement.dataset.theme ?? null"
    page.keyboard.press("Control+d")
    assert page.evaluate(theme) is None, "with Control it is the browser's"
    page.keyboard.press("d")
    assert page.evaluate(theme) == "dark"
    page.keyboard.press("1")
    expect(page.get_by_role("tab").first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("r")
    expect(page).to_have_url(f"{alone.url}/new?from={study}")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")  # remembered
    page.locator("h1").click()
    page.keyboard.press("s")
    expect(page).to_have_url(f"{alone.url}/")
    page.locator(".list h1").wait_for()
    page.keyboard.press("n")
    expect(page).to_have_url(f"{alone.url}/new")


def test_what_the_catalog_adds_is_on_the_page(alone: Running, finished: tuple[str, list[str]], opened: Open) -> None:
    """A group of figures, a state, a download and a limit that no script has heard of."""
    study, _ = finished
    watched = quiet(opened, alone)
    words = TypeAdapter(Vocabulary).dump_python(vocabulary(), mode="json")
    words["figure_groups"].insert(2, {"name": "novel", "title": "Novel figures", "is_tab": True})
    words["study_states"].append({"name": "frozen", "ended": True, "words": "frozen solid"})
    words["trial_states"].append("thawed")
    words["downloads"].append({"title": "Trials as knots", "address": "export?format=quipu"})
    words["limits"]["studies_overlaid"] = 1
    inside = re.compile(r'(<script type="application/json" id="vocabulary">).*?(</script>)', re.DOTALL)

    def stand_in(route: Route) -> None:
        found = route.fetch()
        route.fulfill(response=found, body=inside.sub(lambda m: m[1] + json.dumps(words) + m[2], found.text()))

    def regroup(body: Any) -> None:
        moved = next(figure for figure in body["figures"] if figure["name"] == "timeline")
        moved["group"] = "novel"

    watched.page.route(re.compile(rf"^{re.escape(alone.url)}/(studies/\w+)?(\?.*)?$"), stand_in)
    changed(watched.page, rf"/api/studies/{study}$", regroup)
    page = watched.goto(f"/studies/{study}")
    tabs = page.get_by_role("tab")
    expect(tabs.nth(1)).to_have_text("Novel figures")
    tabs.nth(1).click()
    expect(page.locator('[role=tabpanel]:not([hidden]) [data-figure="timeline"]')).to_be_visible()
    expect(page.locator(".actions .menu-items a").last).to_have_text("Trials as knots")
    page.get_by_role("tab", name="Trials").click()
    expect(page.get_by_role("combobox", name="State").locator("option", has_text="thawed")).to_have_count(1)
    page.goto(f"{alone.url}/")
    expect(page.get_by_label("State").locator("option").last).to_have_text("frozen")
    page.locator("tbody input[type=checkbox]").first.check()
    expect(page.locator(".selection")).to_contain_text("1 study selected")
    expect(page.locator("tbody input[type=checkbox]").nth(1)).to_be_disabled()
