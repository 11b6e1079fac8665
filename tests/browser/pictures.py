"""The README's pictures, made from a real study: `make pictures`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, sync_playwright

from frontends.client import Client
from tests.browser.pages import CHROMIUM, QUIET
from tests.processes import Running, short_home, up

DOCS = Path(__file__).parent.parent.parent / "docs"
DRAWN = """() => [...document.querySelectorAll('.plot')].filter((plot) => {
  const { top, bottom, width } = plot.getBoundingClientRect();
  return width && top < innerHeight && bottom > 0;
}).every((plot) => plot.querySelector('.main-svg'))"""


class Picture(NamedTuple):
    name: str
    path: str
    scheme: Any = "light"
    width: int = 1280
    height: int = 900


def take(browser: Browser, running: Running, picture: Picture) -> None:
    size: Any = {"width": picture.width, "height": picture.height}
    page = browser.new_page(viewport=size, color_scheme=picture.scheme)
    page.goto(f"{running.url}/?token={running.token}")
    page.goto(running.url + picture.path)
    page.wait_for_load_state("networkidle")
    page.wait_for_function(DRAWN)
    page.wait_for_timeout(500)  # plotly's last lines
    page.screenshot(path=DOCS / f"{picture.name}.png")
    page.close()


def main() -> None:
    with (
        short_home() as home,
        up(home) as running,
        Client(running.url, running.token) as client,
        sync_playwright() as playwright,
    ):
        preset = next(p for p in client.presets() if p["name"] == "beta-vs-mib-digits")
        study = client.submit(preset["text"]).wait(timeout=600)
        page = f"/studies/{study.id}"
        trial = next(t["id"] for t in study.trials(arm="MIB"))
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET)
        for picture in (
            Picture("dashboard", page),
            Picture("dashboard-dark", f"{page}?tab=trials&trial={trial}", "dark"),
            Picture("dashboard-phone", page, "dark", 390, 1180),
            Picture("new-study", "/new?preset=beta-vs-mib-digits&view=form"),
        ):
            take(browser, running, picture)
        browser.close()


if __name__ == "__main__":
    main()
