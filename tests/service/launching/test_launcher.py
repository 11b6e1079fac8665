"""One tick at a time, on a cluster that does what the test says: what runs, what waits, what is given up."""

from __future__ import annotations

import logging
import os
import stat
import threading
import time
from pathlib import Path

import httpx
import pytest

from service.contract.wire.errors import Unavailable
from service.contract.wire.events import StudyCancelled
from service.launching.beside import wait_for_ray
from service.launching.handover import Handover
from service.launching.launcher import Launcher
from service.settings import Settings
from tests.processes import until
from tests.service.bench import Bench, Cluster


def test_the_oldest_studies_start_and_no_more_than_are_allowed(bench: Bench) -> None:
    one, two, three, four = (bench.submit() for _ in range(4))
    for _ in range(3):
        assert bench.launcher.tick() is True
        assert bench.cluster.started() == [one, two]
        assert [bench.state(study) for study in (one, two, three, four)] == ["running"] * 2 + ["queued"] * 2
        assert [bench.read(study)["queue_position"] for study in (three, four)] == [1, 2]


@pytest.mark.parametrize("at_once", [1, 3])
def test_how_many_run_at_once_is_a_setting(tmp_path: Path, at_once: int) -> None:
    bench = Bench(tmp_path, studies_at_once=at_once)
    studies = [bench.submit() for _ in range(4)]
    for _ in range(2):
        bench.launcher.tick()
    assert bench.cluster.started() == studies[:at_once]
    bench.close()


def test_the_next_starts_when_one_ends(bench: Bench) -> None:
    one, two, three, four = (bench.submit() for _ in range(4))
    bench.launcher.tick()
    bench.finish(two)
    bench.launcher.tick()
    assert bench.cluster.started() == [one, two, three]
    assert bench.cancel(one).status_code == 200
    bench.launcher.tick()
    assert bench.cluster.started() == [one, two, three, four]


def test_a_study_may_be_deleted_from_the_queue_and_the_next_takes_its_turn(bench: Bench) -> None:
    one, two, three, four = (bench.submit() for _ in range(4))
    bench.launcher.tick()
    assert bench.delete(three).status_code == 204
    bench.finish(one)
    bench.launcher.tick()
    assert bench.cluster.started() == [one, two, four]


def test_a_job_is_named_after_its_study_and_told_where_the_service_is(tmp_path: Path) -> None:
    bench = Bench(tmp_path, url="http://service:8000", data=tmp_path / "sets")
    study = bench.submit()
    bench.launcher.tick()
    [submitted] = bench.cluster.submitted
    assert submitted.job == study
    assert submitted.entrypoint == f"python -m workers.run_study {study}"
    assert submitted.env == {
        "PARETOSCOPE_URL": "http://service:8000",
        "PARETOSCOPE_JOB": study,
        "PARETOSCOPE_DATA": str(tmp_path / "sets"),
        "PARETOSCOPE_INSTANCE": bench.parts.instance,
        "PARETOSCOPE_SAVE_SECONDS": "120.0",
        "PARETOSCOPE_FINAL_STATES": "checkpoints",
        "PARETOSCOPE_CODE_SILENT_SECONDS": "1800.0",
    }
    bench.close()


def test_a_job_gets_a_file_with_a_token_of_its_own_and_its_own_name_every_time(tmp_path: Path) -> None:
    drivers = tmp_path / "drivers"
    bench = Bench(tmp_path, token="secret", port=1234, driver_tokens=drivers)
    study = bench.submit()
    bench.launcher.tick()
    secrets = {(drivers / study).read_text()}
    bench.cluster.end(study)
    bench.launcher.tick()
    first, second = (each.env for each in bench.cluster.submitted)
    assert first == {
        "PARETOSCOPE_URL": "http://127.0.0.1:1234",
        "PARETOSCOPE_JOB": study,
        "PARETOSCOPE_DATA": str(tmp_path / "data"),
        "PARETOSCOPE_SAVE_SECONDS": "120.0",
        "PARETOSCOPE_FINAL_STATES": "checkpoints",
        "PARETOSCOPE_CODE_SILENT_SECONDS": "1800.0",
        "PARETOSCOPE_INSTANCE": bench.parts.instance,
        "PARETOSCOPE_TOKEN_PATH": str(drivers / study),
    }
    again = f"{study}-2"
    assert second == {**first, "PARETOSCOPE_JOB": again, "PARETOSCOPE_TOKEN_PATH": str(drivers / again)}
    assert [path.name for path in drivers.iterdir()] == [again], "the first job has ended"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (drivers, drivers / again)] == [0o700, 0o600]
    secrets.add((drivers / again).read_text())
    assert len(secrets) == 2 and not secrets & {*first.values(), *second.values(), "secret"}
    for secret in secrets:  # a driver that was replaced may still say its last words
        headers = {"Authorization": f"Bearer {secret}"}
        assert bench.ask("GET", f"/api/studies/{study}", headers=headers).status_code == 200
        assert bench.ask("GET", "/api/studies", headers=headers).status_code == 403
    bench.close()


def test_a_token_that_cannot_be_written_holds_the_study_and_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "full").write_text("where a folder cannot be made")
    bench = Bench(tmp_path / "home", token="secret", driver_tokens=tmp_path / "full" / "drivers")
    study = bench.submit()
    for _ in range(3):
        assert bench.launcher.step() is True
    assert bench.state(study) == "queued" and bench.cluster.submitted == [], "no start is told that was none"
    [said] = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert said.exc_info is None and "the token of a driver cannot be written: Not a directory" in said.message
    (tmp_path / "full").unlink()
    bench.launcher.step()
    assert bench.cluster.started() == [study] and bench.state(study) == "running"
    bench.close()


def test_a_token_whose_driver_never_read_it_is_taken_back(tmp_path: Path) -> None:
    drivers = tmp_path / "drivers"
    bench = Bench(tmp_path, token="secret", driver_tokens=drivers)
    study = bench.submit()
    bench.launcher.tick()
    bench.launcher.tick()
    assert [path.name for path in drivers.iterdir()] == [study], "its driver may still come for it"
    bench.ask("POST", f"/api/studies/{study}/cancel")
    bench.cluster.end(study, "STOPPED")
    bench.launcher.tick()
    assert list(drivers.iterdir()) == []
    bench.close()


def test_a_job_whose_name_was_used_before_gets_a_token_that_is_new(tmp_path: Path) -> None:
    """A log that lost its end counts its starts anew, and a file may still lie there."""
    bench = Bench(tmp_path / "home", token="own", driver_tokens=tmp_path / "tokens")
    study, handover = bench.submit(), Handover(bench.parts.tokens, bench.settings)
    paths = [Path(handover.environment(study, "job")["PARETOSCOPE_TOKEN_PATH"])]
    first = paths[0].read_text()
    paths.append(Path(handover.environment(study, "job")["PARETOSCOPE_TOKEN_PATH"]))
    assert paths[0] == paths[1] and paths[1].read_text() not in ("", first)
    bench.close()


def test_a_reader_of_code_has_a_minute_until_ray_knows_it_and_a_driver_has_none(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "home", token="own", driver_tokens=tmp_path / "tokens")
    handover = Handover(bench.parts.tokens, bench.settings)
    for job in ("code-new", "code-late", "code-lists", "study"):
        handover.environment("study", job)
    for job, seconds in (("code-new", 50), ("code-late", 70), ("code-lists", 70)):
        ago = time.time() - seconds
        os.utime(tmp_path / "tokens" / job, (ago, ago))
    handover.take_back(lambda: {"code-lists"})
    assert {path.name for path in (tmp_path / "tokens").iterdir()} == {"code-new", "code-lists"}
    bench.close()


def test_a_driver_that_sees_none_of_our_files_gets_a_code_that_is_good_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path, token="secret")
    study = bench.submit()
    bench.launcher.tick()
    code = bench.cluster.submitted[0].env["PARETOSCOPE_CLAIM"]
    path = f"/api/studies/{study}"

    def ask(method: str, path: str, token: str) -> httpx.Response:
        return bench.ask(method, path, headers={"Authorization": f"Bearer {token}"})

    assert ask("GET", path, code).status_code == 403, "it is a token for nothing else"
    token = ask("POST", f"{path}/token", code).json()["token"]
    assert ask("GET", path, token).status_code == 200
    assert ask("POST", f"{path}/token", token).status_code == 403
    assert ask("POST", f"{path}/token", code).status_code == 401, "read in a log, say"
    assert ask("GET", path, token).status_code == 401, "who has it may have been the wrong one"
    bench.close()


def test_the_log_says_that_it_started_before_the_job_runs(bench: Bench) -> None:
    study = bench.submit()
    bench.cluster.error = RuntimeError("the network cable")
    bench.launcher.step()
    bench.cluster.error = None
    bench.launcher.tick()
    queued, started = bench.events(study)
    assert (queued["kind"], started["kind"]) == ("study_queued", "study_started")
    assert (started["job"], started["attempt"]) == (study, 1)
    assert "reason" not in started or started["reason"] is None


# While Ray does not answer


def test_studies_wait_while_ray_does_not_answer_and_the_log_says_so_once(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    study = bench.submit()
    bench.launcher.tick()
    queued = bench.submit()
    bench.cluster.answers = False
    with caplog.at_level(logging.WARNING, "paretoscope.launcher"):
        for _ in range(3):
            assert bench.launcher.step() is True
        assert len(caplog.records) == 1
        assert "studies wait: Ray at http://ray:8265 cannot be reached" in caplog.text
        assert [bench.state(study), bench.state(queued)] == ["running", "queued"]
        bench.cluster.answers = True
        bench.launcher.step()
        assert bench.cluster.started() == [study, queued]
        bench.cluster.answers = False
        bench.launcher.step()
    assert len(caplog.records) == 2, "it was there in between, so this is news"


def test_a_queued_study_is_not_called_started_while_ray_is_away(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.launcher.tick()  # nothing to do, but the orphans have been looked for
    study = bench.submit()
    bench.cluster.answers = False
    with caplog.at_level(logging.WARNING, "paretoscope.launcher"):
        bench.launcher.step()
    assert "Ray at http://ray:8265 does not answer, or refuses our token" in caplog.text
    assert bench.kinds(study) == ["study_queued"] and bench.cluster.started() == []


def test_without_a_cluster_studies_stay_in_the_queue(bench: Bench) -> None:
    study = bench.submit()
    parts = bench.parts
    handover = Handover(parts.tokens, bench.settings)
    alone = Launcher(parts.store, parts.views, parts.states, None, bench.settings, handover, parts.leases)
    assert alone.tick() is False
    assert bench.kinds(study) == ["study_queued"]


def test_an_unexpected_error_is_told_with_its_trace_and_the_next_tick_goes_on(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    study = bench.submit()
    bench.cluster.error = RuntimeError("nobody thought of this")
    assert bench.launcher.step() is True
    assert "goes on" in caplog.text and "nobody thought of this" in caplog.text
    bench.cluster.error = None
    assert bench.launcher.step() is True
    assert bench.cluster.started() == [study]


def test_the_thread_survives_an_error_and_ends_when_it_is_told(bench: Bench) -> None:
    cluster = bench.cluster
    study = bench.submit()
    seen = threading.Event()

    def once() -> None:
        cluster.meanwhile = lambda: None
        seen.set()
        raise RuntimeError("nobody thought of this")

    cluster.meanwhile = once
    bench.launcher.start()
    assert seen.wait(10)

    def started() -> bool:
        bench.launcher.wake()
        return cluster.started() == [study]

    until(started, "the study starts all the same")
    bench.launcher.stop()
    assert "launcher" not in [thread.name for thread in threading.enumerate()]


def test_a_ray_that_starts_beside_the_service_is_waited_for_until_it_says_that_it_takes_jobs(tmp_path: Path) -> None:
    ready, looks = tmp_path / "ray.ready", list[float | None]()

    class Stopping(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            looks.append(timeout)
            if len(looks) == 3:
                ready.touch()
            return False

    for settings in (Settings(ray_ready_path=ready), Settings(ray_ready_path=ready), Settings()):
        wait_for_ray(settings, Stopping())
        assert len(looks) == 3


def test_a_ray_that_starts_beside_the_service_is_asked_nothing_meanwhile(tmp_path: Path) -> None:
    """Else a study that runs would be told that Ray is away whenever `up` is started again."""
    bench = Bench(tmp_path, ray_ready_path=tmp_path / "ray.ready")
    study = bench.submit()
    bench.launcher.start()
    bench.launcher.stop()
    assert (bench.cluster.listed, bench.cluster.started(), bench.kinds(study)) == (0, [], ["study_queued"])
    bench.close()


def test_a_launcher_with_nothing_under_way_says_so(bench: Bench) -> None:
    assert bench.launcher.step() is False
    study = bench.submit()
    assert bench.launcher.step() is True
    bench.finish(study)
    assert bench.launcher.step() is False


# A driver that ended


def test_a_running_driver_is_left_alone(bench: Bench) -> None:
    study = bench.submit()
    for status in ("PENDING", "RUNNING"):
        bench.launcher.tick()
        bench.cluster.end(study, status, None)
        bench.launcher.tick()
    assert bench.kinds(study) == ["study_queued", "study_started"] and bench.cluster.stopped == []


@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_a_study_is_given_up_after_exactly_so_many_fruitless_starts(tmp_path: Path, attempts: int) -> None:
    bench = Bench(tmp_path, driver_attempts=attempts)
    study = bench.submit()
    bench.launcher.tick()
    names = [study, *(f"{study}-{i}" for i in range(2, attempts + 1))]
    for name in names:
        assert bench.state(study) == "running"
        bench.cluster.end(name)
        bench.launcher.tick()
    assert bench.cluster.started() == names
    read = bench.read(study)
    assert read["state"] == "failed"
    assert (
        read["reason"]
        == f"its driver ended (failed): it died; gave up after {attempts} starts in a row that reported nothing new"
    )
    bench.launcher.tick()
    assert bench.kinds(study) == ["study_queued", *["study_started"] * attempts, "study_failed"]
    bench.close()


def test_a_finished_trial_starts_the_count_anew(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    for job in (study, f"{study}-2"):
        bench.cluster.end(job)
        bench.launcher.tick()
    bench.finish_trial(study, 0)
    for job in (f"{study}-3", f"{study}-4", f"{study}-5"):
        assert bench.state(study) == "running"
        bench.cluster.end(job)
        bench.launcher.tick()
    assert bench.cluster.started() == [study, *(f"{study}-{i}" for i in (2, 3, 4, 5, 6))]
    bench.cluster.end(f"{study}-6")
    bench.launcher.tick()
    assert bench.state(study) == "failed"


def test_a_failed_trial_is_no_fruit(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    for job, trial in zip((study, f"{study}-2"), bench.trials(study), strict=True):
        bench.report(study, {"uid": f"{job}:f", "kind": "trial_failed", "trial": trial, "reason": "diverged"})
        bench.cluster.end(job)
        bench.launcher.tick()
    bench.cluster.end(f"{study}-3")
    bench.launcher.tick()
    assert bench.state(study) == "failed"


def test_a_study_started_again_says_why(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    bench.cluster.end(study, "FAILED", "out of memory")
    bench.launcher.tick()
    again = bench.events(study)[-1]
    assert (again["kind"], again["job"], again["attempt"]) == ("study_started", f"{study}-2", 2)
    assert again["reason"] == "started again: its driver ended (failed): out of memory; 2 trials had not begun"
    bench.cluster.end(f"{study}-2", "STOPPED", "by somebody")
    bench.launcher.tick()
    assert (
        bench.events(study)[-1]["reason"]
        == "started again: its driver ended (stopped): by somebody; 2 trials had not begun"
    )
    bench.cluster.end(f"{study}-3", "FAILED", None)
    bench.launcher.tick()
    assert bench.events(study)[-1]["reason"].startswith("its driver ended (failed), and Ray does not say why; gave up")


def test_a_job_that_ray_forgot_is_started_again(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    bench.cluster.jobs.clear()
    bench.launcher.tick()
    assert bench.events(study)[-1]["reason"] == "started again: Ray does not know its job; 2 trials had not begun"
    assert bench.cluster.started() == [study, f"{study}-2"]


def test_a_job_that_ray_did_not_take_is_handed_over_again_and_told_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = bench.submit()

    def no_agent(*arguments: object) -> None:
        raise Unavailable("No available agent to submit job")

    with monkeypatch.context() as patched:
        patched.setattr(bench.cluster, "submit", no_agent)
        for _ in range(3):
            assert bench.launcher.step() is True
    bench.launcher.step()
    assert bench.kinds(study) == ["study_queued", "study_started"] and bench.cluster.started() == [study]
    bench.cluster.jobs.clear()
    bench.launcher.step()
    assert bench.cluster.started() == [study, f"{study}-2"], "a job that it took and forgot is another matter"


def test_however_often_ray_forgets_a_job_its_study_goes_on(tmp_path: Path) -> None:
    bench = Bench(tmp_path, driver_attempts=2)
    study = bench.submit()
    bench.launcher.tick()
    for start in range(2, 6):
        bench.cluster.jobs.clear()
        bench.launcher.tick()
        assert (bench.state(study), bench.cluster.started()[-1]) == ("running", f"{study}-{start}")
    bench.close()


def test_a_long_message_of_ray_is_cut(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    for job in (study, f"{study}-2", f"{study}-3"):
        bench.cluster.end(job, "FAILED", "x" * 10_000)
        bench.launcher.tick()
    assert [len(event.get("reason") or "") for event in bench.events(study)] == [0, 0, 3824, 3824, 4000]


def test_a_driver_that_ended_without_a_word_is_not_done(bench: Bench) -> None:
    """SUCCEEDED says only that the process ended; the log decides."""
    study = bench.submit()
    bench.launcher.tick()
    bench.cluster.end(study, "SUCCEEDED", "finished")
    bench.launcher.tick()
    assert bench.cluster.started() == [study, f"{study}-2"]


def test_a_job_that_ray_has_already_is_no_error(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    study = bench.submit()
    bench.cluster.end(study, "RUNNING", None)
    bench.launcher.tick()
    assert bench.state(study) == "running" and bench.cluster.submitted == []
    bench.launcher.step()
    assert bench.kinds(study) == ["study_queued", "study_started"] and not caplog.records


def test_last_reports_that_come_in_while_the_driver_ends_are_heard(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    bench.cluster.end(study, "SUCCEEDED", None)
    bench.cluster.meanwhile = lambda: bench.finish(study)
    bench.launcher.tick()
    assert bench.kinds(study) == ["study_queued", "study_started", "study_finished"]
    assert bench.cluster.started() == [study]


def test_one_dead_driver_does_not_hide_the_next(bench: Bench) -> None:
    one, two = bench.submit(), bench.submit()
    bench.launcher.tick()
    for study in (one, two):
        bench.cluster.end(study)
    bench.launcher.tick()
    assert bench.cluster.started() == [one, two, f"{one}-2", f"{two}-2"]


# Cancelled or deleted while the launcher looks


def test_a_study_deleted_while_the_launcher_looks_does_not_stop_it(bench: Bench) -> None:
    one, two, three = (bench.submit() for _ in range(3))
    bench.launcher.tick()

    def gone() -> None:
        bench.cluster.meanwhile = lambda: None
        bench.cancel(two)
        assert bench.delete(two).status_code == 204

    bench.cluster.meanwhile = gone
    bench.launcher.tick()
    assert bench.cluster.started() == [one, two, three]


def test_a_study_deleted_before_it_starts_never_does(bench: Bench) -> None:
    one, two = bench.submit(), bench.submit()

    def gone() -> None:
        bench.cluster.meanwhile = lambda: None
        assert bench.delete(one).status_code == 204

    bench.cluster.meanwhile = gone
    bench.launcher.tick()
    assert bench.cluster.started() == [two]


def test_a_study_cancelled_before_it_starts_never_does(bench: Bench) -> None:
    study = bench.submit()

    def cancelled() -> None:
        bench.cancel(study)

    bench.cluster.meanwhile = cancelled
    bench.launcher.tick()
    assert bench.kinds(study) == ["study_queued", "study_cancelled"] and bench.cluster.started() == []


def test_cancelling_logs_first_and_then_stops_the_job_until_it_has_ended(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    answer = bench.cancel(study)
    assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")
    assert bench.cluster.stopped == [], "the processes are the launcher's business"
    for times in (1, 2):
        assert bench.launcher.tick() is True
        assert bench.cluster.stopped == [study] * times
    bench.cluster.end(study, "STOPPED", None)
    bench.launcher.tick()
    assert bench.launcher.tick() is False
    assert bench.cluster.stopped == [study] * 2
    assert bench.kinds(study) == ["study_queued", "study_started", "study_cancelled"]


def test_cancelling_stops_the_latest_job(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    bench.cluster.end(study)
    bench.launcher.tick()
    bench.cancel(study)
    bench.launcher.tick()
    assert bench.cluster.stopped == [f"{study}-2"]


def test_a_job_to_stop_that_ray_does_not_know_is_forgotten(bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    bench.cancel(study)
    bench.cluster.jobs.clear()
    bench.launcher.tick()
    assert bench.launcher.tick() is False and bench.cluster.stopped == []


def test_a_queued_study_is_cancelled_and_nothing_is_stopped(bench: Bench) -> None:
    study = bench.submit()
    assert bench.cancel(study).json()["state"] == "cancelled"
    assert bench.launcher.tick() is False
    assert (bench.cluster.stopped, bench.cluster.started()) == ([], [])


@pytest.mark.parametrize("end", ["finished", "failed", "cancelled"])
def test_what_has_ended_cannot_be_cancelled_and_says_its_state(bench: Bench, end: str) -> None:
    study = bench.submit()
    bench.launcher.tick()
    if end == "cancelled":
        bench.cancel(study)
    else:
        reason = {"reason": "r"} if end == "failed" else {}
        bench.report(study, {"uid": "end", "kind": f"study_{end}", **reason})
    answer = bench.cancel(study)
    assert answer.status_code == 409
    error = answer.json()["error"]
    assert error["code"] == "conflict" and error["details"] == [{"path": "state", "message": end}]
    assert error["message"] == f"study {study} is {end} and cannot be cancelled"
    assert bench.kinds(study).count(f"study_{end}") == 1


def test_cancelling_what_is_not_there_is_not_found(bench: Bench) -> None:
    assert bench.cancel("nope").status_code == 404


# After a restart


def test_jobs_of_ended_studies_are_stopped_after_a_restart_and_no_others(tmp_path: Path, bench: Bench) -> None:
    ended, running, failed, again = (bench.submit() for _ in range(4))
    bench.launcher.tick()
    bench.cancel(ended)
    bench.report(failed, {"uid": "end", "kind": "study_failed", "reason": "r"})
    cluster = Cluster()
    for job in (ended, f"{ended}-2", running, f"{failed}-3", "somebody-else", "raysubmit_1", again):
        cluster.end(job, "RUNNING", None)
    cluster.end(failed, "FAILED", None)
    restarted = Bench(tmp_path, cluster, studies_at_once=2)
    restarted.launcher.tick()
    assert cluster.stopped == sorted([ended, f"{ended}-2", f"{failed}-3"])
    assert restarted.state(running) == "running"
    restarted.close()


def test_orphans_are_looked_for_once(bench: Bench) -> None:
    for _ in range(3):
        bench.launcher.tick()
    assert bench.cluster.listed == 1


def test_orphans_are_looked_for_until_ray_has_answered(bench: Bench) -> None:
    study = bench.submit()
    bench.cancel(study)
    bench.cluster.end(study, "RUNNING", None)
    bench.cluster.answers = False
    for _ in range(2):
        bench.launcher.step()
    bench.cluster.answers = True
    bench.launcher.step()
    assert bench.cluster.stopped == [study] and bench.cluster.listed == 1


def test_who_does_not_lead_starts_nothing_and_looks_for_orphans_when_it_does(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who led before may have died after it had cancelled a study, and before it ended its job."""
    bench.launcher.tick()
    study, cancelled = bench.submit(), bench.submit()
    bench.parts.store.append(cancelled, [StudyCancelled(uid="elsewhere")])
    bench.cluster.end(cancelled, "RUNNING", None)
    monkeypatch.setattr(bench.parts.store, "leads", lambda: False)
    assert bench.launcher.tick() is True, "it has to look again soon: who leads may die"
    assert (bench.cluster.started(), bench.cluster.listed, bench.state(study)) == ([], 1, "queued")
    monkeypatch.setattr(bench.parts.store, "leads", lambda: True)
    bench.launcher.tick()
    assert (bench.cluster.started(), bench.cluster.stopped) == ([study], [cancelled])


def test_a_restarted_launcher_goes_on_counting_where_the_log_ends(tmp_path: Path, bench: Bench) -> None:
    study = bench.submit()
    bench.launcher.tick()
    bench.cluster.end(study)
    bench.launcher.tick()
    restarted = Bench(tmp_path, Cluster(), studies_at_once=2, driver_attempts=3)  # a new cluster knows no job
    restarted.launcher.tick()
    assert restarted.cluster.started() == [f"{study}-3"]
    for job in (f"{study}-3", f"{study}-4"):  # the third and fourth fruitless start, but for the restart
        assert restarted.state(study) == "running"
        restarted.cluster.end(job)
        restarted.launcher.tick()
    assert restarted.state(study) == "failed"
    restarted.close()


def test_any_number_of_orderly_restarts_does_not_fail_a_study(tmp_path: Path) -> None:
    """A long first epoch, and a machine that is started again every evening, its Ray and all."""
    study = None
    for evening in range(6):
        bench = Bench(tmp_path, Cluster(), driver_attempts=3)
        study = study or bench.submit()
        bench.launcher.tick()
        assert bench.state(study) == "running"
        assert bench.cluster.started() == [study if evening == 0 else f"{study}-{evening + 1}"]
        bench.close()


def test_a_driver_that_ended_while_the_service_was_away_is_no_attempt_of_the_study(tmp_path: Path) -> None:
    cluster = Cluster()
    study, job = None, ""
    for start in range(1, 7):
        bench = Bench(tmp_path, cluster, driver_attempts=3)
        study = study or bench.submit()
        bench.launcher.tick()
        job = study if start == 1 else f"{study}-{start}"
        assert (bench.state(study), cluster.started()[-1]) == ("running", job)
        bench.close()
        cluster.end(job)


def test_a_finished_study_makes_room_at_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports of an end wake the launcher's thread; it does not sleep out its second."""
    woken: list[bool] = []
    monkeypatch.setattr(bench.launcher, "wake", lambda: woken.append(True))
    study = bench.submit()
    assert len(woken) == 1
    trial = bench.trials(study)[0]
    bench.report(study, {"uid": "a", "kind": "trial_finished", "trial": trial})
    assert len(woken) == 1
    bench.finish(study)
    assert len(woken) == 2
