"""`paretoscope token`: made, used, listed and revoked from the command line."""

from __future__ import annotations

import json

from tests.frontends.cli.command_line import run
from tests.frontends.conftest import TOKEN
from tests.processes import Running


def test_a_token_is_made_used_listed_and_revoked(guarded: Running) -> None:
    def token(*words: str, with_: str = TOKEN) -> tuple[int, str, str]:
        answer = run("token", *words, url=guarded.url, PARETOSCOPE_TOKEN=with_)
        return answer.returncode, answer.stdout, answer.stderr

    code, out, _ = token(
        "create", "ada", "--scope", "write", "--scope", "read", "--days", "7", "--trials", "9", "--json"
    )
    made = json.loads(out)
    assert code == 0 and (made["name"], made["scopes"], made["trials"]) == ("ada", ["read", "write"], 9)
    assert run("list", url=guarded.url, PARETOSCOPE_TOKEN=made["token"]).returncode == 0
    code, _, err = token("list", with_=made["token"])
    assert code == 2 and "scope 'admin'" in err
    code, out, _ = token("list")
    assert code == 0 and made["id"] in out and "read, write" in out and made["token"] not in out
    assert token("revoke", made["id"])[:2] == (0, f"{made['id']} is revoked.\n")
    assert run("list", url=guarded.url, PARETOSCOPE_TOKEN=made["token"]).returncode == 2
    assert token("revoke", made["id"])[0] == 2
    code, out, _ = token("create", "bob", "--scope", "read")
    assert code == 0 and out.startswith("ps_") and "may read; shown this once" in out
    assert token("create", "eve", "--scope", "root")[0] == 2
    listed = json.loads(token("list", "--json")[1])
    assert [each["name"] for each in listed] == ["bob"]
    assert token("revoke", listed[0]["id"], "--json")[0] == 0 and "No tokens but the owner's" in token("list")[1]
