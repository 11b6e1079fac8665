"""A client that a stranger's generator writes from our schema runs a study and reads it with typed attributes."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from frontends.client import Client
from tests.end_to_end.played_tune import trained_here
from tests.processes import BIN, Running, until

NAME = "generated_client"
CONFIG = {
    # Names such as `loss+` and `loss` are one name to an enumeration.
    "literal_enums": True,
    "content_type_overrides": {"application/yaml": "application/octet-stream"},
    "post_hooks": [],
}
SPEC = {
    "name": "by a generated client",
    "model": {"name": "mlp", "widths": [16], "latent": 4},
    "training": {"epochs": 2, "batch_size": 256, "learning_rate": 0.03},
    "seeds": [0, 1],
    "arms": [
        {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": [0.001, 0.1]}}},
        {"name": "MIB", "weighting": {"name": "mib"}},
    ],
}


@pytest.fixture(scope="module")
def generated(service: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that the generator wrote, importable while the tests run."""
    folder = tmp_path_factory.mktemp("client")
    config = folder / "config.json"
    config.write_text(json.dumps(CONFIG))
    schema = folder / "openapi.json"
    schema.write_bytes(service.get("/openapi.json").content)
    command: list[str | Path] = [BIN / "openapi-python-client", "generate", "--meta", "none"]
    options: list[str | Path] = ["--path", schema, "--output-path", folder / NAME, "--config", config]
    answer = subprocess.run([*command, *options], check=False, capture_output=True, text=True, timeout=120)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "warning" not in (answer.stdout + answer.stderr).lower(), answer.stdout
    sys.path.insert(0, str(folder))
    try:
        yield folder / NAME
    finally:
        sys.path.remove(str(folder))


def module(name: str) -> Any:
    return importlib.import_module(f"{NAME}.{name}")


def client_of(service: Running) -> Any:
    client = module("client").Client
    own = {"headers": service.headers, "httpx_args": {"trust_env": False}}
    return client(base_url=service.url, raise_on_unexpected_status=True, **own)


def test_every_operation_has_a_function(generated: Path, service: Running) -> None:
    paths = service.get("/openapi.json").json()["paths"]
    ids = {(each["tags"][0], each["operationId"]) for verbs in paths.values() for each in verbs.values()}
    files = {(path.parent.name, path.stem) for path in (generated / "api").rglob("*.py") if path.stem != "__init__"}
    assert files == ids


def followed(service: Running, study_id: str, looked: threading.Event) -> list[Any]:
    """Every answer that says something new, until the study has ended."""
    read = module("api.studies.read_study")
    told: list[Any] = []

    def ended() -> bool:
        study = read.sync(study_id, client=client)
        if not told or (study.state, study.counts) != (told[-1].state, told[-1].counts):
            told.append(study)
        looked.set()
        return study.state in ("finished", "failed", "cancelled")

    with client_of(service) as client:
        until(ended, "the study has ended", seconds=180)
    return told


@pytest.mark.filterwarnings("default")
def test_it_submits_a_study_follows_it_and_reads_its_results(generated: Path, service: Running) -> None:
    models, studies, trials = module("models"), module("api.studies"), module("api.trials")
    for name in ("submit_study", "read_study", "read_front", "read_comparison", "list_studies"):
        importlib.import_module(f"{NAME}.api.studies.{name}")
    for name in ("list_trials", "read_trial"):
        importlib.import_module(f"{NAME}.api.trials.{name}")
    with client_of(service) as client, Client(service.url) as own, ThreadPoolExecutor(1) as beside:
        submitted = studies.submit_study.sync(client=client, body=models.Study.from_dict(SPEC), idempotency_key=NAME)
        assert isinstance(submitted, models.StudyAnswer)
        assert (submitted.name, submitted.counts.planned) == ("by a generated client", 6)
        assert submitted.state == "queued"

        looked = threading.Event()
        following = beside.submit(followed, service, submitted.id, looked)
        assert looked.wait(timeout=60), "it is followed from before its start"
        trained_here(service, own.study(submitted.id))
        told = following.result()
        assert list(dict.fromkeys(study.state for study in told)) == ["queued", "running", "finished"]
        finished = [study.counts.finished for study in told]
        assert finished == sorted(finished) and finished[0] == 0
        study = told[-1]
        assert isinstance(study, models.StudyWithFigures)
        assert (study.state, study.counts.finished, study.progress) == ("finished", 6, 1.0)
        assert study.created_at < study.started_at < study.ended_at
        assert "pareto-front" in [figure.name for figure in study.figures]
        assert (study.spec.seeds, study.spec.model.widths, study.spec.arms[1].weighting.name) == ([0, 1], [16], "mib")
        assert submitted.id in [each.id for each in studies.list_studies.sync(client=client).studies]

        page = trials.list_trials.sync(submitted.id, client=client, sort="-accuracy", limit=4)
        assert isinstance(page, models.TrialPage) and (len(page.trials), page.total) == (4, 6)
        best = page.trials[0]
        assert best.state == "finished" and best.seed in (0, 1)
        assert 0 < best.metrics["accuracy"] <= 1 and best.metrics["epoch"] == 2
        trial = trials.read_trial.sync(submitted.id, best.id, client=client)
        assert [report["epoch"] for report in trial.reports] == [1, 2]

        front = studies.read_front.sync(submitted.id, client=client)
        assert isinstance(front, models.FrontAnswer)
        assert (front.x, front.y, front.goals) == ("i_xz_bits", "i_zy_bits", ["minimize", "maximize"])
        assert {point.arm for point in front.points} <= {"manual β", "MIB"} and front.hypervolume > 0

        comparison = studies.read_comparison.sync(submitted.id, client=client)
        assert isinstance(comparison, models.ComparisonAnswer)
        assert [(arm.name, arm.hypervolume.seeds) for arm in comparison.arms] == [("manual β", 2), ("MIB", 2)]
        assert comparison.baseline == "manual β" and comparison.verdict
        assert comparison.pairs[0].difference.mean is not None


def test_it_reads_our_errors(generated: Path, service: Running) -> None:
    models, read = module("models"), module("api.studies.read_study")
    with client_of(service) as client:
        answer = read.sync_detailed("nope", client=client)
    assert answer.status_code == 404
    assert isinstance(answer.parsed, models.ErrorAnswer) and answer.parsed.error.code == "not_found"
