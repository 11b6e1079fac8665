"""Several studies as one view: what comes from all of them, and what from the first."""

from __future__ import annotations

from typing import Any

import pytest

from service.contract.study.limits import Limits
from service.contract.wire.events import StudyState
from service.views.fold import StudyView
from service.views.overlay import Overlay
from tests.service.studies import MANUAL, MIB, bits, bottleneck_of, event, play, tell

PGD = {"attacks": [{"name": "pgd"}]}
FGSM = {"attacks": [{"name": "fgsm"}]}


def study(study_id: str, *arms: dict[str, Any], **spec: Any) -> StudyView:
    view = bottleneck_of(*arms, **spec)
    view.id = study_id
    return view


def test_a_trial_is_found_under_its_study_with_its_own_metrics() -> None:
    one, two = study("s1", MIB, name="one"), study("s2", MIB, name="two")
    (first, _), (_, last) = one.trials, two.trials
    play(one, first, bits((3.0, 1.0)))
    play(two, last, bits((5.0, 2.0)))
    both = Overlay([one, two])
    assert list(both.trials) == [f"{v.id}/{trial}" for v in (one, two) for trial in v.trials]
    assert both.trials[f"s2/{last}"].metrics == two.trials[last].metrics
    assert both.trials[f"s2/{last}"].planned.arm == "two · MIB"
    assert both.ended == [f"s1/{first}", f"s2/{last}"]


def test_studies_of_one_name_are_told_apart_by_their_ids() -> None:
    one, two, other = study("s1", MIB), study("s2", MIB), study("s3", MIB, name="other")
    names = [arm.name for arm in Overlay([one, two, other]).study.arms]
    assert names == ["s (s1) · MIB", "s (s2) · MIB", "other · MIB"]
    assert {trial.planned.arm for trial in Overlay([one, two, other]).trials.values()} == set(names)


@pytest.mark.parametrize("turned", [False, True])
def test_studies_of_which_one_was_chosen_on_the_test_split_say_so_together(turned: bool) -> None:
    honest, flattered = study("s1", MIB, name="one"), study("s2", MIB, name="two", selection="test")
    both = Overlay([flattered, honest] if turned else [honest, flattered])
    assert both.study.selection == "test" and Overlay([honest]).study.selection == "validation"


def test_objectives_spec_and_start_are_the_first_studys() -> None:
    turned = [{"metric": "i_xz_bits", "goal": "minimize", "reference": 9.0}, {"metric": "accuracy", "goal": "maximize"}]
    one, two = study("s1", MIB, name="one"), study("s2", MIB, name="two", objectives=turned)
    tell(one, event("study_started", job="j"), at="2026-01-01T00:00:01+00:00")
    tell(two, event("study_started", job="j"), at="2026-01-01T00:00:02+00:00")
    both, back = Overlay([one, two]), Overlay([two, one])
    assert [objective.metric for objective in both.study.objectives] == ["i_xz_bits", "i_zy_bits"]
    assert [objective.reference for objective in back.study.objectives] == [9.0, None]
    assert (both.spec, both.started_at) == (one.spec, one.started_at)
    assert (both.id, back.id) == ("s1+s2", "s2+s1")


def test_a_richer_study_behind_the_first_brings_neither_objectives_nor_baseline() -> None:
    turned = [{"metric": "i_xz_bits", "goal": "minimize", "reference": 9.0}, {"metric": "accuracy", "goal": "maximize"}]
    plain = study("s1", MIB, MANUAL, name="one", baseline="MIB")
    richer = study("s2", MIB, MANUAL, name="two", baseline="manual β", objectives=turned, evaluation=PGD)
    assert len(richer.metrics) > len(plain.metrics)
    both, back = Overlay([plain, richer]).study, Overlay([richer, plain]).study
    assert (both.objectives, both.baseline) == (plain.study.objectives, "one · MIB")
    assert (back.objectives, back.baseline) == (richer.study.objectives, "two · manual β")
    assert both.evaluation == back.evaluation == richer.study.evaluation


def test_any_event_of_any_study_makes_it_newer() -> None:
    one, two = study("s1", MIB), study("s2", MIB)
    before = Overlay([one, two]).seq
    tell(two, event("study_started", job="j"))
    assert Overlay([one, two]).seq == before + 1


def test_it_has_ended_when_all_have() -> None:
    one, two = study("s1", MIB), study("s2", MIB)
    tell(one, event("study_finished"))
    assert Overlay([one, two]).state is StudyState.RUNNING
    tell(two, event("study_cancelled"))
    assert Overlay([one, two]).state is StudyState.FINISHED


def test_data_and_attacks_decide_what_is_measured_alike() -> None:
    plain, other_data = study("s1", MIB), study("s2", MIB, data={"name": "mnist"})
    wider = study("s3", MIB, model={"name": "mlp", "widths": [8]})
    assert Overlay([plain, wider]).alike and not Overlay([plain, other_data]).alike
    assert not Overlay([plain, wider, other_data]).alike
    pgd, again, fgsm = (study(f"s{i}", MIB, evaluation=e) for i, e in enumerate((PGD, PGD, FGSM), 4))
    assert Overlay([pgd, again]).attacked_alike and not Overlay([pgd, fgsm]).attacked_alike


@pytest.mark.parametrize(
    "data",
    [{"train_fraction": 0.5}, {"label_noise": 0.1}, {"test_images": 100}],
    ids=lambda data: next(iter(data)),
)
def test_the_same_data_set_made_otherwise_is_not_the_same_data(data: dict[str, Any]) -> None:
    plain, other = study("s1", MIB, data={"name": "mnist"}), study("s2", MIB, data={"name": "mnist", **data})
    again = study("s3", MIB, data={"name": "mnist", **data})
    assert not Overlay([plain, other]).alike and not Overlay([other, again, plain]).alike
    assert Overlay([other, again]).alike


def test_a_study_without_attacks_is_no_reason_against_comparing_those_with() -> None:
    none, pgd, again, stronger = (
        study(f"s{i}", MIB, evaluation=evaluation)
        for i, evaluation in enumerate(({}, PGD, PGD, {"attacks": [{"name": "pgd", "steps": 99}]}))
    )
    assert Overlay([pgd, none, again]).attacked_alike
    assert not Overlay([pgd, again, stronger]).attacked_alike


def test_it_reports_what_any_of_them_does_each_once() -> None:
    plain, attacked = study("s1", MIB), study("s2", MIB, evaluation=PGD)
    both = Overlay([plain, attacked])
    assert both.metrics[: len(plain.metrics)] == plain.metrics
    assert set(both.metrics) == {*plain.metrics, *attacked.metrics} and len(both.metrics) == len(set(both.metrics))
    assert both.study.evaluation == attacked.study.evaluation, "the study that reports most"


def test_limits_are_those_of_all_or_none() -> None:
    """What one study calls enough is not what the other does."""
    one, same = (study(f"s{i}", MIB, limits={"seconds": 60}) for i in (1, 2))
    wider = study("s3", MIB, limits={"seconds": 90}, evaluation=PGD)
    assert Overlay([one, same]).study.limits == one.study.limits
    assert Overlay([one, wider]).study.limits == Overlay([wider, one]).study.limits == Limits()


def test_seeds_are_those_of_all_and_the_name_that_of_each() -> None:
    one, two = study("s1", MIB, name="one", seeds=(0, 1)), study("s2", MIB, name="two", seeds=(1, 5))
    both = Overlay([one, two])
    assert (both.study.seeds, both.study.name) == ([0, 1, 5], "one and two")
    assert (both.created_at, both.ended_at, both.reason) == (one.created_at, None, None)


def test_each_arm_keeps_the_model_of_its_study() -> None:
    small = {**MIB, "model": {"latent": 2}}
    one = study("s1", small, name="one", model={"name": "mlp", "widths": [8], "latent": 4})
    two = study("s2", MIB, name="two", model={"name": "mlp", "widths": [16], "latent": 6})
    arms = Overlay([one, two]).study.arms
    assert [(arm.model["widths"], arm.model["latent"]) for arm in arms] == [([8], 2), ([16], 6)]
    assert "latent" in one.study.arms[0].model and "widths" not in one.study.arms[0].model, "the study stays as it was"


def test_laying_over_changes_no_trial_of_the_studies() -> None:
    one, two = study("s1", MIB, name="one"), study("s2", MIB, name="two")
    Overlay([one, two])
    assert {trial.planned.arm for view in (one, two) for trial in view.trials.values()} == {"MIB"}


def test_settings_of_a_study_stay_those_of_its_arms() -> None:
    one = study("s1", MANUAL, name="one", training={"epochs": 7})
    two = study("s2", MIB, name="two", training={"epochs": 9}, evaluation=PGD)
    arms = Overlay([one, two]).study.arms
    assert [arm.training["epochs"] for arm in arms] == [7, 9]
