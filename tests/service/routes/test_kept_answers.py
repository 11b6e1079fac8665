"""What is kept from one request to the next: only what the next one asks for, and only while it is still so."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from service.contract.vocabulary import vocabulary
from service.routes import pages
from service.views.fold import StudyView
from tests.service.bench import Bench
from tests.service.figures.test_latent_figure import MAP

ARMS: list[dict[str, Any]] = [
    {"name": name, "weighting": {"name": "fixed", "beta": {"grid": grid}}}
    for name, grid in (("low", [0.1, 0.2]), ("middle", [0.3, 0.4]), ("high", [0.5, 0.6]))
]


@pytest.fixture(scope="module")
def study(bench: Bench) -> str:
    """Three arms of two trials, each with a place of its own."""
    study = bench.submit(seeds=[0], arms=ARMS, evaluation={"latent_map": {"points": 10}})
    for i, trial in enumerate(bench.trials(study)):
        metrics = {"epoch": 1, "i_xz_bits": 9.0 - i, "i_zy_bits": 1.0 + i, "accuracy": 0.1 * (i + 1)}
        bench.report(study, {"uid": trial, "kind": "report", "trial": trial, "metrics": metrics})
    return study


def test_another_arm_is_another_figure(bench: Bench, study: str) -> None:
    path = f"/api/studies/{study}/figures/attainment-difference"

    def arms(*chosen: str) -> set[str]:
        drawn = bench.get(path, **({"arm": list(chosen)} if chosen else {}))
        return {arm["name"] for arm in ARMS if any(arm["name"] in trace["name"] for trace in drawn["data"])}

    for chosen in (("low", "middle"), ("low", "high"), ("middle", "high"), ("low", "middle")):
        assert arms(*chosen) == set(chosen)


def test_another_trial_is_another_figure(bench: Bench, study: str) -> None:
    first, *_, last = bench.trials(study)
    path = f"/api/studies/{study}"
    for trial in (first, last):
        put = bench.ask("PUT", f"{path}/trials/{trial}/artifacts/latent-map.json", content=json.dumps(MAP).encode())
        assert put.status_code == 204
    for trial, arm in ((first, "low"), (last, "high"), (first, "low")):
        drawn = json.dumps(bench.get(f"{path}/figures/latent-map", trial=trial), ensure_ascii=False)
        assert [each["name"] for each in ARMS if f"{each['name']} · " in drawn] == [arm]


def test_a_choice_is_not_taken_for_another_that_reads_the_same(bench: Bench, study: str) -> None:
    """There is no arm `low:high` and no metric `None`, also where what they look like was asked for before."""
    path = f"/api/studies/{study}/figures"
    for figure, known, unknown in (
        ("attainment-difference", {"arm": ["low", "high"]}, {"arm": ["low:high"]}),
        ("pareto-front", {}, {"x": "None"}),
    ):
        statuses = [bench.ask("GET", f"{path}/{figure}", params=asked).status_code for asked in (known, unknown)]
        assert statuses == [200, 422], figure


def test_studies_laid_over_each_other_are_held_in_one_order_and_shown_as_asked(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two readers that took them in the order they were asked for would wait for each other for ever."""
    one, two = (bench.submit(name=name) for name in ("one", "two"))
    plain, taken = bench.parts.views.read, list[str]()

    @contextmanager
    def read(study_id: str) -> Iterator[StudyView]:
        taken.append(study_id)
        with plain(study_id) as view:
            yield view

    monkeypatch.setattr(bench.parts.views, "read", read)
    for first, second in ((one, two), (two, one)):
        taken.clear()
        assert bench.get(f"/api/studies/{first}/comparison", studies=second)["study"] == f"{first}+{second}"
        assert taken == sorted([one, two])


# The page and its files


@pytest.fixture
def dashboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(pages, "DASHBOARD", tmp_path)
    monkeypatch.setattr(pages, "INDEX", tmp_path / "index.html")
    yield tmp_path
    pages._index.cache_clear()


def write(path: Path, text: str, age: int) -> None:
    """As if written so many seconds after the first."""
    path.write_text(text)
    os.utime(path, (1_700_000_000 + age,) * 2)


def test_a_changed_file_is_sent_anew(bench: Bench, dashboard: Path) -> None:
    seen: list[tuple[str, str]] = []
    for age, text in enumerate(("let one = 1;", "let two = 2;")):
        write(dashboard / "part.js", text, age)
        answer = bench.ask("GET", "/assets/part.js", headers={"Accept-Encoding": "identity"})
        assert (answer.text, answer.headers["content-type"]) == (text, "text/javascript; charset=utf-8")
        seen.append((answer.text, answer.headers["etag"]))
    (_, old), (_, new) = seen
    assert old != new
    assert bench.ask("GET", "/assets/part.js", headers={"If-None-Match": old}).text == "let two = 2;"
    kept = bench.ask("GET", "/assets/part.js", headers={"If-None-Match": new})
    assert (kept.status_code, kept.content, kept.headers["etag"]) == (304, b"", new)


def test_a_changed_page_is_sent_anew(bench: Bench, dashboard: Path) -> None:
    for age, word in enumerate(("one", "two")):
        write(dashboard / "index.html", f"<title>{word}</title>{pages.VOCABULARY}", age)
        assert f"<title>{word}</title>" in bench.ask("GET", "/studies/any").text


def test_words_of_the_vocabulary_cannot_end_their_element(
    bench: Bench, dashboard: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = vocabulary()
    symbol = next(iter(words.markers))
    hostile = {**words.markers, symbol: "</script><script>alert(1)</script>"}
    monkeypatch.setattr(words, "markers", hostile)
    write(dashboard / "index.html", pages.VOCABULARY, 7)
    text = bench.ask("GET", "/").text
    assert text.count("</script") == 1
    inside = text.removeprefix(pages.VOCABULARY.partition("></")[0] + ">").removesuffix("</script>")
    assert json.loads(inside)["markers"][symbol] == hostile[symbol]


def test_a_page_and_its_scripts_are_asked_for_every_time_and_plotly_once_a_day(bench: Bench) -> None:
    for path in ("/", "/assets/kit/dom.js", "/api/catalog"):
        headers = bench.ask("GET", path).headers
        assert (headers["cache-control"], headers["vary"]) == ("no-cache", "Accept-Encoding"), path
    assert bench.ask("GET", "/assets/plotly.min.js").headers["cache-control"] == "public, max-age=86400"


def test_a_reader_that_cannot_unpack_gets_it_plain(bench: Bench) -> None:
    def sent(accepted: str) -> tuple[str | None, str]:
        answer = bench.ask("GET", "/assets/kit/dom.js", headers={"Accept-Encoding": accepted})
        return answer.headers.get("content-encoding"), answer.text

    plain = (pages.DASHBOARD / "kit" / "dom.js").read_text()
    assert sent("gzip, deflate") == ("gzip", plain)
    assert sent("identity") == (None, plain)
