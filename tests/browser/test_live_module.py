"""When the study's page asks again, and for what: its module by itself, on a clock that the test moves."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from tests.browser.pages import needs_chromium
from tests.browser.stage import play

pytestmark = needs_chromium

# A study that runs, one panel beside it, and how often each was asked for.
SCENE = """
  const { Live } = await load("kit/live");
  const study = { id: "s", state: "running", last_seq: 5, queue_position: 2 };
  const [shown, gone, drawn] = [[], [], []];
  const live = new Live(study, (fresh) => shown.push({ ...fresh }), () => gone.push(stage.now));
  const element = document.createElement("div");
  const path = "/api/studies/s";
  stage.answers[path] = () => ({ ...study });
  const panel = { element, refresh: async () => { drawn.push(stage.now); } };
  const asks = () => stage.asked.filter((each) => each.path === path).map((each) => each.at);
"""


def live(page: Page, script: str) -> Any:
    return play(page, f"async (stage) => {{ {SCENE} {script} }}")


def test_a_place_in_the_queue_changes_without_an_event(stage: Page) -> None:
    script = """live.start();
      study.queue_position = 1;
      await stage.pass(10000);
      return [asks(), shown.map((each) => each.queue_position), stage.streams.length];"""
    assert live(stage, script) == [[5000, 10000], [1, 1], 1]


def test_an_answer_from_before_the_newest_is_dropped(stage: Page) -> None:
    script = """live.start();
      study.last_seq = 4;
      await stage.pass(5000);
      return [asks(), shown];"""
    assert live(stage, script) == [[5000], []]


def test_events_are_gathered_for_a_second(stage: Page) -> None:
    script = """live.add(panel);
      live.start();
      await stage.see(element);
      await stage.pass(0);
      for (const seq of [6, 7, 8]) { stage.streams[0].say("report", seq); await stage.pass(200); }
      study.last_seq = 8;
      await stage.pass(3000);
      return [stage.streams[0].path, drawn, asks()];"""
    path, drawn, asks = live(stage, script)
    assert path == "/api/studies/s/events?after=5"
    assert drawn == [0, 1000] and asks == [1000], "once for the three, and not again for nothing"


def test_an_event_that_was_seen_already_asks_for_nothing(stage: Page) -> None:
    script = """live.add(panel);
      live.start();
      await stage.see(element);
      await stage.pass(1000);
      for (const seq of [5, 3]) stage.streams[0].say("report", seq);
      await stage.pass(2000);
      return [drawn, asks(), live.latest];"""
    assert live(stage, script) == [[0], [], 5], "and nothing is unseen by it"


def test_slow_answers_make_the_rounds_rarer_but_never_rarer_than_five_seconds(stage: Page) -> None:
    script = """const slow = { refresh: async () => {
        drawn.push(stage.now);
        if (drawn.length > 1) stage.now += drawn.length === 2 ? 1500 : 9000;
      } };
      live.add(slow);
      live.start();
      await stage.pass(1000);
      for (let seq = 6; seq < 30; seq += 1) {
        study.last_seq = seq;
        stage.streams[0].say("report", seq);
        await stage.pass(500);
      }
      return drawn.slice(0, 4);"""
    first, second, third, fourth = live(stage, script)
    assert (first, second) == (0, 1000)
    assert third - second == 3000, "twice what the round took"
    assert fourth - third == 9000, "the round itself, and no wait of eighteen seconds after it"


def test_a_panel_out_of_view_waits_until_it_is_seen(stage: Page) -> None:
    script = """live.add(panel);
      live.start();
      await stage.pass(1000);
      const unseen = [...drawn];
      await stage.see(element);
      const first = [...drawn];
      await stage.see(element, false);
      study.last_seq = 6;
      stage.streams[0].say("report", 6);
      await stage.pass(2000);
      const away = [...drawn];
      await stage.see(element);
      await stage.pass(1000);
      return [unseen, first, away, drawn.length];"""
    unseen, first, away, times = live(stage, script)
    assert (unseen, first, away, times) == ([], [1000], [1000], 2)


def test_what_a_reader_asks_for_meanwhile_is_fetched_after_the_first_answer(stage: Page) -> None:
    script = """const waiting = [];
      const refresh = () => new Promise((done) => { drawn.push(stage.now); waiting.push(done); });
      const followed = live.add({ refresh });
      live.start();
      await stage.pass(0);
      live.again(followed);
      live.again(followed);
      await stage.settle();
      const held = drawn.length;
      waiting[0]();
      await stage.settle();
      waiting[1]();
      await stage.pass(900);
      return [held, drawn.length];"""
    assert live(stage, script) == [1, 2]


def test_what_happens_during_a_round_is_drawn_in_the_next(stage: Page) -> None:
    script = """const waiting = [];
      live.add({ refresh: () => new Promise((done) => { drawn.push(stage.now); waiting.push(done); }) });
      live.start();
      await stage.pass(0);
      study.last_seq = 6;
      stage.streams[0].say("report", 6);
      await stage.pass(100);
      waiting[0]();
      await stage.settle();
      await stage.pass(1000);
      return drawn;"""
    assert live(stage, script) == [0, 1000]


def test_a_panel_that_failed_is_tried_again_in_two_seconds_even_when_the_study_has_ended(stage: Page) -> None:
    script = """study.state = "finished";
      const ended = new Live(study, () => {}, () => {});
      let fails = 2;
      ended.add({ refresh: async () => { drawn.push(stage.now); if (fails-- > 0) throw new Error("lost"); } });
      ended.start();
      await stage.pass(9000);
      return [drawn, asks(), stage.streams.length];"""
    assert live(stage, script) == [[0, 2000, 4000], [], 0]


def test_a_study_that_cannot_be_read_is_asked_for_every_two_seconds(stage: Page) -> None:
    script = """live.start();
      stage.answers[path] = new Error("lost");
      await stage.pass(9500);
      stage.answers[path] = () => ({ ...study });
      await stage.pass(7000);
      return asks();"""
    assert live(stage, script) == [5000, 7000, 9000, 11000, 16000]


def test_a_broken_stream_is_looked_after_in_a_second_and_listened_to_again(stage: Page) -> None:
    script = """live.start();
      stage.streams[0].onerror();
      await stage.pass(999);
      const early = stage.streams.length;
      study.last_seq = 9;
      await stage.pass(1);
      return [early, asks(), stage.streams.map((each) => [each.path, each.closed])];"""
    early, asks, streams = live(stage, script)
    assert (early, asks) == (1, [1000])
    assert streams == [["/api/studies/s/events?after=5", True], ["/api/studies/s/events?after=9", False]]


def test_the_end_of_a_study_closes_the_stream_and_draws_what_is_left(stage: Page) -> None:
    script = """live.add(panel);
      live.start();
      await stage.see(element);
      await stage.pass(1000);
      Object.assign(study, { state: "finished", last_seq: 9 });
      await stage.pass(4000);
      await stage.pass(20000);
      return [asks(), stage.streams[0].closed, drawn];"""
    asks, closed, drawn = live(stage, script)
    assert (asks, closed) == ([5000], True), "and nobody asks afterwards"
    assert drawn == [0, 5000]


def test_a_deleted_study_is_gone_and_not_asked_for_again(stage: Page) -> None:
    script = """live.start();
      delete stage.answers[path];
      await stage.pass(30000);
      return [asks(), gone, stage.streams[0].closed];"""
    assert live(stage, script) == [[5000], [5000], True]


def test_a_hidden_page_holds_no_stream_and_asks_for_nothing_until_it_is_seen(stage: Page) -> None:
    script = """live.add({ refresh: panel.refresh });
      live.start();
      await stage.pass(1000);
      stage.streams[0].say("report", 6); // a round is due in a moment
      await stage.hide(true);
      const closed = stage.streams[0].closed;
      study.last_seq = 7;
      await stage.pass(20000);
      const meanwhile = [asks().length, drawn.length];
      await stage.hide(false);
      await stage.pass(0);
      return [closed, meanwhile, asks(), drawn, stage.streams.at(-1).path];"""
    closed, meanwhile, asks, drawn, path = live(stage, script)
    assert (closed, meanwhile) == (True, [0, 1])
    assert (asks, drawn) == ([21000], [0, 21000]), "at once, not at the next round"
    assert path == "/api/studies/s/events?after=7"


# Two studies, the first of which has ended with the longer log, and one panel.
FOLLOWER = """
  const { Follower } = await load("pages/follower");
  const studies = [{ id: "a", state: "finished", last_seq: 90 }, { id: "b", state: "running", last_seq: 10 }];
  const [drawn, verdicts, reads] = [[], [], []];
  let lost = null;
  const read = async () => {
    reads.push(stage.now);
    if (lost) throw lost;
    return studies.map((each) => ({ ...each }));
  };
  const follower = new Follower({ read, onStudies: () => {}, refresh: async () => { verdicts.push(stage.now); } });
  const note = document.createElement("p");
  const panel = { element: document.createElement("div"), note, refresh: async () => { drawn.push(stage.now); } };
  follower.add(panel);
  follower.start(studies);
  await stage.see(panel.element);
"""


def follow(page: Page, script: str) -> Any:
    return play(page, f"async (stage) => {{ {FOLLOWER} {script} }}")


def test_a_comparison_is_drawn_anew_when_any_of_its_studies_moved(stage: Page) -> None:
    script = """await stage.pass(4000);
      studies[1].last_seq = 11;
      await stage.pass(2000);
      return [reads, verdicts, drawn];"""
    assert follow(stage, script) == [[2000, 4000, 6000], [0, 6000], [0, 6000]]


def test_a_comparison_of_ended_studies_is_not_asked_for_again(stage: Page) -> None:
    script = """studies[1].state = "failed";
      await stage.pass(2000);
      await stage.pass(20000);
      return reads;"""
    assert follow(stage, script) == [2000]


def test_a_comparison_that_was_lost_is_tried_again(stage: Page) -> None:
    script = """lost = Object.assign(new Error("in trouble"), { status: 500 });
      await stage.pass(2000);
      const said = document.getElementById("announce").textContent;
      lost = null;
      studies[1].last_seq = 12;
      await stage.pass(2000);
      return [said, reads, verdicts];"""
    assert follow(stage, script) == ["in trouble", [2000, 4000], [0, 4000]]


def test_a_panel_of_a_comparison_is_fetched_once_at_a_time_and_again_after_a_failure(stage: Page) -> None:
    script = """let release = null;
      panel.refresh = () => new Promise((done, fail) => { drawn.push(stage.now); release = { done, fail }; });
      follower.again(panel);
      studies[1].last_seq = 13;
      await stage.pass(2000);
      follower.again(panel);
      await stage.settle();
      const busy = drawn.length;
      release.done();
      await stage.settle();
      const more = drawn.length;
      release.fail(new Error("lost"));
      await stage.settle();
      const said = note.textContent;
      await stage.pass(2000);
      return [busy, more, said, drawn];"""
    busy, more, said, drawn = follow(stage, script)
    assert (busy, more, said) == (2, 3, "lost")
    assert drawn == [0, 0, 2000, 4000]


def test_a_panel_of_a_comparison_out_of_view_is_left_alone(stage: Page) -> None:
    script = """await stage.see(panel.element, false);
      studies[1].last_seq = 14;
      await stage.pass(2000);
      const away = [...drawn];
      await stage.see(panel.element);
      return [away, drawn];"""
    assert follow(stage, script) == [[0], [0, 2000]]
