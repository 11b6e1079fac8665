"""Which files a trained cohort leaves, of which member, and what its log says of them; nothing is sent."""

from __future__ import annotations

import json
import logging
import re
from typing import Any

import pytest
import torch
from safetensors.torch import load as unpack

from service.contract.methods.data import Digits
from service.contract.methods.weightings import Fixed
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Evaluation
from service.contract.wording.numbers import number
from workers import data as datasets
from workers.planning.plan import Plan
from workers.sending.checkpoint import tensors_of
from workers.sending.files import keep
from workers.training.loop import Cohort

CHECKPOINT, MAP = "checkpoint.safetensors", "latent-map.json"
MAPS: dict[str, Any] = {"latent_map": {"points": 20, "perplexity": 3}}


class Kept:
    """Stands for the uploads: takes all files but `refused`, and gives up after as many as `until` says."""

    def __init__(self, refused: str = "", until: int = 99) -> None:
        self.files: dict[tuple[str, str], bytes] = {}
        self.tried = 0
        self.missing: dict[int, str] = {}
        self._refused, self._until = refused, until

    @property
    def given_up(self) -> str | None:
        return "enough" if self.tried >= self._until else None

    def put(self, trial: str, name: str, content: bytes) -> str | None:
        self.tried += 1
        if trial == self._refused:
            return f"{name} was refused: too large"
        self.files[trial, name] = content
        return None


@pytest.fixture
def cohort(cohorts: Any) -> Cohort:
    """Untrained: members with the seeds 4, 5 and 6."""
    trials = [cohorts.trial(f"t{seed}", Fixed(beta=0.1), seed=seed) for seed in (4, 5, 6)]
    return Cohort(trials, [datasets.load(Digits())], torch.device("cpu"))


def kept(cohort: Cohort, cohorts: Any, uploads: Kept, mapped: tuple[int, ...] = (5, 6), **evaluation: Any) -> Kept:
    """The first member has failed: its place stays empty."""
    trained: dict[int, PlannedTrial] = {
        k: cohorts.trial(f"t{seed}", Fixed(beta=0.1), seed=seed) for k, seed in ((1, 5), (2, 6))
    }
    plan = Plan({}, Digits(), Evaluation.model_validate(evaluation), 1, "s1", mapped)
    stand_in: Any = uploads
    uploads.missing = keep(cohort, trained, plan, stand_in)
    return uploads


def test_each_trial_leaves_its_own_weights_and_its_own_name(cohort: Cohort, cohorts: Any) -> None:
    files = kept(cohort, cohorts, Kept()).files
    assert list(files) == [("t5", CHECKPOINT), ("t6", CHECKPOINT)]
    for k, trial in ((1, "t5"), (2, "t6")):
        content = files[trial, CHECKPOINT]
        own = {name: tensor[k] for name, tensor in tensors_of(cohort.model).items()}
        torch.testing.assert_close(unpack(content), own, rtol=0, atol=0)
        said = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
        assert (said["study"], said["trial"], said["seed"]) == ("s1", trial, trial[1:])
        assert json.loads(said["terms"]) == ["pred", "info"] and json.loads(said["data"])["name"] == "digits"


def test_a_map_is_that_of_its_trial_and_only_of_the_mapped_seeds(cohort: Cohort, cohorts: Any) -> None:
    both = kept(cohort, cohorts, Kept(), checkpoints=False, **MAPS).files
    one = kept(cohort, cohorts, Kept(), mapped=(6,), checkpoints=False, **MAPS).files
    assert list(both) == [("t5", MAP), ("t6", MAP)] and list(one) == [("t6", MAP)]
    predicted = {trial: json.loads(content)["predicted"] for (trial, _), content in both.items()}
    with torch.no_grad():
        x = cohort.split.data.x_test[:20].expand(3, -1, -1)
        expected = cohort.model.decode(cohort.model.encode(x)[0][..., :8]).argmax(-1)
    assert predicted == {"t5": expected[1].tolist(), "t6": expected[2].tolist()} and predicted["t5"] != predicted["t6"]


def test_no_seed_and_no_wish_is_no_map(cohort: Cohort, cohorts: Any) -> None:
    assert kept(cohort, cohorts, Kept(), mapped=(4,), checkpoints=False, **MAPS).tried == 0
    assert kept(cohort, cohorts, Kept(), checkpoints=False).tried == 0


def test_no_more_maps_are_drawn_for_a_service_that_wants_none(cohort: Cohort, cohorts: Any) -> None:
    assert kept(cohort, cohorts, Kept(until=1), checkpoints=False, **MAPS).tried == 1


def test_checkpoints_that_cannot_be_made_do_not_keep_the_maps_back(
    cohort: Cohort, cohorts: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("no memory for a copy")

    monkeypatch.setattr("workers.sending.checkpoint.tensors_of", broken)
    assert list(kept(cohort, cohorts, Kept(), mapped=(5,), **MAPS).files) == [("t5", MAP)]
    assert "the checkpoints could not be made" in caplog.text


def test_what_is_missing_is_told_of_each_member_with_the_reason(
    cohort: Cohort, cohorts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = kept(cohort, cohorts, Kept(refused="t5"), **MAPS)
    assert refused.missing == {1: f"{CHECKPOINT} was refused: too large; {MAP} was refused: too large"}
    assert kept(cohort, cohorts, Kept(), **MAPS).missing == {}

    def broken(*_: Any) -> None:
        raise RuntimeError("no memory for a copy")

    monkeypatch.setattr("workers.sending.checkpoint.tensors_of", broken)
    why = "the checkpoints could not be made: no memory for a copy"
    assert kept(cohort, cohorts, Kept()).missing == {1: why, 2: why}


def test_the_log_counts_the_files_that_arrived_and_their_mean_size(
    cohort: Cohort, cohorts: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    both = kept(cohort, cohorts, Kept()).files
    one = kept(cohort, cohorts, Kept(refused="t5")).files
    assert list(one) == [("t6", CHECKPOINT)]
    megabytes = sum(map(len, both.values())) / 2 / 1e6
    first, second = (record.getMessage() for record in caplog.records if "kept" in record.getMessage())
    assert re.fullmatch(rf"checkpoints kept: 2, {re.escape(number(megabytes))} MB each, in [\d.,e−]+ s", first)
    assert second.startswith("checkpoints kept: 1, ")
