"""Which weights of a training are measured and kept: the last ones, their averages, or those of the best epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext

from torch import Tensor

from service.contract.metrics import BEST_EPOCH
from service.contract.study.expansion import PlannedTrial
from workers.state import State, joined, within
from workers.training.averaging import Averages, averages_of
from workers.training.best_epoch import BestEpoch, best_epoch_of

Columns = Mapping[str, Sequence[float]]


class KeptWeights:
    """Of a cohort's members, whose training goes on from the last weights whatever is kept."""

    def __init__(
        self, trials: Sequence[PlannedTrial], parameters: Sequence[Tensor], model: Mapping[str, Tensor]
    ) -> None:
        self._averages: Averages | None = averages_of([trial.training for trial in trials], parameters)
        self._best: BestEpoch | None = best_epoch_of(trials, model)

    def after_step(self) -> None:
        if self._averages:
            self._averages.follow()

    @contextmanager
    def worn(self, epoch: int, measured: Callable[[], Columns] | None = None) -> Iterator[None]:
        """The model has them for as long as this lasts. `measured`, at the end of the training, is asked about the
        last epoch before any weights take its place: it may be the best."""
        with self._averages.worn() if self._averages else nullcontext():
            if self._best is None or measured is None:
                yield
                return
            self._best.follow(epoch, measured())
            with self._best.worn():
                yield

    def after_epoch(self, epoch: int, columns: Columns, last: bool) -> dict[str, list[float]]:
        """What the report of an epoch says besides: at the end of the training which epoch was the best."""
        if self._best is None:
            return {}
        if last:
            return {BEST_EPOCH: self._best.epochs}
        self._best.follow(epoch, columns)
        return {}

    def state(self) -> State:
        parts = (("averages", self._averages), ("best", self._best))
        return joined({name: part.state() for name, part in parts if part})

    def load(self, state: State) -> None:
        for name, part in (("averages", self._averages), ("best", self._best)):
            if part:
                part.load(within(name, state))
