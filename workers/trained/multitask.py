"""Trained heads of several tasks over one encoder."""

from __future__ import annotations

import torch
from torch import Tensor

from service.contract.methods.problems import WITHOUT_ACCURACY
from service.contract.methods.problems import Multitask as Spec
from workers.models import Model
from workers.models.components.latent_code import Code
from workers.problems import rates
from workers.trained.network import Network, Preference


class Multitask(Network):
    """x → code → {task: logits [N, classes]}; pixels for reconstruction, a projection for exemplar."""

    _by_beta = False

    def forward(
        self, x: Tensor, *, beta: float | None = None, preference: Preference | None = None
    ) -> dict[str, Tensor]:
        """The outputs of every task's head, the main one's first."""
        with self._model(beta, preference) as model:
            read = self._code(model, x).mean
            return {task: model.decode(read, i)[0] for i, task in enumerate(self._spec.tasks)}

    def encode(self, x: Tensor, *, beta: float | None = None, preference: Preference | None = None) -> Code:
        """The code as the heads read it, [N, latent]; without a rate it has no noise, so its scale is 0."""
        with self._model(beta, preference) as model:
            code = self._code(model, x)
            return Code(code.mean[0], code.scale[0])

    @torch.no_grad()
    def predict(
        self,
        x: Tensor,
        samples: int | None = None,
        *,
        beta: float | None = None,
        preference: Preference | None = None,
    ) -> dict[str, Tensor]:
        """Probabilities [N, classes] of every task that has classes, at the mean of the code: with a rate, what was
        reported is of one sample for each input."""
        outputs = self(x, beta=beta, preference=preference)
        return {task: logits.softmax(-1) for task, logits in outputs.items() if task not in WITHOUT_ACCURACY}

    def _outputs(self) -> tuple[int, tuple[float, ...]]:
        latent = self.said.model.latent
        return (latent if self._spec.rate == "none" else rates.build(self._spec.rate).outputs(latent)), ()

    def _code(self, model: Model, x: Tensor) -> Code:
        """[1, N, latent] each."""
        s = model.encode(self._rows(x))
        if self._spec.rate != "none":
            return rates.build(self._spec.rate).code(s)
        read = s[0].relu()
        return Code(read, torch.zeros_like(read))

    @property
    def _spec(self) -> Spec:
        assert isinstance(self.said.problem, Spec)
        return self.said.problem
