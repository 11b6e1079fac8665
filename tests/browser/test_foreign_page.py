"""A page of another site, open in the same browser: it cannot submit, whatever it tries."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from playwright.sync_api import Browser

from tests.browser.pages import PATIENCE, needs_chromium
from tests.processes import Running, service_alone, short_home

pytestmark = needs_chromium

# Everything that a page may send without being asked for permission first, and what it may not.
ATTEMPTS = """async ([url, body]) => {
  const tries = [];
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json", "application/yaml"]) {
    for (const mode of ["cors", "no-cors"]) {
      const sent = { method: "POST", mode, credentials: "include", headers: { "Content-Type": type }, body };
      tries.push(fetch(`${url}/api/studies`, sent).then((answer) => answer.status, () => "stopped"));
    }
  }
  tries.push(fetch(`${url}/api/studies`, { credentials: "include" }).then(() => "read", () => "stopped"));
  navigator.sendBeacon(`${url}/api/studies`, body);
  return Promise.all(tries);
}"""
FORM = """([url, body]) => {
  const way = { method: "post", action: `${url}/api/studies`, enctype: "text/plain" };
  const form = Object.assign(document.createElement("form"), way);
  const [name, value] = [body.slice(0, -1) + ', "x": "', '"}'];
  form.append(Object.assign(document.createElement("input"), { name, value }));
  document.body.append(form);
  form.submit();
}"""
BODY = '{"name": "foreign", "arms": [{"name": "a", "weighting": {"name": "uniform"}}]}'


@contextmanager
def foreign_site() -> Iterator[str]:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><body>another site</body>")

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def attack(browser: Browser, service: Running, signed_in: bool) -> list[Any]:
    """From a page on the same machine but another origin, with the service's cookie in the browser or without."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    try:
        with foreign_site() as site:
            if signed_in:
                page.goto(f"{service.url}/?token=secret")
                [cookie] = context.cookies()
                assert (cookie.get("httpOnly"), cookie.get("sameSite")) == (True, "Strict")
                assert page.url == f"{service.url}/" and page.evaluate("document.cookie") == ""
            page.goto(site)
            answers = list(page.evaluate(ATTEMPTS, [service.url, BODY]))
            with page.expect_navigation():
                page.evaluate(FORM, [service.url, BODY])
            assert page.url == f"{service.url}/api/studies" and '"error"' in page.content()
        return answers
    finally:
        context.close()


def test_a_foreign_page_cannot_submit_where_no_token_is_asked_for(browser: Browser) -> None:
    with short_home() as home, service_alone(home) as service:
        assert set(attack(browser, service, signed_in=False)) == {"stopped"}
        assert service.get("/api/studies").json()["studies"] == []


def test_a_foreign_page_cannot_submit_with_the_cookie_of_who_is_signed_in(browser: Browser) -> None:
    with short_home() as home, service_alone(home, PARETOSCOPE_TOKEN="secret") as service:
        assert set(attack(browser, service, signed_in=True)) == {"stopped"}
        assert service._replace(token="secret").get("/api/studies").json()["studies"] == []
