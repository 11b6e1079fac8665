"""Every GET of the API on four played logs, and the OpenAPI schema, as they were when they were last looked at.

`make goldens` writes them anew; the diff is then read like code. A file is an answer, with the study's id, times and
version replaced by a word, and numbers to nine digits.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.exports.version import VERSION, software
from tests.golden.logs import play_all
from tests.processes import Running, service_alone, short_home

FOLDER = Path(__file__).parent / "answers"
WRITE = os.environ.get("PARETOSCOPE_GOLDENS") == "write"
TIME = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(Z|\+00:00)")
TRIAL = "/api/studies/{study_id}/trials/{trial_id}"
# What other tests look at, and why no golden can.
NOT_KEPT = {
    "/api/code": "routes/test_code.py",
    "/api/code/{code_hash}": "routes/test_code.py",
    "/api/code/{code_hash}/content": "a zip: routes/test_code.py",
    "/api/studies/{study_id}/code": "a zip: routes/test_code.py",
    "/api/studies/{study_id}/report": "a page with plotly.js in it",
    f"{TRIAL}/artifacts/{{name}}": "a file as it was uploaded",
    f"{TRIAL}/checkpoint": "a file as it was uploaded",
    "/api/tokens": "asks for a token that the service of the goldens does not have",
    "/api/studies/{study_id}/cohorts/{key}/state": "a file as it was uploaded",
    "/readyz": "says whether there is a Ray",
    "/metrics": "counts what was asked before",
}
CLOCK_TIMES = ("timeline",)  # figures that draw when things happened
SHARED = ("/api/studies", "/api/catalog", "/api/figures", "/api/presets", "/openapi.json", "/healthz")
# The numbers of versions that stand in answers, whatever key or sentence they stand in.
INSTALLED = sorted({VERSION, *software().values()}, key=len, reverse=True)
VERSIONS = re.compile(rf"(?<![\d.])(?:{'|'.join(map(re.escape, INSTALLED))})(?![\w+]|\.\d)")


class Live:
    def __init__(self, service: Running, studies: dict[str, str]) -> None:
        self.service, self.studies = service, studies


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    with short_home() as home, service_alone(home) as service:
        yield Live(service, play_all(service))


def scrubbed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {names.get(key, key): scrubbed(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [scrubbed(inner, names) for inner in value]
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, str):
        for study_id, name in names.items():
            value = value.replace(study_id, name)
        return VERSIONS.sub("VERSION", TIME.sub("TIME", value))
    return value


def paths_of(live: Live, log: str) -> Iterator[str]:
    """Every GET below a study, with what its query can ask for."""
    study = f"/api/studies/{live.studies[log]}"
    # The first, or the first that has many points.
    trial = live.service.get(f"{study}/trials", sort="-places", limit=1).json()["trials"][0]["id"]
    figures = [figure["name"] for figure in live.service.get(study).json()["figures"]]
    objectives = [o["metric"] for o in live.service.get(study).json()["spec"]["objectives"]]
    yield study
    yield f"{study}/trials"
    yield f"{study}/trials?front=true&sort=-{objectives[1]}"
    yield f"{study}/trials?state=finished&where=epoch>=3,seed=0&limit=2"
    yield f"{study}/trials/{trial}"
    yield f"{study}/curves"
    yield f"{study}/pick"
    yield f"{study}/state"
    yield f"{study}/cohorts"
    yield f"{study}/front"
    yield f"{study}/front?x=seconds&y={objectives[1]}"
    yield f"{study}/comparison"
    yield f"{study}/comparison?studies={live.studies['search']}"
    yield f"{study}/events"
    yield f"{study}/methods"
    yield f"{study}/export?format=json"
    yield f"{study}/export?format=csv"
    yield f"{study}/export?format=csv&table=reports"
    yield f"{study}/export?format=csv&table=points"
    yield from (f"{study}/figures/{name}" for name in figures if name not in CLOCK_TIMES)
    yield f"{study}/figures/pareto-front?studies={live.studies['search']}"


def answered(live: Live, path: str) -> Any:
    answer = live.service.get(path)
    assert answer.status_code == 200, f"{path}: {answer.text}"
    names = {study: f"STUDY-{log}" for log, study in live.studies.items()}
    if "json" in answer.headers["content-type"]:
        return scrubbed(answer.json(), names)
    return [scrubbed(line, names) for line in answer.text.splitlines()]


LONG = re.compile(r"-?[0-9]+\.[0-9]{8,}(?:e[+-]?[0-9]+)?")  # in a text; processors differ in the last digits


def same(found: Any, wanted: Any, at: str = "") -> list[str]:
    """Where two answers differ, each place with both values."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        keys = dict.fromkeys([*wanted, *found])
        return [d for k in keys for d in same(found.get(k, "absent"), wanted.get(k, "absent"), f"{at}.{k}")]
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        return [d for i, (a, b) in enumerate(zip(found, wanted, strict=True)) for d in same(a, b, f"{at}[{i}]")]
    if isinstance(found, (int, float)) and isinstance(wanted, (int, float)) and type(found) is type(wanted):
        return [] if found == pytest.approx(wanted, rel=1e-6, abs=1e-9) else [f"{at}: {wanted!r} -> {found!r}"]
    if isinstance(found, str) and isinstance(wanted, str) and LONG.sub("", found) == LONG.sub("", wanted):
        numbers = ([float(number) for number in LONG.findall(text)] for text in (found, wanted))
        found, wanted = (pytest.approx(next(numbers), rel=1e-6, abs=1e-9), next(numbers))
    return [] if found == wanted else [f"{at}: {wanted!r} -> {found!r}"]


def write(file: Path, found: Any, text: str) -> None:
    """Where it differs: the last digits of another processor change no file."""
    if file.is_file() and not same(json.loads(json.dumps(found)), json.loads(file.read_text())):
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def check(name: str, found: Any) -> list[str]:
    file = FOLDER / f"{name}.json"
    if WRITE:
        write(file, found, json.dumps(found, ensure_ascii=False, indent=1) + "\n")
        return []
    if not file.is_file():
        return [f"{name} has no golden: look at the answer, then `make goldens`"]
    return [f"{name}{difference}" for difference in same(found, json.loads(file.read_text()))[:20]]


def file_name(path: str, live: Live) -> str:
    for log, study in live.studies.items():
        path = path.replace(study, log)
    last = path.removeprefix("/api/studies/")
    last = re.sub(r"trials/t[0-9a-f]{12}", "trial", last)
    return re.sub(r"[^a-z0-9/]+", "-", last).strip("-")


@pytest.mark.parametrize("log", ["bottleneck", "multitask", "search", "curves"])
def test_every_answer_about_a_study_is_as_it_was(live: Live, log: str) -> None:
    paths = list(paths_of(live, log))
    names = [file_name(path, live) if "/" in file_name(path, live) else f"{log}/study" for path in paths]
    assert len(set(names)) == len(names)
    differences = [d for path, name in zip(paths, names, strict=True) for d in check(name, answered(live, path))]
    assert not differences, "\n".join(differences)


def test_what_does_not_depend_on_a_study_is_as_it_was(live: Live) -> None:
    names = {path: path.rpartition("/")[2].removesuffix(".json") for path in SHARED}
    differences = [d for path, name in names.items() for d in check(name, answered(live, path))]
    assert not differences, "\n".join(differences)


def test_every_get_of_the_service_has_a_golden_or_a_reason(live: Live) -> None:
    """A new address joins the goldens, or the list of those that are looked at elsewhere."""
    operations = live.service.get("/openapi.json").json()["paths"]
    gets = {path for path, methods in operations.items() if "get" in methods}
    asked = [path.partition("?")[0] for path in (*SHARED, *paths_of(live, "search"))]
    kept = {
        path
        for path in gets
        if any(re.fullmatch(re.sub(r"\\{\w+\\}", r"[\\w-]+", re.escape(path)), each) for each in asked)
    }
    assert len(kept) > 10 and not kept & NOT_KEPT.keys()
    assert gets - kept == NOT_KEPT.keys()


def test_only_the_numbers_of_versions_are_replaced() -> None:
    said = {"version": VERSION, "paragraph": f"Paretoscope {VERSION}.", "bibtex": "@misc{a}", "software": ["torch"]}
    assert scrubbed(said, {}) == {
        "version": "VERSION",
        "paragraph": "Paretoscope VERSION.",
        "bibtex": "@misc{a}",
        "software": ["torch"],
    }
    assert scrubbed([f"1{VERSION}", f"{VERSION}.1", f"{VERSION}rc1"], {}) == [
        f"1{VERSION}",
        f"{VERSION}.1",
        f"{VERSION}rc1",
    ]
