"""The page and its files: served from nested folders, never from outside them, and not again to who has them."""

from __future__ import annotations

import http.client
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from service.contract.wire.errors import NotFound
from service.routes.pages import DASHBOARD, STYLES
from service.web.assets import below
from tests.processes import Running

OUTSIDE = [
    "/assets/../client.py",
    "/assets/../../frontends/client.py",
    "/assets/kit/../../client.py",
    "/assets/kit/../../../service/exports/report.js",
    "/assets/..%2f..%2fservice%2fexports%2freport.js",
    "/assets/%2e%2e/%2e%2e/service/exports/report.js",
    "/assets/kit/..%2f..%2f..%2fservice/exports/report.js",
    "/assets//etc/passwd",
    "/assets/%2fetc%2fpasswd",
    "/assets/kit",
    "/assets/kit/",
    "/assets/",
    "/assets/__init__.py",
    "/assets/index.html",
    "/assets/jsconfig.json",
    "/assets/kit/types.d.ts",
    "/assets/kit/%00.js",
    "/assets/" + "x" * 5000 + ".js",
]


def raw(service: Running, path: str, **headers: str) -> tuple[int, bytes, http.client.HTTPMessage]:
    """As it is written: other clients would take the dots out of the path themselves."""
    connection = http.client.HTTPConnection(urlsplit(service.url).netloc, timeout=30)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body, answer.headers


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: path[:60])
def test_nothing_outside_the_page_is_served(service: Running, path: str) -> None:
    status, body, _ = raw(service, path)
    assert status == 404
    assert json.loads(body)["error"]["code"] == "not_found"


def test_a_link_that_leads_outside_is_not_followed(tmp_path: Path) -> None:
    inside, secret = tmp_path / "page", tmp_path / "secret.js"
    inside.mkdir()
    secret.write_text("1")
    (inside / "link.js").symlink_to(secret)
    (inside / "own.js").write_text("2")
    assert below(inside, "own.js").read_text() == "2"
    for name in ("link.js", "../secret.js", str(secret)):
        with pytest.raises(NotFound):
            below(inside, name)


def test_a_file_is_sent_once_and_packed(service: Running) -> None:
    status, plain, headers = raw(service, "/assets/kit/dom.js")
    assert (status, headers["Content-Type"]) == (200, "text/javascript; charset=utf-8")
    assert b"export function h(" in plain
    _, packed, zipped = raw(service, "/assets/kit/dom.js", **{"Accept-Encoding": "gzip"})
    assert zipped["Content-Encoding"] == "gzip" and len(packed) < len(plain)
    status, body, _ = raw(service, "/assets/kit/dom.js", **{"If-None-Match": headers["ETag"]})
    assert (status, body) == (304, b"")


def test_the_page_carries_the_vocabulary_of_the_catalog(service: Running) -> None:
    catalog = service.get("/api/catalog").json()
    for path in ("/", "/new", "/compare", "/studies/any"):
        text = service.get(path).text
        (inside,) = re.findall(r'<script type="application/json" id="vocabulary">(.*?)</script>', text, re.DOTALL)
        assert json.loads(inside) == catalog["vocabulary"], path


def test_the_catalog_is_not_sent_again_to_who_has_it(service: Running) -> None:
    status, body, headers = raw(service, "/api/catalog")
    assert status == 200 and headers["Content-Type"] == "application/json"
    assert json.loads(body)["data"]
    status, body, _ = raw(service, "/api/catalog", **{"If-None-Match": headers["ETag"]})
    assert (status, body) == (304, b"")


def test_the_page_asks_for_one_style_sheet_which_has_every_file_of_the_folder(service: Running) -> None:
    _, page, _ = raw(service, "/")
    assert re.findall(r'rel="stylesheet" href="(.*?)"', page.decode()) == ["/assets/style.css"]
    status, body, headers = raw(service, "/assets/style.css")
    assert status == 200 and headers["Content-Type"].startswith("text/css")
    assert set(STYLES) == set((DASHBOARD / "style").glob("*.css")), "a new one is to be named in pages.py"
    assert body == b"\n".join(path.read_bytes() for path in STYLES), "in the order in which they cascade"
    assert raw(service, "/assets/style.css", **{"If-None-Match": headers["ETag"]})[0] == 304
