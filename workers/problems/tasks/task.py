"""What a task is: a head's loss on some view of the images."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

from torch import Tensor

from service.contract.methods.problems import Multitask
from workers.data import DataSet
from workers.data.split import Split

View = Literal["labelled", "plain", "turned", "shifted"]
SplitName = Literal["train", "validation", "test"]


class Drawn(NamedTuple):
    """Some images of a split for every member, as a view shows them."""

    split: SplitName
    place: Tensor  # [K, B]: where in the split they are
    x: Tensor  # [K, B, features]
    extra: Tensor | None = None  # quarter turns [K, B] (turned), or what the teacher sees [K, B, features]


class Task(Protocol):
    view: View
    outputs: int  # of its head

    def losses(self, outputs: Tensor, drawn: Drawn) -> Tensor:
        """Per example [K, B], of any value where `known` is false."""
        ...

    def hits(self, outputs: Tensor, drawn: Drawn) -> Tensor | None:
        """1 where the prediction is right, else 0 [K, B]; none for a task without accuracy."""
        ...

    def known(self, drawn: Drawn) -> Tensor | None:
        """Which examples have a label for this task [K, B]; none: all of them."""
        ...


class Setting(NamedTuple):
    """What a task is built from."""

    spec: Multitask
    split: Split
    labelled: Tensor | None  # [D, N]: whose main label may be learned from; none: all

    @property
    def data(self) -> DataSet:
        return self.split.data
