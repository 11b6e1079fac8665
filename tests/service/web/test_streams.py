"""Event streams in the test's own process: woken at once, every event once, ended when there is nothing to wait for."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from service.store.protocol import Logged
from service.web import streams
from service.web.streams import Wake, as_sse, stream
from tests.service.bench import Bench

SOON = 10.0  # seconds; what needs the next heartbeat comes later
HELLO = ": paretoscope\n\n"
STILL = ": still here\n\n"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.close()


def follow(bench: Bench, study: str, after: int = 0) -> AsyncGenerator[str, None]:
    return stream(bench.parts.store, bench.parts.wake, study, after)


async def soon(waited: Awaitable[Any]) -> Any:
    return await asyncio.wait_for(asyncio.ensure_future(waited), SOON)


async def piece(following: AsyncIterator[str]) -> str:
    return str(await soon(anext(following)))


async def rest(following: AsyncIterator[str]) -> list[str]:
    async def collected() -> list[str]:
        return [each async for each in following]

    return list(await soon(collected()))


def seqs(text: str) -> list[int]:
    return [int(line[4:]) for line in text.splitlines() if line.startswith("id: ")]


def say(bench: Bench, study: str, uid: str, kind: str = "study_started") -> None:
    """The next event of the log, from a thread of its own, as every commit is."""
    worker = threading.Thread(target=bench.report, args=(study, {"uid": uid, "kind": kind}))
    worker.start()
    worker.join()


async def waits(bench: Bench, *studies: str) -> None:
    """Until every stream of these has nothing to send and waits for news."""

    async def all_wait() -> None:
        signals = bench.parts.wake._waiting
        while not all(signal._waiters for study in studies for signal in signals[study]):
            await asyncio.sleep(0.001)

    await soon(all_wait())


def play(bench: Bench, test: Callable[[], Awaitable[None]]) -> None:
    async def bound() -> None:
        bench.parts.wake.bind()
        await test()

    asyncio.run(bound())


def test_the_heartbeat_comes_before_a_proxy_loses_patience() -> None:
    assert SOON < streams.HEARTBEAT_SECONDS <= 30


def test_metrics_count_the_streams_that_are_open(bench: Bench) -> None:
    ours, theirs = bench.submit(), bench.submit()

    def counted() -> int:
        """Asked in a thread of its own, as a request is."""
        said: list[str] = []
        asking = threading.Thread(target=lambda: said.append(bench.ask("GET", "/metrics").text))
        asking.start()
        asking.join()
        (value,) = re.findall(r"^paretoscope_event_streams (\S+)$", said[0], re.MULTILINE)
        return int(float(value))

    async def test() -> None:
        followers = [follow(bench, study) for study in (ours, ours, theirs)]
        assert counted() == 0
        for number, following in enumerate(followers, 1):
            await piece(following)
            assert counted() == number
        for number, following in enumerate(followers, 1):
            await following.aclose()
            assert counted() == 3 - number

    play(bench, test)


def test_an_event_wakes_the_stream_that_waits_for_it(bench: Bench) -> None:
    study = bench.submit()

    async def test() -> None:
        following = follow(bench, study)
        assert await piece(following) == HELLO
        assert seqs(await piece(following)) == [1]
        waiting = asyncio.ensure_future(anext(following))
        await waits(bench, study)
        say(bench, study, "go")
        assert seqs(str(await soon(waiting))) == [2]
        say(bench, study, "end", "study_finished")
        assert [seqs(each) for each in await rest(following)] == [[3]], "and that was the last"

    play(bench, test)


def test_an_event_that_comes_while_the_log_is_read_is_sent_at_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = bench.submit()
    plain = bench.parts.store.read
    late = ["go"]

    def read(study_id: str, after: int, limit: int | None = None) -> Iterator[Logged]:
        batch = list(plain(study_id, after, limit))
        if not batch and late:
            say(bench, study, late.pop())
        return iter(batch)

    monkeypatch.setattr(bench.parts.store, "read", read)

    async def test() -> None:
        following = follow(bench, study, after=1)
        assert await piece(following) == HELLO
        assert seqs(await piece(following)) == [2]

    play(bench, test)


def test_the_end_that_comes_between_two_looks_is_sent(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing new in the log, and the study has ended: both are true only when the log is looked at once more."""
    study = bench.submit()
    say(bench, study, "go", "study_started")
    plain, seen = bench.parts.store.study, list[str]()

    def look(study_id: str) -> Any:
        if not seen:
            seen.append(study_id)
            say(bench, study, "end", "study_finished")
        return plain(study_id)

    async def test() -> None:
        following = follow(bench, study, after=2)
        assert await piece(following) == HELLO
        monkeypatch.setattr(bench.parts.store, "study", look)
        assert [seqs(each) for each in await rest(following)] == [[3]]

    play(bench, test)


def test_a_quiet_stream_says_that_it_is_still_there_and_goes_on(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    study = bench.submit()
    monkeypatch.setattr(streams, "HEARTBEAT_SECONDS", 0.01)

    async def test() -> None:
        following = follow(bench, study, after=1)
        assert [await piece(following) for _ in range(3)] == [HELLO, STILL, STILL]
        bench.parts.store.listeners.clear()  # nobody wakes it: the heartbeat looks by itself
        say(bench, study, "go")
        said = [await piece(following) for _ in range(2)]
        assert [seqs(each) for each in said if each != STILL] == [[2]]

    play(bench, test)


def test_a_long_log_comes_in_batches_each_event_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    study = bench.submit()
    for uid in "abcd":
        say(bench, study, uid)
    monkeypatch.setattr(streams, "BATCH", 2)

    async def test() -> None:
        running = follow(bench, study)
        assert [seqs(await piece(running)) for _ in range(4)] == [[], [1, 2], [3, 4], [5]]
        say(bench, study, "end", "study_finished")
        assert [seqs(each) for each in await rest(follow(bench, study))] == [[], [1, 2], [3, 4], [5, 6]]
        assert [seqs(each) for each in await rest(follow(bench, study, after=3))] == [[], [4, 5], [6]]
        assert await rest(follow(bench, study, after=6)) == [HELLO]

    play(bench, test)


def test_a_stream_ends_with_the_deletion_of_its_study(bench: Bench) -> None:
    study = bench.submit()

    async def test() -> None:
        following = follow(bench, study, after=1)
        assert await piece(following) == HELLO
        ending = asyncio.ensure_future(rest(following))
        await waits(bench, study)
        await asyncio.to_thread(bench.delete, study)
        assert await soon(ending) == []

    play(bench, test)


def test_a_service_that_stops_ends_every_stream_and_begins_none(bench: Bench) -> None:
    studies = [bench.submit(name=name) for name in "ab"]
    wake = bench.parts.wake

    async def test() -> None:
        following = [follow(bench, study, after=1) for study in studies]
        assert [await piece(each) for each in following] == [HELLO] * 2
        ending = [asyncio.ensure_future(rest(each)) for each in following]
        await waits(bench, *studies)
        wake.close()
        assert [await soon(each) for each in ending] == [[], []]
        assert await rest(follow(bench, studies[0])) == [HELLO]

    play(bench, test)


def test_who_leaves_is_forgotten_and_who_stays_is_woken(bench: Bench) -> None:
    study = bench.submit()
    wake = bench.parts.wake

    async def test() -> None:
        leaving, staying = follow(bench, study, after=1), follow(bench, study, after=1)
        assert [await piece(each) for each in (leaving, staying)] == [HELLO] * 2
        waiting = [asyncio.ensure_future(anext(each)) for each in (leaving, staying)]
        await waits(bench, study)
        waiting[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting[0]
        say(bench, study, "go")
        assert seqs(str(await soon(waiting[1]))) == [2]
        say(bench, study, "end", "study_finished")
        await rest(staying)
        assert wake._waiting == {}, "an open page that was closed costs nothing"

    play(bench, test)


def test_only_the_streams_of_the_study_are_woken() -> None:
    async def test() -> None:
        wake = Wake()
        wake.tell("s1")  # before the service has begun, nobody waits
        wake.bind()
        one, again, other = wake.join("s1"), wake.join("s1"), wake.join("s2")
        wake.tell("s1")
        await soon(one.wait())
        await soon(again.wait())
        wake.tell("nobody's")
        await asyncio.sleep(0)
        assert not other.is_set()

    asyncio.run(test())


def test_a_commit_after_the_end_of_the_loop_harms_nobody() -> None:
    wake = Wake()

    async def bind() -> None:
        wake.bind()

    asyncio.run(bind())
    wake.tell("s1")


def test_words_of_users_travel_as_they_are(bench: Bench) -> None:
    study = bench.submit(arms=[{"name": "β", "weighting": {"name": "mib"}}])
    trial = bench.trials(study)[0]
    bench.report(study, {"uid": "a", "kind": "trial_failed", "trial": trial, "reason": "two\nlines"})
    (logged,) = bench.parts.store.read(study, after=2)
    first, second, data = as_sse(logged).rstrip("\n").split("\n")
    assert (first, second) == ("id: 3", "event: trial_failed")
    assert data.startswith('data: {"seq": 3, ') and '"arm": "β"' in data and r'"reason": "two\nlines"' in data
