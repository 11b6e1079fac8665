"""Several studies as one: every arm of every study, on the same axes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from service.contract.study.constraints import Constraint
from service.contract.study.limits import Limits
from service.contract.study.study import Arm, Study
from service.contract.wire.events import StudyState
from service.views.notes import Notes
from service.views.trial import TrialView
from service.views.view import Memo, View

SEPARATOR = "/"  # between study and trial in the id of a trial of an overlay


class Overlay:
    """A view made of views: arms are called `study · arm`, trials `study/trial`.

    Objectives, reference point and baseline are the first study's.
    """

    def __init__(self, views: Sequence[View]) -> None:
        first = views[0]
        self.id = "+".join(view.id for view in views)
        self.spec = first.spec
        self.created_at, self.started_at, self.ended_at = first.created_at, first.started_at, first.ended_at
        self.clock = first.clock
        self.reason: str | None = None
        self.interrupted: str | None = None
        self.lost_events = sum(view.lost_events for view in views)
        self.notes = Notes()
        ended = all(view.state.is_ended() for view in views)
        self.state = StudyState.FINISHED if ended else StudyState.RUNNING
        self.seq = sum(view.seq for view in views)
        self.memo = Memo()
        names = _names(views)
        self.study = _merged(views, names)
        self.metrics = list(dict.fromkeys(metric for view in views for metric in view.metrics))
        self.alike = all(view.study.data == first.study.data for view in views)
        attacks = [view.study.evaluation.attacks for view in views]
        self.attacked_alike = all(each == attacks[0] for each in attacks if each)
        self.all_trials: dict[str, TrialView] = {}
        self.ended: list[str] = []
        for view, name in zip(views, names, strict=True):
            for trial_id, trial in view.all_trials.items():
                planned = trial.planned._replace(arm=_arm(name, trial.planned.arm))
                self.all_trials[f"{view.id}{SEPARATOR}{trial_id}"] = trial.under(planned)
            self.ended += [f"{view.id}{SEPARATOR}{trial_id}" for trial_id in view.ended]
        self.trials = {own: trial for own, trial in self.all_trials.items() if not trial.planned.verifies}


def _arm(study: str, arm: str) -> str:
    return f"{study} · {arm}"


def _names(views: Sequence[View]) -> list[str]:
    """Studies by name; by name and id where names are the same."""
    counts = Counter(view.study.name for view in views)
    return [v.study.name if counts[v.study.name] == 1 else f"{v.study.name} ({v.id})" for v in views]


def _shared_constraints(studies: Sequence[Study]) -> list[Constraint]:
    """Those of all; where they differ each trial still keeps its own study's, and no line is drawn for them."""
    return studies[0].constraints if all(each.constraints == studies[0].constraints for each in studies) else []


def _merged(views: Sequence[View], names: Sequence[str]) -> Study:
    """The study that reports most, with the arms and seeds of all, the objectives and the baseline of the first.

    Nobody submitted it, so it is not checked: it may have more arms than a study may.
    """
    studies = [view.study for view in views]
    richest = max(views, key=lambda view: len(view.metrics)).study
    arms: list[Arm] = [
        arm.model_copy(
            update={
                "name": _arm(name, arm.name),
                # What the study sets for all its arms, the merged one may set otherwise.
                "model": {**study.model.model_dump(by_alias=True, exclude={"name"}), **arm.model}
                if study.model.name == richest.model.name
                else {},
                "training": {**study.training.model_dump(by_alias=True), **arm.training},
            }
        )
        for study, name in zip(studies, names, strict=True)
        for arm in study.arms
    ]
    seeds = list(dict.fromkeys(seed for study in studies for seed in study.seeds))
    baseline = studies[0].baseline
    update = {
        "name": " and ".join(names),
        "arms": arms,
        "seeds": seeds,
        "objectives": studies[0].objectives,
        "constraints": _shared_constraints(studies),
        "limits": richest.limits if all(study.limits == richest.limits for study in studies) else Limits(),
        "baseline": None if baseline is None else _arm(names[0], baseline),
        # What a search or a front saw of the test split is not undone by how the others were chosen.
        "selection": "test" if any(study.selection == "test" for study in studies) else "validation",
    }
    return richest.model_copy(update=update)
