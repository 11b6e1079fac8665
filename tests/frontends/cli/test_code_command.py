"""`paretoscope code`: what the service keeps is listed, and deleted when no study runs it."""

from __future__ import annotations

import json

from tests.frontends.cli.command_line import run
from tests.frontends.conftest import TOKEN
from tests.processes import Running

HEADERS = {"Content-Type": "text/x-python", "Authorization": f"Bearer {TOKEN}"}


def test_code_is_listed_and_deleted(guarded: Running) -> None:
    def code(*words: str) -> tuple[int, str, str]:
        answer = run("code", *words, url=guarded.url, PARETOSCOPE_TOKEN=TOKEN)
        return answer.returncode, answer.stdout, answer.stderr

    assert code("list")[:2] == (0, "The service keeps no code.\n")
    for content in (b"# one", b"# two"):
        sent = guarded.post("/api/code?entry=mine.py", content=content, headers=HEADERS)
        assert sent.status_code == 201, sent.text
    first, second = json.loads(code("list", "--json")[1])
    assert first["studies"] == [] and first["entry"] == "mine.py"
    shown = code("list")[1]
    assert first["hash"][:12] in shown and "no study" in shown
    assert code("delete", "")[0] == 2 and code("delete", "zz")[0] == 2, "neither several nor none"
    assert code("delete", first["hash"][:12])[:2] == (0, f"{first['hash'][:12]} is deleted.\n")
    assert json.loads(code("delete", second["hash"], "--json")[1]) == {"deleted": second["hash"]}
    assert json.loads(code("list", "--json")[1]) == []
