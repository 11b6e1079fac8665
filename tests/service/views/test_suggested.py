"""What a search suggested, on its way from the driver into every answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.answers.trials import trial_rows
from service.contract.study.expansion import Slot, resolve
from service.contract.study.parsing import check_study
from service.contract.wire.events import Setting, StudyStarted, TrialStarted
from service.figures.drawing.trial_labels import labels_of
from service.store.sql import SqlStore
from service.views.cache import Views
from tests.processes import Running
from workers.sending.reporter import Reporter
from workers.sending.study_client import StudyClient

SUGGESTED: dict[str, Setting] = {"weighting.beta": 0.0132, "model.latent": 8}


@pytest.fixture
def tuned(spec: dict[str, Any]) -> dict[str, Any]:
    arm = {
        "name": "tuned",
        "weighting": {"name": "fixed", "beta": {"range": {"from": 1e-4, "to": 1.0, "scale": "log"}}},
        "model": {"latent": {"choice": [4, 8]}},
        "search": {"name": "optuna", "trials": 5},
    }
    return {**spec, "arms": [arm]}


@pytest.fixture
def store(tmp_path: Path, tuned: dict[str, Any]) -> Iterator[SqlStore]:
    store = SqlStore(tmp_path)
    store.create("s1", check_study(tuned).model_dump(by_alias=True, mode="json"), None)
    store.append("s1", [StudyStarted(uid="first")])
    yield store
    store.close()


def test_a_started_trial_shows_what_was_suggested_and_its_neighbours_do_not(store: SqlStore) -> None:
    views = Views(store)
    with views.read("s1") as view:
        first, second, *_ = view.trials
        assert len(view.trials) == 5 and "weighting.beta" not in view.trials[first].planned.config
    store.append("s1", [TrialStarted(uid="a", trial=first, config=SUGGESTED)])
    with views.read("s1") as view:
        assert trial_rows(view, [first])[0].config.items() >= SUGGESTED.items()
        assert not SUGGESTED.keys() & view.trials[second].planned.config.keys()


def test_the_config_of_a_resolved_trial_is_what_the_view_shows(store: SqlStore) -> None:
    views = Views(store)
    with views.read("s1") as view:
        slot = next(iter(view.trials.values())).planned
    assert isinstance(slot, Slot)
    store.append("s1", [TrialStarted(uid="a", trial=slot.id, config=SUGGESTED)])
    with views.read("s1") as view:
        assert view.trials[slot.id].planned.config == resolve(slot, SUGGESTED).config


def test_suggested_values_tell_trials_apart_in_figures_and_survive_a_restart(store: SqlStore) -> None:
    views = Views(store)
    with views.read("s1") as view:
        first, second, *_ = view.trials
    store.append("s1", [TrialStarted(uid="a", trial=first, config=SUGGESTED)])
    store.append("s1", [TrialStarted(uid="b", trial=second, config={**SUGGESTED, "model.latent": 4})])
    store.append("s1", [StudyStarted(uid="c", job="s1-2")])
    with views.read("s1") as view:
        assert "latent 8" in labels_of(view)[first] and "latent 4" in labels_of(view)[second]
        assert view.trials[first].planned.config.items() >= SUGGESTED.items()


def test_a_drivers_suggestion_reaches_the_trials_answer(service: Running, tuned: dict[str, Any]) -> None:
    study = service.post("/api/studies", json=tuned).json()["id"]
    trial = service.get(f"/api/studies/{study}/trials").json()["trials"][0]
    assert "weighting.beta" not in trial["config"]
    started = {"events": [{"uid": "first", "kind": "study_started"}]}
    assert service.post(f"/api/studies/{study}/reports", json=started).is_success
    reporter = Reporter(StudyClient(service.url, None, study))
    reporter.trial_started(trial["id"], "host", SUGGESTED)
    assert reporter.close(10)
    found = service.get(f"/api/studies/{study}/trials/{trial['id']}").json()
    assert found["config"].items() >= SUGGESTED.items()
    assert isinstance(found["config"]["model.latent"], int)


@pytest.mark.parametrize("config", [{"weighting.beta": [1]}, {"weighting.beta": None}, ["x"], {"k" * 101: 1}])
def test_a_suggestion_that_is_none_is_refused(service: Running, tuned: dict[str, Any], config: Any) -> None:
    study = service.post("/api/studies", json=tuned).json()["id"]
    trial = service.get(f"/api/studies/{study}/trials").json()["trials"][0]["id"]
    event = {"uid": "u", "kind": "trial_started", "trial": trial, "config": config}
    answer = service.post(f"/api/studies/{study}/reports", json={"events": [event]})
    assert answer.status_code == httpx.codes.UNPROCESSABLE_ENTITY
