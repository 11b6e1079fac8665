"""A study whose trials are trained elsewhere, in a store: handed out by a clock that the test sets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from service.contract.study.parsing import check_study
from service.contract.wire.elsewhere import Ask, HandedTrial
from service.contract.wire.events import Report, StudyStarted
from service.launching.leases import Leases
from service.store.protocol import Store
from service.views.cache import Views
from tests.service.own_code import study_of

GRID: dict[str, Any] = {
    "name": "far",
    "problem": {"name": "forest", "depth": {"grid": [1, 2, 3]}},
    "run": "elsewhere",
}
SEARCH: dict[str, Any] = {
    "name": "tuned",
    "problem": {"name": "forest", "depth": {"range": {"from": 1, "to": 9}}},
    "search": {"name": "optuna", "trials": 2},
    "run": "elsewhere",
}


class Clock:
    """Runs ahead of the real one, in which the store notes its events, by as much as the test says."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.ahead)


def far_study(*arms: dict[str, Any]) -> dict[str, Any]:
    return study_of(seeds=[0], arms=[*(arms or (GRID,))])


class Office:
    """Hands out the trials of one study that runs."""

    def __init__(self, store: Store, *arms: dict[str, Any], create: bool = True) -> None:
        if create:
            store.create("s1", check_study(far_study(*arms)).model_dump(by_alias=True, mode="json"), None)
            store.append("s1", [StudyStarted(uid="go", job="s1")])
        self.store, self.views, self.clock = store, Views(store), Clock()
        self.leases = Leases(store, self.views, self.clock)

    def ask(self, seconds: float = 60.0, arm: str | None = None) -> HandedTrial:
        return self.leases.ask("s1", Ask(arm=arm, lease_seconds=seconds), "somebody")

    def report(self, handed: HandedTrial, epoch: int = 1, **metrics: float) -> None:
        """As its holder tells it; raises where the lease is over."""
        uid = f"{handed.lease}:{epoch}"
        told = Report(uid=uid, trial=handed.trial, metrics={"epoch": epoch, **metrics}, lease=handed.lease)
        assert self.store.append("s1", [told]).accepted == 1
