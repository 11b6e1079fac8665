"""Some members of a saved cohort go on without the others."""

from __future__ import annotations

from collections.abc import Sequence

from service.contract.study.expansion import PlannedTrial
from workers import weightings
from workers.state import State, joined, of_members, within
from workers.training.loop import Progress

WEIGHTING = "weighting"
PACKED = "optimizer.own"  # of a user's own optimisers: the bytes of one member each


def shrunk(progress: Progress, trials: Sequence[PlannedTrial], chosen: Sequence[PlannedTrial]) -> Progress:
    """Where the `chosen` of its `trials` are, as a cohort of their own would have saved it.

    They take their share of the seconds with them.
    """
    places = {trial.id: k for k, trial in enumerate(trials)}
    rows = [places[trial.id] for trial in chosen]
    seconds = progress.seconds * len(chosen) / len(trials)
    return progress._replace(seconds=seconds, failed=(), state=lambda: _state(progress.state(), trials, rows))


def _state(state: State, trials: Sequence[PlannedTrial], rows: Sequence[int]) -> State:
    weighed, packed = within(WEIGHTING, state), within(PACKED, state)
    own = weightings.of_members([trial.weighting for trial in trials], weighed, rows)
    apart = joined({WEIGHTING: weighed, PACKED: packed})
    others = {name: tensor for name, tensor in state.items() if name not in apart}
    kept = {str(i): packed[str(k)] for i, k in enumerate(rows)} if packed else {}
    return of_members(others, rows) | joined({WEIGHTING: own, PACKED: kept})
