"""Trained heads of several tasks over one encoder."""

from __future__ import annotations

import torch
from torch import Tensor

from service.contract.methods.problems import WITHOUT_ACCURACY
from workers.models.components.latent_code import Code
from workers.trained.network import Network, Preference


class Multitask(Network):
    """x → code → {task: logits [N, classes]}; pixels for reconstruction, a projection for exemplar."""

    _by_beta = False

    def forward(
        self, x: Tensor, *, beta: float | None = None, preference: Preference | None = None
    ) -> dict[str, Tensor]:
        """The outputs of every task's head, the main one's first."""
        with self._model(beta, preference) as model:
            (code, *_) = model.encode(self._rows(x))
            return {task: model.decode(code.relu(), i)[0] for i, task in enumerate(self.said.terms)}

    def encode(self, x: Tensor, *, beta: float | None = None, preference: Preference | None = None) -> Code:
        """The code as the heads read it, [N, latent]; it has no noise, so its scale is 0."""
        with self._model(beta, preference) as model:
            code = model.encode(self._rows(x))[0][0].relu()
            return Code(code, torch.zeros_like(code))

    @torch.no_grad()
    def predict(
        self,
        x: Tensor,
        samples: int | None = None,
        *,
        beta: float | None = None,
        preference: Preference | None = None,
    ) -> dict[str, Tensor]:
        """Probabilities [N, classes] of every task that has classes; their code has no noise to sample."""
        outputs = self(x, beta=beta, preference=preference)
        return {task: logits.softmax(-1) for task, logits in outputs.items() if task not in WITHOUT_ACCURACY}

    def _outputs(self) -> tuple[int, tuple[float, ...]]:
        return self.said.model.latent, ()
