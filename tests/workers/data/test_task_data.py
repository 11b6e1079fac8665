"""Data with several tasks, few labels, a third split or domains: from files in the published formats, always alike."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from pydantic import TypeAdapter, ValidationError
from torch import Tensor

from service.contract.methods.data import (
    Celeba,
    CensusIncome,
    Data,
    Digits,
    ImageFolder,
    Mnist,
    MovieReviews,
    Overlaid,
    Svhn,
    Text,
    Yeast,
)
from service.contract.methods.task_data import ATTRIBUTES
from service.contract.wire.errors import InvalidInput, NotFound
from tests.workers import stand_ins
from tests.workers.data.test_image_data import idx_files, made, put
from tests.workers.data.whole import load
from workers.data import DataSet, Targets, coarse
from workers.data.files import words
from workers.data.pool import Rows
from workers.data.preparing import inventory
from workers.data.sets import census_income, svhn


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path / "MNIST/raw", idx_files(made(1000, 200, (1, 28, 28))))
    return tmp_path


def tensors(data: DataSet) -> list[Tensor]:
    """Everything in a data set, to compare two of them."""
    own = [v[:] if isinstance(v, Rows) else v for v in vars(data).values() if isinstance(v, (Rows, Tensor))]
    return own + [t for targets in data.tasks.values() for t in targets if isinstance(t, Tensor)]


def alike(a: DataSet, b: DataSet) -> bool:
    return all(torch.equal(x, y) for x, y in zip(tensors(a), tensors(b), strict=True))


def spec_of(name: str, **given: Any) -> Data:
    return TypeAdapter[Data](Data).validate_python({"name": name, **given})


@pytest.mark.parametrize("kind", [Digits, Mnist, Overlaid])
def test_columns_and_coarse_classes_are_those_that_a_study_is_checked_by(folder: Path, kind: Any) -> None:
    spec = kind()
    found = load(spec, folder)
    assert tuple(found.tasks) == spec.columns and bool(found.coarse) == spec.coarse


def test_tasks_of_data_sets_to_prepare_are_those_that_a_study_is_checked_by() -> None:
    recipes = [recipe for name in inventory.kinds() if (recipe := inventory.recipe_of(name)) is not None]
    assert len(recipes) > 5
    for recipe in recipes:
        spec: Any = spec_of(recipe.name)
        assert (tuple(recipe.tasks), bool(recipe.coarse)) == (spec.columns, spec.coarse)


@pytest.mark.parametrize("kind", [Digits, Mnist, Overlaid])
def test_few_labels_are_stratified_exact_and_nested(folder: Path, kind: Any) -> None:
    whole, some, fewer = (load(kind(labels=count), folder) for count in (None, 100, 50))
    assert whole.labelled is None and some.labelled is not None and fewer.labelled is not None
    assert some.labelled.dtype == torch.bool and len(some.labelled) == len(some.x_train[:])
    assert some.labelled.sum() == 100 and fewer.labelled.sum() == 50
    assert (some.labelled | ~fewer.labelled).all()
    counts = some.y_train[some.labelled].bincount(minlength=10)
    expected = 100 * some.y_train.bincount(minlength=10) / len(some.y_train)
    assert (counts - expected).abs().max() < 1
    assert torch.equal(whole.x_train[:], some.x_train[:]) and torch.equal(whole.y_train, some.y_train)


def test_more_labels_than_examples_are_all_of_them(folder: Path) -> None:
    labelled = load(Digits(labels=10**6), folder).labelled
    assert labelled is not None and labelled.all()


@pytest.mark.parametrize("kind", [Digits, Mnist])
def test_what_is_held_out_is_a_stratified_part_of_the_training_images(folder: Path, kind: Any) -> None:
    whole, held = load(kind(), folder), load(kind(validation_fraction=0.2, label_noise=0.5), folder)
    assert whole.x_validation is None and whole.y_validation is None
    assert held.x_validation is not None and held.y_validation is not None
    assert len(held.x_validation[:]) == len(held.y_validation) == round(0.2 * len(whole.x_train[:]))
    rejoined = torch.cat((held.x_train[:], held.x_validation[:]))
    assert sorted(map(bytes, rejoined.numpy())) == sorted(map(bytes, whole.x_train[:].numpy()))
    share = held.y_validation.bincount() / whole.y_train.bincount()
    torch.testing.assert_close(share, torch.full((10,), 0.2), atol=0.01, rtol=0)
    assert torch.equal(held.x_test[:], whole.x_test[:]) and torch.equal(held.y_test, whole.y_test)
    true = {bytes(x): int(y) for x, y in zip(whole.x_train[:].numpy(), whole.y_train, strict=True)}
    assert [true[bytes(x)] for x in held.x_validation[:].numpy()] == held.y_validation.tolist()


def test_coarse_classes_are_groups_of_classes(folder: Path) -> None:
    for data in (load(Digits(), folder), load(Mnist(), folder)):
        assert [data.coarse[c] for c in (0, 6, 8, 9)] == [data.coarse[0]] * 4
        assert len({data.coarse[c] for c in (0, 1, 2)}) == 3 and len(data.coarse) == data.classes
    assert len(set(coarse.CLOTHES)) == 5 and len({coarse.CLOTHES[c] for c in (5, 7, 9)}) == 1
    assert [c for c in range(10) if coarse.OBJECTS[c] == coarse.OBJECTS[0]] == [0, 1, 8, 9]


@pytest.mark.parametrize(("of", "side", "canvas"), [("digits", 8, 10), ("mnist", 28, 36)])
def test_overlaid_images_are_both_there_by_the_brighter_pixel(folder: Path, of: str, side: int, canvas: int) -> None:
    base: DataSet = load(spec_of(of), folder)
    data = load(spec_of("overlaid", of=of, pairs=64, test_pairs=32), folder)
    assert data.shape == (1, canvas, canvas) and data.x_train[:].shape == (64, canvas**2) and len(data.x_test[:]) == 32
    assert list(data.tasks) == ["left", "right"] and torch.equal(data.y_test, data.tasks["left"].test)
    for x, split, images, labels in (
        (data.x_train[:], "train", base.x_train[:], base.y_train),
        (data.x_test[:], "test", base.x_test[:], base.y_test),
    ):
        shown, shift = x.view(-1, canvas, canvas), canvas - side
        for i, picture in enumerate(shown):
            first = _one_of(images.view(-1, side, side), labels, getattr(data.tasks["left"], split)[i])
            second = _one_of(images.view(-1, side, side), labels, getattr(data.tasks["right"], split)[i])
            # Where only one image lies the canvas shows it as it is, so there it can be looked up.
            upper = _matching(first, picture, (slice(None, shift), slice(None, side)), (0, 0), side)
            lower = _matching(second, picture, (slice(side, None), slice(shift, None)), (shift, shift), side)
            expected = torch.zeros(2, canvas, canvas)
            found = False
            for a in upper:
                for b in lower:
                    expected.zero_()
                    expected[0, :side, :side], expected[1, shift:, shift:] = a, b
                    found = found or torch.equal(expected.amax(0), picture)
            assert found, (split, i)


def _one_of(images: Tensor, labels: Tensor, label: Tensor) -> Tensor:
    return images[labels == label]


def _matching(images: Tensor, picture: Tensor, part: tuple[slice, slice], at: tuple[int, int], side: int) -> Tensor:
    """The images that agree with the picture in a part where nothing else lies."""
    rows, columns = torch.arange(len(picture))[part[0]] - at[0], torch.arange(len(picture))[part[1]] - at[1]
    return images[(images[:, rows][:, :, columns] == picture[part]).all(-1).all(-1)]


def test_overlaid_pairs_are_always_the_same_and_fewer_labels_or_noise_change_no_image(folder: Path) -> None:
    data = load(Overlaid(), folder)
    assert alike(data, load(Overlaid(), folder))
    assert len(data.x_train[:]) == len(load(Digits(), folder).x_train[:])
    noisy = load(Overlaid(labels=20, label_noise=0.5), folder)
    assert torch.equal(data.x_train[:], noisy.x_train[:]) and torch.equal(data.y_test, noisy.y_test)
    assert data.tasks.keys() == {"left", "right"}
    for side, targets in data.tasks.items():
        assert 0.4 < (targets.train != noisy.tasks[side].train).float().mean() < 0.6
    left, right = data.tasks["left"], data.tasks["right"]
    assert 0.05 < (left.train == right.train).float().mean() < 0.15  # sides are drawn independently
    pixels = data.x_train[:].double()
    assert data.mean == pytest.approx([pixels.mean().item()], abs=1e-5)
    assert data.std == pytest.approx([pixels.std().item()], abs=1e-5)


def test_held_out_pairs_show_held_out_images(folder: Path) -> None:
    data = load(Overlaid(validation_fraction=0.25, pairs=400), folder)
    assert data.x_validation is not None and len(data.x_validation[:]) == 100 and len(data.x_train[:]) == 300
    base = load(Digits(validation_fraction=0.25), folder)
    assert base.x_validation is not None
    corner = base.x_validation[:].view(-1, 8, 8)[:, :2]  # rows of the first image that the second cannot reach
    seen = {row.numpy().tobytes() for row in corner}
    assert all(row.numpy().tobytes() in seen for row in data.x_validation[:].view(-1, 10, 10)[:, :2, :8].contiguous())
    left = data.tasks["left"].validation
    assert data.y_validation is not None and left is not None and torch.equal(data.y_validation, left)


def test_yeast_is_read_from_the_wheel_and_split_once(tmp_path: Path) -> None:
    stand_ins.put_yeast(tmp_path, rows=100)
    data = load(Yeast(), tmp_path)
    assert list(data.tasks) == [f"label-{i}" for i in range(1, 15)]
    assert (len(data.x_train[:]), len(data.x_test[:])) == (62, 38)
    assert (data.shape, data.features, data.classes) == ((1, 1, 103), 103, 2)
    assert torch.equal(data.y_train, data.tasks["label-1"].train)
    lines = [line.split(",") for line in stand_ins.yeast_csv(100).decode().splitlines()[1:]]
    ours = torch.cat([torch.stack([getattr(t, s) for t in data.tasks.values()], 1) for s in ("train", "test")])
    assert sorted(map(tuple, ours.tolist())) == sorted(tuple(map(int, line[103:])) for line in lines)
    assert alike(data, load(Yeast(), tmp_path))


@pytest.mark.parametrize("kind", [Yeast, CensusIncome])
def test_columns_are_standardised_by_the_training_split_and_never_by_the_test_split(tmp_path: Path, kind: Any) -> None:
    stand_ins.put_yeast(tmp_path)
    stand_ins.put_census(tmp_path)
    data = load(kind(), tmp_path)
    x = data.x_train[:].double()
    numbers = [j for j in range(data.features) if not set(x[:, j].tolist()) <= {0.0, 1.0}]
    assert len(numbers) == (103 if kind is Yeast else len(census_income.NUMBERS))
    torch.testing.assert_close(x[:, numbers].mean(0), torch.zeros(len(numbers), dtype=x.dtype), atol=1e-6, rtol=0)
    torch.testing.assert_close(
        x[:, numbers].std(0, correction=0), torch.ones(len(numbers), dtype=x.dtype), atol=1e-5, rtol=0
    )
    assert data.x_test[:][:, numbers].mean(0).abs().min() > 1e-4
    assert data.shape == (1, 1, data.features)
    half = load(kind(train_fraction=0.5), tmp_path)
    assert torch.equal(half.x_train[:], data.x_train[half.x_train.places]), "whichever of them a draw has"


def test_the_census_asks_two_questions_and_shows_neither_answer(tmp_path: Path) -> None:
    stand_ins.put_census(tmp_path)
    data = load(CensusIncome(), tmp_path)
    assert list(data.tasks) == ["income", "never-married"]
    assert data.tasks["income"].train.tolist() == [int(i % 4 == 0) for i in range(120)]
    assert data.tasks["never-married"].test.tolist() == [int(i % 3 == 0) for i in range(60)]
    categories = census_income.COLUMNS - 3 - len(census_income.NUMBERS)
    assert data.features == len(census_income.NUMBERS) + 3 * categories
    for column in data.x_train[:].T:
        assert not torch.equal(column > 0, data.tasks["never-married"].train > 0)
    assert load(CensusIncome(train_fraction=0.05), tmp_path).features == data.features


def test_a_category_that_training_does_not_have_sets_nothing(tmp_path: Path) -> None:
    files = dict(
        zip(census_income.PUBLISHED, (stand_ins.census_rows(50, 0), stand_ins.census_rows(20, 1, ["New"])), strict=True)
    )
    put(tmp_path / "census-income", files)
    data = load(CensusIncome(), tmp_path)
    ones = [j for j in range(data.features) if set(data.x_train[:][:, j].tolist()) <= {0.0, 1.0}]
    assert data.x_train[:][:, ones].sum(1).unique().tolist() == [len(census_income.CATEGORICAL)]
    assert data.x_test[:][:, ones].sum() == 0


def test_damaged_tables_are_refused_in_words(tmp_path: Path) -> None:
    put(tmp_path / "yeast", {"yeast.csv": b"a,b\n1,2\n"})
    with pytest.raises(InvalidInput, match=r"'yeast' .* has 2 columns, not 103 features and 14 labels"):
        load(Yeast(), tmp_path)
    put(tmp_path / "census-income", dict.fromkeys(census_income.PUBLISHED, b"1, 2, 3\n"))
    with pytest.raises(InvalidInput, match="has 3 columns in row 1, not 42"):
        load(CensusIncome(), tmp_path)


@pytest.mark.parametrize("place", [".", "svhn"])
def test_svhn_is_read_from_matlab_files_with_ten_as_zero(tmp_path: Path, place: str) -> None:
    stand_ins.put_svhn(tmp_path / place)
    data = load(Svhn(), tmp_path)
    assert data.shape == (3, 32, 32) and data.coarse == coarse.DIGITS
    assert data.y_train.tolist() == [(i + 1) % 10 for i in range(40)]
    written = np.random.default_rng(0).integers(0, 256, (32, 32, 3, 40), dtype=np.uint8)
    shown = (data.x_train[:].view(-1, 3, 32, 32) * 255).round().to(torch.uint8)
    assert torch.equal(shown, torch.from_numpy(written.transpose(3, 2, 0, 1).copy()))


@pytest.mark.parametrize("raw", [b"", b"plain text", b"MATLAB 7.3 MAT-file" + bytes(109) + b"\x00\x02IM"])
def test_other_files_are_no_svhn(tmp_path: Path, raw: bytes) -> None:
    put(tmp_path / "svhn", dict.fromkeys((svhn.TRAIN, svhn.TEST), raw))
    with pytest.raises(InvalidInput, match="'svhn' cannot be read"):
        load(Svhn(), tmp_path)


def test_celeba_has_a_task_per_attribute_and_leaves_the_validation_faces_out(tmp_path: Path) -> None:
    stand_ins.put_celeba(tmp_path)
    data = load(Celeba(size=16), tmp_path)
    assert tuple(data.tasks) == ATTRIBUTES and data.shape == (3, 16, 16)
    assert (len(data.x_train[:]), len(data.x_test[:])) == (24, 12)
    bright = data.x_test[:].mean(1) > 0.5
    assert torch.equal(data.tasks["smiling"].test.bool(), bright)
    some = load(Celeba(size=16, attributes=["young", "smiling"]), tmp_path)
    assert list(some.tasks) == ["young", "smiling"] and torch.equal(some.y_train, data.tasks["young"].train)
    assert len(data.mean) == 3 and data.mean[0] == pytest.approx(data.x_train[:].mean().item(), abs=1e-5)


def test_each_size_of_face_is_prepared_once(tmp_path: Path) -> None:
    stand_ins.put_celeba(tmp_path)
    first = load(Celeba(size=8), tmp_path)
    load(Celeba(size=16), tmp_path)
    assert sorted(file.name for file in tmp_path.glob("*.safetensors")) == [
        "celeba.16.safetensors",
        "celeba.8.safetensors",
    ]
    for file in (tmp_path / "celeba/img_align_celeba").iterdir():
        file.unlink()
    assert alike(load(Celeba(size=8), tmp_path), first)
    (tmp_path / "celeba.8.safetensors").write_bytes(b"half a fi")
    with pytest.raises(InvalidInput, match="paretoscope data prepare celeba --folder"):
        load(Celeba(size=8), tmp_path)


def test_a_missing_or_damaged_face_is_named(tmp_path: Path) -> None:
    stand_ins.put_celeba(tmp_path)
    (tmp_path / "celeba/img_align_celeba/000003.jpg").write_bytes(b"no picture")
    with pytest.raises(InvalidInput, match=r"000003\.jpg is not a readable picture"):
        load(Celeba(), tmp_path)


def test_unknown_attributes_are_refused_by_the_contract() -> None:
    with pytest.raises(ValidationError, match="smiling"):
        spec_of("celeba", attributes=["Smile"])


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_an_attribute_may_be_spelled_as_in_the_file(attribute: str) -> None:
    """People copy names from the file, whose reader takes them so: `5_o_Clock_Shadow`, `Smiling`."""
    in_the_file = attribute.replace("-", "_").title()
    spec: Any = spec_of("celeba", attributes=[in_the_file])
    assert spec.columns == (attribute,)


def test_the_domain_left_out_is_the_test_split_and_the_others_are_tasks(tmp_path: Path) -> None:
    stand_ins.put_domains(tmp_path / "pacs")
    data = load(ImageFolder(path="pacs", leave_out="sketch", size=8), tmp_path)
    assert list(data.tasks) == ["domain-art-painting", "domain-photo"]
    assert (len(data.x_train[:]), len(data.x_test[:]), data.classes) == (40, 20, 2)
    assert data.domain is not None and data.x_test[:].amax(1).mul(255).round().unique().tolist() == [200]
    for number, brightness in enumerate((120, 40)):  # sorted: art_painting, photo
        mine = data.domain == number
        assert data.x_train[mine].amax(1).mul(255).round().unique().tolist() == [brightness]
        targets = list(data.tasks.values())[number]
        assert torch.equal(targets.train[mine], data.y_train[mine]) and (targets.train[~mine] == -1).all()
        assert torch.equal(targets.test, data.y_test)
    blue = data.x_train[:].view(-1, 3, 64)[:, 2].amax(1) > 0
    assert torch.equal(data.y_train.bool(), blue)


def test_without_a_domain_left_out_every_domain_gives_its_share(tmp_path: Path) -> None:
    root = stand_ins.put_domains(tmp_path / "pacs")
    data = load(ImageFolder(path=str(root), size=8, test_fraction=0.2, validation_fraction=0.25), tmp_path)
    assert len(data.tasks) == 3 and data.domain is not None and data.domain.bincount().tolist() == [12, 12, 12]
    brightness = data.x_test[:].amax(1).mul(255).round()
    assert brightness.unique(return_counts=True)[1].tolist() == [4, 4, 4]
    for targets in data.tasks.values():
        assert targets.validation is not None and (targets.validation >= 0).sum() == 4


def test_a_folder_of_images_is_prepared_until_a_file_changes(tmp_path: Path) -> None:
    root = stand_ins.put_domains(tmp_path / "pacs")
    spec = ImageFolder(path="pacs", leave_out="photo", size=8)
    first = load(spec, tmp_path)
    (kept,) = tmp_path.glob("*.safetensors")
    written = kept.stat().st_mtime_ns
    assert alike(load(spec, tmp_path), first) and kept.stat().st_mtime_ns == written
    Image.new("RGB", (24, 16), (255, 255, 255)).save(root / "photo/cat/0.png")
    assert load(spec, tmp_path).x_test[:1].min() == 1
    (root / "photo/cat/0.png").unlink()
    assert len(load(spec, tmp_path).x_test[:]) == len(first.x_test[:]) - 1


def test_a_picture_that_changes_at_the_same_size_is_read_anew(tmp_path: Path) -> None:
    cat = stand_ins.put_domains(tmp_path / "pacs") / "photo/cat/0.png"
    sizes = set()
    for at, shade in enumerate((50, 250)):
        Image.new("RGB", (24, 16), (shade, shade, shade)).save(cat, compress_level=0)
        os.utime(cat, (at, at))  # the file system's clock may be too coarse to tell them apart
        sizes.add(cat.stat().st_size)
        images = load(ImageFolder(path="pacs", leave_out="photo", size=8), tmp_path).x_test[:]
        assert images[0].mul(255).round().unique().tolist() == [shade]
    assert len(sizes) == 1


def test_folders_that_are_alike_but_for_their_pixels_are_kept_apart(tmp_path: Path) -> None:
    for name, shade in (("one", 50), ("two", 250)):
        root = stand_ins.put_domains(tmp_path / name)
        for file in root.glob("*/*/*.png"):
            Image.new("RGB", (24, 16), (shade, shade, shade)).save(file, compress_level=0)
            os.utime(file, (7, 7))
    for name, shade in (("one", 50), ("two", 250), ("one", 50)):
        images = load(ImageFolder(path=name, leave_out="photo", size=8), tmp_path).x_test[:]
        assert images.mul(255).round().unique().tolist() == [shade]
    assert load(ImageFolder(path="one", leave_out="photo", size=16), tmp_path).shape == (3, 16, 16)


def test_what_is_wrong_with_a_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="path must be a folder"):
        load(ImageFolder(path="nowhere"), tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFound, match="no domain/class"):
        load(ImageFolder(path="empty"), tmp_path)
    stand_ins.put_domains(tmp_path / "pacs")
    with pytest.raises(InvalidInput, match=r"data\.leave_out .*'cartoon'; known: art_painting, photo, sketch"):
        load(ImageFolder(path="pacs", leave_out="cartoon"), tmp_path)
    (tmp_path / "pacs/photo/cat/0.png").write_bytes(b"no picture")
    with pytest.raises(InvalidInput, match=r"photo/cat/0\.png is not a readable picture"):
        load(ImageFolder(path="pacs"), tmp_path)


def test_a_csv_of_texts_becomes_word_numbers(tmp_path: Path) -> None:
    stand_ins.put_texts(tmp_path / "reviews.csv")
    data = load(Text(path="reviews.csv", length=7), tmp_path)
    assert (
        data.x_train[:].shape == (32, 7) and data.x_test[:].shape == (8, 7) and data.x_train[:].dtype == torch.float32
    )
    assert data.y_train.bincount().tolist() == [16, 16] and data.y_test.bincount().tolist() == [4, 4]
    # 16 texts "a good film it's good number i", 16 "bad film number i": frequency, then the alphabet
    film, good, number, a, bad, its = 2, 3, 4, 5, 6, 7
    for x, y in zip(data.x_train[:].tolist(), data.y_train.tolist(), strict=True):
        expected = [a, good, film, its, good, number] if y else [bad, film, number]
        assert x[: len(expected)] == expected and x[len(expected)] > its
        assert set(x[len(expected) + 1 :]) <= {words.PADDING}
    assert data.vocabulary == data.x_train[:].max() + 1
    assert data.x_test[:].max() < data.vocabulary


def test_the_vocabulary_is_the_most_frequent_words_of_the_training_texts(tmp_path: Path) -> None:
    lines = "\n".join(f"common {'often' if i % 2 else 'rare' + str(i)},{i % 2}" for i in range(20))
    (tmp_path / "t.csv").write_text(f"text,label\n{lines}\n")
    data = load(Text(path="t.csv", vocabulary=2, length=2), tmp_path)
    assert data.vocabulary == words.FIRST + 2
    assert data.x_train[:][:, 0].unique().tolist() == [2.0]
    assert data.x_train[:][data.y_train == 0, 1].unique().tolist() == [words.UNKNOWN]
    whole = load(Text(path="t.csv", length=2), tmp_path)
    assert (whole.x_test[:][whole.y_test == 0, 1] == words.UNKNOWN).all()  # words that only test texts have
    assert (whole.x_train[:][:, 1] > words.UNKNOWN).all()


def test_a_folder_of_texts_keeps_its_own_splits(tmp_path: Path) -> None:
    for split, count in (("train", 3), ("test", 2)):
        for label in ("neg", "pos"):
            (tmp_path / "imdb" / split / label).mkdir(parents=True)
            for i in range(count):
                (tmp_path / "imdb" / split / label / f"{i}.txt").write_text(f"{label} {split}")
    data = load(Text(path="imdb", length=2), tmp_path)
    assert data.y_train.tolist() == [0, 0, 0, 1, 1, 1] and data.y_test.tolist() == [0, 0, 1, 1]
    assert (data.x_test[:][:, 1] == words.UNKNOWN).all()


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"secret,b\n1,2\n", "columns text and label"),
        (b"", "and a row"),
        (b"text,label\n\xffsecret,1\n", "UTF-8"),
        (b'text,label\n"secret', "is not a CSV file"),
        (b"\x1f\x8bsecret", "is not a CSV file"),
    ],
)
def test_other_files_are_no_texts(tmp_path: Path, raw: bytes, words: str) -> None:
    (tmp_path / "t.csv").write_bytes(raw)
    with pytest.raises(InvalidInput, match=words) as error:
        load(Text(path="t.csv"), tmp_path)
    assert "secret" not in str(error.value), "what is in a file is never told"
    with pytest.raises(NotFound, match="must be a CSV file or a folder"):
        load(Text(path="elsewhere.csv"), tmp_path)


@pytest.mark.parametrize("name", ["svhn", "celeba", "yeast", "census-income", "movie-reviews"])
def test_what_is_not_here_names_the_command(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotFound, match=f"'{name}' is not in .*paretoscope data prepare {name} --folder {tmp_path}"):
        load(spec_of(name), tmp_path)
    assert inventory.entry_of(name, tmp_path).state == "missing"


def test_overlaid_images_that_are_not_here_are_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="paretoscope data prepare mnist"):
        load(Overlaid(of="mnist"), tmp_path)


@pytest.mark.parametrize("name", ["svhn", "celeba", "image-folder", "yeast", "census-income", "movie-reviews", "text"])
def test_every_set_can_have_few_labels_noise_and_a_third_split(tmp_path: Path, name: str) -> None:
    given = stand_ins.put_all(tmp_path)[name]
    spec = spec_of(name, **given, labels=6, validation_fraction=0.25, train_fraction=0.9, label_noise=0.5)
    data = load(spec, tmp_path)
    assert alike(load(spec, tmp_path), data)
    count, held = len(data.x_train[:]), 0 if data.x_validation is None else len(data.x_validation[:])
    assert data.labelled is not None and data.labelled.sum() == 6 and len(data.labelled) == count
    assert held == round(0.25 * (count + held))
    for targets in [*data.tasks.values(), Targets(data.y_train, data.y_test, data.classes, data.y_validation)]:
        assert targets.validation is not None and targets.classes == data.classes
        assert [len(t) for t in (targets.train, targets.validation, targets.test)] == [count, held, len(data.x_test[:])]
        assert all(t.dtype == torch.int64 and t.max() < data.classes for t in (targets.train, targets.test))
    clean = load(spec.model_copy(update={"label_noise": 0.0}), tmp_path)
    assert (clean.y_train != data.y_train).sum() == round(0.5 * count)
    assert torch.equal(clean.x_train[:], data.x_train[:]) and torch.equal(clean.y_test, data.y_test)


def test_the_tasks_of_a_table_get_different_labels_wrong(tmp_path: Path) -> None:
    stand_ins.put_census(tmp_path)
    clean, noisy = load(CensusIncome(), tmp_path), load(CensusIncome(label_noise=0.3), tmp_path)
    wrong = [clean.tasks[name].train != noisy.tasks[name].train for name in clean.tasks]
    assert [int(w.sum()) for w in wrong] == [36, 36] and not torch.equal(*wrong)


def test_the_reviews_come_from_their_package(tmp_path: Path) -> None:
    stand_ins.put_texts(tmp_path / "movie-reviews/combined_movie_reviews.csv")
    assert inventory.prepare("movie-reviews", tmp_path, lambda _: None).state == "prepared"
    data = load(MovieReviews(length=5), tmp_path)
    assert (len(data.x_train[:]), len(data.x_test[:]), data.classes) == (32, 8, 2)
