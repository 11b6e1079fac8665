"""The kept collection of hostile inputs, and what sends one of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from service.contract.wording.plain_text import IN_LINES

KEPT = Path(__file__).parents[1] / "service" / "routes" / "hostile.json"
CASES: list[dict[str, Any]] = json.loads(KEPT.read_text())


class Victim(NamedTuple):
    """A study that is there and waits, and one of its trials: cases name them as {study} and {trial}."""

    study: str
    trial: str

    def named_in(self, text: str) -> str:
        return text.replace("{study}", self.study).replace("{trial}", self.trial)


def send(ask: Callable[..., httpx.Response], case: dict[str, Any], victim: Victim) -> httpx.Response:
    """By any function that takes a method, a path, headers and content."""
    headers = dict(case.get("headers", {}))
    if case.get("type", "none") != "none":
        headers["Content-Type"] = case["type"]
    content = victim.named_in(case["body"] * case.get("repeat", 1)).encode() if "body" in case else None
    return ask(case["method"], victim.named_in(case["path"]), headers=headers, content=content)


def texts(error: dict[str, Any]) -> list[str]:
    """All words of an error."""
    return [error["message"], *(text for detail in error["details"] for text in (detail["path"], detail["message"]))]


def fault_of(answer: httpx.Response, case: dict[str, Any]) -> str | None:
    """Why the answer is none that such an input may get."""
    if not 400 <= answer.status_code < 500 or answer.status_code != case.get("status", answer.status_code):
        return f"answered {answer.status_code}: {answer.text[:200]}"
    error = answer.json().get("error", {})
    if set(error) != {"code", "message", "details"} or len(answer.content) >= 100_000:
        return f"not in the shape of an error: {answer.text[:200]}"
    if hidden := next((said for said in texts(error) if IN_LINES.search(said)), None):
        return f"with control characters: {hidden[:200]!r}"
    return None
