"""A study that names files outside the open folders is refused before anything starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.service.bench import Bench
from tests.workers.stand_ins import put_domains

ARMS = [{"name": "a", "weighting": {"name": "uniform"}}]


@pytest.mark.parametrize("kind", ["text", "image-folder"])
def test_data_lies_below_the_data_folder_or_where_a_setting_says(tmp_path: Path, kind: str) -> None:
    bench = Bench(tmp_path, data=tmp_path / "sets", open_folders=f"{tmp_path}/more")

    def asked(path: str, where: str) -> tuple[int, Any]:
        data, model = {"name": kind, "path": path}, {"name": "transformer" if kind == "text" else "mlp"}
        study = {"name": "s", "data": data, "model": model, "arms": ARMS}
        answer = bench.ask("POST", f"/api/studies{where}", json=study)
        return answer.status_code, answer.json()

    for path in ("/etc/passwd", "../x", "a/../../x", f"{tmp_path}/sets2/x", f"{tmp_path}/more/../x", "/"):
        status, answer = asked(path, "")
        assert status == 422 and answer["error"]["details"][0]["path"] == "data.path", path
        assert "PARETOSCOPE_OPEN_FOLDERS" in answer["error"]["message"]
        assert asked(path, "/check")[1]["error"]["details"] == answer["error"]["details"]
    for path in ("x", "a/../x", f"{tmp_path}/sets/x", f"{tmp_path}/more/x"):
        assert asked(path, "")[0] == 201 and asked(path, "/check")[1]["valid"] is True, path
    assert len(bench.get("/api/studies")["studies"]) == 4
    bench.close()


DOMAINS = "domain-art-painting, domain-photo, domain-sketch"


@pytest.mark.parametrize(
    ("main", "auxiliary", "more", "path", "rule"),
    [
        (
            "domain-lft",
            "domain-photo",
            {},
            "arms[0].problem.main",
            f"no domain for task 'domain-lft'; known: {DOMAINS}",
        ),
        ("class", "domain-art", {}, "arms[0].problem.auxiliaries[0]", f"task 'domain-art'; known: {DOMAINS}"),
        (
            *("domain-photo", "domain-sketch", {"leave_out": "sketch"}, "arms[0].problem.auxiliaries[0]"),
            "is of the domain that data.leave_out keeps for testing; known: domain-art-painting, domain-photo",
        ),
        (
            *("class", "domain-photo", {"leave_out": "sketsh"}, "data.leave_out"),
            "there is no domain 'sketsh' in this folder; known: art_painting, photo, sketch",
        ),
    ],
)
def test_a_domain_that_the_folder_does_not_have_is_refused_with_those_that_it_has(
    tmp_path: Path, main: str, auxiliary: str, more: dict[str, str], path: str, rule: str
) -> None:
    put_domains(tmp_path / "sets" / "pictures", each=1)
    (tmp_path / "sets" / "pictures" / "lft" / "notes").mkdir(parents=True)  # a folder without a picture is no domain
    bench = Bench(tmp_path, data=tmp_path / "sets")

    def asked(where: str, data: dict[str, str], main: str, auxiliary: str) -> tuple[int, Any]:
        problem = {"name": "multitask", "main": main, "auxiliaries": [auxiliary]}
        study = {"name": "s", "data": {"name": "image-folder", **data}, "problem": problem, "arms": ARMS}
        answer = bench.ask("POST", f"/api/studies{where}", json=study)
        return answer.status_code, answer.json()

    own = {"path": "pictures", **more}
    status, answer = asked("", own, main, auxiliary)
    (detail,) = answer["error"]["details"]
    assert status == 422 and detail["path"] == path and detail["message"].endswith(rule)
    assert asked("/check", own, main, auxiliary)[1]["error"]["details"] == [detail]
    assert asked("", {"path": "pictures"}, "class", "domain-art-painting")[0] == 201
    assert asked("", {**own, "path": "elsewhere"}, main, auxiliary)[0] == 201, "the workers look where it is"
    bench.close()


def test_domains_behind_a_link_that_leads_out_of_the_open_folders_are_not_told(tmp_path: Path) -> None:
    put_domains(tmp_path / "private", each=1)
    (tmp_path / "sets" / "mine").mkdir(parents=True)
    (tmp_path / "sets" / "all").symlink_to(tmp_path / "private")
    (tmp_path / "sets" / "mine" / "photo").symlink_to(tmp_path / "private" / "photo")
    bench = Bench(tmp_path, data=tmp_path / "sets")
    problem = {"name": "multitask", "main": "domain-lft", "auxiliaries": ["class"]}
    for path in ("all", "mine"):
        body = {"name": "s", "data": {"name": "image-folder", "path": path}, "problem": problem, "arms": ARMS}
        assert bench.ask("POST", "/api/studies/check", json=body).json()["valid"] is True
    bench.close()
