"""No random numbers come twice in a training: each step, epoch, view, layer and member has its own."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import pytest
import torch

from service.contract.study.expansion import PlannedTrial, expand
from service.contract.study.parsing import check_study
from workers import data as datasets
from workers.data.random_streams import Seeds, generator
from workers.data.split import Split
from workers.measures.attacks import build
from workers.measures.attacks.steps.ascent import Noise, Target, perturb
from workers.problems.bottleneck import Bottleneck
from workers.training.loop import Cohort

CPU = torch.device("cpu")
BATCHES = {"epochs": 3, "batch_size": 300}
DATA = {"name": "digits", "train_fraction": 0.5}


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[int, str]]:
    """How often each stream of each seed was drawn from."""
    counted: Counter[tuple[int, str]] = Counter()

    def counting(seed: int, stream: str) -> torch.Generator:
        counted[seed, stream] += 1
        return generator(seed, stream)

    import workers.balance.schedule
    import workers.weightings.torchjd_adapter  # noqa: F401

    for name, module in list(sys.modules.items()):
        if name.startswith("workers.") and getattr(module, "generator", None) is generator:
            monkeypatch.setattr(module, "generator", counting)
    return counted


def cohort(**change: Any) -> Cohort:
    arm = {"name": "a", "weighting": {"name": "fixed"}, **change.pop("arm", {})}
    spec = {"name": "s", "seeds": [3, 8], "data": DATA, "training": BATCHES, "arms": [arm], **change}
    study = check_study(spec)
    trials = [trial for trial in expand(study) if isinstance(trial, PlannedTrial)]
    return Cohort(trials, [datasets.load(study.data)], CPU)


TASKS = {"name": "multitask", "main": "class", "auxiliaries": ["rotation", "exemplar", "random-labels"]}
TRAININGS: dict[str, dict[str, Any]] = {
    "bottleneck": {},
    "tasks with few labels": {
        "arm": {"problem": TASKS, "weighting": {"name": "uniform"}},
        "data": {**DATA, "labels": 50},
    },
    "noise on parameters": {"arm": {"weighting": {"name": "arml", "form": "two-stage", "stage": 0.9}}},
    "a random method": {"arm": {"weighting": {"name": "pcgrad"}}},
    "random balance": {"training": {**BATCHES, "balance": {"order": "random"}}},
    "random feedback": {"training": {**BATCHES, "feedback": "dfa"}, "model": {"name": "mlp", "widths": [9, 9, 9]}},
}


@pytest.mark.parametrize("change", TRAININGS.values(), ids=TRAININGS)
def test_a_training_draws_from_no_stream_twice(change: dict[str, Any], drawn: Counter[tuple[int, str]]) -> None:
    members = cohort(**change)
    before = len(drawn)
    for epoch in (1, 2, 3):
        members.train_epoch(epoch)
    assert before and len(drawn) > before
    again = {stream for (_, stream), times in drawn.items() if times > 1}
    assert {stream for stream in again if not stream.startswith("init/")} == set(), "a teacher starts as its student"
    of_each = [{stream for own, stream in drawn if own == seed} for seed in (3, 8)]
    assert of_each[0] == of_each[1], "members differ by their seed alone"


def test_what_is_random_in_each_training_is_what_it_says(drawn: Counter[tuple[int, str]]) -> None:
    """The counts above say something only where the streams in question are drawn at all."""
    words = {"noise on parameters": "langevin", "a random method": "weighting", "random balance": "balance"}
    words |= {"random feedback": "feedback", "tasks with few labels": "labelled", "bottleneck": "noise"}
    for name, change in TRAININGS.items():
        drawn.clear()
        members = cohort(**change)
        members.train_epoch(1)
        members.train_epoch(2)
        own = {stream for _, stream in drawn if stream.startswith(words[name])}
        assert len(own) > 1, (name, sorted(stream for _, stream in drawn))


@pytest.mark.parametrize("name", ["pgd", "eotpgd", "jitter", "upgd"])
def test_an_attack_draws_from_no_stream_twice(name: str, drawn: Counter[tuple[int, str]]) -> None:
    members = cohort()
    assert isinstance(members.problem, Bottleneck)
    spec = {"name": name, "steps": 3, "random_start": True, **({"eot": 2} if name == "eotpgd" else {})}
    (attack,) = check_study(
        {"name": "s", "arms": [{"name": "a", "weighting": {"name": "fixed"}}], "evaluation": {"attacks": [spec]}}
    ).evaluation.attacks
    x, y = members.split.data.x_test[:5].expand(2, -1, -1), members.split.data.y_test[:5].expand(2, -1)
    drawn.clear()
    perturb(build(attack), Target(members.model, members.problem), x, y, Noise(Seeds([3, 8], CPU), "block"))
    passes = {"pgd": 3, "eotpgd": 6, "jitter": 6, "upgd": 3}[name]
    assert len(drawn) == 2 * (1 + passes)
    assert set(drawn.values()) == {1}


def test_latent_samples_of_an_evaluation_differ_from_each_other(drawn: Counter[tuple[int, str]]) -> None:
    members = cohort()
    evaluation = check_study(
        {"name": "s", "arms": [{"name": "a", "weighting": {"name": "fixed"}}], "evaluation": {"samples": 4}}
    ).evaluation
    drawn.clear()
    members.evaluate(evaluation, 1, last=True)
    own = [stream for seed, stream in drawn if seed == 3]
    assert len(own) >= 8 and {drawn[3, stream] for stream in own} == {1}, "four samples of test and training images"


def test_batches_of_an_epoch_and_of_two_epochs_differ() -> None:
    members = cohort()
    data = members.split.data
    split = Split([data], members.split.seeds, 100)
    first, second = (list(members.problem.batches(split, epoch)) for epoch in (1, 2))
    assert not torch.equal(first[0].noise, first[1].noise)
    assert not torch.equal(first[0].noise, second[0].noise)
    assert not torch.equal(first[0].x, second[0].x)
    assert not torch.equal(first[0].noise[0], first[0].noise[1]) and not torch.equal(first[0].x[0], first[0].x[1])
    seen = torch.cat([batch.x[0] for batch in first])
    assert torch.equal(seen.sort(0).values, data.x_train[:].sort(0).values), "every image once"
