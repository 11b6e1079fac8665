"""The information bottleneck: predict the label from a code that says little about the input."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from service.contract.methods.models import Model as ModelSpec
from service.contract.methods.problems import Bottleneck as Spec
from service.contract.study.study import Evaluation
from workers import models
from workers.data.split import Split
from workers.measures import coded, labels
from workers.measures.attacks.steps.ascent import Target
from workers.measures.coding import Columns
from workers.models import Model
from workers.models.components.latent_code import Code
from workers.models.components.modulation import Told
from workers.problems import Batch, PartName, Problem, rates, transforms


class Bottleneck(Problem):
    """Terms pred = mean −ln q(y|z) and info = u(mean rate), in nats; β multiplies info (MIB paper, eq. 36)."""

    terms = Spec.terms
    by_beta = True

    def __init__(self, spec: Spec, latent: int) -> None:
        self._rate = rates.build(str(spec.rate))
        # Without a rate there is nothing to transform: info stays 0.
        self._transform = transforms.build(spec) if spec.rate != "none" else None
        self.separable = self._rate.separable and self._transform is None
        self.latent = latent
        self.outputs = self._rate.outputs(latent)  # of the encoder
        self.scalars = self._rate.scalars

    def model(self, spec: ModelSpec, split: Split, told: Told | None = None) -> Model:
        data = split.data
        label = labels.of(data)
        sizes = models.Sizes(
            data.features,
            self.outputs,
            self.latent,
            label.outputs,
            data.shape,
            self.scalars,
            vocabulary=data.vocabulary,
            constants=label.constants,
            told=told,
        )
        return models.build(spec, sizes, split.seeds)

    def steps(self, split: Split) -> int:
        return math.ceil(len(split.train) / split.batch_size)

    def batches(self, split: Split, epoch: int) -> Iterator[Batch]:
        seeds, count = split.seeds, len(split.train)
        order = seeds.draw(f"order/{epoch}", lambda g: torch.randperm(count, generator=g))  # [S, N]
        noise = seeds.draw(f"noise/{epoch}", lambda g: torch.randn(count, self.latent, generator=g))
        for start in range(0, count, split.batch_size):
            part = slice(start, start + split.batch_size)
            drawn = (*split.train.drawn(order[:, part]), noise[:, part])
            x, y, own = (seeds.spread(t) for t in drawn)
            yield Batch(split.augmented(x, f"{epoch}/{start}"), y, own)

    def losses(self, model: Model, s: tuple[Tensor, ...], batch: Batch) -> list[Tensor]:
        code = self._rate.code(s)
        outputs = model.decode(self._rate.sample(code, batch.noise))  # [K, B, outputs]
        pred = labels.kind_of(batch.y).nats(outputs, batch.y).mean(1)
        info = self._rate.nats(code).mean(1)
        return [pred, self._transform.u(info) if self._transform else info]

    def raw(self, losses: Tensor) -> Tensor:
        if self._transform is None:
            return losses
        out, i = losses.to(torch.float64, copy=True), self.terms.index("info")
        out[..., i] = self._transform.inverse(out[..., i])  # u is increasing, so nothing is lost but rounding
        return out

    @torch.no_grad()
    def mean_losses(self, model: Model, split: Split, part: PartName) -> Tensor | None:
        """In batches as in training, since nib's rate depends on their size; one latent sample per example."""
        if split.validation is None:
            return None
        count = min(len(split.train), len(split.validation))
        measured = split.train.some(split.some_training(count)) if part == "train" else split.validation
        seeds, size = split.seeds, split.batch_size
        noise = seeds.spread(seeds.draw(f"noise/{part}", lambda g: torch.randn(count, self.latent, generator=g)))
        total = noise.new_zeros(seeds.members, len(self.terms), dtype=torch.float64)
        for start in range(0, count, size):
            rows = slice(start, min(start + size, count))
            batch = Batch(*measured.block(rows), noise[:, rows])
            losses = torch.stack(self.losses(model, model.encode(batch.x), batch), dim=1)
            total += self.raw(losses) * (rows.stop - start) / count
        return total

    def code(self, s: tuple[Tensor, ...]) -> Code:
        return self._rate.code(s)

    def rate(self, s: tuple[Tensor, ...]) -> Tensor:
        return rates.kl_to_prior(self._rate.code(s))

    def logits(self, model: Model, s: tuple[Tensor, ...], noise: Tensor) -> Tensor:
        return model.decode(self._rate.sample(self._rate.code(s), noise))

    def evaluate(self, model: Model, split: Split, evaluation: Evaluation, epoch: int, last: bool) -> Columns:
        return coded.evaluate(Target(model, self), split, evaluation, epoch, last)
