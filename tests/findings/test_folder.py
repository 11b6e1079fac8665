"""Which study is run for a finding, and whether what is kept is that study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from findings import folder
from findings.folder import Asked, asked, differences, load, save
from findings.running import Note, Notes, begun
from frontends.client import ClientError
from tests.findings.played import finding

PRESET = """
name: s
data: {name: digits, validation_fraction: 0.0, draw: shared}
seeds: [0, 1]
arms:
  - {name: manual β, weighting: {name: fixed, beta: {grid: [0.01, 0.1, 1.0]}}}
  - {name: MIB, weighting: {name: mib}}
"""


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("FOLDER", "PRESETS"):
        (tmp_path / name).mkdir()
        monkeypatch.setattr(folder, name, tmp_path / name)
    (tmp_path / "PRESETS" / "demo.yaml").write_text(PRESET)
    return tmp_path / "FOLDER"


def test_a_preset_is_asked_for_as_it_is_or_with_other_keys(folders: Path) -> None:
    assert asked("demo").study.seeds == [0, 1]
    (folders / "demo.yaml").write_text("preset: demo\nseeds: [0, 1, 2, 3, 4]\ncurves: [accuracy]\n")
    study, curves, _ = asked("demo")
    assert (study.seeds, [arm.name for arm in study.arms], curves) == (
        [0, 1, 2, 3, 4],
        ["manual β", "MIB"],
        ["accuracy"],
    )
    with pytest.raises(ValueError, match="there is no study 'dmo': neither"):
        asked("dmo")


def test_a_search_learns_from_a_kept_study_by_its_name(folders: Path) -> None:
    save("first", finding())
    search = "{name: optuna, trials: 5, from: [first]}"
    arm = f"{{name: a, weighting: {{name: fixed, beta: {{range: {{from: 0.1, to: 1}}}}}}, search: {search}}}"
    (folders / "second.yaml").write_text(f"name: s\narms: [{arm}]\nmetrics: [accuracy]\n")
    study, _, metrics = asked("second")
    assert (study.arms[0].model_dump(by_alias=True)["search"]["from"], metrics) == (["s1"], ("accuracy",))


def test_what_is_kept_is_what_was_asked_for(folders: Path) -> None:
    (folders / "demo.yaml").write_text("preset: demo\nseeds: [0, 1, 2, 3, 4]\n")
    assert differences("demo", finding()) == []
    (folders / "demo.yaml").write_text("preset: demo\nseeds: [0, 1, 2, 3, 5]\n")
    assert differences("demo", finding()) == ["seeds[4]: 5 asked for, 4 kept"]


def test_a_default_that_has_changed_since_makes_nothing_untrue() -> None:
    whole = finding()
    spec = {**whole.study.spec, "training": {**whole.study.spec["training"], "batch_size": 7}, "seeds": [0, 1]}
    changed = whole.model_copy(update={"study": whole.study.model_copy(update={"spec": spec})})
    assert differences("demo", changed) == []


def test_a_finding_is_saved_and_loaded_and_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    save("demo", finding())
    assert load("demo") == finding()
    with pytest.raises(ValueError, match="there is no study 'dmo' in docs/findings; kept: demo"):
        load("dmo")
    monkeypatch.setattr(folder, "LARGEST", 1_000)
    with pytest.raises(ValueError, match="over 1,000: keep fewer curves"):
        save("demo", finding())


class Begun:
    def __init__(self, study_id: str, spec: object) -> None:
        self.id, self._spec = study_id, spec

    def read(self) -> dict[str, object]:
        return {"spec": self._spec}


class Service:
    """As much of a client as a run needs."""

    def __init__(self) -> None:
        self.studies: dict[str, Begun] = {}

    def submit(self, spec: object) -> Begun:
        study = Begun(f"s{len(self.studies)}", spec)
        self.studies[study.id] = study
        return study

    def study(self, study_id: str) -> Begun:
        if study_id not in self.studies:
            raise ClientError("there is none", 404)
        return self.studies[study_id]


def test_a_run_that_was_broken_off_goes_on_and_a_changed_study_is_begun_anew(tmp_path: Path) -> None:
    service: Any = Service()
    notes, preset = Notes(tmp_path / "notes"), asked("demo")

    def ran(asked: Asked, again: bool = False) -> str:
        return begun(service, notes, "demo", asked, again, None)[0].id

    assert [ran(preset), ran(preset)] == ["s0", "s0"]
    changed = Asked(preset.study.model_copy(update={"seeds": [0, 1, 2]}), [])
    assert [ran(changed), ran(changed), ran(changed, again=True)] == ["s1", "s1", "s2"]
    service.studies.clear()
    assert ran(changed) == "s0", "a study that is gone is run again"


def test_a_measurement_keeps_the_version_and_the_commit_that_began_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service: Any = Service()
    notes, preset = Notes(tmp_path / "notes"), asked("demo")
    first = begun(service, notes, "demo", preset, False, "abc")[1]
    monkeypatch.setattr("findings.running.__version__", "99.0.0")
    assert first.commit == "abc"
    assert begun(service, notes, "demo", preset, False, "def")[1] == first
    again = begun(service, notes, "demo", preset, True, "def")[1]
    assert (again.paretoscope, again.commit) == ("99.0.0", "def")


def test_a_note_of_a_time_without_commits_is_read(tmp_path: Path) -> None:
    (tmp_path / "demo.json").write_text('{"study": "s0", "paretoscope": "0.2.0"}')
    assert Notes(tmp_path).read("demo") == Note("s0", "0.2.0", None)
