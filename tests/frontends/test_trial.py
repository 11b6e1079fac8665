"""Training elsewhere with the client: against the service in this process, and a network that fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from frontends import connection, trial
from frontends.client import Client, ClientError, LeaseOver, NoTrialLeft, NoTrialNow, Study
from frontends.trial import Trial
from tests.processes import short_home
from tests.service.bench import Bench
from tests.service.elsewhere import GRID, SEARCH
from tests.service.routes.test_elsewhere import begun


class Inside(httpx.BaseTransport):
    """The network between a client and a bench; `lost` answers do not arrive, and nor do `refused` requests."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.lost = self.refused = 0
        self.sent = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent += 1
        if self.refused:
            self.refused -= 1
            raise httpx.ConnectError("connection refused", request=request)
        content, headers = request.read(), dict(request.headers)
        answer = self._bench.ask(request.method, str(request.url.path), content=content, headers=headers)
        if self.lost:
            self.lost -= 1
            raise httpx.ReadError("connection reset", request=request)
        shown = {key: value for key, value in answer.headers.items() if key != "content-encoding"}
        return httpx.Response(answer.status_code, content=answer.content, headers=shown)


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with short_home() as home:
        bench = Bench(home, token="owner", driver_tokens=home / "drivers")
        yield bench
        bench.close()


@pytest.fixture
def network(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Inside:
    monkeypatch.setattr(trial, "TRY_AGAIN_SECONDS", 0.0)
    return Inside(bench)


@pytest.fixture
def study(bench: Bench, network: Inside) -> Study:
    return Client("http://localhost", "owner", transport=network).study(begun(bench))


def state(study: Study, asked: Trial) -> tuple[str, str | None]:
    answer = study.trial(asked.id)
    return answer["state"], answer["reason"]


def test_leaving_the_context_finishes_what_was_reported(study: Study) -> None:
    with study.ask("far") as asked:
        assert (asked.arm, asked.seed, asked.parameters) == ("far", 0, {"depth": 1})
        assert asked.config["problem.depth"] == 1 and asked.lease_seconds == 300.0
        asked.report(acc=0.5)
        asked.alive()
        asked.report(acc=0.75, leaves=3)
        assert not asked.should_stop
    answer = study.trial(asked.id)
    assert answer["state"] == "finished"
    assert [(report["epoch"], report["acc"]) for report in answer["reports"]] == [(1, 0.5), (2, 0.75)]
    assert 0 <= answer["training_seconds"] < 60


def test_an_exception_fails_the_trial_with_its_words_and_goes_on(study: Study) -> None:
    with pytest.raises(ZeroDivisionError), study.ask() as asked:
        asked.report(acc=1 / 0)
    assert state(study, asked) == ("failed", "ZeroDivisionError: division by zero")


def test_a_trial_that_reported_nothing_has_not_finished(study: Study) -> None:
    with pytest.raises(ClientError, match="ended without a report"), study.ask() as asked:
        pass
    assert state(study, asked) == ("failed", "it ended without a report: it has to call trial.report")


def test_who_interrupts_gives_the_trial_back(study: Study) -> None:
    with pytest.raises(KeyboardInterrupt), study.ask() as asked:
        raise KeyboardInterrupt
    assert state(study, asked) == ("planned", None)
    assert study.ask().id == asked.id


def test_a_pause_is_heard_with_an_answer_and_who_heeds_it_gives_the_trial_back(study: Study) -> None:
    with study.ask() as heeding, study.ask() as deaf:
        study.pause()
        for asked in (heeding, deaf):
            asked.report(acc=0.5)
        assert heeding.should_stop
    assert [state(study, asked)[0] for asked in (heeding, deaf)] == ["planned", "finished"]
    study.resume()


def test_a_cancelled_study_stops_its_trials_and_is_no_error_of_theirs(study: Study) -> None:
    with study.ask() as asked:
        study.cancel()
        asked.report(acc=0.5)
        assert asked.should_stop
        asked.report(acc=0.6)
    assert state(study, asked)[0] == "stopped"


def test_who_lost_its_lease_is_told_and_harms_nobody(study: Study) -> None:
    first = study.ask()
    Trial.give_back(first)
    first._over = False  # as a process that knows nothing of it
    second = study.ask()
    assert second.id == first.id
    with pytest.raises(LeaseOver, match="is over: another has it now"), first:
        first.report(acc=0.1)
    assert first.should_stop
    second.report(acc=0.9)
    second.finish()
    assert study.trial(second.id)["metrics"]["acc"] == 0.9


@pytest.mark.parametrize(("lost", "refused"), [(1, 0), (0, 2), (2, 0)])
def test_what_is_told_while_the_service_is_away_arrives_once(
    study: Study, network: Inside, lost: int, refused: int
) -> None:
    with study.ask() as asked:
        network.lost, network.refused = lost, refused
        asked.report(acc=0.5)
    answer = study.trial(asked.id)
    assert (answer["state"], len(answer["reports"])) == ("finished", 1)


def test_a_service_that_stays_away_is_given_up(study: Study, network: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = study.ask()
    monkeypatch.setattr(connection, "SILENCE_SECONDS", -1.0)
    network.refused = 3
    with pytest.raises(ClientError, match="no answer"):
        asked.report(acc=0.5)


@pytest.mark.parametrize(
    ("metrics", "error", "words"),
    [
        ({"acc": "high"}, TypeError, "metric 'acc' must be a number, got str"),
        ({"accuracy": 1.0}, ClientError, "'accuracy' is not declared by forest, which reports acc, leaves"),
    ],
)
def test_a_metric_that_is_none_fails_the_trial_and_says_why(
    study: Study, metrics: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words), study.ask() as asked:
        asked.report(**metrics)
    failed, reason = state(study, asked)
    assert failed == "failed" and words in str(reason)


def test_what_is_not_finite_travels_as_null(study: Study) -> None:
    with study.ask() as asked:
        asked.report(acc=float("nan"), leaves=float("inf"))
    assert study.trial(asked.id)["metrics"].items() >= {"acc": None, "leaves": None}.items()


def test_none_now_and_none_ever_again_are_two_errors(bench: Bench, network: Inside) -> None:
    one = {**GRID, "problem": {"name": "forest", "depth": 2}}
    study = Client("http://localhost", "owner", transport=network).study(begun(bench, one))
    asked = study.ask()
    sent = network.sent
    with pytest.raises(NoTrialNow, match="1 trial with others"):
        study.ask()
    assert network.sent == sent + 1
    with pytest.raises(NoTrialNow):
        study.ask(wait=0.2)
    assert network.sent > sent + 3, "it asked again"
    asked.report(acc=1.0)
    asked.finish()
    with pytest.raises(NoTrialLeft, match="every trial has been trained"):
        study.ask(wait=60)


def test_a_search_that_waits_is_waited_for(bench: Bench, network: Inside) -> None:
    study = Client("http://localhost", "owner", transport=network).study(begun(bench, SEARCH))
    with pytest.raises(NoTrialNow, match="whose search waits for results"):
        study.ask()
    suggested = {"uid": "s", "kind": "trial_suggested", "trial": bench.trials(study.id)[0]}
    bench.report(study.id, {**suggested, "config": {"problem.depth": 7}})
    assert study.ask(wait=1).parameters == {"depth": 7}


def test_an_arm_that_is_not_there_is_no_matter_of_waiting(study: Study) -> None:
    with pytest.raises(ClientError, match="got 'nowhere'"):
        study.ask("nowhere", wait=60)
