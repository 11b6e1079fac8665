"""The parts of the pages by themselves: tables, the open trial, what a study says of itself."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from service.contract.metrics import described
from tests.browser.pages import needs_chromium
from tests.browser.stage import play

pytestmark = needs_chromium

OBJECTIVES = [{"metric": "i_xz_bits", "goal": "minimize"}, {"metric": "i_zy_bits", "goal": "maximize"}]
NAMES = ["epoch", "seconds", "i_xz_bits", "i_zy_bits", "accuracy", "test_examples"]
ROWS = [dict(described(name)._asdict()) for name in NAMES]
TRIAL: dict[str, Any] = {
    **{"id": "t1", "arm": "a", "seed": 3, "state": "finished", "reason": None, "collapsed": False, "on_front": True},
    "config": {"weighting.beta": 0.01, "training.epochs": 40},
    "metrics": {"epoch": 3, "i_xz_bits": 2.0, "accuracy": 0.9, "test_examples": 359},
    "intervals": {"accuracy": [0.9, 0.94]},
    "lights": {},
    **{"training_seconds": 75.0, "started_at": None, "ended_at": None, "host": "h"},
}
# What a study's page hands to its parts.
SCENE = """
  const metrics = new Map(rows.map((row) => [row.name, row]));
  const looks = [{ name: "a", colour: "red", symbol: "circle" }, { name: "b", colour: "blue", symbol: "square" }];
  const study = { id: "s", name: "n", arms: looks, spec: { objectives }, metrics: rows, figures: [] };
  const page = document.getElementById("page");
  const cells = (row) => [...row.children].filter((cell) => !cell.hidden).map((cell) => cell.textContent);
"""


def scene(page: Page, script: str, argument: Any = None) -> Any:
    whole = f"async (stage, [rows, objectives, argument]) => {{ {SCENE} {script} }}"
    return play(page, whole, [ROWS, OBJECTIVES, argument])


def test_the_columns_of_trials_say_what_they_are(stage: Page) -> None:
    trials = [
        TRIAL,
        {**TRIAL, "state": "running", "metrics": {"epoch": 7}, "on_front": False, "host": None},
        {**TRIAL, "state": "running", "metrics": {}, "training_seconds": None},
        {**TRIAL, "collapsed": True, "metrics": {"accuracy": 0.0, "test_examples": 0}},
        {**TRIAL, "feasible": False, "metrics": {}},
    ]
    script = """const { TrialColumns } = await load("pages/trial-columns");
      const offer = new TrialColumns(metrics, objectives);
      const config = ["weighting.beta", "training.epochs", "c", "d", "e"];
      const { columns, usual } = offer.of({ config, varied: config });
      const text = (name) => argument.map((trial) => columns.find((each) => each.name === name).text(trial));
      const names = columns.map(({ name, label }) => [name, label]);
      return [names, usual, Object.fromEntries(columns.map(({ name }) => [name, text(name)]))];"""
    names, usual, texts = scene(stage, script, trials)
    labels = dict(names)
    assert (
        labels["weighting.beta"] == "β" and labels["accuracy"] == "Accuracy" and labels["i_xz_bits"] == "I(X;Z) [bits]"
    )
    assert "seconds" not in labels, "the training time of a trial stands there already"
    measured = ["i_xz_bits", "i_zy_bits", "accuracy"]
    varied = ["weighting.beta", "training.epochs", "c", "d"]
    assert usual == [*varied, "seed", "state", *measured, "training_seconds", "on_front"]
    assert texts["state"] == ["finished", "running, epoch 7", "running", "finished, collapsed", "finished, infeasible"]
    assert texts["accuracy"] == ["0.900", "–", "–", "0", "–"]
    assert texts["test_examples"] == ["359", "–", "–", "0", "–"] and texts["epoch"] == ["3", "7", "–", "–", "–"]
    assert texts["on_front"] == ["yes", "", "yes", "yes", "yes"] and texts["host"] == ["h", "", "h", "h", "h"]
    assert texts["training_seconds"] == ["1 m 15 s", "1 m 15 s", "–", "1 m 15 s", "1 m 15 s"]
    assert texts["weighting.beta"] == ["0.01"] * 5 and texts["c"] == ["–"] * 5


def test_no_column_chosen_by_hand_means_the_usual_ones(stage: Page) -> None:
    script = """const { ColumnMenu } = await load("pages/columns");
      const seen = [];
      const menu = new ColumnMenu(["c"], () => seen.push([...menu.chosen]));
      page.replaceChildren(menu.element);
      const columns = ["a", "b", "c"].map((name) => ({ name, label: name }));
      menu.offer(columns, ["a", "b"]);
      const boxes = () => [...menu.items.querySelectorAll("input")];
      const ticked = boxes().map((box) => box.checked);
      boxes()[0].click();
      boxes()[2].click();
      boxes()[1].click();
      boxes()[2].click();
      menu.items.querySelector("button").click();
      const same = boxes()[0];
      menu.offer(columns, ["a", "b"]);
      const kept = boxes()[0] === same;
      menu.offer(columns.slice(1), ["b"]);
      return [ticked, seen, kept, boxes().length];"""
    ticked, seen, kept, offered = scene(stage, script)
    assert ticked == [False, False, True]
    assert seen == [["a", "c"], ["a"], [], ["a", "b", "c"], []]
    assert kept and offered == 2


def arm(name: str, **changed: Any) -> dict[str, Any]:
    counts = {"planned": 6, "running": 0, "finished": 5, "failed": 0, "stopped": 0, "collapsed": 2}
    best = {"mean": 0.5, "half_width": 0.02, "low": 0.49, "high": 0.52}
    rest: dict[str, Any] = {"best_over_seeds": {"accuracy": best}, "front_share": 0.25, "training_seconds": 61.0}
    rest |= {"epsilon_over_seeds": {"mean": 0.25, "half_width": 0.02, "low": 0.2, "high": 0.3}}
    rest |= {"igd_plus_over_seeds": {"mean": None, "half_width": None, "low": None, "high": None}}
    rest |= {"dominated_over_seeds": {"mean": 0.4, "lower": 0.1176, "upper": 0.7693}}
    rest |= {"distance": {"mean": -0.5, "half_width": 0.1, "seeds": 3}, "amounts_to_over_seeds": {}}
    rest |= {"delta_m": None, "mean_rank": None, "optimism": {}}
    return {
        "name": name,
        "counts": counts,
        "hypervolume": {"mean": 30.0, "half_width": 2.0, "low": 29.0, "high": 31.0},
        **rest,
        **changed,
    }


def test_arms_are_compared_cell_by_cell(stage: Page) -> None:
    pair, lands = (
        {"standing": "below", "standing_words": "below the front", "distance_p_value": 0.01},
        {"weighting.beta": {"mean": 0.01, "lower": 0.0042, "upper": 0.024}},
    )
    comparison: dict[str, Any] = {
        **{"seeds": 3, "baseline": "a", "verdict": "v", "lights": {}, "single": None},
        "objectives": [{"metric": "i_xz_bits", "reference": 32.0}, {"metric": "own", "reference": 0.5}],
        "arms": [
            arm("a"),
            arm("b", counts={**arm("b")["counts"], "failed": 1}, front_share=None, amounts_to_over_seeds=lands),
        ],
        "pairs": [{**pair, "arm": "b", "words": "half of it"}],
    }
    script = """const { ArmsTable } = await load("pages/arms-table");
      const table = new ArmsTable(looks, objectives, metrics);
      const [first, second] = argument;
      table.show(first);
      const made = [...table.body.children];
      const before = [made.map(cells), made.map((row) => row.children[2].className), table.note.textContent,
        table.against.textContent, made.map((row) => row.children[4].title)];
      table.show(second);
      const kept = table.body.children[0] === made[1];
      return [before, kept, cells(table.body.children[0])[4], table.note.textContent, table.against.textContent];"""
    alone = {**comparison, "seeds": 1, "baseline": None, "pairs": [], "arms": comparison["arms"][1:]}
    before, kept, against, note, head = scene(stage, script, [comparison, alone])
    shared = ["30.0 ± 2.0", "40 % (12 to 77)", "0.250 ± 0.020", "–", "–", "–", "0.500 ± 0.020", "1 m 01 s"]
    assert before[0] == [
        ["a", "5/6", "0, 2", shared[0], "baseline", "–", *shared[1:], "25 %"],
        [
            "b",
            "5/6",
            "1, 2",
            shared[0],
            "below the front, −0.500 ± 0.100",
            "β ≈ 0.01 (0.0042 to 0.024)",
            *shared[1:],
            "–",
        ],
    ]
    assert before[1] == ["num", "num bad"] and before[4] == ["", "Half of it"]
    assert before[2] == (
        "hypervolume: mean ± 95 % interval over 3 seeds, reference point I(X;Z) 32, own 0.5; "
        "distance to a’s front in units of its ranges"
    )
    assert (before[3], kept, against, head) == ("Against a", True, "–", "Against")
    assert note.startswith("hypervolume: one seed, no interval")


LIT = {"light": "rough", "words": "on a task of 8 bits this estimate is off by 1 bit"}


def test_an_estimate_stands_behind_the_mark_of_its_light_and_is_written_once(stage: Page) -> None:
    script = """const { setLit } = await load("kit/light");
      const cell = document.createElement("td");
      const seen = [];
      for (const [text, lit] of [["8.00", undefined], ["8.00", argument], ["9.00", argument], ["9.00", undefined]]) {
        setLit(cell, text, lit);
        const first = cell.firstChild;
        setLit(cell, text, lit && { ...lit });
        seen.push([cell.textContent, first === cell.firstChild]);
      }
      setLit(cell, "8.00", argument);
      const { title, role, ariaLabel } = cell.firstElementChild;
      return [seen, title, role, ariaLabel];"""
    seen, title, role, label = scene(stage, script, LIT)
    assert seen == [["8.00", True], ["◐8.00", True], ["◐9.00", True], ["9.00", True]]
    assert (title, role, label) == (LIT["words"], "img", "error where the truth is known: within 20 %")


def test_the_open_trial_explains_its_lights_and_lists_no_calibration(stage: Page) -> None:
    rows = [dict(described(name)._asdict()) for name in ("i_xz_bits", "i_xz_bits_bias")]
    trial = {**TRIAL, "metrics": {"i_xz_bits": 8.0, "i_xz_bits_bias": 0.3}, "lights": {"i_xz_bits": LIT}}
    script = """const { TrialDrawer } = await load("pages/trial-drawer");
      const drawer = new TrialDrawer(study, new Map(argument[0].map((row) => [row.name, row])), () => {});
      page.replaceChildren(drawer.element);
      stage.answers["/api/studies/s/trials/t1"] = { ...argument[1], reports: [], points: [], log: [], artifacts: {} };
      drawer.open("t1");
      drawer.refresh().catch(() => {});
      await stage.settle();
      const list = [...drawer.facts.querySelector("dl").children].map((each) => each.textContent);
      const words = [...drawer.facts.querySelectorAll(".lit")].map((each) => each.textContent);
      drawer.close();
      return [list, words];"""
    listed, words = scene(stage, script, [rows, trial])
    assert listed == ["I(X;Z) [bits]", "◐8.00"]
    assert words == [f"◐I(X;Z) [bits]: {LIT['words']}."]


READ = {"told": -0.036, "step": -0.036, "line": -0.05}
PLACED: dict[str, Any] = {
    **{"where": None, "dominated": True, "beyond": False, "distance": READ},
    "matched": {"i_zy_bits": {"told": 0.0, "step": 0.2, "line": -0.3}},
    "amounts_to": {"weighting.beta": 0.0488},
}
AWAY = {**PLACED, "dominated": False, "beyond": True, "distance": None, "matched": {}, "amounts_to": {}}


def test_the_open_trial_says_where_it_lies_against_the_front_of_its_seed(stage: Page) -> None:
    script = """const { placeOf } = await load("pages/trial-place");
      return argument.map(([points, own]) => {
        page.replaceChildren(...placeOf(points && { baseline: "manual β", points }, metrics, own ?? objectives));
        return [...page.querySelectorAll("h3, dt, dd, tr")].map((each) => each.textContent);
      });"""
    many = [{**PLACED, "where": {"beta": 0.01}}, {**AWAY, "where": {"beta": 0.1}}]
    three = [*OBJECTIVES, {"metric": "accuracy", "goal": "maximize"}]
    only = [{**AWAY, "beyond": None}]
    single, away, curve, few, none = scene(stage, script, [[[PLACED]], [[AWAY]], [many], [only, three], [None]])
    assert single == [
        "Against the front of manual β, same seed",
        *("distance to it, of the objectives’ ranges", "−0.0360 (−0.0360, −0.0500)"),
        *("I(Z;Y) [bits] at the same I(X;Z)", "0 (+0.200, −0.300)"),
        *("I(X;Z) [bits] at the same I(Z;Y)", "–"),
        *("amounts to", "β ≈ 0.0488", "dominated by it", "yes"),
    ]
    assert away[2] == away[8] == "beyond its reach"
    assert curve[1] == "βDistanceGap in I(Z;Y) [bits]Gap in I(X;Z) [bits]Amounts toDominated"
    assert curve[2:] == ["0.01−0.03600–0.0488yes", "0.1beyond–––no"]
    assert few[1:] == ["dominated by it", "no"] and none == []


def test_arms_have_the_worst_light_above_their_best_values(stage: Page) -> None:
    comparison: dict[str, Any] = {
        "seeds": 3,
        "baseline": None,
        "objectives": [],
        "arms": [],
        "pairs": [],
        "verdict": "v",
        "single": None,
    }
    script = """const { ArmsTable } = await load("pages/arms-table");
      const table = new ArmsTable(looks, objectives, metrics);
      return argument.map((comparison) => {
        table.show(comparison);
        const heads = [...table.element.querySelectorAll("th")].map((cell) => cell.textContent);
        return heads.filter((text) => text.includes("bits"));
      });"""
    shown = scene(stage, script, [{**comparison, "lights": lights} for lights in ({}, {"i_xz_bits": LIT})])
    assert shown == [
        ["Best I(X;Z) [bits]", "Best I(Z;Y) [bits]"],
        ["◐Best I(X;Z) [bits]", "Best I(Z;Y) [bits]"],
    ]


def test_what_choosing_flattered_is_shown_when_asked_and_where_there_is_any(stage: Page) -> None:
    best = {"i_zy_bits": {"mean": 2.94, "half_width": 0.11, "low": 2.9, "high": 3.0}}
    held_out = [arm("a", best_over_seeds=best, optimism={"i_zy_bits": 0.02}), arm("b", best_over_seeds=best)]
    comparison: dict[str, Any] = {
        **{"seeds": 3, "baseline": None, "verdict": "v", "objectives": [], "pairs": [], "lights": {}, "single": None},
        "arms": held_out,
    }
    unheld = {**comparison, "arms": [held_out[1]]}
    script = """const { ArmsTable } = await load("pages/arms-table");
      const table = new ArmsTable(looks, objectives, metrics);
      page.replaceChildren(table.element);
      const label = table.element.querySelector("label");
      const box = label.querySelector("input");
      const cell = () => table.body.children[0].children[table.heads.indexOf(table.bestHeads.get("i_zy_bits"))];
      const seen = [];
      table.show(argument[1]);
      seen.push(label.hidden);
      table.show(argument[0]);
      seen.push(label.hidden, cell().textContent);
      box.click();
      seen.push(cell().textContent, location.search);
      box.click();
      seen.push(cell().textContent, location.search);
      return seen;"""
    assert scene(stage, script, [comparison, unheld]) == [
        *(True, False, "2.94 ± 0.11"),
        *("2.94 ± 0.11 (+0.0200)", "?optimism=1"),
        *("2.94 ± 0.11", ""),
    ]


def test_delta_m_and_mean_rank_are_shown_only_against_single_tasks(stage: Page) -> None:
    drop = {"mean": 1.25, "half_width": 0.5, "low": 1.0, "high": 1.5}
    two = {"mean": 1.5, "half_width": None, "low": 1.0, "high": 2.0}
    comparison: dict[str, Any] = {
        **{"seeds": 3, "baseline": None, "verdict": "v", "objectives": [], "pairs": []},
        "lights": {},
        "single": {"words": "Δm: relative drop."},
        "arms": [arm("a", delta_m=drop, mean_rank=two), arm("alone")],
    }
    script = """const { ArmsTable } = await load("pages/arms-table");
      const table = new ArmsTable(looks, objectives, metrics);
      const head = () => cells(table.element.querySelector("thead tr"));
      return argument.map((comparison) => {
        table.show(comparison);
        return [head().slice(7, 11), [...table.body.children].map((row) => cells(row).slice(7, 11)),
          table.alone.hidden, table.alone.textContent];
      });"""
    without = {**comparison, "single": None}
    shown, hidden, again = scene(stage, script, [comparison, without, comparison])
    assert shown == again
    assert shown[0] == ["ε", "IGD⁺", "Δm [%]", "Mean rank"]
    assert shown[1] == [
        ["0.250 ± 0.020", "–", "1.25 ± 0.50", "1.00 and 2.00"],
        ["0.250 ± 0.020", "–", "–", "–"],
    ]
    assert shown[2:] == [False, "Δm: relative drop."]
    assert "Mean rank" not in hidden[0] and [len(row) for row in hidden[1]] == [4, 4]
    assert hidden[1][0][2:] == ["–", "–"] and hidden[2:] == [True, ""], "then come the best values"


def test_a_study_can_be_cancelled_until_it_has_ended_and_then_deleted(stage: Page) -> None:
    script = """const { StudyHead } = await load("pages/study-head");
      const counts = { planned: 6, running: 2, finished: 3, failed: 1, stopped: 0, collapsed: 0 };
      const at = { started_at: null, ended_at: null, eta_seconds: null, queue_position: null, progress: 0.5 };
      const base = { ...study, ...at, counts, reason: null, state: "queued" };
      const head = new StudyHead(base);
      const announce = document.getElementById("announce");
      const seen = ["queued", "running", "cancelled", "failed", "finished"].map((state) => {
        announce.textContent = "";
        head.show({ ...base, state, reason: state === "failed" ? "it broke" : null });
        const said = announce.textContent;
        announce.textContent = "";
        head.show({ ...base, state });
        return [state, head.cancel.hidden, head.remove.hidden, said, announce.textContent, document.title,
          head.counters.textContent];
      });
      head.show({ ...base, reason: "it broke" });
      const broken = head.reason.textContent;
      head.show(base);
      return [seen, broken, head.reason.textContent];"""
    seen, reason, later = scene(stage, script)
    assert [each[:3] for each in seen] == [
        *(["queued", False, True], ["running", False, True], ["cancelled", True, False]),
        *(["failed", True, False], ["finished", True, False]),
    ]
    assert [each[3] for each in seen][1:3] == [
        "The study is running 3/6.",
        "The study is cancelled, 3 of 6 trials finished.",
    ]
    assert {each[4] for each in seen} == {""}, "said once"
    assert [each[5] for each in seen][:3] == [f"{s} · n – Paretoscope" for s in ("queued", "3/6", "cancelled")]
    assert [each[6] for each in seen][:3] == ["1 failed", "2 running · 1 failed", "1 failed"]
    assert (reason, later) == ("It broke", "")


def test_an_interrupted_study_says_why_in_its_head_and_that_it_goes_on(stage: Page) -> None:
    script = """const { StudyHead } = await load("pages/study-head");
      const counts = { planned: 6, running: 0, finished: 3, failed: 0, stopped: 0, collapsed: 0 };
      const at = { started_at: null, ended_at: null, eta_seconds: null, queue_position: null, progress: 0.5 };
      const base = { ...study, ...at, counts, reason: null, interrupted: null, state: "running" };
      const head = new StudyHead(base);
      const announce = document.getElementById("announce");
      const seen = () => [head.state.textContent, head.state.dataset.state, head.bar.dataset.state,
        head.reason.textContent, head.reason.dataset.state, announce.textContent, document.title];
      head.show({ ...base, interrupted: "ray is away" });
      const away = seen();
      head.show(base);
      return [away, seen()];"""
    away, back = scene(stage, script)
    words = [
        "interrupted 3/6",
        "interrupted",
        "interrupted",
        "Ray is away. The study goes on by itself.",
        "interrupted",
    ]
    assert away == [*words, "The study is interrupted 3/6.", "interrupted · n – Paretoscope"]
    assert back == [
        "running 3/6",
        "running",
        "running",
        "",
        "running",
        "The study is running 3/6.",
        "3/6 · n – Paretoscope",
    ]


def test_a_demo_that_could_not_begin_can_be_tried_again(stage: Page) -> None:
    script = """const { noStudyYet } = await load("pages/demo");
      const element = noStudyYet();
      page.replaceChildren(element);
      const button = element.querySelector("button");
      const press = async () => {
        button.click();
        const during = button.disabled;
        await stage.settle();
        return [during, button.disabled, element.querySelector("[role=alert]").textContent];
      };
      const lost = await press();
      stage.answers["/api/presets"] = { presets: [{ name: "other", text: "name: x" }] };
      stage.answers["/api/studies"] = () => Response.json({ error: { message: "full" } }, { status: 507 });
      const refused = await press();
      const sent = stage.asked.filter(({ path }) => path === "/api/studies").map(({ body }) => body);
      return [lost, refused, sent];"""
    lost, refused, sent = scene(stage, script)
    assert lost == [True, False, "nothing at /api/presets"]
    assert refused == [True, False, "full"] and sent == ["name: x"]


def test_an_open_trial_shows_its_numbers_its_files_and_its_log(stage: Page) -> None:
    opened = {**TRIAL, "reports": [], "points": [], "log": ["one", "two"], "artifacts": {"checkpoint": 1_234_567}}
    script = """const { TrialDrawer } = await load("pages/trial-drawer");
      window.Plotly ??= { react: async () => {} };
      const closed = [];
      const drawer = new TrialDrawer(study, metrics, () => closed.push(drawer.trial));
      const opener = document.createElement("button");
      page.replaceChildren(opener, drawer.element);
      opener.focus();
      stage.answers["/api/studies/s/trials/t1"] = argument;
      drawer.open("t1");
      await Promise.race([drawer.refresh(), stage.settle()]);
      const facts = Object.fromEntries([...drawer.facts.querySelectorAll("dt")].map((dt) =>
        [dt.textContent, dt.nextElementSibling.textContent]));
      const link = drawer.links.querySelector("a[download]");
      const copy = drawer.links.querySelector("a").getAttribute("href");
      const seen = [facts, drawer.state.textContent, drawer.state.className, link.textContent,
        link.getAttribute("href"), copy, drawer.log.textContent, location.search];
      argument.state = "failed"; argument.reason = "NaN"; argument.on_front = false; argument.log = [];
      argument.artifacts = { checkpoint: 56_700 };
      await Promise.race([drawer.refresh(), stage.settle()]);
      const later = [drawer.state.textContent, drawer.state.className, drawer.log.textContent,
        drawer.links.textContent];
      argument.state = "finished"; argument.reason = null; argument.collapsed = true; argument.artifacts = {};
      await Promise.race([drawer.refresh(), stage.settle()]);
      later.push(drawer.state.textContent, drawer.links.textContent);
      drawer.close();
      return [seen, later, closed, drawer.element.hidden, location.search, document.activeElement === opener];"""
    seen, later, closed, hidden, search, focused = scene(stage, script, opened)
    facts, state, kind, weights, file, copy, log, address = seen
    assert facts["accuracy"] == "0.900 (0.900 … 0.940)" and facts["I(X;Z) [bits]"] == "2.00"
    assert (facts["epoch"], facts["weighting.beta"], facts["training time"]) == ("3", "0.01", "1 m 15 s")
    assert (facts["trial"], facts["host"], facts["started"]) == ("t1", "h", "–")
    assert (state, kind, log, address) == ("finished, on the front", "", "one\ntwo", "?trial=t1")
    assert weights == "Weights (safetensors, 1.23 MB)" and file == "/api/studies/s/trials/t1/checkpoint"
    assert copy == "/new?from=s&trial=t1"
    assert later[:2] == ["failed: NaN", "bad"] and later[2] == "Nothing was logged."
    assert later[3].endswith("Weights (safetensors, 56.7 kB)")
    assert later[4].startswith("finished, collapsed: its code carries less than ") and later[5].endswith(
        "No checkpoint"
    )
    assert (closed, hidden, search, focused) == ([None], True, "", True)


def test_a_trial_that_is_not_there_is_said_to_be_missing_and_a_loss_is_passed_on(stage: Page) -> None:
    script = """const { TrialDrawer } = await load("pages/trial-drawer");
      const drawer = new TrialDrawer(study, metrics, () => {});
      page.replaceChildren(drawer.element);
      await drawer.refresh();
      const idle = stage.asked.length;
      drawer.open("gone");
      await drawer.refresh();
      const missing = [drawer.heading.textContent, drawer.state.textContent];
      stage.answers["/api/studies/s/trials/gone"] = () => Response.json({}, { status: 500 });
      const lost = await drawer.refresh().then(() => "kept", (error) => error.message);
      drawer.close();
      return [idle, missing, lost];"""
    idle, (heading, state), lost = scene(stage, script)
    assert (idle, heading, lost) == (0, "There is no such trial", "The service answered 500.")
    assert state == "nothing at /api/studies/s/trials/gone"


def test_an_open_trial_is_the_one_that_was_opened_last(stage: Page) -> None:
    opened = {**TRIAL, "reports": [], "points": [], "log": ["one"], "artifacts": {}}
    script = """const { TrialDrawer } = await load("pages/trial-drawer");
      window.Plotly ??= { react: async () => {} };
      const drawer = new TrialDrawer(study, metrics, () => {});
      page.replaceChildren(drawer.element);
      const late = [];
      const at = (id) => `/api/studies/s/trials/${id}`;
      stage.answers[at("t1")] = () => new Promise((done) => late.push(done));
      stage.answers[at("a%2Fb")] = { ...argument, id: "a/b", seed: 8, log: ["two"] };
      const settled = (act) => Promise.race([act, stage.settle()]);
      const parts = () => [drawer.heading, drawer.state, drawer.links, drawer.facts, drawer.log].map((each) =>
        each.textContent);
      drawer.open("t1");
      drawer.refresh();
      drawer.refresh();
      await stage.settle();
      drawer.open("a/b");
      await settled(drawer.refresh());
      const shown = parts();
      late[0]({ ...argument, id: "t1", log: ["late"] });
      await stage.settle();
      late[1](Response.json({ error: { message: "gone" } }, { status: 404 }));
      await stage.settle();
      const later = parts();
      drawer.open("t1");
      const empty = parts();
      drawer.open("a/b");
      await settled(drawer.refresh());
      const again = parts();
      drawer.close();
      return [shown, later, empty, again];"""
    shown, later, empty, again = scene(stage, script, opened)
    assert shown == later == again and shown[0].endswith("seed 8") and shown[4] == "two"
    assert empty == ["Loading …", "", "", "", ""]


def test_a_trial_that_goes_on_is_shown_as_it_goes_and_its_log_leaves_the_reader_where_they_are(stage: Page) -> None:
    opened = {
        **TRIAL,
        "state": "running",
        "reports": [],
        "points": [],
        "log": [f"line {i}" for i in range(60)],
        "artifacts": {},
    }
    script = """const { TrialDrawer } = await load("pages/trial-drawer");
      window.Plotly ??= { react: async () => {} };
      const drawer = new TrialDrawer(study, metrics, () => {});
      page.replaceChildren(drawer.element);
      stage.answers["/api/studies/s/trials/t1"] = argument;
      drawer.open("t1");
      Object.assign(drawer.log.style, { height: "60px", overflow: "auto", display: "block" });
      const next = async () => {
        argument.log = [...argument.log, "more"];
        argument.metrics = { ...argument.metrics, epoch: argument.metrics.epoch + 1 };
        await Promise.race([drawer.refresh(), stage.settle()]);
        return drawer.log.scrollHeight - drawer.log.clientHeight - drawer.log.scrollTop;
      };
      const epoch = () => drawer.facts.querySelector("dd").textContent;
      const seen = [await next(), epoch()];
      drawer.log.scrollTop = 100;
      await next();
      const kept = drawer.log.scrollTop;
      drawer.log.scrollTop = drawer.log.scrollHeight;
      const followed = await next();
      const last = epoch();
      drawer.close();
      return [seen, kept, followed, last];"""
    (left, epoch), kept, followed, last = scene(stage, script, opened)
    assert (left, epoch, kept, followed, last) == (0, "4", 100, 0, "6")


def test_a_table_of_trials_asks_for_what_is_meant_and_forgets_what_is_over(stage: Page) -> None:
    script = """const { TrialsTable } = await load("pages/trials-table");
      const { Brush } = await load("figures/brush");
      const reader = { onPick: () => {}, onChange: () => {}, brush: new Brush() };
      const table = new TrialsTable(study, metrics, reader);
      page.replaceChildren(table.element);
      const failed = { ...argument, id: "t2", state: "failed", reason: "<b>NaN</b>" };
      const answer = { trials: [argument, failed], next: "x", total: 300, columns: { config: [], varied: [] } };
      const path = "/api/studies/s/trials";
      stage.answers[path] = answer;
      const asked = () => Object.fromEntries(new URL(stage.asked.at(-1).path, location.origin).searchParams);
      await table.refresh();
      const titles = table.rows.map((row) => [row.title, row.dataset.state]);
      table.more.click();
      await table.refresh();
      const seen = [asked()];
      table.where.value = "  seed = 0 ";
      table.where.dispatchEvent(new Event("input"));
      await stage.pass(300);
      await table.refresh();
      seen.push(asked());
      stage.answers[path] = () => Response.json({ error: { message: "no such thing", details: [] } }, { status: 422 });
      await table.refresh();
      const wrong = [table.problem.textContent, table.rows.length];
      stage.answers[path] = answer;
      table.where.value = "";
      await table.refresh();
      const right = table.problem.textContent;
      for (let i = 0; i < 3; i += 1) {
        table.head.querySelector("[data-column=accuracy] button").click();
        await table.refresh();
        seen.push([asked().sort ?? null, table.head.querySelector("[data-column=accuracy]").ariaSort]);
      }
      table.filterState("on front");
      await table.refresh();
      seen.push(asked());
      table.filterState("failed");
      await table.refresh();
      seen.push(asked());
      return [titles, seen, wrong, right];"""
    titles, seen, wrong, right = scene(stage, script, TRIAL)
    assert titles == [["", "finished"], ["<b>NaN</b>", "failed"]]
    assert seen[:2] == [{"limit": "200"}, {"limit": "100", "where": "seed = 0"}]
    assert wrong == ["No such thing", 2] and right == "", "what was there stays beside the complaint"
    assert seen[2:5] == [["accuracy", "ascending"], ["-accuracy", "descending"], [None, None]]
    assert seen[5:] == [{"limit": "100", "front": "true"}, {"limit": "100", "state": "failed"}]


def test_columns_of_the_address_are_shown_and_those_of_another_study_are_the_usual_ones(stage: Page) -> None:
    script = """const { TrialsTable } = await load("pages/trials-table");
      const { Brush } = await load("figures/brush");
      const columns = { config: ["weighting.beta"], varied: ["weighting.beta"] };
      stage.answers["/api/studies/s/trials"] = { trials: [argument], next: null, total: 1, columns };
      const seen = [];
      const searches = ["", "?column=host&column=accuracy", "?column=no.such", "?column=seed&column=no.such"];
      for (const search of searches) {
        history.replaceState(null, "", `/studies/s${search}`);
        const reader = { onPick: () => {}, onChange: () => {}, brush: new Brush() };
        const table = new TrialsTable(study, metrics, reader);
        page.replaceChildren(table.element);
        await table.refresh();
        seen.push([...table.head.children].map((head) => head.dataset.column));
      }
      return seen;"""
    usual, chosen, unknown, mixed = scene(stage, script, TRIAL)
    measured = ["i_xz_bits", "i_zy_bits", "accuracy"]
    assert usual == ["arm", "weighting.beta", "seed", "state", *measured, "training_seconds", "on_front"]
    assert unknown == usual
    assert (chosen, mixed) == (["arm", "accuracy", "host"], ["arm", "seed"])


def test_the_table_steps_through_its_trials_and_cuts_a_long_brush(stage: Page) -> None:
    script = """const { TrialsTable } = await load("pages/trials-table");
      const { Brush } = await load("figures/brush");
      const brush = new Brush();
      const picked = [];
      let asks = 0;
      const reader = { onPick: (trial) => picked.push(trial), onChange: () => (asks += 1), brush };
      const table = new TrialsTable(study, metrics, reader);
      page.replaceChildren(table.element);
      const trials = ["t1", "t2", "t3"].map((id) => ({ ...argument, id }));
      const answer = { trials, next: null, total: 3, columns: { config: [], varied: [] } };
      stage.answers["/api/studies/s/trials"] = answer;
      const empty = table.neighbour(1);
      await table.refresh();
      const steps = [table.neighbour(1)];
      table.select("t1");
      steps.push(table.neighbour(1), table.neighbour(-1));
      table.select("t2");
      steps.push(table.neighbour(1), table.neighbour(-1));
      table.select("t3");
      steps.push(table.neighbour(1));
      table.select("elsewhere");
      steps.push(table.neighbour(-1));
      table.select("t2");
      const marked = table.rows.map((row) => row.getAttribute("aria-selected"));
      table.rows[0].querySelector("button").click();
      const many = Array.from({ length: 301 }, (_, i) => `t${i}`);
      brush.set(many);
      const before = asks;
      table.filterBrushed();
      await table.refresh();
      const { path } = stage.asked.at(-1);
      const sent = new URL(path, location.origin).searchParams.getAll("trial").length;
      Object.assign(answer, { total: 5, next: "x" });
      await table.refresh();
      const cut = [table.count.textContent, table.more.hidden];
      brush.set(null);
      const label = table.brushedLabel.hidden;
      await table.refresh();
      const now = [stage.asked.at(-1).path, table.count.textContent];
      return [empty, steps, marked, picked, asks - before, sent, cut, label, ...now];"""
    empty, steps, marked, picked, asks, sent, cut, label, path, count = scene(stage, script, TRIAL)
    assert (empty, steps) == (None, ["t1", "t2", None, "t3", "t1", None, "t1"])
    assert marked == [None, "true", None] and picked == ["t1"]
    assert (asks, sent) == (2, 300) and cut == ["of the first 300 selected: first 3 of 5 trials", False]
    assert (label, path, count) == (True, "/api/studies/s/trials?limit=100", "first 3 of 5 trials")


def test_an_optimism_below_0_has_its_own_sign(stage: Page) -> None:
    script = """const { bestWords } = await load("pages/arms-table");
      const best = { mean: 2.5, half_width: null, low: 2.5, high: 2.5 };
      const none = { mean: null, half_width: null, low: null, high: null };
      const told = [-0.02, 0.02, 0].map((gap) => bestWords(best, gap));
      return [...told, bestWords({ ...best, half_width: 0.1 }), bestWords(none, 0.02), bestWords(undefined, 0.02)];"""
    assert scene(stage, script) == ["2.50 (−0.0200)", "2.50 (+0.0200)", "2.50 (0)", "2.50 ± 0.10", "–", "–"]


def test_arms_of_several_studies_have_the_marks_of_the_comparison(stage: Page) -> None:
    comparison: dict[str, Any] = {
        **{"seeds": 3, "baseline": None, "verdict": "v", "objectives": [], "pairs": [], "lights": {}, "single": None},
        "arms": [arm("a", colour="green", symbol="diamond"), arm("other: a", colour="purple", symbol="square")],
    }
    script = """const { ArmsTable } = await load("pages/arms-table");
      const { outline } = await load("kit/swatch");
      const table = new ArmsTable(argument[0] ? looks : [], objectives, metrics);
      table.show(argument[1]);
      const paths = [...table.body.querySelectorAll(".swatch path")];
      return paths.map((path, i) => [path.getAttribute("fill"),
        path.getAttribute("d") === outline(argument[1].arms[i].symbol)]);"""
    assert scene(stage, script, [False, comparison]) == [["green", True], ["purple", True]]
    assert scene(stage, script, [True, comparison])[0][0] == "red", "of one study as its figures have it"


def test_attacks_and_models_that_differ_are_named(stage: Page) -> None:
    script = """const { differenceWords } = await load("pages/differences");
      return argument.map((specs) => differenceWords(specs.map((spec) => ({ objectives, ...spec }))));"""
    attacks = {"evaluation": {"attacks": [{"name": "pgd", "label": "weak"}, {"name": "fgsm", "label": None}]}}
    turned = {"evaluation": {"attacks": [{"name": "fgsm"}, {"name": "pgd", "label": "weak"}]}}
    cases = [
        [{}, attacks],
        [attacks, turned],
        [{"model": {"name": "mlp", "latent": 4}}, {"model": {"name": "cnn", "latent": 8}}],
        [{"training": {"l1": 0}}, {"training": {"l1": None}}, {"training": {"l1": 0}}],
    ]
    assert scene(stage, script, cases) == [
        "These studies differ in attacks: none, fgsm and weak.",
        "",
        "These studies differ in model: mlp, cnn.",
        "These studies differ in training: l1 0, none.",
    ]


PICKER = """const { PointPicker } = await load("pages/point-picker");
  const rings = [], late = [];
  const picker = new PointPicker(study, metrics, { onPicked: (trial) => rings.push(trial), onShow() {} });
  page.append(picker.element);
  stage.answers["/api/studies/s/pick"] = () => new Promise((done) => late.push(done));
  const press = async () => {
    picker.element.querySelector("form").dispatchEvent(new Event("submit", { cancelable: true }));
    await stage.settle();
  };
  const ruled = (rule) => {
    picker.rule.value = rule;
    picker.rule.dispatchEvent(new Event("change"));
  };
  const point = (trial) => ({ trial, why: trial, arm: "a", seed: 0, config: {}, metrics: {}, spec: {} });
"""


def test_each_rule_asks_for_a_point_by_all_that_is_set_for_it(stage: Page) -> None:
    script = """const [bound] = picker.bounds.rows;
      bound.metric.value = "accuracy";
      bound.side.value = "at_most";
      bound.value.value = "0.5";
      picker.then.value = "i_zy_bits";
      picker.weights[1].input.value = "3";
      for (const rule of ["knee", "weights", "constraint"]) {
        ruled(rule);
        await press();
      }
      return stage.asked.map(({ path }) => decodeURIComponent(path.split("?")[1]));"""
    assert scene(stage, PICKER + script) == [
        "by=knee",
        "by=weights&weights=i_xz_bits:1,i_zy_bits:3",
        "by=constraint&at_most=accuracy:0.5&then=i_zy_bits",
    ]


def test_a_point_may_keep_several_bounds_and_be_one_of_an_arm(stage: Page) -> None:
    """The next bound is of a metric that has none yet, from the side that is worse; the last one stays."""
    script = """ruled("constraint");
      picker.bounds.rows[0].value.value = "2.5";
      const numbers = ["8", "0.9", "3"];
      for (const number of numbers) {
        picker.bounds.more.click();
        picker.bounds.rows.at(-1).value.value = number;
      }
      const removers = () => [...picker.element.querySelectorAll("[aria-label^='Remove bound']")];
      const shown = () => removers().filter((button) => !button.hidden).map((button) => button.ariaLabel);
      const offered = [shown()];
      picker.arm.value = "b";
      await press();
      removers()[3].click();
      removers()[1].click();
      await press();
      removers()[0].click();
      picker.arm.value = "";
      await press();
      offered.push(shown());
      return [offered, stage.asked.map(({ path }) => decodeURIComponent(path.split("?")[1]))];"""
    assert scene(stage, PICKER + script) == [
        [[f"Remove bound {i}" for i in (1, 2, 3, 4)], []],
        [
            "by=constraint&at_least=i_zy_bits:2.5,accuracy:0.9&at_most=i_xz_bits:8,i_xz_bits:3&then=i_xz_bits&arm=b",
            "by=constraint&at_least=i_zy_bits:2.5,accuracy:0.9&then=i_xz_bits&arm=b",
            "by=constraint&at_least=accuracy:0.9&then=i_xz_bits",
        ],
    ]


def test_a_number_that_another_rule_misses_holds_up_none(stage: Page) -> None:
    """A browser submits no form while a field in it that is asked for is empty, whether it is seen or not."""
    script = """picker.weights[0].input.value = "";
      picker.bounds.rows[0].value.value = "";
      const form = picker.element.querySelector("form");
      const sent = [];
      for (const rule of ["knee", "gap", "weights", "constraint"]) {
        ruled(rule);
        sent.push(form.checkValidity());
      }
      return sent;"""
    assert scene(stage, PICKER + script) == [True, True, False, False]


def test_the_point_is_the_one_asked_for_last_whichever_answer_comes_first(stage: Page) -> None:
    script = """await press();
      await press();
      late[1](point("newer"));
      await stage.settle();
      late[0](Response.json({ error: { message: "none" } }, { status: 422 }));
      await stage.settle();
      await press();
      await press();
      late[3](point("newest"));
      await stage.settle();
      late[2](point("older"));
      await stage.settle();
      return [rings, picker.why.textContent.includes("Newest"), picker.problem.textContent];"""
    assert scene(stage, PICKER + script) == [["newer", "newest"], True, ""]
