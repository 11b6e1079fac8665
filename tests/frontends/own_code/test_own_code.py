"""Code of your own on its way to the service: what is sent, what is told back, and where a study says it."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest

from frontends import client as client_module
from frontends.client import Client, ClientError
from frontends.own_code import naming, packing

HASH = "ab" * 32
SOURCE = 'from paretoscope import Problem\n\nstudy = {"name": "inside", "arms": []}\n'


class Service:
    """Describes code when it has been asked so often; takes every study."""

    def __init__(self, looks: int = 0, refusal: dict[str, Any] | None = None) -> None:
        self.looks, self.refusal = looks, refusal
        self.sent: list[httpx.Request] = []
        self.studies: list[Any] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/api/studies":
            is_json = request.headers["content-type"] == "application/json"
            self.studies.append(json.loads(request.content) if is_json else request.content.decode())
            return httpx.Response(201, json={"id": "s1"})
        self.sent.append(request)
        waiting = len(self.sent) <= self.looks
        state = "waiting" if waiting else "refused" if self.refusal else "described"
        told = {"reason": None, "file": None, "line": None} | (self.refusal or {})
        return httpx.Response(201 if request.method == "POST" else 200, json={"hash": HASH, "state": state, **told})

    def client(self) -> Client:
        return Client("http://service", transport=httpx.MockTransport(self))


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "READ_AGAIN_SECONDS", 0.0)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(SOURCE)
    return tmp_path / "mine.py"


@pytest.mark.parametrize(
    "written", ["code: mine.py", "code: 'mine.py'  # ours", 'code: "mine.py"', "code:   mine.py  "]
)
def test_a_path_in_yaml_becomes_the_hash_on_the_same_line(mine: Path, written: str) -> None:
    study = mine.parent / "study.yaml"
    study.write_text(f"name: s\n{written}\narms: []\n")
    service = Service()
    service.client().submit(study)
    assert service.studies == [f"name: s\ncode: {HASH}\narms: []\n"]
    assert service.sent[0].content == SOURCE.encode() and service.sent[0].url.params["entry"] == "mine.py"


def test_a_path_in_a_dict_or_in_json_becomes_the_hash(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(mine.parent)
    service = Service()
    spec = {"name": "s", "code": "mine.py"}
    service.client().submit(spec)
    service.client().submit(json.dumps(spec))
    assert service.studies == [{"name": "s", "code": HASH}] * 2 and spec["code"] == "mine.py"


@pytest.mark.parametrize(
    "text", [f"name: s\ncode: {HASH}\n", "name: s\n", 'name: "code: x.py"\n', "arms:\n  - code: x.py\n"]
)
def test_a_text_that_names_no_path_is_sent_as_it_is(text: str) -> None:
    service = Service()
    service.client().submit(text)
    assert service.studies == [text] and not service.sent


def test_a_file_that_carries_its_study_is_both(mine: Path) -> None:
    service = Service()
    service.client().submit(mine)
    assert service.studies == [{"name": "inside", "arms": [], "code": HASH}]


def test_it_is_asked_again_until_somebody_has_read_it(mine: Path) -> None:
    service = Service(looks=3)
    assert service.client().send_code(mine)["state"] == "described"
    assert [request.method for request in service.sent] == ["POST", "GET", "GET", "GET"]


def test_who_waits_too_long_is_told_so(mine: Path) -> None:
    with pytest.raises(ClientError, match="nobody has read"):
        Service(looks=10**6).client().send_code(mine, seconds=0.05)


def test_a_fault_comes_back_with_its_file_and_line(mine: Path) -> None:
    service = Service(refusal={"reason": "NameError: x", "file": "mine.py", "line": 7})
    with pytest.raises(ClientError, match=r"^mine.py, line 7: NameError: x$") as error:
        service.client().submit({"name": "s", "code": str(mine)})
    assert error.value.status == 422 and not service.studies


def test_a_folder_is_sent_without_what_tools_leave_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "task"
    for name in ("main.py", "parts/more.py", "data.csv", ".git/config", "parts/__pycache__/more.pyc", ".env"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    sent = packing.packed(folder)
    with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
        assert sorted(archive.namelist()) == ["data.csv", "main.py", "parts/more.py"]
    assert sent.entry == "main.py"


@pytest.mark.parametrize("target", ["secret.txt", "folder"])
def test_a_link_out_of_the_folder_is_refused_by_its_name(tmp_path: Path, target: str) -> None:
    folder, outside = tmp_path / "task", tmp_path / target
    (folder / "parts").mkdir(parents=True)
    (folder / "main.py").touch()
    outside.mkdir() if target == "folder" else outside.write_text("secret")
    (folder / "parts" / "link").symlink_to(outside)
    with pytest.raises(ClientError, match=r"code: the link parts/link in .*task leads out of the folder") as error:
        packing.packed(folder)
    assert error.value.status == 422


def test_a_link_within_the_folder_is_sent_as_what_it_stands_for(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("x = 1")
    (tmp_path / "other.py").symlink_to(tmp_path / "main.py")
    with zipfile.ZipFile(io.BytesIO(packing.packed(tmp_path).content)) as archive:
        assert archive.read("other.py") == b"x = 1"


@pytest.mark.parametrize(
    ("names", "entry"), [(["a.py"], "a.py"), (["task.py", "main.py"], "task.py"), (["a.py", "b.py"], None), ([], None)]
)
def test_the_file_to_import_is_the_only_one_or_named_as_its_folder_or_main(
    tmp_path: Path, names: list[str], entry: str | None
) -> None:
    folder = tmp_path / "task"
    folder.mkdir()
    for name in names:
        (folder / name).touch()
    if entry is not None:
        assert packing.packed(folder).entry == entry
    else:
        with pytest.raises(ClientError, match=r"call the file to import main.py"):
            packing.packed(folder)


def test_a_folder_that_is_too_large_is_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "LARGEST", 10)
    (tmp_path / "main.py").write_text("#" * 11)
    with pytest.raises(ClientError, match="11 bytes, over the limit of 10"):
        packing.packed(tmp_path)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ClientError, match="there is no file or folder"):
        Service().client().submit({"name": "s", "code": str(tmp_path / "none.py")})


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("x = 1\n", "carries no study"),
        ("study = make()\n", "line 1: study must be a plain dict"),
        ("study = [1]\n", "line 1: study must be a plain dict"),
        ("study: dict = [1]\n", "line 1: study must be a plain dict"),
        ("study = {\n", "line 1: "),
    ],
)
def test_a_study_is_read_off_a_file_without_running_it(tmp_path: Path, source: str, words: str) -> None:
    (tmp_path / "mine.py").write_text(source)
    with pytest.raises(ClientError, match=words):
        naming.study_in(tmp_path / "mine.py")
