"""Requests that a stranger's page could have made, and what every answer tells a browser."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from service.settings import Settings
from service.web.hosts import refused_host, refused_origin
from tests.processes import short_home
from tests.service.bench import SPEC, Bench

KNOWN = Settings(url="http://service:8000", hosts="lab.example.org, other.example.org:8443").known_hosts


@pytest.fixture(scope="module")
def named() -> Iterator[Bench]:
    with short_home() as home:
        bench = Bench(home, hosts="lab.example.org")
        yield bench
        bench.close()


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "localhost:8000", "LocalHost.", "127.0.0.1:8000", "[::1]:8000", "192.168.1.7", "a.localhost:80"),
        *(
            "service:8000",
            "service",
            "lab.example.org",
            "Lab.Example.Org:8000",
            "other.example.org",
            socket.gethostname(),
        ),
    ],
)
def test_our_own_names_and_bare_addresses_may_be_asked_for(host: str) -> None:
    assert refused_host({"host": host}, KNOWN) is None


@pytest.mark.parametrize(
    "host",
    [
        *("", "evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example", "xlocalhost"),
        *("[evil", "lab.example.org.evil.example", "1.2.3", "127.0.0.1@evil.example"),
    ],
)
def test_a_strangers_name_may_not(host: str) -> None:
    refusal = refused_host({"host": host}, KNOWN)
    assert refusal is not None and "PARETOSCOPE_HOSTS" in refusal
    assert refused_host({"host": host}, frozenset("*")) is None


def test_a_page_writes_from_its_own_place_only() -> None:
    own = {"host": "localhost:8000"}
    for origin in ("http://localhost:8000", "https://LOCALHOST:8000", "https://lab.example.org"):
        assert refused_origin("POST", {**own, "origin": origin}, KNOWN) is None, origin
    strangers = [
        "http://evil.example",
        "http://localhost:3000",
        "http://localhost",
        "null",
        "",
        "https://lab.example.org:1",
    ]
    for origin in strangers:
        assert refused_origin("POST", {**own, "origin": origin}, KNOWN) is not None, origin
        assert refused_origin("GET", {**own, "origin": origin}, KNOWN) is None, "answers cannot be read from there"
    assert refused_origin("POST", own, KNOWN) is None, "no browser"
    for site, refused in (("same-origin", False), ("none", False), ("same-site", True), ("cross-site", True)):
        assert (refused_origin("DELETE", {**own, "sec-fetch-site": site}, KNOWN) is not None) is refused


def test_what_is_refused_changes_nothing(named: Bench) -> None:
    study = named.submit()
    asked = [("POST", "/api/studies"), ("POST", f"/api/studies/{study}/cancel"), ("DELETE", f"/api/studies/{study}")]
    for method, path in asked:
        for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            answer = named.ask(method, path, headers=headers, json=SPEC if path == "/api/studies" else None)
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden"), headers
    assert named.state(study) == "queued" and len(named.get("/api/studies")["studies"]) == 1
    for path in ("/", "/healthz", "/api/studies", "/openapi.json", "/assets/icon.svg"):
        assert named.ask("GET", path, headers={"Host": "evil.example"}).status_code == 403, "names can be pointed here"
    for headers in ({"Host": "lab.example.org", "Origin": "https://lab.example.org"}, {"Origin": "http://localhost"}):
        assert named.ask("POST", "/api/studies/check", json=SPEC, headers=headers).status_code == 200


def test_every_answer_says_what_a_browser_may_do_with_it(named: Bench) -> None:
    study = named.submit()
    report = f"/api/studies/{study}/report"
    paths = ["/", "/docs", report, "/api/studies", "/api/studies/nope", "/nowhere", "/healthz", "/assets/kit/api.js"]
    for path in paths:
        headers = named.ask("GET", path).headers
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; ") and "frame-ancestors 'none'" in policy, path
        scripts = policy.partition("script-src ")[2].partition(";")[0]
        assert "'unsafe-inline'" not in scripts or path == report, path
        assert "http:" not in policy and "*" not in policy
    assert "sandbox allow-scripts " in named.ask("GET", report).headers["content-security-policy"]
    refused = named.ask("GET", "/", headers={"Host": "evil.example"})
    assert refused.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "http://]", "http://a]b", "\\", "null", ""])
def test_an_origin_that_is_no_address_is_a_strangers(named: Bench, origin: str) -> None:
    answer = named.ask("POST", "/api/studies", headers={"Origin": origin}, json=SPEC)
    assert answer.status_code == 403 and answer.json()["error"]["code"] == "forbidden"
