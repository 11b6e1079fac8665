"""PostgreSQL beyond what every store does: a server that goes and comes back, and several processes on one database."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sql

from service.contract.wire.errors import Conflict, InvalidInput, NotFound, Unavailable
from service.store.schema import REVISION
from service.store.sql import SqlStore
from service.store.tokens import Tokens
from service.store.upgrading import revision_of
from tests.postgres import Server, postgresql
from tests.processes import service_alone, short_home, until
from tests.service.bench import SPEC, Bench, Cluster
from tests.service.store import first_release
from tests.service.store.conftest import STARTED, kinds, report
from tests.service.store.test_upgrading import goes_on_where_it_was

Opening = Callable[..., SqlStore]


@pytest.fixture
def url(postgres: Server) -> Iterator[str]:
    with postgres.database() as url:
        yield url


@pytest.fixture
def store(url: str, tmp_path: Path, plain: dict[str, Any]) -> Iterator[SqlStore]:
    store = SqlStore(tmp_path, url)
    store.create("s1", plain, None)
    store.append("s1", [STARTED])
    yield store
    store.close()


@pytest.fixture
def other(store: SqlStore, url: str, tmp_path: Path) -> Iterator[SqlStore]:
    """The same database, as another process has it."""
    other = SqlStore(tmp_path, url)
    yield other
    other.close()


def test_nothing_of_it_lies_in_the_home(store: SqlStore, tmp_path: Path) -> None:
    assert list(tmp_path.iterdir()) == [] and store.size_bytes() > 1000


def test_a_server_that_went_is_waited_for_and_everything_goes_on(tmp_path: Path, plain: dict[str, Any]) -> None:
    with postgresql() as server, server.database() as url:
        store = SqlStore(tmp_path, url)
        store.create("s1", plain, None)
        assert store.leads()
        server.stop()
        calls: list[Callable[[], object]] = [store.check, store.leads, lambda: store.append("s1", [STARTED])]
        for call in calls:
            with pytest.raises(Unavailable, match=r"the store (does not answer|cannot be read)"):
                call()
        server.start()
        assert store.append("s1", [STARTED, report("t", 1)]).accepted == 2
        assert store.leads() and kinds(store) == ["study_queued", "study_started", "report"]
        store.close()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://nobody@127.0.0.1:1/none", "the store does not answer"),
        ("mysql://host/name", "only postgresql is known"),
        ("not an address", "is no address"),
    ],
)
def test_an_address_that_leads_nowhere_is_a_sentence(tmp_path: Path, url: str, said: str) -> None:
    with pytest.raises(Unavailable, match=said):
        SqlStore(tmp_path, url)


def test_what_one_process_writes_the_other_hears_of(store: SqlStore, other: SqlStore, plain: dict[str, Any]) -> None:
    heard: list[tuple[str, str]] = []
    told: list[str] = []
    other.from_others.append(lambda study, state: heard.append((study, state)))
    other.listeners.append(told.append)
    until(lambda: store.append("s1", [report("t", len(kinds(store)))]) and heard, "the other listens")
    heard.clear()
    store.create("s2", plain, None)
    store.append("s2", [STARTED, report("t", 1)])
    store.append("s2", [report("t", 2)])
    store.create("s3", plain, None)
    store.delete("s3")
    wanted = [("s2", "queued"), ("s2", "running"), ("s2", ""), ("s3", "queued"), ("s3", "deleted")]
    until(lambda: wanted[-1] in heard, "all of it is heard of")  # in order, after what was left of the first
    assert [news for news in heard if news[0] != "s1"] == wanted and told[-1] == "s3"
    count = len(heard)
    other.append("s1", [report("other", 1)])
    store.append("s2", [report("t", 3)])
    until(lambda: ("s2", "") in heard[count:], "the next is heard of")
    assert not [study for study, _ in heard[count:] if study == "s1"], "what it writes itself it knows"


def test_one_process_leads_and_another_follows_when_it_is_gone(store: SqlStore, other: SqlStore) -> None:
    assert [store.leads(), other.leads(), store.leads()] == [True, False, True]
    store.close()
    until(other.leads, "the other leads")


def test_two_processes_with_one_key_make_one_study(store: SqlStore, other: SqlStore, plain: dict[str, Any]) -> None:
    made: list[tuple[str, bool]] = []
    barrier = threading.Barrier(2)

    def create(each: SqlStore, name: str) -> None:
        barrier.wait()
        row, created = each.create(name, plain, "key")
        made.append((row.id, created))

    threads = [threading.Thread(target=create, args=pair) for pair in ((store, "a"), (other, "b"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(created for _, created in made) == [False, True] and len({name for name, _ in made}) == 1
    with pytest.raises(Conflict):
        store.create("c", {**plain, "name": "else"}, "key")


def test_text_that_it_cannot_keep_is_refused_not_an_error_of_ours(store: SqlStore) -> None:
    with pytest.raises((NotFound, InvalidInput)):
        store.study("\x00")


@pytest.mark.parametrize(
    ("sqlstate", "status", "code", "words"),
    [
        ("53100", 507, "no_space", "the store's disk is full, and nothing was written"),
        ("57P01", 503, "unavailable", "the store does not answer"),  # an administrator ends the connection
        ("57P02", 503, "unavailable", "the store does not answer"),  # another of its processes has died
        ("57P03", 503, "unavailable", "the store does not answer"),  # it starts, or ends
    ],
)
def test_what_a_server_cannot_do_for_now_is_told_and_all_goes_on_when_it_can(
    url: str, tmp_path: Path, sqlstate: str, status: int, code: str, words: str
) -> None:
    """The server itself raises what it raises then; reads go on."""
    bench = Bench(tmp_path, database_url=url)
    study = bench.submit()
    failing = (
        "CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION 'as the server says it' USING ERRCODE = '{sqlstate}'; END $$",
        "CREATE TRIGGER fails BEFORE INSERT ON events EXECUTE FUNCTION fails()",
    )
    database = bench.parts.tokens._database
    with database.transaction() as connection:
        for statement in failing:
            connection.exec_driver_sql(statement)
    refused = [
        bench.ask("POST", "/api/studies", json=SPEC),
        bench.send(study, {"uid": "go", "kind": "study_started"}),
        bench.cancel(study),
    ]
    assert [(answer.status_code, answer.json()["error"]["code"]) for answer in refused] == [(status, code)] * 3
    assert words in refused[0].json()["error"]["message"]
    assert bench.state(study) == "queued" and [row["id"] for row in bench.get("/api/studies")["studies"]] == [study]
    with database.transaction() as connection:
        connection.exec_driver_sql("DROP TRIGGER fails ON events")
    assert bench.report(study, {"uid": "go", "kind": "study_started"})["accepted"] == 1
    assert bench.submit() != study
    bench.close()


def let_it_only_read(url: str, only_reads: str) -> None:
    """As a server that is handed over: it says so to new connections, and ends those that it has."""
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    engine = sql.create_engine(sql.make_url(url).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql("SET default_transaction_read_only = off")
        name = sql.make_url(url).database
        connection.exec_driver_sql(f"ALTER DATABASE {name} SET default_transaction_read_only = {only_reads}")
        connection.exec_driver_sql(f"SELECT pg_terminate_backend(pid) {others}")
    engine.dispose()


def every_write_is_refused(bench: Bench, study: str, said: str) -> None:
    """In words; reads go on."""
    answers = [
        bench.ask("POST", "/api/studies", json=SPEC),
        bench.send(study, {"uid": "go", "kind": "study_started"}),
        bench.cancel(study),
        bench.delete(study),
    ]
    assert [(answer.status_code, answer.json()["error"]["code"]) for answer in answers] == [(503, "unavailable")] * 4
    assert all(f"the store cannot be written: {said}" in answer.json()["error"]["message"] for answer in answers)
    assert bench.state(study) == "queued" and [row["id"] for row in bench.get("/api/studies")["studies"]] == [study]


def test_a_server_that_became_read_only_is_told_and_all_goes_on_when_it_is_not(url: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, database_url=url)
    study = bench.submit()
    let_it_only_read(url, "on")
    every_write_is_refused(bench, study, "cannot execute")
    let_it_only_read(url, "off")
    assert bench.report(study, {"uid": "go", "kind": "study_started"})["accepted"] == 1
    assert bench.launcher.step() is True and bench.submit() != study
    bench.close()


def test_rights_that_were_taken_are_told_and_all_goes_on_when_they_are_given_back(url: str, tmp_path: Path) -> None:
    admin = sql.create_engine(sql.make_url(url).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        role = f"r{sql.make_url(url).database}"
        connection.exec_driver_sql(f"CREATE ROLE {role} LOGIN")
        connection.exec_driver_sql(f"GRANT ALL ON SCHEMA public TO {role}")
        bench = Bench(tmp_path, database_url=url.replace("tests@", f"{role}@"))
        study = bench.submit()
        changed = "INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public"
        connection.exec_driver_sql(f"REVOKE {changed} FROM {role}")
        every_write_is_refused(bench, study, "permission denied")
        connection.exec_driver_sql(f"GRANT {changed} TO {role}")
        assert bench.report(study, {"uid": "go", "kind": "study_started"})["accepted"] == 1
        bench.close()
        connection.exec_driver_sql(f"DROP OWNED BY {role}")
        connection.exec_driver_sql(f"DROP ROLE {role}")
    admin.dispose()


def test_a_database_of_the_first_release_goes_on_where_it_was(url: str, tmp_path: Path) -> None:
    engine = sql.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    first_release.fill(engine)
    store = SqlStore(tmp_path, url)
    with engine.connect() as connection:
        assert revision_of(connection) == REVISION
        columns = {column["name"]: str(column["type"]) for column in sql.inspect(connection).get_columns("studies")}
    assert {"spec_version", "last_seq", "lost_events"} <= columns.keys()
    goes_on_where_it_was(store)
    store.close()
    engine.dispose()


@pytest.fixture
def two(url: str, tmp_path: Path) -> Iterator[tuple[Bench, Bench]]:
    """Two services on one database and one Ray."""
    cluster = Cluster()
    benches = [Bench(tmp_path / name, cluster, database_url=url) for name in ("a", "b")]
    yield benches[0], benches[1]
    for bench in benches:
        bench.close()


def test_a_study_that_both_services_see_is_handed_to_ray_once(two: tuple[Bench, Bench]) -> None:
    first, second = two
    study = second.submit()
    for _ in range(2):
        first.launcher.step()
        second.launcher.step()
    assert first.cluster.started() == [study] and second.state(study) == "running"
    trial = second.trials(study)[0]
    second.report(study, {"uid": "r", "kind": "report", "trial": trial, "metrics": {"epoch": 1}})
    assert first.get(f"/api/studies/{study}/trials/{trial}")["metrics"] == {"epoch": 1}
    first.close()
    first.cluster.end(study)
    until(second.parts.store.leads, "the other leads")
    second.launcher.step()
    assert first.cluster.started() == [study, f"{study}-2"], "who takes over brings the driver back"


def test_a_study_that_one_service_ends_or_deletes_is_so_in_the_other(two: tuple[Bench, Bench]) -> None:
    first, second = two
    study, waiting = second.submit(), second.submit()
    first.launcher.step()
    assert first.state(study) == "running"
    assert second.cancel(study).status_code == 200

    def stopped() -> bool:
        first.launcher.step()
        return first.cluster.stopped.count(study) > 0

    until(stopped, "the one that leads ends the job")
    second.cancel(waiting)
    first.read(waiting)
    assert second.delete(waiting).status_code == 204
    gone = f"/api/studies/{waiting}"
    until(lambda: first.ask("GET", gone).status_code == 404, "it is gone in the other too")


def test_a_stream_of_one_service_has_what_was_written_through_the_other(url: str) -> None:
    with (
        short_home() as a,
        short_home() as b,
        service_alone(a, PARETOSCOPE_DATABASE_URL=url) as first,
        service_alone(b, PARETOSCOPE_DATABASE_URL=url) as second,
    ):
        study = first.post("/api/studies", json=SPEC).json()["id"]
        path = f"/api/studies/{study}"
        seen: list[str] = []

        def follow() -> None:
            with httpx.stream("GET", f"{second.url}{path}/events", timeout=60, trust_env=False) as stream:
                seen.extend(line for line in stream.iter_lines() if line.startswith("event: "))

        thread = threading.Thread(target=follow)
        thread.start()
        for uid, kind in (("go", "study_started"), ("end", "study_finished")):
            first.post(f"{path}/reports", json={"events": [{"uid": uid, "kind": kind}]}).raise_for_status()
        thread.join(timeout=60)
        assert seen == ["event: study_queued", "event: study_started", "event: study_finished"]
        assert second.get(path).json()["state"] == "finished"


def test_what_is_counted_and_then_made_is_so_by_one_process_at_a_time(store: SqlStore, other: SqlStore) -> None:
    """Or two services would both see room for the last study of a token."""
    admitted, waiting = threading.Event(), "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"

    def wait() -> None:
        with Tokens(other.database).admission():
            admitted.set()

    def waits() -> bool:
        with store.database.reading() as connection:
            return bool(connection.execute(sql.text(waiting)).scalar_one())

    with Tokens(store.database).admission():
        thread = threading.Thread(target=wait)
        thread.start()
        until(waits, "the other process waits")
        assert not admitted.is_set()
    thread.join(timeout=30)
    assert admitted.is_set()


def test_a_process_that_reads_code_gets_its_token_here_too(url: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, token="owner", database_url=url)
    headers = {"Authorization": "Bearer owner", "Content-Type": "text/x-python"}
    sent = bench.ask("POST", "/api/code", params={"entry": "a.py"}, content=b"# nothing\n", headers=headers)
    assert sent.status_code == 201, sent.text
    bench.close()
