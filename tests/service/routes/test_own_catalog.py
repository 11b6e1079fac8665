"""Problems of code that was sent are in the catalog, beside ours, for those who may run them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from service.answers import own_catalog
from tests.processes import short_home
from tests.service.bench import Bench
from tests.service.own_code import PROBLEM
from tests.service.routes.test_code import bearer, described, scoped, sent


@pytest.fixture
def bench() -> Iterator[Bench]:
    with short_home() as home:
        bench = Bench(home, token="owner", driver_tokens=home / "drivers")
        yield bench
        bench.close()


def own(bench: Bench, token: str = "owner") -> list[dict[str, Any]]:
    problems = bench.ask("GET", "/api/catalog", headers=bearer(token)).json()["problems"]
    assert [each["name"] for each in problems[:3]] == ["bottleneck", "toy", "multitask"]
    return [each for each in problems if each["code"]]


def test_described_code_is_in_the_catalog_with_its_parameters_and_hash(bench: Bench) -> None:
    assert own(bench) == []
    code = described(bench)
    mine, forest = own(bench)
    assert (mine["name"], mine["doc"], mine["code"]) == ("Mine", "Class and price.", [code])
    assert mine["entry"] == "mine.py" and mine["terms"] == ["class", "price"]
    assert mine["schema"]["properties"]["width"]["default"] == 64 and mine["often_set"] == ["width", "shape"]
    assert forest["name"] == "forest" and forest["terms"] == [] and not mine["first_choice"]


def test_what_nobody_has_read_or_what_was_refused_is_not(bench: Bench) -> None:
    sent(bench, b"# waits\n")
    code = sent(bench, b"# bad\n").json()["hash"]
    bench.ask("POST", f"/api/code/{code}/description", json={"refusal": {"message": "no"}})
    assert own(bench) == []


def test_its_tag_follows_what_is_described_and_deleted(bench: Bench) -> None:
    def tag(known: str = "") -> tuple[int, str]:
        headers = {**bearer("owner"), "If-None-Match": known}
        answer = bench.ask("GET", "/api/catalog", headers=headers)
        return answer.status_code, answer.headers["etag"]

    _, before = tag()
    assert tag(before) == (304, before)
    code = described(bench)
    status, after = tag(before)
    assert status == 200 and after != before and tag(after)[0] == 304
    bench.ask("DELETE", f"/api/code/{code}", headers=bearer("owner"))
    assert tag(after) == (200, before)


def test_code_that_says_the_same_shares_an_entry_and_the_newest_comes_first(bench: Bench) -> None:
    first, second = described(bench, b"# one\n"), described(bench, b"# two\n")
    mine, _ = own(bench)
    assert mine["code"] == [second, first]
    third = sent(bench, b"# three\n").json()["hash"]
    other = {**PROBLEM, "doc": "Another."}
    bench.ask("POST", f"/api/code/{third}/description", json={"problems": [other]})
    assert [(each["name"], each["code"]) for each in own(bench)][:2] == [("Mine", [third]), ("Mine", [second, first])]


def test_there_are_only_so_many(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_catalog, "MOST", 1)
    described(bench)
    assert [each["name"] for each in own(bench)] == ["Mine"]


def test_who_may_only_read_studies_is_not_told_of_code(bench: Bench) -> None:
    described(bench)
    assert own(bench, scoped(bench, "read")) == [] and len(own(bench, scoped(bench, "read", "code"))) == 2
