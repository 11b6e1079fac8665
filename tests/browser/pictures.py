"""The README's pictures, made from a real study: `make pictures`."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import sync_playwright

from frontends.client import Client
from tests.browser.pages import CHROMIUM, QUIET
from tests.processes import short_home, up

DOCS = Path(__file__).parent.parent.parent / "docs"


def main() -> None:
    with short_home() as home, up(home) as running, Client(running.url) as client, sync_playwright() as playwright:
        preset = next(p for p in client.presets() if p["name"] == "beta-vs-mib-digits")
        study = client.submit(preset["text"]).wait(timeout=600)
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET)
        for name, scheme in (("dashboard", "light"), ("dashboard-dark", "dark")):
            page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
            page.goto(study.page)
            page.wait_for_function("document.querySelectorAll('.main-svg .scatterlayer .trace').length >= 4")
            page.wait_for_timeout(500)
            page.screenshot(path=DOCS / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
