"""Requests of the page: what they carry, what comes of them, and the token when the service asks for one."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from tests.browser.pages import needs_chromium
from tests.browser.stage import play

pytestmark = needs_chromium

# `said(promise)` is what came of it, as plain values.
API = """
  const api = await load("kit/api");
  const said = (asked) => asked.then((value) => ({ value }), (error) => ({ kind: error.constructor.name,
    message: error.message, status: error.status ?? null, details: error.details ?? null }));
"""


def api(page: Page, script: str) -> Any:
    return play(page, f"async (stage) => {{ {API} {script} }}")


def test_an_answer_is_its_value_or_its_error_in_words(stage: Page) -> None:
    script = """const detail = { path: "seeds", message: "none" };
      const error = { message: "wrong", details: [detail] };
      stage.answers = { "/a": { x: 1 }, "/none": () => new Response(null, { status: 204 }),
        "/bad": () => Response.json({ error }, { status: 422 }),
        "/broken": () => new Response("<html>", { status: 500 }), "/zero": () => Response.json(0) };
      return Promise.all(["/a", "/none", "/bad", "/broken", "/zero"].map((path) => said(api.get(path))));"""
    value, none, bad, broken, zero = api(stage, script)
    assert (value, none, zero) == ({"value": {"x": 1}}, {"value": None}, {"value": 0})
    details = [{"path": "seeds", "message": "none"}]
    assert bad == {"kind": "ApiError", "message": "wrong", "status": 422, "details": details}
    assert broken == {"kind": "ApiError", "message": "The service answered 500.", "status": 500, "details": []}


def test_the_service_is_lost_and_found_once_each(stage: Page) -> None:
    script = """const told = [];
      api.onReachable((reached) => told.push(reached));
      const kinds = [];
      const bare = (text, status) => () => new Response(text, { status });
      const half = bare("{", 200);
      const answers = [new Error("lost"), bare("", 502), bare("", 504), bare("{}", 500), half, { fine: true }];
      for (const answer of answers) {
        stage.answers["/a"] = answer;
        kinds.push((await said(api.get("/a"))).kind ?? "value");
      }
      return [kinds, told];"""
    kinds, told = api(stage, script)
    assert kinds == ["Offline", "Offline", "Offline", "ApiError", "Offline", "value"]
    assert told == [False, True, False, True], "a refusal is an answer too, half an answer is none"


def test_requests_carry_what_they_must(stage: Page) -> None:
    script = """stage.answers = { "/a": {}, "/b": {} };
      await api.get("/a");
      await api.postYaml("/b", "name: x", { "Idempotency-Key": "k" });
      await api.post("/b");
      await api.remove("/b");
      const sent = stage.asked.map(({ method, body, headers, credentials, signal }) =>
        [method, body ?? null, headers, credentials, signal !== undefined]);
      const keys = Array.from({ length: 20 }, api.newKey);
      return [sent, new Set(keys).size, keys.every((key) => /^[0-9a-f]{32}$/.test(key)), api.studyPath("a/b c")];"""
    sent, different, wellformed, path = api(stage, script)
    yaml = {"Idempotency-Key": "k", "Content-Type": "application/yaml"}
    assert sent == [
        ["GET", None, {}, "same-origin", True],
        ["POST", "name: x", yaml, "same-origin", False],
        ["POST", None, {}, "same-origin", False],
        ["DELETE", None, {}, "same-origin", False],
    ], "only a question may be given up: a study may have been taken although its answer is late"
    assert (different, wellformed, path) == (20, True, "/api/studies/a%2Fb%20c")


def test_what_was_asked_early_is_taken_once_and_only_while_it_is_new(stage: Page) -> None:
    script = """const early = () => (window.early = new Map([["/a", Promise.resolve(Response.json("early"))]]));
      stage.answers["/a"] = "asked";
      early();
      const taken = [await api.get("/a"), await api.get("/a")];
      early();
      const posted = await api.post("/a");
      stage.now = 5001;
      early();
      const late = await api.get("/a");
      early();
      stage.now = 0;
      window.early.set("/a", Promise.resolve(null));
      const lost = await api.get("/a");
      delete window.early;
      return [taken, posted, late, lost];"""
    assert api(stage, script) == [["early", "asked"], "asked", "asked", "asked"]


def test_a_token_is_asked_for_once_and_kept_for_all_who_wait(stage: Page) -> None:
    script = """const jar = [];
      stage.answers["/api/session"] = ({ method, headers }) => {
        jar.push([method, headers.Authorization]);
        return jar.length === 2 ? new Response(null, { status: 204 }) : Response.json({}, { status: 401 });
      };
      stage.answers["/a"] = () => (jar.length === 2 ? { in: true } :
        Response.json({ error: { message: "who?" } }, { status: 401 }));
      const waiting = Promise.all([api.get("/a"), api.get("/a")]);
      const dialog = async () => {
        await stage.settle();
        const [only, ...others] = document.querySelectorAll("dialog");
        return { form: only.querySelector("form"), input: only.querySelector("input"), others: others.length,
          alert: only.querySelector("[role=alert]").textContent, only };
      };
      const first = await dialog();
      const closed = new Promise((done) => first.only.addEventListener("close", done));
      first.only.close();
      await closed;
      const stays = first.only.open;
      const valid = ["a b", "a;b", "wörd", "", "a,b=c"].map((text) => {
        first.input.value = text;
        return first.input.checkValidity();
      });
      first.input.value = "wrong";
      first.form.requestSubmit();
      const second = await dialog();
      second.input.value = "right";
      second.form.requestSubmit();
      const answers = await waiting;
      return [first.others, first.alert, stays, valid, second.alert, jar, answers,
        document.querySelectorAll("dialog").length];"""
    others, alert, stays, valid, again, jar, answers, left = api(stage, script)
    assert (others, alert, stays, again) == (0, "", True, "That token was refused.")
    assert valid == [False, False, False, False, True]
    assert jar == [["POST", "Bearer wrong"], ["POST", "Bearer right"]]
    assert (answers, left) == ([{"in": True}] * 2, 0)


def test_a_service_that_answers_is_there_and_a_gateway_without_one_is_not(stage: Page) -> None:
    script = """const told = [];
      for (const status of [500, 502, 503, 504]) {
        stage.answers["/a"] = () => Response.json({ error: { message: "said so" } }, { status });
        told.push(await api.get("/a").catch((error) => [error.status ?? null, error.message]));
      }
      return told;"""
    away = [None, "The service cannot be reached."]
    assert api(stage, script) == [[500, "said so"], away, [503, "said so"], away]
