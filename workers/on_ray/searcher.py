"""Ray Tune's side of the supply: a Searcher that hands out cohorts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ray.tune.search import Searcher

from workers.on_ray.trainable import GONE, MEMBERS, SOURCE, UNTIL
from workers.planning.cohorts import Cohort
from workers.planning.supply import Supply


class CohortSearcher(Searcher):
    """Hands out at most `slots` cohorts at a time; `keys` are what each searched arm's trials were suggested."""

    def __init__(
        self,
        supply: Supply,
        slots: int,
        keys: Mapping[str, Sequence[str]],
        closed: Callable[[], bool] = lambda: False,
    ) -> None:
        """`closed` says that no more cohorts are wanted."""
        super().__init__()
        self._closed = closed
        self._supply, self._slots, self._keys = supply, slots, keys
        self._live: set[str] = set()
        self._members: dict[str, list[str]] = {}
        self._cohorts: dict[str, Cohort] = {}

    def suggest(self, trial_id: str) -> Any:
        """A Tune trial's config, none while there is nothing to do, or FINISHED."""
        if self._closed() or self._supply.is_over:
            return Searcher.FINISHED
        if len(self._live) >= self._slots or (cohort := self._supply.next()) is None:
            return None
        self._live.add(trial_id)
        self._cohorts[trial_id] = cohort
        gone = self._supply.gone_from(cohort)
        self._members[trial_id] = [trial.id for trial in cohort if trial.id not in gone]
        values = {
            trial.id: {key: trial.config[key] for key in self._keys.get(trial.arm, ()) if key in trial.config}
            for trial in cohort
        }  # of a choice of weightings a trial has the values of one
        config = {MEMBERS: json.dumps(values), **({GONE: json.dumps(sorted(gone))} if gone else {})}
        if (until := self._supply.until(cohort)) is not None:
            config[UNTIL] = str(until)
        if (source := self._supply.source_of(cohort)) is not None:
            config[SOURCE] = json.dumps([trial.id for trial in source])
        return config

    def has_said_all(self, trial_id: str) -> None:
        """When slots are idle, a cohort's own is free with its last report, not with its end.

        Tune keeps one process without work; another lives on only if a trial waits for it when its cohort ends.
        """
        if len(self._live) < self._slots:
            self._live.discard(trial_id)

    def cut(self, trial_id: str, most: int) -> None:
        """Its cohort was too large, and says no more: its members return in smaller ones."""
        self._members.pop(trial_id, None)
        if (cohort := self._cohorts.pop(trial_id, None)) is not None:
            self._supply.cut(cohort, most)

    def on_trial_complete(self, trial_id: str, result: Mapping[str, object] | None = None, error: bool = False) -> None:
        """A search never waits for a cohort that is gone, whatever it left unsaid."""
        self._live.discard(trial_id)
        self._cohorts.pop(trial_id, None)
        for member in self._members.pop(trial_id, []):
            self._supply.tell(member, None)

    def set_max_concurrency(self, max_concurrent: int) -> bool:
        return True  # Tune's own limit would count a cohort until its process has been seen to end

    def save_to_dir(self, checkpoint_dir: str, session_str: str = "default") -> None:
        """Never restored: the log is the truth."""

    def __getstate__(self) -> dict[str, object]:
        return {}
