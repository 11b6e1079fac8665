"""A page of another site, open in the same browser: it cannot submit, whatever it tries."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.pages import PATIENCE, needs_chromium
from tests.processes import Running, service_alone, short_home

pytestmark = needs_chromium

# Everything that a page may send without being asked for permission first, and what it may not.
ATTEMPTS = """async ([url, body, study]) => {
  const tries = [];
  for (const act of ["pause", "cancel"]) {
    const sent = { method: "POST", mode: "no-cors", credentials: "include" };
    tries.push(fetch(`${url}/api/studies/${study}/${act}`, sent).then((answer) => answer.status, () => "stopped"));
  }
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json", "application/yaml"]) {
    for (const mode of ["cors", "no-cors"]) {
      const sent = { method: "POST", mode, credentials: "include", headers: { "Content-Type": type }, body };
      tries.push(fetch(`${url}/api/studies`, sent).then((answer) => answer.status, () => "stopped"));
    }
  }
  tries.push(fetch(`${url}/api/studies`, { credentials: "include" }).then(() => "read", () => "stopped"));
  navigator.sendBeacon(`${url}/api/studies`, body);
  navigator.sendBeacon(`${url}/api/studies/${study}/cancel`);
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
def foreign_site(name: str) -> Iterator[str]:
    """Another site; by the service's own name it is another port, to the browser the same site with the same cookie."""

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
        yield f"http://{name}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def attack(browser: Browser, service: Running, name: str, signed_in: bool) -> None:
    """From a page on the same machine but another origin, with the service's cookie in the browser or without.

    A body needs its type, which a foreign page cannot send unasked; a call without one is turned away by where it
    comes from alone.
    """
    before = ids(service)
    study = service.post("/api/studies", json=json.loads(BODY)).json()["id"]
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    try:
        with foreign_site(name) as site:
            if signed_in:
                page.goto(f"{service.url}/?token={service.token}")
                [cookie] = context.cookies()
                assert (cookie.get("httpOnly"), cookie.get("sameSite")) == (True, "Strict")
                assert page.url == f"{service.url}/" and page.evaluate("document.cookie") == ""
            page.goto(site)
            answers = list(page.evaluate(ATTEMPTS, [service.url, BODY, study]))
            with page.expect_navigation():
                page.evaluate(FORM, [service.url, BODY])
            assert page.url == f"{service.url}/api/studies" and '"error"' in page.content()
    finally:
        context.close()
    assert set(answers) == {"stopped"}
    assert ids(service) == [study, *before] and service.get(f"/api/studies/{study}").json()["state"] == "queued"


def ids(service: Running) -> list[str]:
    return [study["id"] for study in service.get("/api/studies").json()["studies"]]


@pytest.fixture(scope="module")
def guarded() -> Iterator[Running]:
    with short_home() as home, service_alone(home, PARETOSCOPE_TOKEN="secret-of-the-owner") as service:
        yield service._replace(token="secret-of-the-owner")


def test_a_foreign_page_cannot_submit_where_no_token_is_asked_for(alone: Running, browser: Browser) -> None:
    attack(browser, alone, "localhost", signed_in=False)


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
def test_a_foreign_page_cannot_submit_with_the_cookie_of_who_is_signed_in(
    guarded: Running, browser: Browser, name: str
) -> None:
    attack(browser, guarded, name, signed_in=True)
