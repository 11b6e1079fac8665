"""The pixels themselves."""

from __future__ import annotations

from torch import Tensor

from workers.problems.tasks.task import Drawn, Setting, View


class Reconstruction:
    """Mean squared error of a linear head's pixels."""

    view: View = "plain"

    def __init__(self, setting: Setting) -> None:
        self.outputs = setting.data.features

    def losses(self, outputs: Tensor, drawn: Drawn) -> Tensor:
        return (outputs - drawn.x).square().mean(-1)

    def hits(self, outputs: Tensor, drawn: Drawn) -> Tensor | None:
        return None

    def known(self, drawn: Drawn) -> Tensor | None:
        return None
