"""A user's code once it is imported: the problems and scripts in it, and cohorts of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from paretoscope.own import Problem, Trainable
from service.contract.methods.data import Data
from service.contract.methods.own_problems import OwnProblem
from service.contract.study.expansion import PlannedTrial
from workers.own_code.errors import CodeError, users_own
from workers.own_code.loading import load

if TYPE_CHECKING:
    import torch

    from workers.own_code.cohort import OwnCohort


class LoadedCode:
    """What `train` and `run_script` take: a folder, its imported entry, and what the entry has by name."""

    def __init__(
        self, folder: Path, entry: str, alive: Callable[[], None] | None = None, may_be_cut: bool = False
    ) -> None:
        """`alive` is called when a batch of one of its cohorts begins. A cohort that `may_be_cut` is TooLarge where the
        gradients that its weighting needs at once do not fit."""
        self.folder, self.entry, self._alive, self._may_be_cut = folder.resolve(), entry, alive, may_be_cut
        self.module: ModuleType = load(folder, entry)

    def problem(self, spec: OwnProblem) -> Problem:
        """The user's object with a trial's values."""
        kind = self._named(spec.name)
        if not (isinstance(kind, type) and issubclass(kind, Problem)):
            raise CodeError(f"{spec.name} is no Problem", self.entry)
        with users_own(self.folder, kind):
            return kind(**spec.values())

    def script(self, spec: OwnProblem) -> Trainable:
        function = self._named(spec.name)
        if not isinstance(function, Trainable):
            raise CodeError(f"{spec.name} is no function made by @trainable", self.entry)
        return function

    def cohort(
        self, trials: Sequence[PlannedTrial], data: Data, device: torch.device, watched: bool = False
    ) -> OwnCohort:
        """Of trials that share their problem; `data` says what is held out and whether seeds share a draw."""
        from workers.own_code.cohort import OwnCohort  # with torch, which a script may do without

        spec = trials[0].problem
        if not isinstance(spec, OwnProblem):
            raise ValueError(f"trials of the study's own code are needed, got problem {spec.name!r}")
        return OwnCohort(
            trials,
            self.problem(spec),
            self.folder,
            device,
            data.validation_fraction,
            data.draw == "per-seed",
            watched,
            self._alive,
            self._may_be_cut,
        )

    def _named(self, name: str) -> object:
        if not hasattr(self.module, name):
            raise CodeError(f"the code has no {name!r}", self.entry)
        return getattr(self.module, name)
