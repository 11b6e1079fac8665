"""The order of files of tests, and which of them stay together, when two processes share them.

Whatever takes the cluster is one piece of work: a second Ray on two cores would only be in its way. It comes first, as
it waits much while the other process computes; then the files that last longest, so that none of them is begun last.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
ON_RAY = "those of the cluster"
LONG = (
    "tests/faults/test_faults.py",
    "tests/test_wheel.py",
    "tests/test_exact_front.py",
    "tests/test_contributing.py",
)


@cache
def takes_the_cluster(file: str) -> bool:
    return file.startswith("tests/end_to_end/") and bool(re.search(r"\bcluster: Running", (ROOT / file).read_text()))


def in_turn(nodeid: str) -> int:
    file = nodeid.partition("::")[0]
    if takes_the_cluster(file):
        return 0
    return 1 + (LONG.index(file) if file in LONG else len(LONG))


def together(nodeid: str) -> str:
    """What tests that one process runs have in common: their file, or the cluster."""
    file = nodeid.partition("::")[0]
    return ON_RAY if takes_the_cluster(file) else file
