"""No phrase that was translated word by word: in settings, the API's descriptions, help, pages, messages and docs."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("paretoscope", "service", "workers", "frontends", "findings")
# Each with what a native speaker writes in its place.
PHRASES = {
    r"\bto be had (with|by|for)\b": "comes with, needs",
    r"\bcan(not| not|'t)? be had\b": "is there, can be downloaded",
    r"\bone's own\b": "your own",
    r"\bcan(not| not|'t) be told\b(?! apart)": "is not known",
    r"\b(at|to) hand\b": "at the top, ready",
    r"\b(counts?|or|is|are|it|they) no more(?=[.,;:)'\"]|$)": "no longer",
    r"\b(come|comes|came) again\b": "try again",
    r"\btakes? (it|them) away\b": "removes",
    r"\bshall\b": "should, will",
    r"\b(for|from|by|to|of) who [a-z]+s\b": "whoever",
    r"\b(by|up to|at most|waits) so (many|long|much)\b(?! as)": "this many, this long",
    r"\bwhat concerns\b": "as for",
    r"\bon the ground of\b": "because of",
    r"\bmakes? known\b": "announces, says",
    r"\bis good until\b": "is valid until",
    r"\bwithout more\b": "at once, as it is",
}
IN_PHRASES = re.compile("|".join(f"(?:{phrase})" for phrase in PHRASES), re.IGNORECASE)
TEXT = re.compile(r'"([^"\n]*)"|`([^`]*)`|>([^<>{}]+)<')


def translated(text: str) -> list[str]:
    return [match.group() for match in IN_PHRASES.finditer(re.sub(r"\s+", " ", text))]


def of_python(source: str) -> Iterator[str]:
    """Every text of a module: what is raised, printed, described; docstrings too, for some of them are help."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)


def of_script(source: str) -> Iterator[str]:
    """Texts of a script or page, in quotes or between tags."""
    without = re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", "", source, flags=re.DOTALL)
    yield from (next(filter(None, found)) for found in TEXT.findall(without) if any(found))


def of_answer(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from of_answer(part)


@pytest.mark.parametrize(
    "text",
    [
        "largest code of one's own",
        "a share that cannot be told",
        "the tasks to be had with this data",
        "where they cannot be had that test is skipped",
        "keep it at hand, or no more",
        "those count no more",
        "told to come\n  again",
        "an open socket, from who starts the service",
        "moved by up to so many pixels",
    ],
)
def test_a_translated_phrase_is_seen(text: str) -> None:
    assert translated(text)


def test_others_are_not() -> None:
    text = "your own code; they cannot be told apart; no more than three; as many as so many; try again; by hand"
    assert translated(text) == []


def test_texts_are_found_in_every_language() -> None:
    assert list(of_python('"""Doc."""\nraise Error(f"no {x} at hand")')) == ["Doc.", "no … at hand", "no ", " at hand"]
    assert list(of_script('// "not this"\nh("p", `that ${x}`); <b>and this</b>')) == ["p", "that ${x}", "and this"]
    assert list(of_answer({"a": ["x", {"b": "y"}], "n": 1})) == ["x", "y"]


KINDS = {
    "modules": ([p for room in PACKAGES for p in (ROOT / room).rglob("*.py")], of_python, 300),
    "pages": ([p for kind in ("js", "html") for p in (ROOT / "frontends").rglob(f"*.{kind}")], of_script, 50),
    "reports": ([ROOT / "service" / "exports" / name for name in ("report.html", "report.js")], of_script, 2),
    "answers": (
        [ROOT / "tests" / "golden" / "answers" / f"{name}.json" for name in ("openapi", "catalog", "presets")],
        lambda text: of_answer(json.loads(text)),
        3,
    ),
    "texts": (
        [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "configs").glob("*.yaml"), ROOT / ".env.example"],
        lambda text: [text],
        30,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_people_read_is_translated_word_by_word(kind: str) -> None:
    paths, texts_of, least = KINDS[kind]
    assert len(paths) >= least
    found = {
        str(path.relative_to(ROOT)): [p for t in texts_of(path.read_text()) for p in translated(t)] for path in paths
    }
    assert {path: phrases for path, phrases in found.items() if phrases} == {}
