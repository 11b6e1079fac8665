"""From the printed link, or from the form, to a cookie that no script and no other site can use."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tests.processes import short_home
from tests.service.bench import Bench

TOKEN = "s3cret+/="  # what a link must not garble


@pytest.fixture(scope="module")
def guarded() -> Iterator[Bench]:
    with short_home() as home:
        bench = Bench(home, token=TOKEN)
        yield bench
        bench.close()


def parts_of(cookie: str) -> set[str]:
    return {part.strip().lower() for part in cookie.split(";")[1:]}


@pytest.mark.parametrize("page", ["/", "/new", "/compare?studies=a%2Cb&x=%26", "/studies/s1"])
def test_a_link_with_the_token_becomes_a_cookie_and_a_clean_address(guarded: Bench, page: str) -> None:
    link = f"{page}{'&' if '?' in page else '?'}token={quote(TOKEN, safe='')}"
    answer = guarded.ask("GET", link, headers={})
    assert (answer.status_code, answer.headers["location"]) == (303, page)
    assert answer.headers["cache-control"] == "no-store" and answer.content == b""
    cookie = answer.headers["set-cookie"]
    assert {"httponly", "samesite=strict", "path=/"} <= parts_of(cookie) and "secure" not in parts_of(cookie)
    sent = {"Cookie": cookie.partition(";")[0]}
    assert guarded.ask("GET", "/api/studies", headers=sent).status_code == 200


def test_a_link_with_another_token_only_becomes_a_clean_address(guarded: Bench) -> None:
    for wrong in ("", "wrong", TOKEN + TOKEN):
        answer = guarded.ask("GET", f"/?token={quote(wrong)}", headers={})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert "set-cookie" not in answer.headers and "wrong" not in answer.text


def test_no_link_leads_to_another_place(guarded: Bench) -> None:
    for path in (
        "//evil.example/",
        "/studies//evil.example",
        "/studies/%0d%0aSet-Cookie:x=1",
        "/studies/%2F%2Fevil.example",
    ):
        answer = guarded.ask("GET", f"{path}?token={quote(TOKEN, safe='')}", headers={})
        place = answer.headers.get("location", "/")
        assert place.startswith("/") and not place.startswith("//") and "\n" not in place


def test_the_form_signs_in_with_the_token_it_sends(guarded: Bench) -> None:
    answer = guarded.ask("POST", "/api/session")
    assert answer.status_code == 204
    assert {"httponly", "samesite=strict"} <= parts_of(answer.headers["set-cookie"])
    wrong = guarded.ask("POST", "/api/session", headers={"Authorization": "Bearer wrong"})
    assert wrong.status_code == 401 and "set-cookie" not in wrong.headers


def test_a_cookie_set_over_https_is_never_sent_over_http(guarded: Bench) -> None:
    answer = guarded.ask("POST", "https://localhost/api/session")
    assert "secure" in parts_of(answer.headers["set-cookie"])


def test_a_service_without_a_token_sets_no_cookie(bench: Bench) -> None:
    answer = bench.ask("GET", "/?token=x")
    assert (answer.status_code, answer.headers["location"]) == (303, "/") and "set-cookie" not in answer.headers
