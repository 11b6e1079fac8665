"""`python -m service`: how it starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from service.__main__ import _check_store
from service.contract.wire.errors import NoSpace, ParetoscopeError, Unavailable
from service.contract.wire.exits import STORE_AWAY
from service.settings import Settings
from tests.processes import environment

STARTED = (
    "import gc; from service.__main__ import fresh_app; fresh_app(); print(gc.isenabled(), gc.get_freeze_count() > 0)"
)


def test_garbage_is_collected_once_the_service_has_started() -> None:
    said = subprocess.run([sys.executable, "-c", STARTED], check=True, capture_output=True, text=True, timeout=120)
    assert said.stdout.split() == ["True", "True"]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("PORT", "many", "PARETOSCOPE_PORT: Input should be a valid integer"),
        ("PORT", "70000", "PARETOSCOPE_PORT: Input should be less than or equal to 65535, got '70000'"),
        ("STUDIES_AT_ONCE", "0", "PARETOSCOPE_STUDIES_AT_ONCE: Input should be greater than or equal to 1"),
        ("LOG_FORMAT", "xml", "PARETOSCOPE_LOG_FORMAT: Input should be"),
        ("TOKEN_PATH", "/nowhere/token", "the token in /nowhere/token cannot be read: No such file or directory"),
        ("URL", "http://[", "PARETOSCOPE_URL: must be an address such as http://127.0.0.1:8000, got 'http://['"),
        ("RAY_URL", "ray", "PARETOSCOPE_RAY_URL: must be an address"),
        ("TOKEN", "fifteen letters", "the service's token must have at least 16 characters, or it can be guessed"),
        ("FD", "77", "PARETOSCOPE_FD: must be an open socket, got 77"),
        ("HOST", "0.0.0.0", "'0.0.0.0' can be reached by others, and no token is set: set PARETOSCOPE_TOKEN_PATH or"),
        ("HOST", "::", "'::' can be reached by others, and no token is set: set PARETOSCOPE_TOKEN_PATH or"),
    ],
)
def test_a_variable_that_breaks_a_rule_is_a_sentence(tmp_path: Path, name: str, value: str, words: str) -> None:
    variables = {"PARETOSCOPE_HOME": str(tmp_path), f"PARETOSCOPE_{name}": value}
    command = [sys.executable, "-m", "service"]
    ended = subprocess.run(
        command, env=environment(**variables), capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode in (1, 2) and ended.stderr.splitlines()[-1].startswith(words), ended.stderr
    assert "Traceback" not in ended.stderr
    assert name == "FD" or list(tmp_path.iterdir()) == [], "nothing is begun"


def test_a_token_of_sixteen_characters_will_do() -> None:
    assert Settings(token="sixteen letters.").rule_of_token is None
    assert Settings(token=None).rule_of_token is None and Settings(token="").rule_of_token is None
    assert Settings(token="fifteen letters").rule_of_token is not None


def test_a_secret_is_not_quoted(tmp_path: Path) -> None:
    variables = {"PARETOSCOPE_HOME": str(tmp_path), "PARETOSCOPE_TOKEN": "hush", "PARETOSCOPE_PORT": "x"}
    command = [sys.executable, "-m", "service"]
    ended = subprocess.run(
        command, env=environment(**variables), capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 2 and "hush" not in ended.stderr


@pytest.mark.parametrize(
    ("error", "url", "code"),
    [
        (NoSpace("the disk is full"), None, STORE_AWAY),
        (NoSpace("the disk is full"), "postgresql://nowhere/x", STORE_AWAY),
        (Unavailable("no answer"), "postgresql://nowhere/x", STORE_AWAY),
        (Unavailable("another process has it"), None, 1),
    ],
)
def test_a_store_that_may_be_there_later_has_a_code_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: ParetoscopeError, url: str | None, code: int
) -> None:
    def opened(*_: object) -> None:
        raise error

    monkeypatch.setattr("service.store.sql.SqlStore.__init__", opened)
    with pytest.raises(SystemExit) as ended:
        _check_store(Settings(home=tmp_path, database_url=url))
    assert ended.value.code == code
