"""The Python client: `Client().submit(spec).wait().front()`."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from frontends.connection import (
    TRY_AGAIN_SECONDS,
    Answer,
    ClientError,
    Connection,
    LeaseOver,
    NoTrialLeft,
    NoTrialNow,
    Parameter,
    default_url,
    json_of,
)
from frontends.home import default_home
from frontends.own_code import naming, packing
from frontends.own_code.asked_packages import packages_of, with_packages
from frontends.study import Study

CONFLICT = 409
READ_SECONDS = 180.0  # that a process on Ray may take to read code
READ_AGAIN_SECONDS = 0.3

__all__ = [
    "Answer",
    "Client",
    "ClientError",
    "LeaseOver",
    "NoTrialLeft",
    "NoTrialNow",
    "Study",
    "default_home",
    "default_url",
]


class Client(Connection):
    """A Paretoscope service: submit studies, find them again, and see what it knows."""

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def submit(self, spec: Mapping[str, object] | str | Path, tries: int = 3) -> Study:
        """A study as a dict, a YAML text or a YAML file, or a Python file that carries one. Where it names code of its
        own by a path, that is sent first.

        If no answer comes, or the service cannot take it just now, it is sent again, and still runs once.
        """
        kind, text = self._text_of(spec)
        headers = {"Content-Type": f"application/{kind}", "Idempotency-Key": uuid.uuid4().hex}
        for left in reversed(range(tries)):
            try:
                answer = json_of(self.send("POST", "/api/studies", content=text.encode(), headers=headers))
                break
            except ClientError as error:
                unread = _unread(error)
                if not left or not (unread or error.is_temporary):
                    raise
                if unread:
                    self._read(self.request("GET", f"/api/code/{unread}"), "the code", READ_SECONDS)
                else:
                    time.sleep(TRY_AGAIN_SECONDS)
        return Study(self, answer["id"])

    def check(self, spec: Mapping[str, object] | str | Path) -> Answer:
        """What the service says of a study without running it: trials, cost and warnings, or what is wrong."""
        kind, text = self._text_of(spec)
        headers = {"Content-Type": f"application/{kind}"}
        return json_of(self.send("POST", "/api/studies/check", content=text.encode(), headers=headers))

    def study(self, study_id: str) -> Study:
        """The study with this id; raises ClientError when there is none."""
        study = Study(self, study_id)
        study.read()
        return study

    def studies(self, state: str | None = None, limit: int = 50, **sought: Parameter) -> list[Answer]:
        """The newest studies, newest first, perhaps only those in one state, or with text=, tag=, data=, arm=,
        pinned= or archived= as you say."""
        return self.entries("/api/studies", "studies", limit, state=state, **sought)

    def presets(self) -> list[Answer]:
        """The studies that come with Paretoscope: name, what it asks, YAML."""
        presets: list[Answer] = self.request("GET", "/api/presets")["presets"]
        return presets

    def catalog(self) -> Answer:
        """Everything a study may name, with its parameters."""
        return self.request("GET", "/api/catalog")

    def create_token(self, name: str, scopes: Sequence[str], **limits: float | None) -> Answer:
        """A new token, with its secret in `token`; limits are days, studies_at_once, trials and bytes."""
        asked = {"name": name, "scopes": list(scopes), **limits}
        given = json.dumps({key: value for key, value in asked.items() if value is not None}).encode()
        return json_of(self.send("POST", "/api/tokens", content=given, headers={"Content-Type": "application/json"}))

    def tokens(self) -> list[Answer]:
        """Tokens that are good, without their secrets."""
        tokens: list[Answer] = self.request("GET", "/api/tokens")["tokens"]
        return tokens

    def revoke_token(self, token_id: str) -> None:
        """The service refuses it from now on."""
        self.send("DELETE", f"/api/tokens/{quote(token_id, safe='')}")

    def figures(self) -> list[Answer]:
        """Every figure there is: name, title, what it shows."""
        figures: list[Answer] = self.request("GET", "/api/figures")["figures"]
        return figures

    def send_code(self, path: str | Path, seconds: float = READ_SECONDS, requirements: Sequence[str] = ()) -> Answer:
        """A Python file or a folder of your own, and packages that it needs: what is in it, once the service has had
        it read.

        A study names it by its `hash`. What is wrong with it is told with its file and line.
        """
        sent = with_packages(packing.packed(Path(path)), requirements)
        headers = {"Content-Type": sent.kind}
        answer = json_of(self.send("POST", "/api/code", {"entry": sent.entry}, sent.content, headers))
        return self._read(answer, str(path), seconds)

    def _read(self, answer: Answer, what: str, seconds: float) -> Answer:
        """Waits until a process on Ray has read the code."""
        end = time.monotonic() + seconds
        while answer["state"] == "waiting":
            if time.monotonic() > end:
                raise ClientError(f"code: nobody has read {what} in {round(seconds)} s; is Ray there?", 503)
            time.sleep(READ_AGAIN_SECONDS)
            answer = self.request("GET", f"/api/code/{answer['hash']}")
        if answer["state"] == "refused":
            at = [str(each) for each in (answer["file"], answer["line"]) if each is not None]
            raise ClientError(": ".join([*filter(None, [", line ".join(at)]), answer["reason"]]), 422)
        return answer

    def code(self) -> list[Answer]:
        """Code of your own that the service keeps: hash, entry, bytes, and the studies that run it."""
        kept: list[Answer] = self.request("GET", "/api/code")["code"]
        return kept

    def delete_code(self, code_hash: str) -> None:
        """Code that no study runs; ClientError with those that do."""
        self.send("DELETE", f"/api/code/{quote(code_hash, safe='')}")

    def _text_of(self, spec: Mapping[str, object] | str | Path) -> tuple[str, str]:
        """In which language a study is written, and its text; code that it names by a path is sent."""
        folder = Path()
        if isinstance(spec, Path):
            folder = spec.parent
            is_code = spec.suffix == ".py"
            spec = {"code": spec.name, **naming.study_in(spec)} if is_code else spec.read_text()
        if isinstance(spec, str) and (read := naming.json_with_code(spec)) is not None:
            spec = read
        if isinstance(spec, str):
            path = naming.named_in(spec)
            if path is None:
                return "yaml", spec
            code = self.send_code(folder / path, requirements=packages_of(spec))
            return "yaml", naming.with_hash(spec, code["hash"])
        named = spec.get("code")
        if isinstance(named, str | Path) and not naming.is_known(str(named)):
            spec = {**spec, "code": self.send_code(folder / named, requirements=packages_of(spec))["hash"]}
        return "json", json.dumps(spec)


def _unread(error: ClientError) -> str | None:
    """The hash of code that nobody has read yet, if that is why a study was refused."""
    waits = [detail["message"] for detail in error.details if detail["path"] == "code"]
    return waits[0] if error.status == CONFLICT and waits else None
