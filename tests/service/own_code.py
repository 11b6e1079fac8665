"""Descriptions of code that nobody wrote, for tests that need only what is said of it."""

from __future__ import annotations

from typing import Any

PROBLEM: dict[str, Any] = {
    "name": "Mine",
    "kind": "problem",
    "doc": "Class and price.",
    "terms": ["class", "price"],
    "metrics": [{"name": "acc", "goal": "maximize", "low": 0.0, "high": 1.0}, {"name": "mae", "goal": "minimize"}],
    "parameters": [
        {"name": "width", "kind": "int", "default": 64, "at_least": 1},
        {"name": "shape", "kind": "str", "default": "flat", "choices": ["flat", "deep"]},
    ],
}
SCRIPT: dict[str, Any] = {
    "name": "forest",
    "kind": "script",
    "metrics": [{"name": "acc", "goal": "maximize"}, {"name": "leaves", "goal": "minimize", "reference": 100.0}],
    "parameters": [{"name": "depth", "kind": "int", "default": 4}],
}
CODE: dict[str, Any] = {"hash": "0" * 64, "entry": "mine.py", "problems": [PROBLEM, SCRIPT]}


def study_of(**changed: Any) -> dict[str, Any]:
    """A grid over the weight of the second term, and over a parameter of the code."""
    arm = {
        "name": "by hand",
        "problem": {"name": "Mine", "width": {"grid": [16, 64]}},
        "weighting": {"name": "fixed", "beta": {"grid": [0.1, 1.0]}},
    }
    return {"name": "own", "code": CODE, "seeds": [0, 1], "arms": [arm], **changed}
