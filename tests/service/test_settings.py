"""Settings: read from the environment, with folders that hold wherever a driver runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from service.__main__ import fresh_app, main
from service.contract.wire.exits import BAD_SETTINGS
from service.settings import Settings


def test_a_relative_folder_is_absolute_for_drivers_who_run_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    folders = [
        (Settings(home=Path("here")), tmp_path / "here" / "data"),
        (Settings(home=Path("here"), data=Path("sets")), tmp_path / "sets"),
        (Settings(home=Path("here"), data=Path("../sets")), tmp_path.parent / "sets"),
        (Settings(home=Path("~/p")), tmp_path / "me" / "p" / "data"),
        (Settings(data=Path("~/sets")), tmp_path / "me" / "sets"),
    ]
    for settings, folder in folders:
        assert settings.data_folder == folder


def test_its_own_address_is_the_one_it_was_told_else_where_it_listens() -> None:
    assert Settings(host="10.0.0.1", port=1234).own_url == "http://10.0.0.1:1234"
    assert Settings(host="0.0.0.0", url="http://service:8000").own_url == "http://service:8000"


def test_a_token_in_a_file_counts_before_one_in_a_variable(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("from the file\n")
    assert Settings(ray_token="given", ray_token_path=path).ray_token == "from the file"
    assert Settings(ray_token="given").ray_token == "given"
    assert Settings().ray_token is None


def test_variables_are_named_after_their_settings_and_others_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARETOSCOPE_STUDIES_AT_ONCE", "7")
    monkeypatch.setenv("PARETOSCOPE_TOKEN", "secret")
    monkeypatch.setenv("PARETOSCOPE_NOBODY_KNOWS", "x")
    monkeypatch.setenv("PORT", "1")
    settings = Settings()
    assert (settings.studies_at_once, settings.token, settings.port) == (7, "secret", 8000)


@pytest.mark.parametrize("name", ["studies_at_once", "driver_attempts"])
def test_none_at_all_would_be_a_service_that_runs_nothing(name: str) -> None:
    least: dict[str, Any] = {name: 1}
    assert getattr(Settings(**least), name) == 1
    none: dict[str, Any] = {name: 0}
    with pytest.raises(ValidationError, match=name):
        Settings(**none)


def test_code_of_whoever_asks_runs_on_loopback_only() -> None:
    assert Settings(allow_code=True).allow_code
    assert Settings(allow_code=True, host="0.0.0.0", token="sixteen letters.").allow_code, "nobody is let in without it"
    rule = "PARETOSCOPE_ALLOW_CODE: a service without a token runs code on loopback only"
    for host in ("0.0.0.0", "::", "10.0.0.1"):
        with pytest.raises(ValidationError, match=rule):
            Settings(allow_code=True, host=host)


def test_an_app_that_would_run_code_of_others_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """By `python -m service`, and as `make serve` and others build it."""
    monkeypatch.setenv("PARETOSCOPE_ALLOW_CODE", "true")
    monkeypatch.setenv("PARETOSCOPE_HOST", "0.0.0.0")
    for started in (main, fresh_app):
        with pytest.raises(SystemExit) as ended:
            started()
        assert ended.value.code == BAD_SETTINGS
