"""A page without a service: the modules from disk, and a stage on which the network, the clock and the eyes obey."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page, Route

from service.routes.catalog import _catalog
from service.routes.pages import DASHBOARD, INDEX, STYLES, _index
from service.web.assets import KINDS, below

URL = "http://stage.test"

# `stage.play(act)` runs `act(stage)` while nothing happens by itself: requests get what `answers` holds for their
# address (a value, an `Error`, or a function of the request), time passes by `stage.pass(milliseconds)` alone.
STAGE = """window.stage = {
  async play(act) {
    const real = { fetch, setTimeout, clearTimeout, EventSource, IntersectionObserver, now: performance.now };
    const timers = new Map();
    const own = { asked: [], answers: {}, streams: [], now: 0, hidden: false, watched: [] };
    let count = 0;
    const listening = [];
    document.addEventListener = function (...how) {
      listening.push(how);
      return EventTarget.prototype.addEventListener.apply(this, how);
    };
    const settle = () => new Promise((done) => real.setTimeout.call(window, done, 0));
    own.settle = async () => { for (let i = 0; i < 3; i += 1) await settle(); };
    own.pass = async (milliseconds) => {
      const end = own.now + milliseconds;
      for (;;) {
        const due = [...timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at)[0];
        if (!due) break;
        timers.delete(due[0]);
        own.now = Math.max(own.now, due[1].at);
        due[1].act();
        await own.settle();
      }
      own.now = Math.max(own.now, end);
      await own.settle();
    };
    own.hide = async (hidden) => {
      own.hidden = hidden;
      document.dispatchEvent(new Event("visibilitychange"));
      await own.settle();
    };
    own.see = async (element, isIntersecting = true) => {
      for (const { tell, seen } of own.watched) if (seen.has(element)) tell([{ target: element, isIntersecting }]);
      await own.settle();
    };
    window.fetch = async (path, sent = {}) => {
      own.asked.push({ path, at: own.now, ...sent });
      const held = own.answers[path] ?? own.answers[path.split("?")[0]];
      const found = typeof held === "function" ? await held({ path, ...sent }) : held;
      if (found instanceof Error) throw found;
      if (found instanceof Response) return found;
      if (found === undefined) return Response.json({ error: { message: `nothing at ${path}` } }, { status: 404 });
      return Response.json(found);
    };
    window.setTimeout = (act, delay = 0) => { timers.set(++count, { act, at: own.now + delay }); return count; };
    window.clearTimeout = (id) => timers.delete(id);
    performance.now = () => own.now;
    window.EventSource = class extends EventTarget {
      constructor(path) { super(); Object.assign(this, { path, closed: false }); own.streams.push(this); }
      close() { this.closed = true; }
      say(kind, id) { this.dispatchEvent(Object.assign(new Event(kind), { lastEventId: String(id) })); }
    };
    window.IntersectionObserver = class {
      constructor(tell) { this.seen = new Set(); this.tell = tell; own.watched.push(this); }
      observe(element) { this.seen.add(element); }
    };
    Object.defineProperty(document, "hidden", { configurable: true, get: () => own.hidden });
    try {
      return await act(own);
    } finally {
      const { now, ...others } = real;
      Object.assign(window, others);
      performance.now = now;
      delete document.hidden;
      delete document.addEventListener;
      for (const how of listening) document.removeEventListener(...how);
      history.replaceState(null, "", "/compare");
    }
  },
};"""

# Draws nothing; `plot.acts` are what the page listens to, `Plotly.saved` what it would have saved.
PLOTLY = """window.Plotly = {
  react: async (plot, data, layout, config) => {
    plot.acts ??= {};
    Object.assign(plot, { data, layout, config, on: (kind, act) => (plot.acts[kind] = act) });
  },
  downloadImage: async (figure, file) => { window.Plotly.saved = { figure, file }; },
  Plots: { resize() {} },
};"""


def answer(route: Route) -> None:
    path = urlsplit(route.request.url).path
    if path == "/assets/plotly.min.js":
        route.fulfill(body=PLOTLY, content_type="text/javascript")
        return
    if path == "/assets/style.css":
        route.fulfill(body=b"".join(style.read_bytes() for style in STYLES), content_type="text/css")
        return
    if path == "/api/catalog":
        route.fulfill(body=_catalog().plain, content_type="application/json")
        return
    if not path.startswith("/assets/"):
        route.fulfill(body=_index(INDEX.stat().st_mtime_ns).plain, content_type="text/html")
        return
    file = below(DASHBOARD, path.removeprefix("/assets/"))
    route.fulfill(body=file.read_bytes(), content_type=KINDS[file.suffix])


def play(page: Page, script: str, argument: Any = None) -> Any:
    """What `async (stage, argument) => …` answers on the stage; modules are there as `await load("kit/api")`."""
    load = "const load = (name) => import(`/assets/${name}.js`);"
    return page.evaluate(
        f"(argument) => {{ {load} return stage.play((stage) => ({script})(stage, argument)); }}", argument
    )
