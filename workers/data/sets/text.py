"""Your own labelled texts: a CSV file, or a folder of text files by split and label."""

from __future__ import annotations

import csv
import io
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from service.contract.methods.data import Text
from service.contract.methods.examples import Texts
from service.contract.wire.errors import InvalidInput, NotFound
from workers.data import Draw, selection
from workers.data.files import words
from workers.data.files.named_files import check_links, own_place
from workers.data.files.splits import Splits
from workers.data.preparing.recipes import text_of

MADE = "your own file or folder: text,label"
SPLITS = ("train", "test")


class Corpus(NamedTuple):
    """Texts with the names of their labels."""

    texts: list[str]
    labels: list[str]


def load(spec: Text, folder: Path) -> Draw:
    path = own_place(spec.path, folder)
    if path.is_dir():
        check_links(path.glob("*/*/*.txt"), spec.path, folder)
        train, test = (_folder(path / split) for split in SPLITS)
    elif path.is_file():
        train, test = divided(table(path.read_bytes(), spec.path), spec.test_fraction)
    else:
        raise NotFound(f"data 'text': path must be a CSV file or a folder, got {spec.path!r}")
    names = sorted(set(train.labels))
    return read(splits(train, test, names), spec, len(names))


def table(raw: bytes, path: str) -> Corpus:
    """The columns text and label of a CSV file. Errors never quote it: it may be another file than was thought."""
    try:
        lines = list(csv.DictReader(io.StringIO(text_of(raw), newline=""), strict=True))
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not a CSV file in UTF-8: {error.reason} at byte {error.start}") from None
    except (csv.Error, OSError, EOFError, zlib.error):
        raise InvalidInput(f"{path} is not a CSV file in UTF-8") from None
    if not lines or not {"text", "label"} <= set(lines[0]):
        raise InvalidInput(f"{path} must have columns text and label, and a row")
    return Corpus([line["text"] or "" for line in lines], [line["label"] or "" for line in lines])


def divided(corpus: Corpus, test_fraction: float) -> tuple[Corpus, Corpus]:
    """Training and test texts, by label, drawn once."""
    _, codes = np.unique(corpus.labels, return_inverse=True)
    train, test = selection.split_by_class(codes.astype(np.int64), test_fraction)
    return _of(corpus, train), _of(corpus, test)


def splits(train: Corpus, test: Corpus, names: Sequence[str]) -> Splits:
    """Words as numbers, by how frequent they are in the training texts."""
    unknown = next((label for label in test.labels if label not in names), None)
    if unknown is not None or not test.labels:
        raise InvalidInput(f"the test texts need labels of the {len(names)} labels of the training texts")
    texts = [[words.words(text) for text in corpus.texts] for corpus in (train, test)]
    known = words.vocabulary(texts[0])
    labels = [np.array([names.index(label) for label in corpus.labels], dtype=np.int64) for corpus in (train, test)]
    return Splits(words.numbered(texts[0], known), labels[0], words.numbered(texts[1], known), labels[1])


def read(splits: Splits, spec: Texts, classes: int) -> Draw:
    """The first words of each text [N, length]; a rarer word than the vocabulary has is an unknown one."""
    import torch

    from workers.data.assembly import Facts, Inputs, assemble

    size = min(words.FIRST + spec.vocabulary, int(splits.train_images.max()) + 1)

    def encode(inputs: Inputs) -> torch.Tensor:
        cut = inputs[:, 0, 0, : spec.length]
        return torch.from_numpy(np.where(cut < size, cut, words.UNKNOWN).astype(np.float32))

    facts = Facts(classes, (0.0,), (1.0,), vocabulary=size)
    return assemble(splits, spec, facts, encode, spec.test_examples)


def _folder(folder: Path) -> Corpus:
    files = sorted(folder.glob("*/*.txt"))
    if not files:
        raise NotFound(f"data 'text': there is no label/*.txt in {folder.name!r} of data.path")
    try:
        return Corpus([file.read_text("utf-8") for file in files], [file.parent.name for file in files])
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{folder.name!r} of data.path has a text that is not UTF-8: {error.reason}") from None


def _of(corpus: Corpus, chosen: NDArray[np.int64]) -> Corpus:
    return Corpus([corpus.texts[i] for i in chosen], [corpus.labels[i] for i in chosen])
