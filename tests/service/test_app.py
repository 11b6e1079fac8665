"""The app as a whole: what begins with it, what ends with it, and what it is built from."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from service.app import WARM_STUDIES, create_app
from service.contract.study.parsing import check_study
from service.launching.ray_jobs import RayJobs
from service.routes.dependencies import Parts
from service.settings import Settings
from service.store.sql import SqlStore
from service.views.summaries import Summaries
from tests.service.bench import SPEC, Bench


def names() -> set[str]:
    return {thread.name for thread in threading.enumerate()}


def test_the_launcher_begins_and_ends_with_the_app(tmp_path: Path) -> None:
    app = create_app(Settings(home=tmp_path))

    async def live() -> Parts:
        async with app.router.lifespan_context(app):
            parts: Parts = app.state.parts
            assert "launcher" in names() and not parts.wake.closing
            woken = parts.wake.join("s1")
            parts.store.listeners[0]("s1")  # a commit wakes who waits
            await asyncio.wait_for(woken.wait(), 10)
        return parts

    parts = asyncio.run(live())
    assert "launcher" not in names() and "warming" not in names()
    assert parts.wake.closing, "streams end before the threads do"


def test_the_app_ends_all_its_threads_also_after_an_error(tmp_path: Path) -> None:
    app = create_app(Settings(home=tmp_path))

    async def live() -> None:
        async with app.router.lifespan_context(app):
            raise RuntimeError("the server broke")

    with pytest.raises(RuntimeError, match="the server broke"):
        asyncio.run(live())
    assert not {"launcher", "warming"} & names() and app.state.parts.wake.closing


def test_the_newest_studies_are_folded_when_it_begins(tmp_path: Path) -> None:
    store = SqlStore(tmp_path)
    spec = check_study(SPEC).model_dump(by_alias=True, mode="json")
    studies = [f"s{i}" for i in range(WARM_STUDIES + 2)]
    for study in studies:
        store.create(study, spec, None)
    store.close()
    app = create_app(Settings(home=tmp_path))

    async def live() -> list[str]:
        async with app.router.lifespan_context(app):
            for thread in threading.enumerate():
                if thread.name == "warming":
                    await asyncio.to_thread(thread.join, 10)
            return sorted(app.state.parts.views._entries)

    assert asyncio.run(live()) == studies, "and what a list shows of the others"


def test_what_a_list_shows_first_is_ready_when_it_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nothing was kept: the first page need not wait for many folds. But a start waits only so long."""
    bench = Bench(tmp_path)
    studies = [bench.submit() for _ in range(WARM_STUDIES + 3)]
    bench.close()

    def begun() -> list[str]:
        app = create_app(Settings(home=tmp_path))

        async def live() -> list[str]:
            async with app.router.lifespan_context(app):
                made = list(app.state.parts.summaries._made)
                held.set()
                return made

        return asyncio.run(live())

    held, of = threading.Event(), Summaries.of
    assert sorted(begun()) == sorted(studies)
    held.clear()
    monkeypatch.setattr("service.app.LISTED_SECONDS", 0.05)

    def slow(summaries: Any, study_ids: Any) -> Any:
        held.wait(10)
        return of(summaries, study_ids)

    monkeypatch.setattr(Summaries, "of", slow)
    assert begun() == []


def test_the_app_asks_the_ray_of_its_settings_with_its_token(tmp_path: Path) -> None:
    def parts_of(**settings: Any) -> Parts:
        app = create_app(Settings(home=tmp_path, **settings))

        async def live() -> Parts:
            async with app.router.lifespan_context(app):
                parts: Parts = app.state.parts
                return parts

        return asyncio.run(live())

    assert parts_of().jobs is None
    jobs = parts_of(ray_url="http://127.0.0.1:9/", ray_token="rays", token="ours").jobs
    assert isinstance(jobs, RayJobs) and jobs.url == "http://127.0.0.1:9"
    assert jobs._client.headers["Authorization"] == "Bearer rays"


def test_large_answers_are_packed_and_small_ones_are_not(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    study = bench.submit()

    def packed(path: str) -> bool:
        return "content-encoding" in bench.ask("GET", path, headers={"Accept-Encoding": "gzip"}).headers

    assert packed(f"/api/studies/{study}") and not packed("/readyz")
    bench.close()
