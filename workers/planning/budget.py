"""Training seconds that each arm may spend: arms at equal cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from service.contract.metrics import SECONDS
from service.contract.study.expansion import PlannedTrial, Slot, expand
from service.contract.study.study import Study
from service.contract.wire.epoch_report import EpochReport
from service.contract.wording.numbers import plural, setting


class Budget:
    """What the trials of each arm have spent together."""

    def __init__(self, limit: float, trials: Sequence[PlannedTrial | Slot], spent: Mapping[str, float]) -> None:
        """`spent` is what the log has, by trial."""
        self._limit = limit
        self._arm_of = {trial.id: trial.arm for trial in trials}
        self._seconds: dict[str, float] = {}
        self._total: defaultdict[str, float] = defaultdict(float)
        self._count(spent)

    def is_spent(self, arm: str) -> bool:
        return self._total[arm] >= self._limit

    def is_out(self, trial: PlannedTrial) -> bool:
        """Whether it may not be trained any more."""
        return self.is_spent(trial.arm)

    def stops(self, report: EpochReport) -> bool:
        """Counts what a cohort's report says; whether the cohort ends with it. One that has said all ends by itself."""
        told = {trial: metrics.get(SECONDS) for trial, metrics in report.metrics.items() if trial in self._arm_of}
        self._count({trial: seconds for trial, seconds in told.items() if seconds is not None})
        return bool(told) and not report.final and all(self.is_spent(self._arm_of[trial]) for trial in told)

    def _count(self, spent: Mapping[str, float]) -> None:
        """A trial's seconds are those of its last report."""
        for trial, seconds in spent.items():
            if (arm := self._arm_of.get(trial)) is not None:
                self._total[arm] += seconds - self._seconds.get(trial, 0.0)
                self._seconds[trial] = seconds

    def apart(self, trials: Sequence[PlannedTrial]) -> list[list[PlannedTrial]]:
        """By arm: a cohort ends as a whole."""
        parts: dict[str, list[PlannedTrial]] = {}
        for trial in trials:
            parts.setdefault(trial.arm, []).append(trial)
        return list(parts.values())

    def unspent(self, open_trials: set[str]) -> dict[str, set[str]]:
        """Trials that have not ended because their arm has spent its seconds, by arm."""
        left: dict[str, set[str]] = {}
        for trial in open_trials:
            if (arm := self._arm_of.get(trial)) is not None and self.is_spent(arm):
                left.setdefault(arm, set()).add(trial)
        return left

    def reason(self, arm: str, left: set[str]) -> str:
        planned = plural(Counter(self._arm_of.values())[arm], "trial")
        begun = len(left & self._seconds.keys())
        stopped = f", {begun} of them stopped under way" if begun else ""
        spent = f"its {setting(self._limit)} s of training are spent"
        return f"{spent}, {len(left)} of {planned} not trained to the end{stopped}"


def budget_of(study: Study, spent: Mapping[str, float]) -> Budget | None:
    limit = study.limits.training_seconds
    return None if limit is None else Budget(limit, expand(study), spent)
