"""The information bottleneck: predict the label from a code that says little about the input."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from service.contract.methods.models import Model as ModelSpec
from service.contract.methods.problems import Bottleneck as Spec
from service.contract.metrics import ACCURACY, ERROR, GAP, I_XZ, I_ZY, KL_PRIOR, TEST_EXAMPLES, TRAIN_ACCURACY
from service.contract.study.study import Evaluation
from workers import models
from workers.data.random_streams import generator
from workers.data.split import Split
from workers.measures import estimators, information, labels, marginal
from workers.measures.attacks.ascent import Target
from workers.measures.attacks.robustness import robustness
from workers.measures.coding import Code, Columns
from workers.models import Model
from workers.problems import Batch, rates, transforms

FITTED = 2000  # training codes, at most, that the marginal is fitted to; their memory is [K, FITTED, latent]


class Bottleneck:
    """Terms pred = mean −ln q(y|z) and info = u(mean rate), in nats; β multiplies info (MIB paper, eq. 36)."""

    terms = Spec.terms

    def __init__(self, spec: Spec, latent: int) -> None:
        self._rate = rates.build(str(spec.rate))
        # Without a rate there is nothing to transform: info stays 0.
        self._transform = transforms.build(spec) if spec.rate != "none" else None
        self.latent = latent
        self.outputs = self._rate.outputs(latent)  # of the encoder
        self.scalars = self._rate.scalars

    def model(self, spec: ModelSpec, split: Split) -> Model:
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
        )
        return models.build(spec, sizes, split.seeds)

    def steps(self, split: Split) -> int:
        return math.ceil(len(split.data.x_train) / split.batch_size)

    def batches(self, split: Split, epoch: int) -> Iterator[Batch]:
        data, seeds, size = split
        count = len(data.x_train)
        order = seeds.draw(f"order/{epoch}", lambda g: torch.randperm(count, generator=g))  # [S, N]
        noise = seeds.draw(f"noise/{epoch}", lambda g: torch.randn(count, self.latent, generator=g))
        for start in range(0, count, size):
            part = slice(start, start + size)
            batch = (data.x_train[order[:, part]], data.y_train[order[:, part]], noise[:, part])
            yield Batch(*(seeds.spread(t) for t in batch))

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
    def validate(self, model: Model, split: Split) -> Tensor | None:
        """Prediction and rate, the latter before its transform, one latent sample per example."""
        d, seeds = split.data, split.seeds
        if d.x_validation is None or d.y_validation is None:
            return None
        measured = information.measure(
            model, self, d.x_validation, d.y_validation, seeds=seeds, stream="validation", samples=1
        )
        entropy = labels.kind_of(d.y_validation).surprise(d.y_validation).mean()
        return torch.stack((entropy - measured.gain, measured.rate), dim=1)

    def code(self, s: tuple[Tensor, ...]) -> Code:
        return self._rate.code(s)

    def rate(self, s: tuple[Tensor, ...]) -> Tensor:
        return rates.kl_to_prior(self._rate.code(s))

    def logits(self, model: Model, s: tuple[Tensor, ...], noise: Tensor) -> Tensor:
        return model.decode(self._rate.sample(self._rate.code(s), noise))

    def evaluate(self, model: Model, split: Split, evaluation: Evaluation, epoch: int, last: bool) -> Columns:
        """Information and accuracy on the test split, then what the study's estimators and attacks add."""
        columns: Columns = {}
        if last or epoch % evaluation.every == 0:
            columns |= self._measure(model, split, evaluation.samples)
            columns |= estimators.estimate(model, self, split.data.x_test, split.seeds, evaluation)
        if evaluation.attacks_at(epoch, last):
            target = Target(model, self)
            columns |= robustness(target, split.data.x_test, split.data.y_test, split.seeds, evaluation)
        return columns

    def _measure(self, model: Model, split: Split, samples: int) -> Columns:
        d, seeds = split.data, split.seeds
        shuffled = torch.randperm(len(d.x_train), generator=generator(0, "train-subset"))
        shuffled = shuffled.to(d.x_train.device)  # the same examples for every cohort
        seen, fitted = shuffled[: len(d.x_test)], shuffled[:FITTED]
        r = marginal.fit(information.codes(model, self, d.x_train[fitted], seeds.members), d.y_train[fitted])

        measure = partial(information.measure, model, self, seeds=seeds, samples=samples)
        test = measure(d.x_test, d.y_test, stream="test", marginal=r)
        train = measure(d.x_train[seen], d.y_train[seen], stream="train")
        bits = {
            I_XZ: test.rate,
            ERROR.of(I_XZ): test.rate_error,
            KL_PRIOR: test.prior,
            ERROR.of(KL_PRIOR): test.prior_error,
            I_ZY: test.gain,
            ERROR.of(I_ZY): test.gain_error,
        }
        return {
            **{name: (nats / math.log(2)).tolist() for name, nats in bits.items()},
            ACCURACY: test.accuracy.tolist(),
            TEST_EXAMPLES: [float(len(d.x_test))] * seeds.members,
            TRAIN_ACCURACY: train.accuracy.tolist(),
            GAP: (train.accuracy - test.accuracy).tolist(),
        }
