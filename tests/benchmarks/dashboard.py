"""Time to the first drawn Pareto front and bytes sent: this dashboard and optuna-dashboard on the same trials.

Both servers are started fresh on a finished study, then visited with an empty browser cache, in turn; the first visit
is the cold one. Ours also has twenty reports a trial, which Optuna does not keep for several objectives.
"""

from __future__ import annotations

import json
import math
import random
import statistics
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import optuna
from playwright.sync_api import Browser, sync_playwright

from tests.browser.pages import CHROMIUM, QUIET
from tests.processes import BIN, Running, answers, free_port, service_alone, short_home, until

EPOCHS, SEEDS, VISITS = 20, 10, 3
OURS = "[data-figure=pareto-front] canvas.sketch, [data-figure=pareto-front] .scatterlayer path.point"
PLOTLY = "[data-figure=pareto-front] .scatterlayer path.point"
THEIRS = "#graph-pareto-front .scatterlayer path.point"
# Notes when the first element of a selector has been painted; a script that runs long cannot delay the note.
WATCH = """selector => {
  const note = () => requestAnimationFrame(() => setTimeout(() => (window.drawnAt ??= performance.now()), 0));
  const watcher = new MutationObserver(() => document.querySelector(selector) && (watcher.disconnect(), note()));
  watcher.observe(document, { childList: true, subtree: true });
}"""


class Visit(NamedTuple):
    seconds: float
    bytes: int


def study(trials: int) -> dict[str, Any]:
    grid = {"from": 1e-5, "to": 1.0, "count": trials // SEEDS - 1, "scale": "log"}
    return {
        "name": f"{trials} trials",
        "training": {"epochs": EPOCHS},
        "seeds": list(range(SEEDS)),
        "limits": {"trials": 20_000},
        "arms": [
            {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": grid}}},
            {"name": "MIB", "weighting": {"name": "mib"}},
        ],
    }


def outcome(beta: float, chance: random.Random) -> tuple[float, float]:
    """Bits about the input and about the label, roughly as on digits."""
    rate = min(240.0, 0.3 / beta**0.6) * chance.uniform(0.9, 1.1)
    return rate, 3.1 * (1 - math.exp(-rate / 6)) * chance.uniform(0.93, 1.0)


def events_of(trial: str, rate: float, label: float, beta: float) -> Iterator[dict[str, Any]]:
    yield {"uid": f"{trial}:s", "kind": "trial_started", "trial": trial, "host": "box"}
    for epoch in range(1, EPOCHS + 1):
        done = 1 - math.exp(-epoch / 5)
        metrics = {
            "epoch": epoch,
            "seconds": 0.1 * epoch,
            "loss_pred": 2.3 - 0.69 * label * done,
            "loss_info": 0.69 * rate,
            "weight_pred": 1.0,
            "weight_info": beta,
            "i_xz_bits": 100 * (1 - done) + rate * done,
            "i_xz_bits_stderr": 0.1,
            "i_zy_bits": label * done,
            "i_zy_bits_stderr": 0.02,
            "accuracy": 0.1 + 0.28 * label * done,
            "test_examples": 360,
            "train_accuracy": 0.12 + 0.28 * label * done,
            "generalization_gap": 0.02,
        }
        yield {"uid": f"{trial}:{epoch}", "kind": "report", "trial": trial, "metrics": metrics}
    yield {"uid": f"{trial}:f", "kind": "trial_finished", "trial": trial}


class Made(NamedTuple):
    """The same trials on both sides: β, seed, rate and label bits of each."""

    study: str
    trials: list[tuple[float | None, int, float, float]]


def fill(service: Running, trials: int, finish: bool = True) -> Made:
    """A study whose trials have all reported, made by posting events."""
    chance = random.Random(1)
    study_id = service.post("/api/studies", json=study(trials)).json()["id"]
    planned = service.get(f"/api/studies/{study_id}/trials", limit=20_000).json()["trials"]
    made, batch = [], [{"uid": "start", "kind": "study_started"}]

    def flush() -> None:
        service.post(f"/api/studies/{study_id}/reports", json={"events": batch}).raise_for_status()
        batch.clear()

    for trial in planned:
        beta = trial["config"].get("weighting.beta")
        rate, label = outcome(beta or 0.03, chance)
        batch += events_of(trial["id"], rate, label, beta or 0.03)
        made.append((beta, trial["seed"], rate, label))
        if len(batch) > 4000:
            flush()
    if finish:
        batch.append({"uid": "end", "kind": "study_finished"})
    flush()
    return Made(study_id, made)


def fill_optuna(folder: Path, made: Made) -> str:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    url = f"sqlite:///{folder / 'optuna.db'}"
    directions = [optuna.study.StudyDirection.MINIMIZE, optuna.study.StudyDirection.MAXIMIZE]
    target = optuna.create_study(storage=url, study_name="same trials", directions=directions)
    beta_range = optuna.distributions.FloatDistribution(1e-5, 1.0, log=True)
    seed_range = optuna.distributions.IntDistribution(0, SEEDS - 1)
    target.add_trials(
        [
            optuna.trial.create_trial(
                params={"beta": beta or 0.03, "seed": seed},
                distributions={"beta": beta_range, "seed": seed_range},
                values=[rate, label],
            )
            for beta, seed, rate, label in made.trials
        ]
    )
    return url


@contextmanager
def optuna_dashboard(storage: str) -> Iterator[str]:
    port = free_port()
    command = [str(BIN / "optuna-dashboard"), storage, "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}"
        until(lambda: answers(f"{url}/dashboard"), "optuna-dashboard answers")
        yield f"{url}/dashboard/studies/1"
    finally:
        process.terminate()
        process.wait(timeout=20)


def visit(browser: Browser, address: str, selector: str) -> Visit:
    """An empty cache, one navigation, from its start to the painted front; bytes on the wire until a second later."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    wire = context.new_cdp_session(page)
    wire.send("Network.enable")
    total = 0

    def arrived(event: dict[str, Any]) -> None:
        nonlocal total
        total += int(event["encodedDataLength"])

    wire.on("Network.loadingFinished", arrived)
    page.add_init_script(f"({WATCH})({json.dumps(selector)})")
    page.goto(address, wait_until="commit")
    milliseconds = page.wait_for_function("window.drawnAt", polling=50, timeout=120_000).json_value()
    page.wait_for_timeout(1000)
    context.close()
    return Visit(milliseconds / 1000, total)


def visits(browser: Browser, address: str, selector: str) -> tuple[Visit, Visit]:
    """The first, with a server that has done nothing yet, and the median of the later ones."""
    first, *later = [visit(browser, address, selector) for _ in range(1 + VISITS)]
    return first, Visit(statistics.median(v.seconds for v in later), later[-1].bytes)


def fronts(trials: int) -> list[tuple[str, float, str]]:
    rows = []
    with short_home() as home, sync_playwright() as playwright:
        with service_alone(home) as service:
            made = fill(service, trials)
        storage = fill_optuna(home, made)
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET)
        with optuna_dashboard(storage) as address:
            theirs = visits(browser, address, THEIRS)
        with service_alone(home) as service:
            address = f"{service.url}/studies/{made.study}"
            ours = visits(browser, address, OURS)
            whole = visits(browser, address, PLOTLY)[1]
        browser.close()
    for which, other, own in (("first visit", theirs[0], ours[0]), ("later visits", theirs[1], ours[1])):
        name = f"{trials:,} trials, {which}: front drawn, optuna-dashboard / Paretoscope"
        rows.append((name, other.seconds / own.seconds, f"{other.seconds:.1f} s / {own.seconds:.2f} s"))
    sent = f"{theirs[0].bytes / 1e6:.1f} MB / {ours[0].bytes / 1e6:.1f} MB"
    rows.append(
        (f"{trials:,} trials: bytes sent, optuna-dashboard / Paretoscope", theirs[0].bytes / ours[0].bytes, sent)
    )
    later = f"{theirs[1].seconds:.1f} s / {whole.seconds:.2f} s"
    rows.append((f"{trials:,} trials, later visits: the same, by plotly", theirs[1].seconds / whole.seconds, later))
    return rows
