"""Latent maps of a view's trials: files beside the log, found by study and trial."""

from __future__ import annotations

from service.contract.wire.latent_map import MapFile
from service.store.artifacts import LATENT_MAP, Artifacts
from service.views.overlay import SEPARATOR
from service.views.view import View


class Maps:
    """Those that workers have sent; of an overlay's trials each is its own study's."""

    def __init__(self, artifacts: Artifacts) -> None:
        self._artifacts = artifacts

    def has(self, view: View, trial: str) -> bool:
        return self._artifacts.find(*_owner(view, trial), LATENT_MAP) is not None

    def of(self, view: View, trial: str) -> MapFile | None:
        return self._artifacts.latent_map(*_owner(view, trial))


def _owner(view: View, trial: str) -> tuple[str, str]:
    """Study and trial as artifacts know them; in an overlay the trial's id holds both."""
    study, _, own = trial.rpartition(SEPARATOR)
    return study or view.id, own
