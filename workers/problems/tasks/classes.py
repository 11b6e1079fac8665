"""Tasks with a class per example: the data set's own, coarser ones, columns, and random ones."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional

from service.contract.wire.errors import InvalidInput
from workers.data import DataSet, selection
from workers.data.random_streams import generator
from workers.problems.tasks.task import Drawn, Setting, View


class Labels:
    """Cross-entropy of classes given per example; −1 is an example without a label for this task."""

    def __init__(self, labels: dict[str, Tensor | None], classes: int, view: View = "plain") -> None:
        self._labels = {split: y for split, y in labels.items() if y is not None}
        self._has_gaps = any(bool((y < 0).any()) for y in self._labels.values())
        self.outputs, self.view = classes, view

    def _target(self, drawn: Drawn) -> Tensor:
        return self._labels[drawn.split][drawn.place]  # [K, B]

    def losses(self, outputs: Tensor, drawn: Drawn) -> Tensor:
        y = self._target(drawn).clamp_min(0)
        return functional.cross_entropy(outputs.flatten(0, 1), y.flatten(), reduction="none").view(y.shape)

    def hits(self, outputs: Tensor, drawn: Drawn) -> Tensor:
        return (outputs.argmax(-1) == self._target(drawn)).double()

    def known(self, drawn: Drawn) -> Tensor | None:
        return self._target(drawn) >= 0 if self._has_gaps else None


def labelled_by(main: str, data: DataSet) -> DataSet:
    """The data with as many labelled examples, chosen by the classes of the main task where that is a column.

    A column with gaps has them among the examples that it labels; the label of the data set keeps its own choice.
    """
    own = data.tasks.get(main)
    if data.labelled is None or own is None or torch.equal(own.train, data.y_train):
        return data
    classes, count = own.train.cpu(), int(data.labelled.sum())
    known = (classes >= 0).nonzero()[:, 0]  # [N']
    kept = torch.zeros(len(classes), dtype=torch.bool)
    kept[known] = torch.from_numpy(selection.few(classes[known].numpy(), count))
    return replace(data, labelled=kept.to(data.labelled.device))


def _view(setting: Setting, name: str) -> View:
    """The main task learns from the labelled examples alone, an auxiliary from all."""
    return "labelled" if name == setting.spec.main and setting.data.labelled is not None else "plain"


def given(setting: Setting) -> Labels:
    """The label of the data set; where only some training images have one, these are drawn by themselves."""
    d = setting.data
    if d.y_train.is_floating_point():
        raise InvalidInput("task 'class' needs classes, but this data has continuous labels")
    labels = {"train": d.y_train, "validation": d.y_validation, "test": d.y_test}
    return Labels(labels, d.classes, "plain" if d.labelled is None else "labelled")


def coarse(setting: Setting) -> Labels:
    """Several classes taken as one, by the data set's own table."""
    d = setting.data
    if not d.coarse:
        raise InvalidInput("task 'coarse-class' needs data with coarse classes; this data has none")
    table = torch.tensor(d.coarse, device=d.y_train.device)
    labels = {"train": d.y_train, "validation": d.y_validation, "test": d.y_test}
    return Labels(
        {k: None if y is None else table[y] for k, y in labels.items()},
        max(d.coarse) + 1,
        _view(setting, "coarse-class"),
    )


def random(setting: Setting) -> Labels:
    """A random class per image, the same in every trial: nothing to learn but the images themselves."""
    d, classes = setting.data, setting.spec.random_classes

    def drawn(x: Tensor | None, split: str) -> Tensor | None:
        if x is None:
            return None
        g = generator(0, f"random-labels/{split}")
        return torch.randint(classes, (len(x),), generator=g).to(x.device)

    inputs = {"train": d.x_train, "validation": d.x_validation, "test": d.x_test}
    return Labels({split: drawn(x, split) for split, x in inputs.items()}, classes)


def column(setting: Setting, name: str) -> Labels:
    """One of the data set's own tasks."""
    own = setting.data.tasks[name]
    labels = {"train": own.train, "validation": own.validation, "test": own.test}
    return Labels(labels, own.classes, _view(setting, name))
