"""Saved states of cohorts: who may be saved, what is kept of it, and when it is gone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from service.contract.wire.cohort_state import key_of
from service.store.incoming import MARK, drafted, sweep
from tests.service.bench import Bench


def content(members: dict[str, Any], epoch: int = 3, **more: Any) -> bytes:
    """The head of a safetensors file, and a tensor's worth of bytes."""
    said = json.dumps({"members": members, "epoch": epoch, "seconds": 1.5, **more})
    header = json.dumps({"__metadata__": {"cohort": said}, "x": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}})
    return len(header).to_bytes(8, "little") + header.encode() + b"abcd"


def put(bench: Bench, study: str, body: bytes, key: str) -> Any:
    return bench.ask("PUT", f"/api/studies/{study}/cohorts/{key}/state", content=body)


def saved(bench: Bench, study: str, *trials: str, epoch: int = 3, epochs: int = 9) -> str:
    members: dict[str, Any] = {trial: {} for trial in trials}
    answer = put(bench, study, content(members, epoch, epochs=epochs), key_of(members))
    assert answer.status_code == 204, answer.text
    return key_of(members)


@pytest.fixture
def bench(tmp_path: Path) -> Any:
    bench = Bench(tmp_path, keep_free_bytes=0)
    yield bench
    bench.close()


def test_a_state_is_handed_out_as_it_was_saved_and_the_latest_counts(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    one, two = bench.trials(study)
    key = saved(bench, study, one, two)
    saved(bench, study, one, two, epoch=5)
    assert bench.ask("GET", f"/api/studies/{study}/cohorts/{key}/state").content == content(
        {one: {}, two: {}}, 5, epochs=9
    )
    assert bench.get(f"/api/studies/{study}/cohorts") == {
        "cohorts": [{"members": {one: {}, two: {}}, "epoch": 5, "epochs": 9, "seconds": 1.5, "failed": []}]
    }


def test_a_state_behind_the_one_that_is_kept_does_not_take_its_place(bench: Bench) -> None:
    """As a process would save it that began from the beginning, for whatever reason."""
    study = bench.submit()
    bench.launcher.tick()
    trial = bench.trials(study)[0]
    key = saved(bench, study, trial, epoch=40, epochs=50)
    answer = put(bench, study, content({trial: {}}, 3, epochs=50), key)
    assert answer.status_code == 409
    assert f"cohort {key} is saved after its epoch 40: a state after epoch 3 is behind it" in answer.text
    place = f"/api/studies/{study}/cohorts/{key}/state"
    assert bench.ask("GET", place).content == content({trial: {}}, 40, epochs=50)
    saved(bench, study, trial, epoch=40, epochs=50)
    assert bench.ask("PUT", f"{place}?anew=true", content=content({trial: {}}, 3)).status_code == 204
    assert bench.get(f"/api/studies/{study}/cohorts")["cohorts"][0]["epoch"] == 3, (
        "whoever saved it could not read that"
    )


def test_a_state_that_is_damaged_on_the_disk_is_replaced_by_any(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    trial = bench.trials(study)[0]
    key = saved(bench, study, trial, epoch=40, epochs=50)
    (bench.settings.home / "states" / study / f"{key}.safetensors").write_bytes(b"noise")
    assert saved(bench, study, trial, epoch=3) == key


def test_a_cohort_of_other_members_is_another_cohort(bench: Bench) -> None:
    assert len({key_of({"a": {}, "b": {}}), key_of({"b": {}, "a": {}}), key_of({"a": {}})}) == 3
    assert key_of({"a": {"weighting.beta": 0.1}}) != key_of({"a": {"weighting.beta": 0.2}})


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "begin as a safetensors"),
        (b"no safetensors at all", "begin as a safetensors"),
        ((2).to_bytes(8, "little") + b"{}", "metadata"),
        ((2).to_bytes(8, "little") + b"[]", "metadata"),
        (content({}), "members"),
        (content({"t1": {}}, epoch=-1), "epoch"),
        (content({"t1": {}}, unknown=1), "unknown"),
        (content({"nobody": {}}), "key"),
    ],
)
def test_what_is_no_state_is_refused_and_leaves_nothing(bench: Bench, body: bytes, words: str) -> None:
    study = bench.submit()
    answer = put(bench, study, body, "c" + "0" * 16)
    assert answer.status_code == 422 and words in answer.json()["error"]["message"]
    assert not list((bench.settings.home / "states").rglob("*.safetensors*"))


def test_members_must_be_trials_of_the_study(bench: Bench) -> None:
    study = bench.submit()
    answer = put(bench, study, content({"nobody": {}}), key_of({"nobody": {}}))
    assert answer.status_code == 422 and "there is no trial 'nobody'" in answer.json()["error"]["message"]


@pytest.mark.parametrize("key", ["..", "c0", "c" + "g" * 16, "C" + "0" * 16])
def test_a_key_is_a_hash_and_never_a_path(bench: Bench, key: str) -> None:
    study = bench.submit()
    assert put(bench, study, content({"t": {}}), key).status_code in (404, 405, 422)


def test_a_state_is_gone_when_all_its_members_are_over(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    key = saved(bench, study, *bench.trials(study))
    bench.finish_trial(study, 0)
    assert len(bench.get(f"/api/studies/{study}/cohorts")["cohorts"]) == 1
    bench.finish_trial(study, 1)
    assert bench.get(f"/api/studies/{study}/cohorts") == {"cohorts": []}
    assert bench.ask("GET", f"/api/studies/{study}/cohorts/{key}/state").status_code == 404


@pytest.mark.parametrize(("end", "epochs"), [("finish", 9), ("cancel", 9), ("cancel", 3)])
def test_a_study_that_has_ended_keeps_no_state_from_before_the_end_and_takes_none(
    bench: Bench, end: str, epochs: int
) -> None:
    study = bench.submit()
    bench.launcher.tick()
    trials = bench.trials(study)
    key = saved(bench, study, *trials, epochs=epochs)
    getattr(bench, end)(study)
    assert bench.ask("GET", f"/api/studies/{study}/cohorts/{key}/state").status_code == 404
    assert put(bench, study, content({trial: {} for trial in trials}), key).status_code == 409


def test_the_state_at_the_end_of_a_training_stays_for_more_epochs_until_the_study_is_deleted(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    one, two = bench.trials(study)
    at_end, before = saved(bench, study, one, epochs=3), saved(bench, study, two, epochs=9)
    for number in (0, 1):
        bench.finish_trial(study, number)
    bench.finish(study)
    found = [bench.ask("GET", f"/api/studies/{study}/cohorts/{key}/state").status_code for key in (at_end, before)]
    assert found == [200, 404]
    assert bench.get(f"/api/studies/{study}/cohorts") == {"cohorts": []}, "nobody goes on from it now"
    assert bench.ask("POST", f"/api/studies/{study}/extend", json={"epochs": 5}).status_code == 200
    assert [each["epoch"] for each in bench.get(f"/api/studies/{study}/cohorts")["cohorts"]] == [3]
    bench.cluster.end(study, "SUCCEEDED", None)
    bench.launcher.tick()
    assert bench.read(study)["reason"] == "extended; 1 trial goes on after epoch 3, 1 trial had not begun"
    bench.cancel(study)
    bench.delete(study)
    assert not (bench.settings.home / "states" / study).exists()


def test_more_epochs_leave_the_states_of_who_goes_on_and_none_of_who_begins_anew(bench: Bench) -> None:
    tasks = {"problem": {"name": "multitask", "main": "class", "auxiliaries": ["rotation"]}}
    arm = {"name": "a", "weighting": {"name": "arml", "form": {"grid": ["simplified", "two-stage"]}}, **tasks}
    study = bench.submit(arms=[arm], training={"epochs": 5})
    bench.launcher.tick()
    simple, staged = bench.trials(study)
    kept = saved(bench, study, simple, epoch=5, epochs=5)
    saved(bench, study, staged, epoch=5, epochs=5)
    for trial in (simple, staged):
        report = {"uid": f"{trial}:5", "kind": "report", "trial": trial, "metrics": {"epoch": 5}}
        bench.report(study, report, {"uid": f"{trial}:f", "kind": "trial_finished", "trial": trial})
    bench.finish(study)
    bench.cluster.end(study, "SUCCEEDED", None)
    assert bench.ask("POST", f"/api/studies/{study}/extend", json={"epochs": 9}).status_code == 200
    states = bench.get(f"/api/studies/{study}/cohorts")["cohorts"]
    assert [key_of(state["members"]) for state in states] == [kept]


def test_an_end_that_is_told_twice_takes_no_state_from_a_study_that_goes_on(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    one, two = bench.trials(study)
    for number in (0, 1):
        bench.finish_trial(study, number)
    bench.finish(study)
    bench.cluster.end(study, "SUCCEEDED", None)
    assert bench.ask("POST", f"/api/studies/{study}/extend", json={"epochs": 9}).status_code == 200
    key = saved(bench, study, one, two, epoch=5)
    bench.finish(study)
    assert bench.ask("GET", f"/api/studies/{study}/cohorts/{key}/state").status_code == 200


def test_a_retried_trial_costs_the_others_of_its_cohort_no_state(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    one, two = bench.trials(study)
    members: dict[str, Any] = {one: {}, two: {}}
    body = content(members, 3, epochs=3, failed=[two])
    assert put(bench, study, body, key_of(members)).status_code == 204
    bench.finish_trial(study, 0)
    bench.report(study, {"uid": "f", "kind": "trial_failed", "trial": two, "reason": "r"})
    bench.finish(study)
    bench.cluster.end(study, "SUCCEEDED", None)
    assert bench.ask("POST", f"/api/studies/{study}/retry").status_code == 200
    assert bench.get(f"/api/studies/{study}/cohorts") == {"cohorts": []}, "nobody who lives in it is to be trained"
    bench.launcher.tick()
    assert bench.read(study)["reason"] == "retried; 1 trial had not begun"
    bench.report(study, {"uid": "f2", "kind": "trial_failed", "trial": two, "reason": "r"})
    bench.report(study, {"uid": "end2", "kind": "study_finished"})
    assert bench.ask("POST", f"/api/studies/{study}/extend", json={"epochs": 5}).status_code == 200
    assert [each["failed"] for each in bench.get(f"/api/studies/{study}/cohorts")["cohorts"]] == [[two]]


def test_a_failed_study_keeps_its_states_as_it_may_be_resumed_and_a_deleted_one_does_not(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    key = saved(bench, study, *bench.trials(study))
    bench.report(study, {"uid": "f", "kind": "study_failed", "reason": "r"})
    assert bench.ask("GET", f"/api/studies/{study}/cohorts/{key}/state").status_code == 200
    bench.delete(study)
    assert not (bench.settings.home / "states" / study).exists()


@pytest.mark.parametrize("damaged", [b"", b"no safetensors", content({"t": {}})[:40]])
def test_a_state_that_is_damaged_on_the_disk_counts_as_none_and_hides_no_other(bench: Bench, damaged: bytes) -> None:
    study = bench.submit()
    bench.launcher.tick()
    one, two = bench.trials(study)
    broken = saved(bench, study, one)
    saved(bench, study, two, epoch=8)
    (bench.settings.home / "states" / study / f"{broken}.safetensors").write_bytes(damaged)
    assert [list(state["members"]) for state in bench.get(f"/api/studies/{study}/cohorts")["cohorts"]] == [[two]]
    bench.cluster.end(study)
    bench.launcher.tick()
    assert bench.read(study)["reason"].endswith("1 trial goes on after epoch 8, 1 trial had not begun")


def test_a_retried_trial_begins_anew_and_so_does_who_was_saved_with_it(bench: Bench) -> None:
    study = bench.submit(seeds=[0, 1])
    bench.launcher.tick()
    failed, beside, other, _ = bench.trials(study)
    with_it, without = saved(bench, study, failed, beside), saved(bench, study, other)
    bench.report(study, {"uid": "t", "kind": "trial_failed", "trial": failed, "reason": "diverged"})
    bench.report(study, {"uid": "f", "kind": "study_failed", "reason": "r"})
    assert bench.ask("POST", f"/api/studies/{study}/retry").status_code == 200
    kept = [bench.ask("GET", f"/api/studies/{study}/cohorts/{key}/state").status_code for key in (with_it, without)]
    assert kept == [404, 200]


def test_a_study_started_again_says_after_which_epoch_it_goes_on(bench: Bench) -> None:
    study = bench.submit(seeds=[0, 1, 2])
    bench.launcher.tick()
    one, two, *_ = bench.trials(study)
    for trial in (one, two):
        bench.report(study, {"uid": f"{trial}:s", "kind": "trial_started", "trial": trial})
    saved(bench, study, one, epoch=17)
    bench.cluster.end(study, "FAILED", "killed")
    bench.launcher.tick()
    reason = bench.read(study)["reason"]
    assert reason.startswith(
        "started again: its driver ended (failed): killed; 1 trial goes on after epoch 17, 1 trial"
    )
    assert "1 trial starts over, 4 trials had not begun" in reason
    states = [trial["state"] for trial in bench.get(f"/api/studies/{study}/trials")["trials"]]
    assert set(states) == {"planned"}, "nothing runs before a driver says so"


def test_of_a_saved_cohort_only_those_go_on_that_have_not_ended(bench: Bench) -> None:
    study = bench.submit(seeds=[0, 1, 2])
    bench.launcher.tick()
    failed, going, further, *_ = bench.trials(study)
    saved(bench, study, failed, going, epoch=4)
    saved(bench, study, further, epoch=9)
    for trial in (failed, going, further):
        bench.report(study, {"uid": f"{trial}:s", "kind": "trial_started", "trial": trial})
    bench.report(study, {"uid": "f", "kind": "trial_failed", "trial": failed, "reason": "diverged"})
    bench.cluster.end(study)
    bench.launcher.tick()
    assert bench.read(study)["reason"].endswith("; 2 trials go on after epochs 4 to 9, 3 trials had not begun")


def test_the_state_alone_is_told_to_those_who_only_want_to_know_of_a_pause(bench: Bench) -> None:
    study = bench.submit()
    assert bench.get(f"/api/studies/{study}/state") == {"state": "queued", "leave": False, "last_seq": 1}
    assert bench.send(study, {"uid": "s", "kind": "study_started"}).headers["Paretoscope-State"] == "running"


def test_drafts_of_processes_that_were_killed_are_swept_and_those_under_way_stay(tmp_path: Path) -> None:
    with drafted(tmp_path / "a" / "file") as draft:
        under_way = Path(draft.file.name)
        host = under_way.name.rpartition(MARK)[2].partition("-")[0]
        left = tmp_path / "a" / f".file{MARK}{host}-99999999.abc"
        elsewhere = tmp_path / "a" / f".file{MARK}another_host-99999999.abc"
        for draft_file in (left, elsewhere):
            draft_file.write_bytes(b"half")
        sweep(tmp_path, begun=0.0)
        assert (left.exists(), elsewhere.exists(), under_way.exists()) == (False, True, True)
        sweep(tmp_path, begun=2e9)
        assert not under_way.exists(), "of an earlier process with this one's number"
