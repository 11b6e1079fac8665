"""`python -m tests.end_to_end.holder URL STUDY [KEEPS]`: trains trials elsewhere until there are none left.

One that is to be killed trains so many, then says which it has and keeps it in silence.
"""

from __future__ import annotations

import signal
import sys
from itertools import count

from frontends.client import Client, NoTrialLeft

LEASE_SECONDS = 2.0


def main(url: str, study_id: str, keeps: int | None) -> None:
    study = Client(url).study(study_id)  # with the token of its environment
    for trained in count():
        try:
            trial = study.ask(lease_seconds=LEASE_SECONDS, wait=60)
        except NoTrialLeft:
            return
        if trained == keeps:
            print(trial.id, flush=True)
            signal.pause()
        with trial:
            x = trial.parameters["x"]
            trial.report(gain=x + 0.001 * trial.seed, cost=x / 2)
            trial.report(gain=x + 0.001 * trial.seed, cost=x * x)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None)
