"""How the page writes numbers, times, states and comparisons: the modules by themselves, in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from service.contract.wording.keys import key_label
from tests.browser.pages import Run, needs_chromium

pytestmark = needs_chromium

NUMBERS = Path(__file__).parent.parent / "service" / "contract" / "wording" / "numbers.json"
TABLE = json.loads(NUMBERS.read_text())
IN_SCRIPT = {"percent_spread": "percentSpread", "over_seeds": "overSeeds"}
IN_SCRIPT |= {"percent_range": "percentRange", "setting_range": "settingRange"}


@pytest.mark.parametrize("function", TABLE)
def test_the_page_writes_numbers_as_the_table_says(run: Run, function: str) -> None:
    values, texts = zip(*TABLE[function], strict=True)
    assert run("kit/format", IN_SCRIPT.get(function, function), *values) == list(texts)


def test_what_is_no_number_is_a_dash_on_the_page_too(page: Page) -> None:
    script = """async () => {
      const { number, setting, percent, duration, spread } = await import("/assets/kit/format.js");
      return [NaN, Infinity, undefined].flatMap((v) => [number(v), percent(v), duration(v), spread(v, 1)]);
    }"""
    assert set(page.evaluate(script)) == {"–"}


def test_ticks_of_a_sketch_are_chosen_values(run: Run) -> None:
    scales = [{"low": -0.32, "high": 0.33}, {"low": 0, "high": 12000}, {"low": -5, "high": 1, "isLog": True}]
    small, large, log = run("figures/sketch", "ticksOf", *([scale, {}] for scale in scales))
    assert [label for _, label in small] == ["−0.3", "−0.2", "−0.1", "0", "0.1", "0.2", "0.3"], "0 is hit exactly"
    assert [label for _, label in large] == ["0", "2000", "4000", "6000", "8000", "10000", "12000"]
    assert [label for _, label in log] == ["1e−5", "0.0001", "0.001", "0.01", "0.1", "1", "10"]


def test_a_learning_curve_says_its_values_as_the_page_does(page: Page) -> None:
    script = """async () => {
      const { curveFigure } = await import("/assets/figures/curve.js");
      const row = (name, kind) => [name, { name, kind, label: name }];
      const metrics = new Map([row("epoch", "epoch"), row("accuracy", "accuracy")]);
      const reports = [{ epoch: 1, accuracy: 1234.5 }, { epoch: 2, accuracy: null }, { epoch: 3, accuracy: 1.234e-5 }];
      return curveFigure(reports, "#000", metrics, [{ metric: "accuracy" }]).data;
    }"""
    (line,) = page.evaluate(script)
    assert (line["x"], line["text"], line["mode"]) == ([1, 3], ["1,230", "1.23e−5"], "lines")
    assert line["hovertemplate"] == "epoch %{x}<br>accuracy %{text}<extra></extra>"


def test_labels_counts_and_times_in_words(run: Run) -> None:
    keys = [
        ["weighting.beta"],
        ["weighting.mu"],
        ["training.learning_rate"],
        ["weighting.weights.constructor"],
        ["beta"],
        ["weighting.beta_min"],
    ]
    labels = run("kit/format", "configLabel", *keys)
    assert labels == ["β", "μ", "learning rate", "constructor", "β", "β min"]
    assert [key_label(key) for (key,) in keys if "weights" not in key] == [*labels[:3], *labels[4:]], "as figures say"
    assert run("kit/format", "plural", [1, "trial"], [0, "trial"], [1234, "trial"]) == [
        "1 trial",
        "0 trials",
        "1,234 trials",
    ]
    assert run("kit/format", "metricLabel", [{"label": "I(X;Z)", "unit": "bits"}], [{"label": "f1", "unit": ""}]) == [
        "I(X;Z) [bits]",
        "f1",
    ]


def study(**changed: Any) -> dict[str, Any]:
    counts = {"planned": 6, "running": 2, "finished": 3, "failed": 1, "stopped": 0, "collapsed": 0}
    times = {"started_at": None, "ended_at": None, "eta_seconds": None}
    return {"state": "running", "counts": counts, "queue_position": None, **times, **changed}


def test_a_state_is_said_in_words(run: Run) -> None:
    times = {"started_at": "2026-01-01T10:00:00Z", "ended_at": "2026-01-01T20:00:00Z", "ran_seconds": 192}
    cases = {
        "queued": study(state="queued"),
        "queued, place 2 in the queue": study(state="queued", queue_position=2),
        "running 3/6": study(),
        "running 3/6 · 30 s left": study(eta_seconds=30),
        "paused 3/6": study(state="paused"),
        "finished in 3 m 12 s": study(state="finished", **times),
        "finished": study(state="finished"),
        "failed after 3 m 12 s": study(state="failed", **times),
        "failed": study(state="failed", ended_at="2026-01-01T10:03:12Z"),
        "cancelled, 3 of 6 trials finished": study(state="cancelled", **times),
    }
    assert run("kit/state-words", "stateWords", *([each] for each in cases.values())) == list(cases)


def test_an_arm_is_said_to_lie_where_it_was_tested_to_lie(run: Run) -> None:
    arm = {"distance": {"mean": -0.12, "half_width": 0.03, "seeds": 3}}
    one, none = ({"distance": {"mean": mean, "half_width": None, "seeds": n}} for mean, n in ((0.2, 1), (None, 0)))
    between, nearly = ({"distance": {"mean": 0, "half_width": half, "seeds": 3}} for half in (0, 0.031))
    pair = {"standing": "below", "standing_words": "below the front", "distance_p_value": 0.01}
    untested = {**pair, "distance_p_value": None}
    cases = [
        [arm, pair],
        [arm, {**pair, "standing_words": "as the service says it"}],
        [arm, untested],
        [one, untested],
        [between, untested],
        [nearly, {**pair, "distance_p_value": 1}],
        [none, untested],
        [none, {**untested, "standing": None}],
        [arm, None],
    ]
    assert run("pages/arms-table", "againstWords", *cases) == [
        *("below the front, −0.120 ± 0.030", "as the service says it, −0.120 ± 0.030"),
        *("below the front, −0.120 ± 0.030, not tested", "below the front, 0.200, one seed"),
        *("below the front", "below the front, 0 ± 0.03", "below the front", "–", "–"),
    ]


def test_where_an_arm_lands_is_said_in_the_baselines_settings(run: Run) -> None:
    one = {"mean": 0.0123, "lower": None, "upper": None}
    two = {"weighting.beta": {"mean": 0.1, "lower": 0.05, "upper": 0.2}, "training.l2": {**one, "mean": 0.5}}
    ends = {"weighting.beta": [one, two["weighting.beta"]]}
    cases: list[Any] = [[{"amounts_to_over_seeds": own}] for own in ({"weighting.beta": one}, two, {})]
    cases.append([{"amounts_to_over_seeds": {}, "lands_between": ends}])
    single, both, none, between = run("pages/arms-table", "landsWords", *cases)
    assert (single, both, none) == ("β ≈ 0.0123", "β ≈ 0.1 (0.05 to 0.2) and l2 ≈ 0.5", "–")
    assert between == "β ≈ 0.0123 to 0.1 (0.05 to 0.2)"
