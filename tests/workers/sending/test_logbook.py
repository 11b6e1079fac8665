"""What a worker logs reaches its trials: once, bounded, with a time."""

from __future__ import annotations

import json
import logging
import re
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from service.contract.methods.weightings import Fixed
from service.contract.study.study import Evaluation
from service.contract.wire.epoch_report import EpochReport
from workers.on_ray import trainable
from workers.planning.plan import Plan
from workers.sending.logbook import CHATTY, Logbook

log = logging.getLogger("some.library")
LOGGERS = ("", *CHATTY)


def levels() -> dict[str, int]:
    return {name: logging.getLogger(name).level for name in LOGGERS}


@pytest.fixture(autouse=True)
def own_logging() -> Iterator[None]:
    """What a book might leave behind reaches no other test."""
    before, handlers = levels(), list(logging.getLogger().handlers)
    yield
    logging.captureWarnings(False)
    logging.getLogger().handlers[:] = handlers
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


def test_lines_of_every_logger_have_a_time_and_are_handed_out_once() -> None:
    with Logbook() as book:
        log.info("one of %d", 2)
        log.debug("not this")
        logging.getLogger().warning("two")
        (first, second) = book.new_lines()
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ INFO some.library: one of 2", first)
        assert second.endswith("Z WARNING root: two")
        assert book.new_lines() == book.new_lines(last=True) == []


def test_logging_is_as_before_when_the_book_is_closed() -> None:
    root = logging.getLogger()
    own = dict(zip(LOGGERS, (logging.ERROR, logging.DEBUG, logging.CRITICAL), strict=True))
    for name, level in own.items():
        logging.getLogger(name).setLevel(level)
    handlers, show = list(root.handlers), warnings.showwarning
    with Logbook() as book:
        assert levels() == dict(zip(LOGGERS, (logging.INFO, logging.WARNING, logging.WARNING), strict=True))
        assert root.handlers != handlers and warnings.showwarning is not show
    assert levels() == own
    assert root.handlers == handlers and warnings.showwarning is show
    log.error("after")
    assert book.new_lines(last=True) == []


@pytest.mark.parametrize(("before", "within"), [(logging.DEBUG, logging.DEBUG), (logging.NOTSET, logging.INFO)])
def test_a_finer_level_of_the_process_stays(before: int, within: int) -> None:
    logging.getLogger().setLevel(before)
    with Logbook():
        assert logging.getLogger().level == within


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "JST-9")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("tokyo")
def test_times_are_in_utc_wherever_the_worker_is() -> None:
    book = Logbook()
    record = logging.LogRecord("some.library", logging.INFO, "", 0, "a line", None, None)
    record.created = 1767323045.5
    book.handle(record)
    assert book.new_lines() == ["2026-01-02T03:04:05Z INFO some.library: a line"]


def test_blank_lines_are_left_out() -> None:
    with Logbook() as book:
        log.info("one\n\n  \ntwo")
        assert [line.rpartition(" ")[2] for line in book.new_lines()] == ["one", "two"]


def test_warnings_and_tracebacks_become_lines() -> None:
    with warnings.catch_warnings(), Logbook() as book:
        warnings.simplefilter("always")
        warnings.warn("a rate below 0", RuntimeWarning, stacklevel=1)
        try:
            raise ValueError("a shape does not fit")
        except ValueError:
            log.exception("the cohort failed")
        lines = book.new_lines()
    assert any("py.warnings" in line and "RuntimeWarning: a rate below 0" in line for line in lines)
    start = next(i for i, line in enumerate(lines) if line.endswith("the cohort failed"))
    assert lines[start + 1] == "Traceback (most recent call last):" and lines[-1] == "ValueError: a shape does not fit"


def test_a_line_is_short_and_can_be_sent_as_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # pytest's own cannot send it either
    with Logbook() as book:
        log.info("%s", "x" * 2000)
        log.info("half a character \ud83d")
        long, half = book.new_lines()
    assert len(long) == 500
    assert half.endswith("half a character ?") and json.dumps(half, ensure_ascii=False).encode()


def test_a_line_that_cannot_be_formatted_ends_no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    with Logbook() as book:
        log.info("%d", "no number")
        log.info("next")
        (line,) = book.new_lines()
    assert line.endswith("next")


def test_a_flood_is_cut_to_the_first_and_the_last_200_lines() -> None:
    with Logbook() as book:
        taken = []
        for epoch in range(100):
            for step in range(50):
                log.info("%d.%d", epoch, step)
            taken += book.new_lines()
        end = book.new_lines(last=True)
    assert len(taken) == 200 and taken[0].endswith(" 0.0") and taken[-1].endswith(" 3.49")
    assert len(end) == 200 and end[0].endswith(" 96.0") and end[-1].endswith(" 99.49")


def test_requests_do_not_fill_the_book() -> None:
    with Logbook() as book:
        logging.getLogger("httpx").info("HTTP Request: PUT …")
        assert book.new_lines() == []


def test_lines_of_several_threads_are_all_there_once() -> None:
    with Logbook() as book:

        def write(number: int) -> None:
            for i in range(20):
                log.info("line %d/%d", number, i)

        threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        found = book.new_lines()
        for thread in threads:
            thread.join()
        found += book.new_lines()
    words = sorted(line.rpartition(" ")[2] for line in found)
    assert words == sorted(f"{n}/{i}" for n in range(8) for i in range(20))


# What a cohort sends


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[EpochReport]:
    reports: list[EpochReport] = []
    monkeypatch.setattr("ray.get_gpu_ids", list)
    monkeypatch.delenv("PARETOSCOPE_URL", raising=False)
    monkeypatch.setattr(trainable, "_send", reports.append)
    return reports


def run(*trials: Any) -> None:
    from service.contract.methods.data import Digits

    plan = Plan({trial.id: trial for trial in trials}, Digits(), Evaluation(), 1, "s1")
    trainable.train_cohort({trainable.MEMBERS: json.dumps({trial.id: {} for trial in trials})}, plan)


def test_a_cohort_says_where_it_trains_on_what_and_how_long(cohorts: Any, sent: list[EpochReport]) -> None:
    run(*(cohorts.trial(name, Fixed(beta=0.1), epochs=2) for name in ("a", "b")))
    first, last = (report.log for report in sent)
    assert "cohort of 2 on " in first[0] and first[0].endswith("cpu, threads: 1; members: a, b")
    assert "1150 training and 359 test examples of 64 features" in first[1]
    (end,) = last
    assert re.search(r"trained 2 epochs in [\d.e-]+ s, 2 of 2 trials to the end$", end)


def test_a_member_that_fails_is_in_the_log_of_its_cohort(cohorts: Any, sent: list[EpochReport]) -> None:
    bad = cohorts.trial("bad", Fixed(beta=0.1), epochs=2, optimizer="sgd", learning_rate=1e9)
    run(bad, cohorts.trial("good", Fixed(beta=0.1), epochs=2, optimizer="sgd"))
    lines = [line for report in sent for line in report.log]
    assert any(re.search(r"WARNING .* trial bad failed: loss_\w+ became non-finite in epoch 1", line) for line in lines)


def test_a_cohort_that_raises_sends_the_whole_traceback(cohorts: Any, sent: list[EpochReport]) -> None:
    run(cohorts.trial("a", Fixed(beta=0.1), epochs=1), cohorts.trial("b", Fixed(beta=0.1), epochs=2))
    (report,) = sent
    lines = report.log
    why = "ValueError: trials of a cohort must share training.epochs"
    assert report.final and [reason.startswith(why) for reason in report.failures.values()] == [True, True]
    assert "Traceback (most recent call last):" in lines and any("_check_alike" in line for line in lines)
    assert lines[-1].startswith("ValueError: trials of a cohort must share training.epochs")
