"""Tasks with a class per example: the data set's own, coarser ones, columns, and random ones."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional

from service.contract.wire.errors import InvalidInput
from workers.data import DataSet, selection
from workers.data.random_streams import Seeds, generator
from workers.data.split import Split
from workers.problems.tasks.task import Drawn, Setting, SplitName, View


class Labels:
    """Cross-entropy of classes given per example; −1 is an example without a label for this task."""

    def __init__(self, labels: Mapping[SplitName, Tensor | None], classes: int, seeds: Seeds, view: View) -> None:
        self._labels = {split: y for split, y in labels.items() if y is not None}  # [D, N] each
        self._has_gaps = any(bool((y < 0).any()) for y in self._labels.values())
        self._seeds = seeds
        self.outputs, self.view = classes, view

    def _target(self, drawn: Drawn) -> Tensor:
        y = self._labels[drawn.split]
        return y[self._seeds.draw_of_member(len(y))[:, None], drawn.place]  # [K, B]

    def losses(self, outputs: Tensor, drawn: Drawn) -> Tensor:
        y = self._target(drawn).clamp_min(0)
        return functional.cross_entropy(outputs.flatten(0, 1), y.flatten(), reduction="none").view(y.shape)

    def hits(self, outputs: Tensor, drawn: Drawn) -> Tensor:
        return (outputs.argmax(-1) == self._target(drawn)).double()

    def known(self, drawn: Drawn) -> Tensor | None:
        return self._target(drawn) >= 0 if self._has_gaps else None


def labelled_by(main: str, split: Split) -> Tensor | None:
    """Who is labelled [D, N]: as many as the data says, by the classes of the main task where that is a column.

    A column with gaps has them among the examples that it labels; the label of the data set keeps its own choice.
    """
    labelled = split.stack(lambda d: d.labelled)
    if labelled is None or main not in split.data.tasks:
        return labelled

    def by_column(d: DataSet) -> Tensor | None:
        classes = d.tasks[main].train
        if d.labelled is None or torch.equal(classes, d.y_train):
            return d.labelled
        known = (classes >= 0).nonzero()[:, 0]  # [N']
        kept = torch.zeros(len(classes), dtype=torch.bool)
        kept[known] = torch.from_numpy(selection.few(classes[known].numpy(), int(d.labelled.sum()), d.seed))
        return kept

    return split.stack(by_column)


def _view(setting: Setting, name: str) -> View:
    """The main task learns from the labelled examples alone, an auxiliary from all."""
    return "labelled" if name == setting.spec.main and setting.labelled is not None else "plain"


def _own(setting: Setting) -> dict[SplitName, Tensor | None]:
    """The labels of the data set."""
    split = setting.split
    return {
        "train": split.train.labels,
        "validation": None if split.validation is None else split.validation.labels,
        "test": split.test.labels,
    }


def given(setting: Setting) -> Labels:
    """The label of the data set; where only some training images have one, these are drawn by themselves."""
    if setting.data.y_train.is_floating_point():
        raise InvalidInput("task 'class' needs classes, but this data has continuous labels")
    view: View = "plain" if setting.labelled is None else "labelled"
    return Labels(_own(setting), setting.data.classes, setting.split.seeds, view)


def coarse(setting: Setting) -> Labels:
    """Several classes taken as one, by the data set's own table."""
    coarser, seeds = setting.data.coarse, setting.split.seeds
    if not coarser:
        raise InvalidInput("task 'coarse-class' needs data with coarse classes; this data has none")
    table = torch.tensor(coarser, device=seeds.device)
    labels = {split: None if y is None else table[y] for split, y in _own(setting).items()}
    return Labels(labels, max(coarser) + 1, seeds, _view(setting, "coarse-class"))


def random(setting: Setting) -> Labels:
    """A random class per image, the same in every trial: nothing to learn but the images themselves."""
    classes, seeds = setting.spec.random_classes, setting.split.seeds

    def drawn(y: Tensor, split: SplitName) -> Tensor:
        g = generator(0, f"random-labels/{split}")
        return torch.randint(classes, (1, y.shape[1]), generator=g).to(y.device)

    labels = {split: None if y is None else drawn(y, split) for split, y in _own(setting).items()}
    return Labels(labels, classes, seeds, "plain")


def column(setting: Setting, name: str) -> Labels:
    """One of the data set's own tasks."""
    split = setting.split
    labels: dict[SplitName, Tensor | None] = {
        "train": split.stack(lambda d: d.tasks[name].train),
        "validation": split.stack(lambda d: d.tasks[name].validation),
        "test": split.stack(lambda d: d.tasks[name].test),
    }
    return Labels(labels, setting.data.tasks[name].classes, split.seeds, _view(setting, name))
