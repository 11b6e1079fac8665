"""What people write about studies and trials, and how they find them again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from service.contract.wire.events import StudyCancelled, StudyFinished, StudyStarted
from tests.processes import short_home
from tests.service.bench import SPEC, Bench


@pytest.fixture
def bench() -> Iterator[Bench]:
    with short_home() as home:
        bench = Bench(home)
        yield bench
        bench.close()


def submitted(bench: Bench, **changes: Any) -> str:
    answer = bench.ask("POST", "/api/studies", json={**SPEC, **changes})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def noted(bench: Bench, study: str, **wish: object) -> Any:
    answer = bench.ask("PATCH", f"/api/studies/{study}", json=wish)
    assert answer.status_code == 200, answer.text
    return answer.json()


def listed(bench: Bench, **query: Any) -> list[str]:
    return [study["name"] for study in bench.ask("GET", "/api/studies", params=query).json()["studies"]]


def test_what_is_said_of_a_study_is_read_again_and_what_is_left_out_stays(bench: Bench) -> None:
    study = submitted(bench)
    noted(bench, study, notes="# Why\n\n- the *first* try", tags=["paper", "digits", "paper"], pinned=True)
    answer = noted(bench, study, name="table 3")
    assert answer == {**answer, "name": "table 3", "notes": "# Why\n\n- the *first* try", "pinned": True}
    assert answer["tags"] == ["paper", "digits"] and answer["archived"] is False
    assert answer["spec"]["name"] == "table 3"
    assert bench.ask("GET", f"/api/studies/{study}").json()["notes"] == answer["notes"]
    (listed_study,) = bench.ask("GET", "/api/studies").json()["studies"]
    assert listed_study["excerpt"] == "Why · the first try" and "notes" not in listed_study
    assert noted(bench, study, notes="", tags=[])["notes"] == ""


def test_notes_change_no_state_whatever_the_study_is_doing(bench: Bench) -> None:
    study = submitted(bench)
    for events in ([StudyStarted(uid="a")], [StudyFinished(uid="b", reason="a limit")]):
        bench.parts.store.append(study, events)
        before = bench.ask("GET", f"/api/studies/{study}").json()
        after = noted(bench, study, notes="seen")
        same = ("state", "reason", "counts", "started_at", "ended_at", "progress")
        assert {key: after[key] for key in same} == {key: before[key] for key in same}
        assert bench.parts.store.study(study).state == before["state"]


def test_a_stream_of_an_ended_study_still_ends_and_has_the_note(bench: Bench) -> None:
    study = submitted(bench)
    bench.parts.store.append(study, [StudyCancelled(uid="end")])
    noted(bench, study, tags=["kept"])
    text = bench.ask("GET", f"/api/studies/{study}/events").text
    assert text.index("event: study_cancelled") < text.index("event: study_noted") and '"tags": ["kept"]' in text


def test_a_new_name_stands_in_exports_and_outlives_an_extension_and_a_restart(bench: Bench) -> None:
    study = submitted(bench)
    bench.parts.store.append(study, [StudyStarted(uid="a"), StudyFinished(uid="b")])
    noted(bench, study, name="renamed")
    assert "renamed" in bench.ask("GET", f"/api/studies/{study}/report").text
    extended = bench.ask("POST", f"/api/studies/{study}/extend", json={"seeds": [7]})
    assert extended.status_code == 200 and extended.json()["name"] == "renamed"
    bench.parts.views.forget(study)
    assert bench.ask("GET", f"/api/studies/{study}").json()["spec"]["name"] == "renamed"


def test_a_trial_has_notes_of_its_own(bench: Bench) -> None:
    study = submitted(bench)
    first, second = (trial["id"] for trial in bench.ask("GET", f"/api/studies/{study}/trials").json()["trials"])
    answer = bench.ask("PATCH", f"/api/studies/{study}/trials/{first}", json={"notes": "odd", "tags": ["outlier"]})
    assert answer.status_code == 200 and answer.json()["notes"] == "odd" and answer.json()["state"] == "planned"
    rows = {row["id"]: row for row in bench.ask("GET", f"/api/studies/{study}/trials").json()["trials"]}
    assert rows[first]["tags"] == ["outlier"] and "tags" not in rows[second]
    missing = bench.ask("PATCH", f"/api/studies/{study}/trials/none", json={"notes": "x"})
    assert missing.status_code == 404 and "none" in missing.json()["error"]["message"]


def test_a_list_finds_by_words_tag_data_arm_and_pin_over_all_pages(bench: Bench) -> None:
    for number in range(5):
        submitted(bench, name=f"run {number}")
    arms = [{"name": "MIB", "weighting": {"name": "mib"}}]
    other = submitted(bench, name="known front", data={"name": "gaussian"}, arms=arms)
    noted(bench, other, tags=["paper"], notes="Table three of the paper", pinned=True)
    assert listed(bench, text="TABLE mib") == listed(bench, tag="paper") == listed(bench, data="gaussian")
    assert listed(bench, arm="MIB") == listed(bench, pinned=True) == ["known front"]
    assert listed(bench, text="table digits") == []
    assert listed(bench, text="run", limit=2) == ["run 4", "run 3"]
    page = bench.ask("GET", "/api/studies", params={"text": "run", "limit": 2}).json()
    rest = bench.ask("GET", "/api/studies", params={"text": "run", "limit": 3, "after": page["next"]}).json()
    assert [study["name"] for study in rest["studies"]] == ["run 2", "run 1", "run 0"] and rest["next"] is None


def test_what_is_archived_is_listed_only_when_it_is_asked_for(bench: Bench) -> None:
    old, new = submitted(bench, name="old"), submitted(bench, name="new")
    noted(bench, old, archived=True)
    assert listed(bench) == ["new"] and listed(bench, archived=True) == ["old"]
    assert bench.ask("GET", f"/api/studies/{old}").json()["archived"] is True
    noted(bench, old, archived=False)
    noted(bench, new, archived=True)
    assert listed(bench) == ["old"]


@pytest.mark.parametrize(
    ("wish", "path", "rule"),
    [
        ({}, "", "there is nothing to change: give one of notes, tags, name, pinned, archived"),
        ({"name": ""}, "name", "at least 1"),
        ({"name": "a\nb"}, "name", "control characters"),
        ({"name": "x" * 201}, "name", "at most 200"),
        ({"notes": "bell \x07"}, "notes", "control characters"),
        ({"notes": "x" * 20_001}, "notes", "at most 20000"),
        ({"tags": ["a\x1b[2J"]}, "tags[0]", "control characters"),
        ({"tags": [""]}, "tags[0]", "at least 1"),
        ({"tags": [f"t{i}" for i in range(21)]}, "tags", "at most 20"),
        ({"pinned": "perhaps"}, "pinned", "boolean"),
        ({"state": "finished"}, "state", "not"),
    ],
)
def test_what_cannot_be_written_is_refused_with_path_and_rule(
    bench: Bench, wish: dict[str, object], path: str, rule: str
) -> None:
    study = submitted(bench)
    answer = bench.ask("PATCH", f"/api/studies/{study}", json=wish)
    assert answer.status_code == 422
    (detail,) = answer.json()["error"]["details"]
    assert detail["path"] == path and rule in detail["message"]
    assert bench.ask("GET", f"/api/studies/{study}").json()["last_seq"] == 1


def test_there_is_no_note_about_a_study_that_is_not_there(bench: Bench) -> None:
    assert bench.ask("PATCH", "/api/studies/none", json={"notes": "x"}).status_code == 404
