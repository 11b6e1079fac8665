"""Where a trial, or a point of one, lies against the baseline's front of its seed: as columns of a table."""

from __future__ import annotations

from service.analysis.fronts import Key, key_of
from service.analysis.trial_places import MeanPlace, amounting, mean_place, told, trial_mean, trial_place
from service.views.view import View

Cells = tuple[float | None, ...]


class FrontColumns:
    """Cells are empty for trials of the baseline, and for what counts for no front."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._metrics = [objective.metric for objective in view.study.objectives]
        self._settings = amounting(view)
        read = ["distance", *(f"matched.{metric}" for metric in self._metrics)]
        readings = [f"{name}{reading}" for name in read for reading in ("", ".step", ".line")]
        names = ["dominated", "beyond", *readings, *(f"amounts_to.{key}" for key in self._settings)]
        self.names = [f"front.{name}" for name in names]
        self.empty: Cells = (None,) * len(names)

    def of_trial(self, trial: str) -> Cells:
        """Of a curve, the mean over its points that no other of them dominates."""
        place = trial_mean(self._view, trial)
        return self.empty if place is None else self._cells(place)

    def of_points(self, trial: str) -> dict[Key, Cells]:
        place = trial_place(self._view, trial)
        return {key_of(trial, own.where): self._cells(mean_place([own])) for own in place.points} if place else {}

    def _cells(self, place: MeanPlace) -> Cells:
        """Dominated and beyond are shares: of one point 0 or 1."""
        matched = place.matched if len(self._metrics) == len(place.matched) else [None] * len(self._metrics)
        readings = [(told(own), *own) if own else (None, None, None) for own in (place.distance, *matched)]
        amounts = (place.amounts.get(key) for key in self._settings)
        return (place.dominated, place.beyond, *(value for own in readings for value in own), *amounts)
