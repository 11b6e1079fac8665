"""Pages under watch, and what a driver would send them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from tests.processes import Running

CHROMIUM = Path("/usr/bin/chromium")
# What playwright switches off where it matters here, as the last list counts; and the renderer of suggestions below an
# address bar, which nobody sees and which costs each new context as much as the page.
OFF = (
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
)
QUIET = [
    f"--disable-features={','.join(OFF)}",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 60_000  # milliseconds; a quiet machine takes none of them
POINTS = """name => {
  const plot = document.querySelector(`[data-figure="${name}"] .plot`);
  return (plot?.data ?? []).reduce((sum, trace) => sum + (trace.customdata?.length ?? 0), 0);
}"""
TRIALS_OF = """name => {
  const plot = document.querySelector(`[data-figure="${name}"] .plot`);
  return plot.data.flatMap((trace) => trace.customdata ?? []);
}"""
CALL = """async ([module, name, calls]) => {
  const called = (await import(`/assets/${module}.js`))[name];
  return calls.map((values) => called(...values) ?? null);
}"""
PLANE, FRONT = "information-plane", "pareto-front"

needs_chromium = pytest.mark.skipif(
    not CHROMIUM.exists(), reason="needs Debian's chromium in /usr/bin: apt-get install chromium"
)


class Watched:
    """A page, what it complained about, and where its requests went."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url, self.own = page, url, urlsplit(url).netloc
        self.complaints: list[str] = []
        self.hosts: set[str] = set()
        self.refusals_expected = False
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.hosts.add(self._host(request.url)))

    def _host(self, url: str) -> str:
        """What the page makes itself (blob:, data:) comes from itself."""
        return urlsplit(url.removeprefix("blob:")).netloc or self.own

    def goto(self, path: str) -> Page:
        self.page.goto(self.url + path)
        return self.page

    def check(self) -> None:
        """Nothing in the console but refusals a test provokes (the browser logs each 4xx), nothing from elsewhere."""
        refused = [text for text in self.complaints if "Failed to load resource" in text]
        assert [text for text in self.complaints if text not in refused] == []
        assert self.refusals_expected or not refused, refused
        assert self.hosts <= {self.own}


Open = Callable[..., Watched]
Run = Callable[..., list[Any]]


def submit(running: Running, spec: dict[str, Any]) -> tuple[str, list[str]]:
    study = running.post("/api/studies", json=spec).json()["id"]
    trials = running.get(f"/api/studies/{study}/trials").json()["trials"]
    return study, [trial["id"] for trial in trials]


def send(running: Running, study: str, *events: dict[str, Any]) -> None:
    numbered = [{"uid": "-".join(map(str, event.values()))[:150], **event} for event in events]
    running.post(f"/api/studies/{study}/reports", json={"events": numbered}).raise_for_status()


def trained(trial: str, place: int, epochs: int = 3) -> list[dict[str, Any]]:
    """The events of one trial; a later place is a better and a larger code."""
    reports = [
        {
            "kind": "report",
            "trial": trial,
            "metrics": {
                "epoch": epoch,
                "seconds": 0.5 * epoch,
                "i_xz_bits": 2.0 + place,
                "i_zy_bits": (1.0 + 0.2 * place) * epoch / epochs,
                "accuracy": (0.5 + 0.05 * place) * epoch / epochs,
            },
        }
        for epoch in range(1, epochs + 1)
    ]
    return [{"kind": "trial_started", "trial": trial}, *reports, {"kind": "trial_finished", "trial": trial}]


def wait_for_points(page: Page, figure: str, count: int) -> None:
    page.wait_for_function(f"([name, count]) => ({POINTS})(name) === count", arg=[figure, count])


def place_of(page: Page, trial: str) -> tuple[float, float]:
    """Where a trial's point is on the screen."""
    script = """([name, trial]) => {
      const plot = document.querySelector(`[data-figure="${name}"] .plot`);
      const box = plot.querySelector('.nsewdrag').getBoundingClientRect();
      const { xaxis, yaxis } = plot._fullLayout;
      for (const trace of plot.data) {
        const i = (trace.customdata ?? []).indexOf(trial);
        if (i >= 0) return [box.left + xaxis.d2p(trace.x[i]), box.top + yaxis.d2p(trace.y[i])];
      }
    }"""
    x, y = page.evaluate(script, [FRONT, trial])
    return x, y


# Draws nothing, but holds what it was given: for tests that are not about figures, plotly.js takes a second to run.
PLOTLY = """window.Plotly = {
  react: async (plot, data, layout) => Object.assign(plot, { data, layout, on() {} }),
  Plots: { resize() {} },
};"""


def without_drawing(page: Page) -> None:
    page.route("**/assets/plotly.min.js", lambda route: route.fulfill(body=PLOTLY, content_type="text/javascript"))
