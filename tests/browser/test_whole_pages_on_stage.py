"""Whole pages on the stage: what the list, a comparison and a study say when answers are late or missing."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from service.contract.metrics import described
from service.contract.vocabulary import vocabulary
from service.contract.wording.chosen_split import flattery_words
from tests.browser.pages import needs_chromium
from tests.browser.stage import play

pytestmark = needs_chromium

WORDS = vocabulary()
ROWS = [dict(described(name)._asdict()) for name in ("epoch", "i_xz_bits", "i_zy_bits", "accuracy")]
COUNTS = {"planned": 4, "running": 1, "finished": 2, "failed": 0, "stopped": 0, "collapsed": 0}
OBJECTIVES = [{"metric": "i_xz_bits", "goal": "minimize"}, {"metric": "i_zy_bits", "goal": "maximize"}]


@pytest.fixture(scope="module", autouse=True)
def plotly(stage: Page) -> None:
    """The stand-in is there before the clock stands still."""
    stage.evaluate("import('/assets/figures/drawing.js').then(({ plotly }) => plotly()).then(() => null)")


def study(name: str, **changed: Any) -> dict[str, Any]:
    times = {"created_at": "2026-01-01T10:00:00Z", "started_at": None, "ended_at": None, "eta_seconds": None}
    arms = [{"name": f"arm of {name}", "colour": "red", "symbol": "circle"}]
    spec = {"name": name, "objectives": OBJECTIVES, "data": {"name": "digits"}, "arms": []}
    own: dict[str, Any] = {
        "id": name,
        "name": name,
        "state": "running",
        "reason": None,
        "progress": 0.5,
        "spark": [],
        "last_seq": 1,
    }
    return {**own, **times, "arms": arms, "counts": COUNTS, "spec": spec, "metrics": ROWS, "figures": [], **changed}


LIST = """
  const { showList } = await load("pages/list");
  const page = document.getElementById("page");
  const list = (studies, next = null) => (stage.answers["/api/studies"] = { studies, next });
  const asks = () => stage.asked.map(({ path, at }) => [path, at]);
  const names = () => [...page.querySelectorAll("tbody th")].map((cell) => cell.textContent);
  const at = (query) => page.querySelector(query);
"""


def on_list(page: Page, search: str, script: str, argument: Any) -> Any:
    start = f'history.replaceState(null, "", "/{search}");'
    return play(page, f"async (stage, argument) => {{ {LIST} {start} {script} }}", argument)


@pytest.mark.parametrize(
    ("column", "rising"),
    [
        ("study", "cab"),  # a capital is no lesser letter
        ("state", "abc"),
        ("progress", "bca"),
        ("trials", "cba"),
        ("failed", "bac"),
        ("arms", "acb"),
        ("hypervolume", "cab"),  # the last of the line, as it is shown; none is the least
        ("created", "bca"),
        ("select", "abc"),  # nothing to go by: as they came
    ],
)
def test_studies_are_sorted_by_what_their_column_shows(stage: Page, column: str, rising: str) -> None:
    def counts(planned: int, failed: int) -> dict[str, int]:
        return {**COUNTS, "planned": planned, "failed": failed}

    studies = [
        study("a", progress=0.9, counts=counts(9, 1), spark=[8, 9, 20], created_at="2026-03-01T00:00:00Z"),
        study("b", progress=0.1, counts=counts(5, 0), spark=[7, 30], created_at="2026-01-01T00:00:00Z"),
        study("c", progress=0.5, counts=counts(1, 3), spark=[None], created_at="2026-02-01T00:00:00Z"),
    ]
    named = zip(studies, ("b", "C", "a"), ("failed", "queued", "running"), (1, 3, 2), strict=True)
    for own, name, state, arms in named:
        own |= {"name": name, "state": state, "arms": own["arms"] * arms}
    script = """const { sorted } = await load("pages/list-rows");
      const order = (sort) => sorted(argument.studies, sort).map(({ id }) => id).join("");
      return [order(argument.column), order(`-${argument.column}`), argument.studies.map(({ id }) => id).join("")];"""
    up, down, untouched = play(
        stage, f"async (stage, argument) => {{ {script} }}", {"studies": studies, "column": column}
    )
    assert (up, down, untouched) == (rising, rising if column == "select" else rising[::-1], "abc")


def test_studies_whose_hypervolume_is_flattered_are_marked_in_the_list(stage: Page) -> None:
    """Beside the line that it is about, as soon as there is one; a study that validation chose has no mark."""
    words = flattery_words("test")
    studies = [
        study("flattered", spark=[1.0, 2.0], flattered=words),
        study("honest", spark=[1.0, 2.0], flattered=None),
        study("empty", spark=[], flattered=words),
    ]
    script = """list(argument);
      await showList(page);
      const marks = () => [...page.querySelectorAll("tbody .flattered")]
        .map(({ hidden, textContent, title }) => (hidden ? null : [textContent, title]));
      const first = marks();
      list(argument.map((own) => ({ ...own, flattered: null })));
      await stage.pass(2000);
      return [first, marks()];"""
    assert on_list(stage, "", script, studies) == [[[words.split(",")[0], words], None, None], [None, None, None]]


def test_the_list_is_asked_for_every_two_seconds_while_someone_looks(stage: Page) -> None:
    script = """list(argument);
      await showList(page);
      await stage.pass(4000);
      await stage.hide(true);
      await stage.pass(9000);
      await stage.hide(false);
      return asks();"""
    asks = on_list(stage, "?state=running", script, [study("a")])
    assert {path for path, _ in asks} == {"/api/studies?limit=50&state=running"}
    assert [at for _, at in asks] == [0, 2000, 4000, 13000]


def test_older_studies_come_by_fifty_up_to_the_most_there_can_be(stage: Page) -> None:
    script = """list(argument, "more");
      await showList(page);
      const more = at(".list > button");
      const seen = [];
      for (let i = 0; i < 40 && !more.hidden; i += 1) {
        more.click();
        await stage.settle();
        seen.push(Number(new URL(stage.asked.at(-1).path, location.origin).searchParams.get("limit")));
      }
      const words = at(".list-head p").textContent;
      list(argument);
      await stage.pass(2000);
      return [seen, words, at(".list-head p").textContent];"""
    most = WORDS.limits.studies_listed
    limits, shown, whole = on_list(stage, "", script, [study("a"), study("b", state="finished")])
    assert limits == [*range(100, most, 50), most]
    assert shown == "2 studies shown, 1 queued or running" and whole == "2 studies, 1 queued or running"


def test_the_list_says_what_it_holds_back_and_what_it_could_not_read(stage: Page) -> None:
    script = """stage.answers["/api/studies"] = new Error("lost");
      await showList(page);
      const away = at(":scope > p[role=alert]:not([hidden])").textContent;
      list(argument);
      await stage.pass(2000);
      const held = [names(), at(".list-head p").textContent, asks()[0][0]];
      stage.answers["/api/studies"] = () => Response.json({ error: { message: "full" } }, { status: 500 });
      await stage.pass(2000);
      const problem = at(":scope > p[role=alert]:not([hidden])").textContent;
      list(argument);
      await stage.pass(2000);
      const fine = at(":scope > p[role=alert]").hidden;
      stage.answers["/api/studies"] = new Error("lost");
      await stage.pass(2000);
      const lost = [at(":scope > p[role=alert]").hidden, names()];
      return [away, held, problem, fine, lost];"""
    away, held, problem, fine, lost = on_list(stage, "?q=b&state=unheard", script, [study("a"), study("b")])
    assert held == [["a", "b"], "2 studies, 2 queued or running", "/api/studies?limit=50&text=b"]
    assert away == "The service cannot be reached. This page continues when it is back."
    assert problem == "The studies could not be read: full" and fine
    assert lost == [True, ["a", "b"]], "the banner says that it is lost, and what was there stays"


def test_a_list_that_was_asked_for_before_another_choice_is_not_shown_after_it(stage: Page) -> None:
    script = """const late = [];
      stage.answers["/api/studies"] = () => new Promise((done) => late.push(done));
      showList(page);
      await stage.settle();
      const state = at("select");
      state.value = "failed";
      state.dispatchEvent(new Event("change"));
      await stage.settle();
      late[1]({ studies: argument.slice(1), next: null });
      await stage.settle();
      const newer = names();
      late[0]({ studies: argument, next: null });
      await stage.settle();
      return [asks().map(([path]) => path), newer, names()];"""
    asks, newer, shown = on_list(stage, "", script, [study("a"), study("b", state="failed", reason="it broke")])
    assert asks == ["/api/studies?limit=50", "/api/studies?limit=50&state=failed"]
    assert newer == shown == ["b"]


def test_words_are_sorted_upwards_first_and_numbers_downwards(stage: Page) -> None:
    script = """list(argument);
      await showList(page);
      const heads = [...page.querySelectorAll("th button.sort")];
      const seen = {};
      for (const head of heads) {
        seen[head.textContent] = [];
        for (let i = 0; i < 3; i += 1) {
          head.click();
          seen[head.textContent].push(new URLSearchParams(location.search).get("sort"));
        }
      }
      return [seen, at("td.state").title, at("tr:last-child td.state").title];"""
    seen, first, second = on_list(stage, "", script, [study("a"), study("b", state="failed", reason="<i>it broke")])
    assert seen["Study"] == ["study", "-study", None] and seen["State"] == ["state", "-state", None]
    numbers = {"progress", "trials", "failed", "arms", "hypervolume", "created"}
    for title, name in ((title, title.lower()) for title in seen if title.lower() in numbers):
        assert seen[title] == [f"-{name}", name, None]
    assert len(seen) == 2 + len(numbers) and (first, second) == ("", "<i>it broke")


def test_the_share_of_a_study_has_its_time_left_also_when_that_is_nothing(stage: Page) -> None:
    script = """list(argument);
      await showList(page);
      return [...page.querySelectorAll(".eta")].map((cell) => cell.textContent);"""
    times = (None, 0, 65)
    found = on_list(stage, "", script, [study(f"s{eta}", eta_seconds=eta) for eta in times])
    assert found == ["50 %", "50 % · under 10 s left", "50 % · 1 m 05 s left"]


def test_no_more_studies_are_selected_than_can_be_compared(stage: Page) -> None:
    most = WORDS.limits.studies_overlaid
    names = [f"s{i}" for i in range(most + 2)]
    script = """list(argument);
      await showList(page);
      const bar = at(".selection");
      const boxes = [...page.querySelectorAll("tbody input")];
      const before = [bar.textContent, boxes.map((box) => [box.checked, box.disabled])];
      boxes[0].click();
      return [before, at(".selection a").getAttribute("href"), boxes.map((box) => box.disabled)];"""
    (words, boxes), link, free = on_list(stage, f"?selected={','.join(names)}", script, [study(n) for n in names])
    assert words.startswith(f"{most} studies selected, which is the most")
    assert boxes == [[True, False]] * most + [[False, True]] * 2
    assert link == f"/compare?studies={','.join(names[1:most])}" and free == [False] * (most + 2)


COMPARE = """
  const { showCompare } = await load("pages/compare");
  const page = document.getElementById("page");
  const at = (query) => page.querySelector(query);
  const comparison = (verdict) => ({ seeds: 1, objectives: [], baseline: null, verdict, arms: [], pairs: [],
    lights: {} });
  for (const study of argument) stage.answers[`/api/studies/${study.id}`] = () => ({ ...study });
  stage.answers["/api/studies"] = { studies: argument, next: null };
"""


def compare(page: Page, search: str, script: str, argument: Any) -> Any:
    start = f'history.replaceState(null, "", "/compare?{search}"); let crumbs;'
    show = "const show = () => showCompare(page, (...parts) => (crumbs = parts.length));"
    return play(page, f"async (stage, argument) => {{ {COMPARE} {start} {show} {script} }}", argument)


def figure(name: str, *params: str) -> dict[str, Any]:
    controls = [{"param": p, "label": p, "kind": "choice", "options": [["a", "A"]], "default": "a"} for p in params]
    return {"name": name, "title": name, "group": WORDS.figure_groups[0].name, "controls": controls}


def test_only_figures_that_all_studies_have_are_laid_over_each_other(stage: Page) -> None:
    script = """stage.answers["/api/studies/a/comparison"] = comparison("v");
      await show();
      const panels = [...page.querySelectorAll("[data-figure]")];
      return [at("h1").textContent, panels.map((panel) => panel.dataset.figure)];"""
    own = [figure("both", "x"), figure("one"), figure("arms", "x", "arm"), figure("trials", "trial"), figure("last")]
    other = [each for each in own if each["name"] != "one"]
    offers = {"a": own, "b": other, "c": [figure("both", "x"), figure("arms", "x", "arm")]}
    studies = [study(name, state="finished", figures=figures) for name, figures in offers.items()]
    assert compare(stage, "studies=a,b,a", script, studies) == ["2 studies compared", ["both", "last"]]
    assert compare(stage, "studies=a,b,c", script, studies) == ["3 studies compared", ["both"]]


def test_each_study_of_a_comparison_can_be_left_out_and_no_more_are_read_than_fit(stage: Page) -> None:
    most = WORDS.limits.studies_overlaid
    names = [f"s{i}" for i in range(most + 1)]
    script = """stage.answers["/api/studies/s0/comparison"] = comparison("v");
      await show();
      const rest = [...page.querySelectorAll(".leave-out")].map((link) => link.getAttribute("href"));
      const asked = stage.asked.some(({ path }) => path === `/api/studies/s${argument.length - 1}`);
      return [rest, at("select").disabled, asked];"""
    studies = [study(name, state="finished") for name in names]
    rest, full, asked = compare(stage, f"studies={','.join(names)}", script, studies)
    kept = names[:most]
    assert rest == [f"/compare?studies={','.join(other for other in kept if other != name)}" for name in kept]
    assert full and not asked


def test_a_point_of_a_comparison_leads_to_its_trial_in_its_own_study(stage: Page) -> None:
    script = """stage.answers["/api/studies/a/comparison"] = comparison("v");
      const points = { type: "scatter", name: "x", x: [1], y: [2], customdata: ["b/t 1"] };
      stage.answers["/api/studies/a/figures/both"] = { data: [points], layout: { xaxis: {}, yaxis: {} } };
      const went = [];
      const note = (event) => {
        event.preventDefault();
        went.push(new URL(event.destination.url).pathname + new URL(event.destination.url).search);
      };
      await show();
      const panel = at("[data-figure=both]");
      await stage.see(panel);
      navigation.addEventListener("navigate", note);
      for (const customdata of ["b/t 1", "t2"]) at(".plot").acts.plotly_click({ points: [{ customdata }] });
      navigation.removeEventListener("navigate", note);
      return [went, stage.asked.find(({ path }) => path.includes("/figures/")).path];"""
    studies = [study(name, state="finished", figures=[figure("both")]) for name in "ab"]
    went, asked = compare(stage, "studies=a,b", script, studies)
    assert went == ["/studies/b?trial=t%201", "/studies/a?trial=t2"]
    assert asked == "/api/studies/a/figures/both?studies=a%2Cb"


def test_the_verdict_of_a_comparison_is_the_one_asked_for_last(stage: Page) -> None:
    script = """const late = [];
      stage.answers["/api/studies/a/comparison"] = () => new Promise((done) => late.push(done));
      await show();
      argument[1].last_seq = 2;
      await stage.pass(2000);
      late[1](comparison("newer"));
      await stage.settle();
      late[0](comparison("older"));
      await stage.settle();
      const verdict = at(".verdict").textContent;
      stage.answers["/api/studies/a/comparison"] = () =>
        Response.json({ error: { message: "other axes" } }, { status: 422 });
      argument[1].last_seq = 3;
      await stage.pass(2000);
      const asked = stage.asked.filter(({ path }) => path.includes("/comparison")).map(({ path }) => path);
      return [verdict, at(".verdict").textContent, [...new Set(asked)]];"""
    found = compare(stage, "studies=a,b", script, [study("a"), study("b")])
    assert found == ["newer", "other axes", ["/api/studies/a/comparison?studies=a,b"]]


def test_a_comparison_that_cannot_be_read_is_tried_again_only_when_it_was_lost(stage: Page) -> None:
    script = """const count = () => stage.asked.filter(({ path }) => path === "/api/studies/a").length;
      stage.answers["/api/studies/a"] = () => Response.json({ error: { message: "broken" } }, { status: 500 });
      await show();
      await stage.pass(6000);
      const refused = [count(), at("h1").textContent, page.textContent.includes("broken")];
      stage.answers["/api/studies/a"] = new Error("lost");
      await show();
      await stage.pass(4000);
      return [refused, count() - refused[0]];"""
    refused, lost = compare(stage, "studies=a,b", script, [study("a"), study("b")])
    assert refused == [1, "The studies could not be read", True] and lost == 3


STUDY = """
  const { showStudy } = await load("pages/study");
  const page = document.getElementById("page");
  const at = (query) => page.querySelector(query);
  const own = "/api/studies/a";
  const counts = (failed) => ({ ...argument.counts, failed });
  const none = { mean: null, half_width: null, low: null, high: null, lower: null, upper: null };
  const arm = (name, failed) => ({ name, counts: counts(failed), best_over_seeds: {}, front_share: null,
    training_seconds: null,
    hypervolume: { mean: null, half_width: null }, distance: { mean: null, half_width: null, seeds: 0 },
    amounts_to_over_seeds: {}, epsilon_over_seeds: none, igd_plus_over_seeds: none, dominated_over_seeds: none,
    optimism: {}, delta_m: null, mean_rank: null });
  const comparison = (...failed) => ({ seeds: 1, objectives: [], baseline: null, verdict: "v", pairs: [],
    lights: {}, single: null, arms: failed.map((each, i) => arm(`arm ${i}`, each)) });
  stage.answers[own] = () => ({ ...argument });
  history.replaceState(null, "", "/studies/a");
"""


def on_study(page: Page, script: str, argument: Any) -> Any:
    return play(page, f"async (stage, argument) => {{ {STUDY} {script} }}", argument)


def test_failures_of_all_arms_are_counted_with_a_reason_and_asked_for_once(stage: Page) -> None:
    script = """stage.answers[`${own}/comparison`] = comparison(0, 0);
      stage.answers[`${own}/trials`] = { trials: [{ reason: "NaN" }], next: null, total: 1 };
      await showStudy(page, "a", () => {});
      await stage.pass(0);
      const quiet = [at(".failures").textContent.trim(), at(".failures button").hidden];
      const move = async (seq, answer) => {
        argument.last_seq = seq;
        stage.answers[`${own}/comparison`] = answer;
        stage.streams.at(-1).say("report", seq);
        await stage.pass(1000);
      };
      await move(2, comparison(1, 2));
      const some = [at(".failures span").textContent, at(".failures button").hidden];
      const asked = () => stage.asked.filter(({ path }) => path.includes("state=failed")).length;
      const once = asked();
      await move(3, comparison(1, 2));
      stage.answers[`${own}/trials`] = { trials: [{ reason: null }], next: null, total: 1 };
      const still = asked();
      await move(4, comparison(2, 2));
      return [quiet, some, once, still, at(".failures span").textContent];"""
    quiet, some, once, still, later = on_study(stage, script, study("a"))
    assert quiet == ["Show", True] and some == ["3 trials failed: NaN", False]
    assert (once, still, later) == (1, 1, "4 trials failed: no reason was given")


def test_a_reason_that_did_not_arrive_is_asked_for_again_and_then_stays(stage: Page) -> None:
    script = """stage.answers[`${own}/comparison`] = comparison(2);
      const words = () => at(".failures span").textContent;
      stage.answers[`${own}/trials`] = new Error("lost");
      await showStudy(page, "a", () => {});
      await stage.pass(0);
      const lost = [words(), at(".failures button").hidden];
      stage.answers[`${own}/trials`] = { trials: [{ reason: "NaN" }], next: null, total: 1 };
      await stage.pass(3000);
      const found = words();
      argument.last_seq = 9;
      stage.streams.at(-1).say("report", 9);
      await stage.pass(5000);
      return [lost, found, words(), at(".failures button").hidden];"""
    lost, found, later, hidden = on_study(stage, script, study("a"))
    assert lost == ["", True] and found == later == "2 trials failed: NaN" and not hidden


def test_a_second_figure_stands_beside_a_front_that_is_alone(stage: Page) -> None:
    script = """stage.answers[`${own}/comparison`] = comparison(0);
      await showStudy(page, "a", () => {});
      const names = (place) => [...place.querySelectorAll("[data-figure]")].map((panel) => panel.dataset.figure);
      const tabs = [...page.querySelectorAll("[role=tab]")].map((tab) => tab.textContent);
      return [names(at(".figures")), names(at(".tabbed")), tabs];"""
    above, *_ = [group.name for group in WORDS.figure_groups if not group.is_tab]
    tab = next(group for group in WORDS.figure_groups if group.is_tab)
    front = {**figure(WORDS.front_figure), "group": above}
    beside = {**figure(WORDS.beside_the_front), "group": tab.name}
    other = {**figure("other"), "group": tab.name}
    alone = on_study(stage, script, study("a", state="finished", figures=[front, beside, other]))
    assert alone == [[WORDS.front_figure, WORDS.beside_the_front], ["other"], [tab.title, "Trials", "Spec and methods"]]
    two = [front, {**figure("second"), "group": above}, beside]
    paired = on_study(stage, script, study("a", state="finished", figures=two))
    assert paired[:2] == [[WORDS.front_figure, "second"], [WORDS.beside_the_front]]


def test_a_study_that_is_not_there_is_said_and_one_that_is_lost_is_tried_again(stage: Page) -> None:
    script = """delete stage.answers[own];
      const asks = () => stage.asked.filter(({ path }) => path === own).length;
      await showStudy(page, "a", () => {});
      await stage.pass(9000);
      const missing = [page.querySelector("h2").textContent, asks()];
      stage.answers[own] = new Error("lost");
      await showStudy(page, "a", () => {});
      const lost = page.querySelector("h2").textContent;
      stage.answers[own] = () => ({ ...argument });
      stage.answers[`${own}/comparison`] = comparison(0);
      await stage.pass(2000);
      return [missing, lost, page.querySelector("h1").textContent];"""
    missing, lost, found = on_study(stage, script, study("a", state="finished"))
    assert missing == ["There is no such study", 1]
    assert (lost, found) == ("The study could not be read", "a")
