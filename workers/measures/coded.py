"""Everything that is measured of a Gaussian code after an epoch, ours or one of a user's own problem."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

from torch import Tensor

from service.contract.metrics import ACCURACY, ERROR, GAP, I_XZ, I_ZY, KL_PRIOR, TEST_EXAMPLES, TRAIN_ACCURACY
from service.contract.study.study import Evaluation
from workers.data.split import Part
from workers.measures import calibration, estimators, information, marginal
from workers.measures.attacks.steps.ascent import Target
from workers.measures.coding import Columns
from workers.measures.robustness import robustness

FITTED = 2000  # training codes, at most, that the marginal is fitted to; their memory is [K, FITTED, latent]


class Splits(Protocol):
    """What members learned from and are measured on."""

    @property
    def train(self) -> Part: ...

    @property
    def test(self) -> Part: ...

    def held_out(self) -> list[tuple[Part, str, Callable[[str], str]]]: ...
    def some_training(self, count: int) -> Tensor: ...


def evaluate(target: Target, split: Splits, evaluation: Evaluation, epoch: int, last: bool) -> Columns:
    """Information and accuracy on test and validation split, then what the study's estimators and attacks add."""
    model, problem = target
    measures = last or epoch % evaluation.every == 0
    attacks = evaluation.attacks_at(epoch, last)
    r = _marginal(target, split) if measures else None
    columns: Columns = {}
    for part, stream, name in split.held_out():
        own: Columns = {}
        if r is not None:
            measured = information.measure(model, problem, part, stream=stream, samples=evaluation.samples, marginal=r)
            own |= _columns(measured, len(part))
            own |= estimators.estimate(model, problem, part, evaluation)
        if attacks:
            own |= robustness(target, part, stream, evaluation)
        columns |= {name(metric): values for metric, values in own.items()}
    if last:
        columns |= _calibrated(problem.latent, split, evaluation, columns)
    return columns | _gap(target, split, evaluation.samples, columns[ACCURACY]) if measures else columns


def _marginal(target: Target, split: Splits) -> marginal.Marginal:
    fitted = split.train.some(split.some_training(FITTED))
    return marginal.fit(information.codes(*target, fitted), fitted.spread(fitted.labels))


def _calibrated(latent: int, split: Splits, evaluation: Evaluation, columns: Columns) -> Columns:
    """What the estimators of the test split miss where the information is known."""
    fitted, examples = min(FITTED, len(split.train)), len(split.test)
    points, sizes = min(evaluation.estimator_samples, examples), (split.test.inputs.features, latent)
    return calibration.calibrated(
        columns, calibration.shapes_of(evaluation.estimators, fitted, examples, points, *sizes)
    )


def _gap(target: Target, split: Splits, samples: int, accuracy: list[float]) -> Columns:
    """Against the accuracy on as many training examples as there are test examples."""
    seen = split.train.some(split.some_training(len(split.test)))
    train = information.accuracy(*target, seen, stream="train", samples=samples).tolist()
    return {TRAIN_ACCURACY: train, GAP: [own - test for own, test in zip(train, accuracy, strict=True)]}


def _columns(measured: information.Measured, count: int) -> Columns:
    bits = {
        I_XZ: measured.rate,
        ERROR.of(I_XZ): measured.rate_error,
        KL_PRIOR: measured.prior,
        ERROR.of(KL_PRIOR): measured.prior_error,
        I_ZY: measured.gain,
        ERROR.of(I_ZY): measured.gain_error,
    }
    return {
        **{name: (nats / math.log(2)).tolist() for name, nats in bits.items()},
        ACCURACY: measured.accuracy.tolist(),
        TEST_EXAMPLES: [float(count)] * len(measured.accuracy),
    }
