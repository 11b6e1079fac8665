"""What a trained trial leaves behind: weights that reproduce its accuracy, a log, a latent map; most on real Ray."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load as unpack

from frontends.client import Client, ClientError, Study
from service.contract.methods.data import Digits
from service.contract.methods.models import Mlp
from service.contract.study.parsing import check_study
from service.contract.study.study import Evaluation
from tests.end_to_end.played_tune import driven_here, trained_here
from tests.planned import planned
from tests.processes import Running
from tests.test_docs import blocks
from workers import data as datasets
from workers.run_study import FAILED
from workers.sending import checkpoint
from workers.training.loop import Cohort

pytestmark = pytest.mark.timeout(240)

CPU = torch.device("cpu")
README = Path(__file__).parents[2] / "README.md"
ATTACKS = [{"name": "fgsm", "epsilon": 0.1}]


@pytest.fixture(scope="module")
def client(cluster: Running) -> Iterator[Client]:
    with Client(cluster.url, cluster.token) as client:
        yield client


SPEC: dict[str, Any] = {
    "name": "keeps",
    "model": {"name": "mlp", "widths": [16], "latent": 4},
    "training": {"epochs": 3, "batch_size": 256, "learning_rate": 0.01},
    "seeds": [0, 1],
    "evaluation": {"attacks": ATTACKS, "attack_images": 20, "latent_map": {"points": 40, "perplexity": 5}},
    "arms": [
        {"name": "manual β", "weighting": {"name": "fixed", "beta": {"grid": [0.001, 0.1]}}},
        {"name": "MIB", "weighting": {"name": "mib"}},
    ],
}


@pytest.fixture(scope="module")
def finished(client: Client) -> Study:
    return client.submit(SPEC).wait(timeout=150)


def test_the_weights_reproduce_the_accuracy_that_was_reported(finished: Study, tmp_path: Path) -> None:
    expected = {trial.id: trial for trial in planned(check_study(SPEC))}
    trials = finished.trials()
    assert [trial["id"] for trial in trials] == list(expected)
    for trial in trials:
        content = finished.checkpoint(trial["id"])
        (tmp_path / "weights").write_bytes(content)
        with safe_open(tmp_path / "weights", "pt") as opened:
            said = opened.metadata()
        assert (said["study"], said["trial"]) == (finished.id, trial["id"])
        assert (said["arm"], said["seed"]) == (trial["arm"], str(trial["seed"]))
        assert Mlp.model_validate_json(said["model"]) == Mlp(widths=[16], latent=4)
        cohort = Cohort([expected[trial["id"]]], datasets.draws(Digits(), [trial["seed"]]), CPU)
        untrained = cohort.evaluate(Evaluation(), 3, last=True)
        checkpoint.load(cohort.model, 0, unpack(content))
        measured = cohort.evaluate(Evaluation(), 3, last=True)
        for metric in ("accuracy", "i_xz_bits", "i_zy_bits"):
            assert measured[metric][0] == pytest.approx(trial["metrics"][metric], rel=1e-4), metric
        assert measured["accuracy"] != untrained["accuracy"]


def accuracy(probabilities: torch.Tensor) -> float:
    return (probabilities.argmax(1) == datasets.load(Digits()).y_test).double().mean().item()


@pytest.fixture(scope="module")
def images() -> torch.Tensor:
    """The test split, as a user has it."""
    return datasets.load(Digits()).x_test[:].view(-1, 1, 8, 8)


def test_a_network_that_is_taken_home_has_the_accuracy_that_was_reported(finished: Study, images: torch.Tensor) -> None:
    trials = finished.trials()
    assert len(trials) == finished.read()["counts"]["planned"] > 1
    for trial in trials:
        found = accuracy(finished.model(trial["id"]).predict(images))
        assert found == pytest.approx(trial["metrics"]["accuracy"], abs=1e-6)
    with pytest.raises(ValueError, match="has weighting mib, which trains a network for one trade-off"):
        finished.model(trials[-1]["id"], beta=0.01)


@pytest.fixture
def played(service: Running) -> Iterator[Client]:
    """Of a service whose studies are driven here."""
    with Client(service.url) as client:
        yield client


@pytest.mark.filterwarnings("default")
def test_a_network_for_every_beta_has_the_accuracy_of_ten_points(
    service: Running, played: Client, images: torch.Tensor
) -> None:
    """And the README's lines about it run as they stand."""
    arm = {"name": "all β", "weighting": {"name": "conditional", "points": 10}}
    study = played.submit({**SPEC, "evaluation": {}, "seeds": [1], "arms": [arm]})
    trained_here(service, study)
    (trial,) = [trial["id"] for trial in study.trials()]
    points = [event["points"] for event in study.events() if event["kind"] == "report" and event.get("points")][-1]
    assert len(points) == 10
    for point in points:
        found = accuracy(study.model(trial, beta=point["where"]["beta"]).predict(images))
        assert found == pytest.approx(point["metrics"]["accuracy"], abs=1e-6), point["where"]
    (snippet,) = [block for block in blocks(README.read_text(), "python") if "study.model(" in block]
    names: dict[str, Any] = {"study": study, "trial": trial, "images": images}
    exec(snippet, names)
    assert names["probabilities"].shape == names["logits"].shape == (359, 10) and names["logits"].requires_grad
    with pytest.raises(ValueError, match=r"range that was trained, 0\.0001 to 1, got 2"):
        study.model(trial, beta=2)


def test_a_finished_trial_has_a_log_with_times_and_every_line_once(finished: Study) -> None:
    trials = finished.trials()
    assert len(trials) == 6
    for trial in trials:
        lines = finished.trial(trial["id"])["log"]
        assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (INFO|WARNING) ", line) for line in lines), lines
        assert len(set(lines)) == len(lines)
        words = "\n".join(lines)
        assert trial["id"] in words and "1150 training and 359 test examples" in words
        assert "trained 3 epochs in" in words and "checkpoints kept:" in words


def test_maps_are_there_for_the_first_seed_and_drawn(finished: Study, cluster: Running) -> None:
    trials = finished.trials()
    assert [trial["seed"] for trial in trials] == [0, 1] * 3
    for trial in trials:
        path = f"/api/studies/{finished.id}/trials/{trial['id']}/artifacts/latent-map.json"
        answer = cluster.get(path)
        assert answer.status_code == (200 if trial["seed"] == 0 else 404)
        if trial["seed"] == 0:
            drawn = answer.json()
            assert (drawn["points"], drawn["method"], drawn["attack"], drawn["latent"]) == (40, "t-SNE", "fgsm", 4)
            assert len(drawn["clean"]) == len(drawn["attacked"]) == len(drawn["labels"]) == 40
    answer = cluster.get(f"/api/studies/{finished.id}/figures/latent-map").json()
    assert len(answer["data"]) == 8  # two arms, clean and attacked: examples and class numbers
    assert {"latent-map", "timeline"} <= {figure["name"] for figure in finished.read()["figures"]}
    bars = cluster.get(f"/api/studies/{finished.id}/figures/timeline").json()["data"]
    assert [len(trace["x"]) for trace in bars] == [4, 2] and min(x for trace in bars for x in trace["x"]) > 0


def test_a_cohort_that_cannot_train_leaves_its_traceback(service: Running, played: Client) -> None:
    """The data is missing where it trains, which only the training can see."""
    spec = {**SPEC, "data": {"name": "image-folder", "path": "nowhere"}, "evaluation": {}, "seeds": [0]}
    study = played.submit({**spec, "model": {"name": "mlp", "widths": [4], "latent": 2}})
    assert driven_here(service, study) == FAILED
    with pytest.raises(ClientError, match="every trial failed"):
        study.wait(timeout=150)
    trials = study.trials()
    assert len(trials) == 3
    for trial in trials:
        lines = study.trial(trial["id"])["log"]
        assert trial["state"] == "failed" and "Traceback (most recent call last):" in lines
        assert json.dumps(trial["reason"])[1:40] in json.dumps(lines)
        with pytest.raises(ClientError, match=r"has no checkpoint\.safetensors: it failed: .*nowhere"):
            study.model(trial["id"])
