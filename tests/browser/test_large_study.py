"""A study of 1,000 trials × 20 epochs, made by posting events: the page holds up, also while reports arrive."""

from __future__ import annotations

import threading

from playwright.sync_api import expect

from tests.benchmarks.dashboard import fill
from tests.browser.pages import FRONT, POINTS, Open, needs_chromium
from tests.processes import Running

pytestmark = needs_chromium

TRIALS = 1000
A_SECOND = 20
HEIGHT = """(name, trial) => {
  const { data } = document.querySelector(`[data-figure="${name}"] .plot`);
  const trace = data.find((each) => each.customdata?.includes(trial));
  return trace?.y[trace.customdata.indexOf(trial)];
}"""


def test_a_thousand_trials_stay_usable_while_reports_arrive(alone: Running, opened: Open) -> None:
    made = fill(alone, TRIALS, finish=False)
    trials = [t["id"] for t in alone.get(f"/api/studies/{made.study}/trials", limit=TRIALS).json()["trials"]]
    page = opened(alone).goto(f"/studies/{made.study}")
    page.wait_for_function(f"([name, count]) => ({POINTS})(name) === count", arg=[FRONT, TRIALS])
    page.get_by_role("tab", name="Trials").click()
    expect(page.get_by_text("first 100 of 1,000 trials")).to_be_visible()

    stop = threading.Event()

    def report() -> None:
        """Twenty reports a second, as a busy cluster sends them."""
        epoch = 21
        while not stop.wait(1.0) and epoch < 60:
            metrics = {"epoch": epoch, "seconds": 3.0, "i_xz_bits": 0.5, "i_zy_bits": 3.0, "accuracy": 0.01 * epoch}
            events = [
                {"uid": f"{trial}:{epoch}", "kind": "report", "trial": trial, "metrics": metrics}
                for trial in trials[:A_SECOND]
            ]
            alone.post(f"/api/studies/{made.study}/reports", json={"events": events}).raise_for_status()
            epoch += 1

    sender = threading.Thread(target=report)
    sender.start()
    try:
        where = page.get_by_label("Where")
        where.fill("i_xz_bits = 0.5")
        expect(page.locator(".trials tbody tr")).to_have_count(A_SECOND)
        for name in ("Sensitivity", "Curves", "Weights", "Cost"):
            page.get_by_role("tab", name=name).click()
            page.wait_for_function(
                "[...document.querySelectorAll('[role=tabpanel]:not([hidden]) .plot')].some((p) => p.data)"
            )
        page.get_by_role("tab", name="Trials").click()
        page.locator(".trials tbody tr button").first.click()
        expect(page.get_by_role("complementary", name="Trial")).to_contain_text(trials[0])
        page.wait_for_function(f"([name, trial]) => ({HEIGHT})(name, trial) === 3", arg=[FRONT, trials[0]])
    finally:
        stop.set()
        sender.join()
