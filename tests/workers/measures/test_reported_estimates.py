"""Estimates as a study gets them: of the same points for everyone, in bits, of the codes as they are made."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from service.contract.methods.attacks import Fgsm
from service.contract.methods.data import Digits, Gaussian
from service.contract.study.study import Evaluation, LatentMap
from tests.workers.measures.test_latent_map import maps, target_of, trial
from tests.workers.parts import part_of
from workers import data as datasets
from workers.data.random_streams import Seeds, generator
from workers.measures import estimators
from workers.measures.estimators import pairwise
from workers.measures.information import ROWS
from workers.measures.latent_map import latent_maps
from workers.models.components.latent_code import Code
from workers.training.loop import Cohort

CPU = torch.device("cpu")


class Doubling:
    """Codes of twice the input, one noise level per member: both model and problem."""

    latent = 2

    def __init__(self, members: int) -> None:
        self.scales = torch.linspace(0.3, 1.0, members).view(-1, 1, 1)
        self.rows: list[int] = []

    def encode(self, x: Tensor) -> tuple[Tensor, ...]:
        self.rows.append(x.shape[1])
        return (2 * x,)

    def code(self, s: tuple[Tensor, ...]) -> Code:
        return Code(s[0], self.scales)


def test_estimates_are_bits_of_a_fixed_draw_of_points() -> None:
    x = torch.randn(700, 2, generator=torch.Generator().manual_seed(0))
    stand_in: Any = Doubling(3)
    asked = Evaluation(estimators=["pairwise-lower", "pairwise-upper"], estimator_samples=400)
    found = estimators.estimate(stand_in, stand_in, part_of(x, None, Seeds([4, 4, 9], CPU)), asked)
    points = 2 * x[torch.randperm(700, generator=generator(0, "estimator-subset"))[:400]]
    mean = points.expand(3, -1, -1)
    scale = stand_in.scales.expand_as(mean)
    assert found["i_xz_pairwise-lower_bits"] == pytest.approx((pairwise.lower(mean, scale) / math.log(2)).tolist())
    assert found["i_xz_pairwise-upper_bits"] == pytest.approx((pairwise.upper(mean, scale) / math.log(2)).tolist())
    assert found["estimator_samples"] == [400.0] * 3 and stand_in.rows == [ROWS, 400 - ROWS]


def test_fewer_points_than_asked_for_are_counted_and_nothing_is_measured_unasked() -> None:
    x = torch.randn(30, 2, generator=torch.Generator().manual_seed(0))
    stand_in: Any = Doubling(1)
    part = part_of(x, None, Seeds([0], CPU))
    few = estimators.estimate(stand_in, stand_in, part, Evaluation(estimators=["infonce"], estimator_samples=400))
    assert few["estimator_samples"] == [30.0]
    assert estimators.estimate(stand_in, stand_in, part, Evaluation()) == {}


def test_the_noise_of_an_estimate_belongs_to_the_seed() -> None:
    x = torch.randn(60, 2, generator=torch.Generator().manual_seed(0))
    stand_in: Any = Doubling(3)
    stand_in.scales = torch.full((3, 1, 1), 0.5)
    asked = Evaluation(estimators=["infonce"], estimator_samples=50)
    one, same, other = estimators.estimate(stand_in, stand_in, part_of(x, None, Seeds([4, 4, 9], CPU)), asked)[
        "i_xz_infonce_bits"
    ]
    assert one == same != other


def test_a_map_has_no_more_points_than_there_are_and_names_an_attack_without_a_label(cohorts: Any) -> None:
    few = Gaussian(train_samples=50, test_samples=30)
    (found,) = maps([trial(cohorts, 2)], LatentMap(points=400), few)
    assert (found["points"], len(found["clean"]), found["latent"]) == (30, 30, 2)
    assert all(float(f"{place:.4g}") == place for pair in found["clean"] for place in pair)
    (attacked,) = maps([trial(cohorts, 2)], LatentMap(points=20), attacks=[Fgsm(epsilon=0.3)])
    assert attacked["attack"] == "fgsm"


def test_a_map_reads_clean_and_attacked_codes_each_for_themselves(cohorts: Any) -> None:
    cohort = Cohort([trial(cohorts, 2)], [datasets.load(Digits())], CPU)
    cohort.model.encoder.flat.mul_(6)
    cohort.model.head.flat.mul_(6)
    asked = Evaluation(attacks=[Fgsm(epsilon=0.3)])
    ((_, found),) = latent_maps(target_of(cohort), cohort.split.test, asked, LatentMap(points=40), [0])
    assert found.attacked is not None and found.predicted is not None
    for codes, predicted in ((found.clean, found.predicted), (found.attacked, found.attacked_predicted)):
        assert cohort.model.decode(torch.tensor([codes])).argmax(-1)[0].tolist() == predicted
    assert found.predicted != found.attacked_predicted
