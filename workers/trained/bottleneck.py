"""A trained bottleneck: a Gaussian code of the input, and a prediction from it."""

from __future__ import annotations

import torch
from torch import Tensor

from service.contract.methods.problems import Bottleneck as Spec
from workers.data.random_streams import Seeds
from workers.measures import labels
from workers.measures.information import ROWS, decoded
from workers.models.components.latent_code import Code
from workers.problems import rates
from workers.problems.rates import Rate
from workers.trained.network import Network, Preference


class Bottleneck(Network):
    """x → code → logits [N, classes]; of data gaussian means and log-variances of the label's coordinates."""

    _by_beta = True

    def forward(self, x: Tensor, *, beta: float | None = None, preference: Preference | None = None) -> Tensor:
        """Logits at the mean of the code: the same each time, and with a gradient."""
        with self._model(beta, preference) as model:
            return model.decode(self._rate().code(model.encode(self._rows(x))).mean)[0]

    def encode(self, x: Tensor, *, beta: float | None = None, preference: Preference | None = None) -> Code:
        """Mean and scale of the Gaussian code of each input, [N, latent] each; without noise the scale is 0."""
        with self._model(beta, preference) as model:
            code = self._rate().code(model.encode(self._rows(x)))
            return Code(code.mean[0], code.scale.expand_as(code.mean)[0])

    @torch.no_grad()
    def predict(
        self,
        x: Tensor,
        samples: int | None = None,
        *,
        beta: float | None = None,
        preference: Preference | None = None,
    ) -> Tensor:
        """Probabilities [N, classes], averaged over samples of the code: by default the study's `evaluation.samples`.

        A row has the noise that the row of the same place in the test split had: given the test split, this is the very
        prediction whose accuracy was reported.
        """
        count = self.said.samples if samples is None else samples
        if count < 1:
            raise ValueError(f"samples must be 1 or more, got {count}")
        rows = self._rows(x)
        label = labels.StandardNormal(self._sizes.constants) if self._sizes.constants else labels.Classes(0)
        seeds = Seeds([self.said.seed], rows.device)
        guesses: list[Tensor] = []
        with self._model(beta, preference) as model:
            for start in range(0, max(rows.shape[1], 1), ROWS):
                code = self._rate().code(model.encode(rows[:, start : start + ROWS]))
                outputs = decoded(model, code, seeds, stream="test", start=start, samples=count)
                guesses.append(sum((label.guess(each) / count for each in outputs), torch.zeros(()).to(rows.device))[0])
        return torch.cat(guesses)

    def _rate(self) -> Rate:
        problem = self.said.problem
        assert isinstance(problem, Spec)
        return rates.build(str(problem.rate))

    def _outputs(self) -> tuple[int, tuple[float, ...]]:
        return self._rate().outputs(self.said.model.latent), self._rate().scalars
