"""`make fuzz`: at least 2,000 requests in sequences and all hostile inputs, against a real service with a token.

`make fuzz ARGS="--cases 500 --seed 7"` asks for others. What breaks a rule is printed, and the exit code is 1. The
figures are printed as docs/operations.md has them, and with `--keep` written there.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence

from findings.running import machine_words
from tests.fuzz.hostile import CASES
from tests.fuzz.run import Run
from tests.operations_page import tell
from tests.processes import service_alone, short_home

MEMORY, COST = 1.5, 2.0  # how much more it may be afterwards


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--keep", action="store_true", help="write what was measured into docs/operations.md")
    asked = parser.parse_args(arguments)
    print(f"seed {asked.seed}")
    begun = time.monotonic()
    with short_home() as home, service_alone(home, PARETOSCOPE_TOKEN="fuzz of the service") as service:
        run = Run(service._replace(token="fuzz of the service"), asked.cases, asked.seed)
    by_class = {
        number: sum(count for (_, status), count in run.told.answers.items() if status // 100 == number)
        for number in (2, 4, 5)
    }
    calls = len({label for label, _ in run.told.answers})
    answers = ", ".join(f"{count:,} of {number}xx" for number, count in by_class.items())
    rows = {
        "requests in sequences; to how many calls": f"{run.told.cases:,}; {calls}",
        "kept hostile inputs": str(len(CASES)),
        "answers": answers,
        "rules broken": str(len(run.complaints)),
        "studies made and deleted": str(len(run.told.made)),
        "the service before": run.before.words(),
        "and after": run.after.words(),
        "memory": f"{run.memory:.2f} times (at most {MEMORY:g})",
        "processor time of a request": f"{run.cost:.2f} times (at most {COST:g})",
    }
    told = f"Seed {asked.seed}, {time.monotonic() - begun:.0f} s, {machine_words()}."
    tell("make fuzz", [told, "", "| what | |", "|---|---|", *(f"| {w} | {v} |" for w, v in rows.items())], asked.keep)
    for complaint in run.complaints:
        print(f"\n{complaint}")
    return int(bool(run.complaints) or run.memory > MEMORY or run.cost > COST)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
