"""Latent maps: codes in the plane, clean and attacked."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from service.contract.methods.attacks import Fgsm
from service.contract.methods.data import Data, Digits, Gaussian
from service.contract.methods.models import Mlp
from service.contract.methods.weightings import Fixed
from service.contract.study.expansion import PlannedTrial
from service.contract.study.parsing import check_study
from service.contract.study.study import Evaluation, LatentMap
from service.contract.wire.errors import InvalidInput
from service.contract.wire.latent_map import MapFile
from workers import data as datasets
from workers.measures.attacks.steps.ascent import Target
from workers.measures.latent_map import latent_maps, plane
from workers.problems.bottleneck import Bottleneck
from workers.training.loop import Cohort

CPU = torch.device("cpu")
ATTACK = Fgsm(epsilon=0.3, label="hard")


def target_of(cohort: Cohort) -> Target:
    assert isinstance(cohort.problem, Bottleneck)
    return Target(cohort.model, cohort.problem)


def maps(trials: Sequence[PlannedTrial], spec: LatentMap, data: Data | None = None, **evaluation: Any) -> list[Any]:
    cohort = Cohort(trials, [datasets.load(data or Digits())], CPU)
    found = latent_maps(target_of(cohort), cohort.split.test, Evaluation(**evaluation), spec, range(len(trials)))
    texts = [one.model_dump_json() for _, one in found]
    assert all(MapFile.model_validate_json(text) for text in texts), "as the service takes it"
    return [dict(json.loads(text)) for text in texts]


def trial(cohorts: Any, latent: int, seed: int = 0) -> PlannedTrial:
    planned: PlannedTrial = cohorts.trial(f"t{seed}", Fixed(beta=0.01), seed=seed)
    return planned._replace(model=Mlp(widths=[16], latent=latent))


def test_two_dimensions_are_shown_as_they_are() -> None:
    codes = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    places, *how = plane(codes, perplexity=30)
    assert places.tolist() == codes.tolist()
    assert how == ["codes", None, None]


def test_one_dimension_lies_on_a_line() -> None:
    places, *how = plane(np.array([[1.0], [3.0]]), perplexity=30)
    assert places.tolist() == [[1.0, 0.0], [3.0, 0.0]] and how[0] == "codes"


def test_t_sne_keeps_two_groups_apart_and_is_the_same_each_time() -> None:
    rng = np.random.default_rng(0)
    codes = np.concatenate([rng.normal(0, 0.1, (30, 8)), rng.normal(9, 0.1, (30, 8))])
    places, method, perplexity, divergence = plane(codes, perplexity=10)
    first, second = places[:30], places[30:]
    widest = max(np.ptp(first, axis=0).max(), np.ptp(second, axis=0).max())
    assert np.linalg.norm(first.mean(0) - second.mean(0)) > widest
    assert (method, perplexity) == ("t-SNE", 10) and divergence is not None and divergence >= 0
    assert plane(codes, perplexity=10)[0].tolist() == places.tolist()


def test_the_perplexity_is_at_most_a_third_of_the_points() -> None:
    places, *how = plane(np.random.default_rng(0).normal(size=(10, 4)), perplexity=30)
    assert how[1] == 3 and np.isfinite(places).all()


def test_a_code_that_is_the_same_everywhere_has_a_map_too() -> None:
    places, *_ = plane(np.ones((12, 4)), perplexity=3)
    assert np.isfinite(places).all() and plane(np.ones((12, 4)), perplexity=3)[0].tolist() == places.tolist()


def test_a_map_shows_the_first_test_examples_and_what_they_are_read_as(cohorts: Any) -> None:
    (found,) = maps([trial(cohorts, latent=2)], LatentMap(points=20))
    data = datasets.load(Digits())
    assert found["points"] == 20 and found["labels"] == data.y_test[:20].tolist()
    assert found["latent"] == 2 and found["attack"] is found["attacked"] is found["attacked_predicted"] is None
    cohort = Cohort([trial(cohorts, latent=2)], [data], CPU)
    with torch.no_grad():
        mean = cohort.model.encode(data.x_test[:20][None])[0][..., :2]  # VIB: means, then widths
        predicted = cohort.model.decode(mean)[0].argmax(-1)
    np.testing.assert_allclose(found["clean"], mean[0].numpy(), rtol=1e-3)
    assert found["predicted"] == predicted.tolist()


def test_attacked_codes_lie_elsewhere_and_name_the_first_attack(cohorts: Any) -> None:
    (found,) = maps([trial(cohorts, latent=2)], LatentMap(points=20), attacks=[ATTACK, Fgsm()])
    assert found["attack"] == "hard" and len(found["attacked"]) == len(found["attacked_predicted"]) == 20
    moved = np.linalg.norm(np.array(found["attacked"]) - np.array(found["clean"]), axis=1)
    assert (moved > 0.01).all()


def test_a_map_is_under_the_attack_that_it_names(cohorts: Any) -> None:
    attacks, one = [ATTACK, Fgsm(epsilon=0.01)], [trial(cohorts, latent=2)]
    (first,) = maps(one, LatentMap(points=20), attacks=attacks)
    (named,) = maps(one, LatentMap(points=20, attack="fgsm"), attacks=attacks)
    assert (first["attack"], named["attack"]) == ("hard", "fgsm")
    far, near = (np.linalg.norm(np.array(m["attacked"]) - np.array(m["clean"]), axis=1) for m in (first, named))
    assert (near < far).all()


def test_clean_and_attacked_share_one_t_sne(cohorts: Any) -> None:
    (found,) = maps([trial(cohorts, latent=4)], LatentMap(points=20, perplexity=30), attacks=[ATTACK])
    assert found["method"] == "t-SNE" and found["perplexity"] == 13  # (2·20 − 1) / 3
    assert np.array(found["clean"]).shape == np.array(found["attacked"]).shape == (20, 2)


def test_a_member_of_a_cohort_has_the_map_it_has_alone(cohorts: Any) -> None:
    trials = [trial(cohorts, 2, seed) for seed in (3, 7)]
    together = maps(trials, LatentMap(points=300), attacks=[ATTACK])
    assert together[0]["clean"] != together[1]["clean"]
    for one, found in zip(trials, together, strict=True):
        (alone,) = maps([one], LatentMap(points=300), attacks=[ATTACK])
        np.testing.assert_allclose(found["attacked"], alone["attacked"], rtol=1e-2, atol=1e-3)
        assert found["predicted"] == alone["predicted"]


def test_data_without_classes_has_no_labels(cohorts: Any) -> None:
    (found,) = maps([trial(cohorts, 2)], LatentMap(points=20), Gaussian(train_samples=50, test_samples=30))
    assert found["labels"] is found["predicted"] is None and len(found["clean"]) == 20


def test_a_member_without_finite_codes_has_no_map_and_the_others_do(cohorts: Any) -> None:
    cohort = Cohort([trial(cohorts, 2, seed) for seed in (1, 2)], [datasets.load(Digits())], CPU)
    cohort.model.encoder.flat[0] = torch.nan
    found = latent_maps(target_of(cohort), cohort.split.test, Evaluation(), LatentMap(points=20), [0, 1])
    assert [member for member, _ in found] == [1]


def study(**evaluation: Any) -> Any:
    arms = [{"name": "a", "weighting": {"name": "uniform"}}]
    return check_study({"name": "s", "seeds": [4, 5], "arms": arms, "evaluation": evaluation})


def test_maps_are_of_the_first_seed_unless_said_otherwise() -> None:
    assert study().mapped_seeds == []
    assert study(latent_map={}).mapped_seeds == [4]
    assert study(latent_map={"seeds": [5]}).mapped_seeds == [5]


def test_a_map_of_a_seed_that_the_study_lacks_is_refused() -> None:
    with pytest.raises(InvalidInput, match="6 is not a seed of this study, which has 4, 5") as refused:
        study(latent_map={"seeds": [4, 6]})
    assert refused.value.details[0].path == "evaluation.latent_map.seeds[1]"


@pytest.mark.parametrize(("attacks", "known"), [([], "none"), ([{"name": "pgd", "label": "a"}], "a")])
def test_a_map_under_an_attack_that_the_study_lacks_is_refused(attacks: list[Any], known: str) -> None:
    with pytest.raises(InvalidInput, match=f"'pgd' is not in evaluation.attacks; known: {known}$") as refused:
        study(latent_map={"attack": "pgd"}, attacks=attacks)
    assert refused.value.details[0].path == "evaluation.latent_map.attack"


def test_a_study_without_a_code_has_no_map() -> None:
    arms = [{"name": "a", "problem": {"name": "toy"}, "weighting": {"name": "uniform"}}]
    with pytest.raises(InvalidInput, match="needs an arm with problem bottleneck"):
        check_study({"name": "s", "arms": arms, "evaluation": {"latent_map": {}}})


@pytest.mark.parametrize(("latent", "there"), [(2, False), (3, True)])
def test_only_a_t_sne_imports_scikit_learn(latent: int, there: bool) -> None:
    code = (
        "import sys, numpy, workers.sending.files, workers.on_ray.trainable\n"
        "from workers.measures.latent_map import plane\n"
        "assert 'sklearn' not in sys.modules\n"
        f"plane(numpy.random.rand(12, {latent}), 3)\n"
        f"assert ('sklearn' in sys.modules) is {there}\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
