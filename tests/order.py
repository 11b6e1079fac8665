"""The order of files of tests, and which of them stay together, when two processes share them.

Whatever takes the cluster is one piece of work: a second Ray on two cores would only be in its way. It comes first, as
it waits much while the other process computes. Other long files follow soon, so that none of them is begun last; those
that start a Ray of their own are kept apart.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
ON_RAY = "those of the cluster"
TURNS = (
    "tests/test_exact_front.py",
    "tests/test_contributing.py",
    "tests/browser/",
    "tests/deployment/",
    "tests/end_to_end/",
    "tests/faults/",
    "tests/frontends/",
    "tests/test_wheel.py",
)  # and all others as they are in the tree


@cache
def takes_the_cluster(file: str) -> bool:
    return file.startswith("tests/end_to_end/") and bool(re.search(r"\bcluster: Running", (ROOT / file).read_text()))


def in_turn(nodeid: str) -> int:
    file = nodeid.partition("::")[0]
    if takes_the_cluster(file):
        return -1
    return next((turn for turn, place in enumerate(TURNS) if file.startswith(place)), len(TURNS))


def together(nodeid: str) -> str:
    """What tests that one process runs have in common: their file, or the cluster."""
    file = nodeid.partition("::")[0]
    return ON_RAY if takes_the_cluster(file) else file
