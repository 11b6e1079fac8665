"""The bottleneck of flexible VIB: its terms to second order, of a code and a decoder that follow from β."""

from __future__ import annotations

from torch import Tensor

from service.contract.methods.models import Model as ModelSpec
from service.contract.methods.problems import Bottleneck as Spec
from workers import models
from workers.data.split import Split
from workers.measures import labels
from workers.models import Model
from workers.models.components.closed_form import ClosedForm as Closed
from workers.models.components.closed_form import sharpness
from workers.models.components.modulation import Told
from workers.problems import Batch
from workers.problems.bottleneck import Bottleneck


class ClosedForm(Bottleneck):
    """Terms pred, the cross-entropy expanded around z = 0, and info = KL to N(0, I); measured as every bottleneck."""

    def __init__(self, spec: Spec, confidence: float | None) -> None:
        super().__init__(spec, latent=0)  # it has one dimension less than there are classes, which the model knows
        self._confidence = confidence

    def model(self, spec: ModelSpec, split: Split, told: Told | None = None) -> Model:
        data = split.data
        classes = labels.of(data).outputs
        self.latent = self.outputs = classes - 1
        sizes = models.Sizes(
            data.features,
            self.outputs,
            self.latent,
            classes,
            data.shape,
            vocabulary=data.vocabulary,
            sharpness=sharpness(classes, self._confidence),
        )
        return models.build(spec, sizes, split.seeds)

    def losses(self, model: Model, s: tuple[Tensor, ...], batch: Batch) -> list[Tensor]:
        assert isinstance(model, Closed)
        code = self._rate.code(s)
        return [model.distortion(code, batch.y).mean(1), self._rate.nats(code).mean(1)]
