"""What a study will cost, from what finished trials of this service took: seconds per epoch, by what was trained."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from service.contract.study.expansion import count_trials, count_verifying
from service.contract.study.halved import halved
from service.contract.study.study import Arm, Study
from service.contract.wire.answers.checks import ArmEstimate, CostEstimate
from service.contract.wire.errors import NotFound, Unreadable
from service.contract.wire.events import TrialState
from service.contract.wording.numbers import number
from service.views.cache import Views
from service.views.view import View

LATEST = 20
KEPT = 200


class Kind(NamedTuple):
    """What decides how long an epoch takes. The model is the arm's own, axes and all."""

    data: str
    model: str
    problem: str
    weighting: str


class Took(NamedTuple):
    """What the finished trials of an arm took; an epoch on half of the training data counts as half an epoch."""

    kind: Kind
    trials: int
    epochs: float
    seconds: float


class Past(NamedTuple):
    """A finished study: its arms, and how long it took as a whole."""

    name: str
    arms: tuple[Took, ...]
    wall_seconds: float


class Level(NamedTuple):
    """How alike past trials must be to count."""

    words: str
    of: Callable[[Kind], tuple[str, ...]]


LEVELS = (
    Level("same data, model and weighting", tuple),
    Level("same data and model", lambda kind: (kind.data, kind.model)),
    Level("same data", lambda kind: (kind.data,)),
)


def kind_of(study: Study, arm: Arm) -> Kind:
    def text(value: Any) -> str:
        return json.dumps(value, sort_keys=True, ensure_ascii=False)

    model = study.model_of(arm)
    problem = arm.problem.model_dump(by_alias=True, mode="json", include={"name", "rate"})
    own_model = text(model.model_dump(by_alias=True, mode="json")) if model else ""
    return Kind(_data_name(study), own_model, text({**problem, "terms": arm.problem.terms}), arm.weighting.name)


def epochs_of(study: Study, arm: Arm) -> float:
    """Epochs of one trial of the arm, in passes over all the training data."""
    return _epochs(study, arm) * _share(study)


def _epochs(study: Study, arm: Arm) -> int:
    return int(arm.training.get("epochs", study.training.epochs))


def _share(study: Study) -> float:
    return float(getattr(study.data, "train_fraction", 1.0))


def all_epochs_of(study: Study, arm: Arm, trials: int) -> float:
    """Of so many trials of the arm together; those that are stopped train fewer."""
    if study.stopping is None or arm not in halved(study):
        return trials * epochs_of(study, arm)
    seeds, epochs = len(study.seeds), _epochs(study, arm)
    return seeds * study.stopping.epochs_from(trials // seeds, 0, epochs) * _share(study)


def past_of(view: View) -> Past:
    """What the log says about a study's finished trials."""
    arms = []
    for arm in view.study.arms:
        own = [t for t in view.trials.values() if t.planned.arm == arm.name and t.training_seconds is not None]
        ended = [t for t in own if t.state is TrialState.FINISHED or t.stopped_after]
        if ended:
            epochs = sum((t.stopped_after or _epochs(view.study, arm)) * _share(view.study) for t in ended)
            seconds = sum(t.training_seconds or 0.0 for t in ended)
            arms.append(Took(kind_of(view.study, arm), len(ended), epochs, seconds))
    return Past(view.study.name, tuple(arms), view.clock.ran if view.ended_at else 0.0)


def estimate(study: Study, past: Sequence[Past]) -> CostEstimate:
    """Each arm by the trials most like its own: trials × epochs × the seconds an epoch took."""
    counts, checks = count_trials(study), count_verifying(study)
    matches = {arm.name: _match(kind_of(study, arm), past) for arm in study.arms}
    matched = {name: match for name, match in matches.items() if match is not None}
    if len(matched) < len(matches):
        silent = [ArmEstimate(name=name, training_seconds=None) for name in matches]
        alike = f"data {study.data.name}" if study.code is None else "the same code"
        basis = f"no finished study with {alike} yet"
        return CostEstimate(training_seconds=None, wall_seconds=None, basis=basis, arms=silent)
    arms = []
    for arm in study.arms:
        took = matched[arm.name][1]
        rate = sum(t.seconds for _, t in took) / sum(t.epochs for _, t in took)
        # What verifies a curve is cheaper than the curve by a factor that is not known here: it counts as much.
        seconds = all_epochs_of(study, arm, counts[arm.name] + checks.get(arm.name, 0)) * rate
        arms.append(ArmEstimate(name=arm.name, training_seconds=seconds))
    training = sum(arm.training_seconds or 0.0 for arm in arms)
    used = {id(one): one for _, took in matched.values() for one, _ in took}
    ratio = _wall_ratio(list(used.values()))
    wall = None if ratio is None else training * ratio
    basis = _basis(matched, list(used.values()), ratio)
    return CostEstimate(training_seconds=training, wall_seconds=wall, basis=basis, arms=arms)


def _data_name(study: Study) -> str:
    """Of a study with code of its own the code, as that gives the data."""
    return study.data.name if study.code is None else study.code.hash


def _data_in(spec: Mapping[str, object]) -> object:
    """The name of its data; none in a spec that this version cannot read."""
    code, data = spec.get("code"), spec.get("data")
    if isinstance(code, dict):
        return code.get("hash")
    return data.get("name") if isinstance(data, dict) else None


Match = tuple[Level, list[tuple[Past, Took]]]


def _match(kind: Kind, past: Sequence[Past]) -> Match | None:
    for level in LEVELS:
        took = [(one, t) for one in past for t in one.arms if level.of(t.kind) == level.of(kind)]
        if took:
            return level, took
    return None


def _wall_ratio(past: list[Past]) -> float | None:
    """Wall time for each second of training, starting up and evaluation included."""
    timed = [one for one in past if one.wall_seconds > 0]
    training = sum(t.seconds for one in timed for t in one.arms)
    return sum(one.wall_seconds for one in timed) / training if training > 0 else None


def _basis(matched: dict[str, Match], past: list[Past], ratio: float | None) -> str:
    trials = sum({id(t): t.trials for _, took in matched.values() for _, t in took}.values())
    of = f"'{past[0].name}'" if len(past) == 1 else f"{len(past)} studies"
    levels = [level.words for level in LEVELS if any(match[0] is level for match in matched.values())]
    first = sum(match[0].words == levels[0] for match in matched.values())
    alike = levels[0] if len(levels) == 1 else f"{levels[0]} for {first} of {len(matched)} arms, else {levels[-1]}"
    counted = "1 finished trial" if trials == 1 else f"{trials:,} finished trials"
    wall = "" if ratio is None else f"; wall time was {number(ratio)} × training time there"
    return f"{counted} of {of} ({alike}){wall}"


class Estimates:
    """Looks at the latest finished studies with the same data; each is read again only when its log has grown."""

    def __init__(self, views: Views) -> None:
        self._views = views
        self._past: dict[tuple[str, int], Past] = {}
        self._lock = threading.Lock()

    def cost(self, study: Study) -> CostEstimate:
        data = _data_name(study)
        wanted = self._views.finished(LATEST, lambda spec: _data_in(spec) == data)
        pasts = [self._read(study_id) for study_id in wanted]
        return estimate(study, [past for past in pasts if past is not None])

    def _read(self, study_id: str) -> Past | None:
        try:
            with self._views.read(study_id) as view:
                key = (study_id, view.seq)
                past = self._past.get(key) or past_of(view)
        except (NotFound, Unreadable):  # deleted in the meantime, or of another version
            return None
        with self._lock:
            self._past[key] = past
            while len(self._past) > KEPT:
                del self._past[next(iter(self._past))]
        return past
