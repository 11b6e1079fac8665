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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import optuna
from playwright.sync_api import Browser, sync_playwright

from tests.benchmarks.row import Row
from tests.browser.pages import CHROMIUM, QUIET
from tests.processes import BIN, Running, answers, free_port, service_alone, short_home, until

EPOCHS, SEEDS, VISITS = 20, 10, 3
WITH_CURVES = 300  # trials that train for all βs
POINTS, CURVES = 24, 5  # of such a trial: places of its curve, and how often it reports one
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


def study_of_curves(trials: int) -> dict[str, Any]:
    """As many trainings for all βs, which differ in their learning rate."""
    rates = {"from": 1e-4, "to": 1e-2, "count": trials // SEEDS, "scale": "log"}
    arm = {"name": "all β", "weighting": {"name": "conditional", "points": POINTS}}
    return {**study(trials), "arms": [{**arm, "training": {"learning_rate": {"grid": rates}}}]}


def outcome(beta: float, chance: random.Random) -> tuple[float, float]:
    """Bits about the input and about the label, roughly as on digits."""
    rate = min(240.0, 0.3 / beta**0.6) * chance.uniform(0.9, 1.1)
    return rate, 3.1 * (1 - math.exp(-rate / 6)) * chance.uniform(0.93, 1.0)


def measured(rate: float, label: float, epoch: int) -> dict[str, float]:
    done = 1 - math.exp(-epoch / 5)
    return {
        "i_xz_bits": 100 * (1 - done) + rate * done,
        "i_xz_bits_stderr": 0.1,
        "i_zy_bits": label * done,
        "i_zy_bits_stderr": 0.02,
        "accuracy": 0.1 + 0.28 * label * done,
        "test_examples": 360,
        "train_accuracy": 0.12 + 0.28 * label * done,
        "generalization_gap": 0.02,
    }


def events_of(
    trial: str, rate: float, label: float, beta: float, curve: Sequence[tuple[float, float, float]] = ()
) -> Iterator[dict[str, Any]]:
    """`curve` are places of a trial that has many: β, and bits about the input and about the label."""
    yield {"uid": f"{trial}:s", "kind": "trial_started", "trial": trial, "host": "box"}
    for epoch in range(1, EPOCHS + 1):
        metrics = {
            "epoch": epoch,
            "seconds": 0.1 * epoch,
            "loss_pred": 2.3 - 0.69 * label * (1 - math.exp(-epoch / 5)),
            "loss_info": 0.69 * rate,
            "weight_pred": 1.0,
            "weight_info": beta,
            **measured(rate, label, epoch),
        }
        event: dict[str, Any] = {"uid": f"{trial}:{epoch}", "kind": "report", "trial": trial, "metrics": metrics}
        if curve and epoch % (EPOCHS // CURVES) == 0:
            event["points"] = [{"where": {"beta": b}, "metrics": measured(r, y, epoch)} for b, r, y in curve]
        yield event
    yield {"uid": f"{trial}:f", "kind": "trial_finished", "trial": trial}


class Made(NamedTuple):
    """The same trials on both sides: β, seed, rate and label bits of each."""

    study: str
    trials: list[tuple[float | None, int, float, float]]


def fill(service: Running, trials: int, finish: bool = True, curves: bool = False) -> Made:
    """A study whose trials have all reported, made by posting events."""
    chance = random.Random(1)
    spec = study_of_curves(trials) if curves else study(trials)
    betas = [10.0 ** (-4 + 4 * i / (POINTS - 1)) for i in range(POINTS)] if curves else []
    study_id = service.post("/api/studies", json=spec).json()["id"]
    planned = service.get(f"/api/studies/{study_id}/trials", limit=20_000).json()["trials"]
    made, batch = [], [{"uid": "start", "kind": "study_started"}]

    def flush() -> None:
        service.post(f"/api/studies/{study_id}/reports", json={"events": batch}).raise_for_status()
        batch.clear()

    for trial in planned:
        beta = trial["config"].get("weighting.beta")
        rate, label = outcome(beta or 0.03, chance)
        curve = [(b, *outcome(b, chance)) for b in betas]
        told = events_of(trial["id"], rate, label, beta or 0.03, curve)
        batch += told if finish else [event for event in told if event["kind"] != "trial_finished"]
        made.append((beta, trial["seed"], rate, label))
        if len(batch) > (400 if curves else 4000):
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


def fronts(trials: int) -> list[Row]:
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

    def row(key: str, what: str, first: float, second: float, unit: str = "s") -> Row:
        name = f"front-{trials}{key}"
        return Row(name, "dashboard", f"{trials:,} trials, {what}: optuna-dashboard / Paretoscope", first, second, unit)

    later, cold = "time to the painted Pareto front", "the same on the first visit after both servers were started"
    return [
        row("", later, theirs[1].seconds, ours[1].seconds),
        row("-first", cold, theirs[0].seconds, ours[0].seconds),
        row("-bytes", "bytes sent", theirs[0].bytes / 1e6, ours[0].bytes / 1e6, "MB"),
        row("-plotly", "time to the front by plotly.js", theirs[1].seconds, whole.seconds),
    ]


def curves(plain: int) -> list[Row]:
    """A study of trainings for all βs against one of so many single points: how much longer its front takes."""
    with short_home() as home, sync_playwright() as playwright:
        with service_alone(home) as service:
            studies = [fill(service, WITH_CURVES, curves=True).study, fill(service, plain).study]
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET)
        seen: list[tuple[Visit, Visit, Visit]] = []
        for study_id in studies:
            with service_alone(home) as service:
                address = f"{service.url}/studies/{study_id}"
                seen.append((*visits(browser, address, OURS), visits(browser, address, PLOTLY)[1]))
        browser.close()

    def row(key: str, what: str, own: Visit, other: Visit) -> Row:
        name = f"{WITH_CURVES} trials × {POINTS} points / {plain:,} trials"
        return Row(f"curves-{plain}{key}", "curves", f"{what}: {name}", own.seconds, other.seconds)

    return [
        row("-first", "time to the painted Pareto front, first visit", seen[0][0], seen[1][0]),
        row("", "time to the painted Pareto front", seen[0][1], seen[1][1]),
        row("-plotly", "time to the front by plotly.js", seen[0][2], seen[1][2]),
    ]
