"""The order of files of tests, and which of them stay together, when three processes share them.

Whatever takes the cluster is one piece of work, and whatever starts a Ray of its own is another: there are never more
than two at a time. These come first, as they wait much while others compute. Other long files follow soon,
so that none of them is begun last.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
ON_RAY = "those of the cluster"
WITH_A_RAY = "those with a Ray of their own"
RAYS = (
    "tests/deployment/test_compose.py",
    "tests/end_to_end/test_orderly_end.py",
    "tests/end_to_end/test_run_command.py",
    "tests/faults/test_faults.py",
    "tests/frontends/cli/test_up_command.py",
    "tests/test_wheel.py",
)
TURNS = (
    *RAYS,
    "tests/test_exact_front.py",
    "tests/test_contributing.py",
    "tests/browser/",
    "tests/end_to_end/",
    "tests/frontends/",
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
    """What tests that one process runs have in common: their file, the cluster, or that they start a Ray."""
    file = nodeid.partition("::")[0]
    if file in RAYS:
        return WITH_A_RAY
    return ON_RAY if takes_the_cluster(file) else file
