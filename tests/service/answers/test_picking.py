"""A picked point as the API answers it: which, why, and a study of it alone that can be submitted."""

from __future__ import annotations

from typing import get_args

import pytest
import yaml

from service.answers.picking import Wish, pick_answer
from service.contract.study.alone import alone
from service.contract.study.expansion import PlannedTrial, expand
from service.contract.study.parsing import check_study, read_body
from service.contract.wire.answers.picking import PICK_RULES, PickedBy
from service.contract.wire.errors import Conflict, InvalidInput
from service.views.fold import StudyView
from tests.service.studies import ALL_BETAS, MANUAL, MIB, bottleneck_of, curve, event, play, play_curves, tell

VALUES = {0.01: (6.0, 3.0), 0.1: (2.0, 2.7), 1.0: (1.0, 0.5)}
TUNED = {
    "name": "tuned",
    "weighting": {"name": "fixed", "beta": {"range": {"from": 1e-3, "to": 1.0}}},
    "training": {"learning_rate": {"choice": [0.1, 0.01]}},
    "search": {"name": "optuna", "trials": 4},
}


def played() -> StudyView:
    view = bottleneck_of(MANUAL, MIB, seeds=(0, 1), baseline="manual β", limits={"seconds": 60})
    for trial, own in view.trials.items():
        x, y = VALUES.get(own.planned.config.get("weighting.beta", 0.0), (5.0, 2.0))
        play(view, trial, [{"i_xz_bits": x + own.planned.seed, "i_zy_bits": y, "accuracy": y / 3}])
    return view


def beta(view: StudyView, wish: Wish) -> float:
    value = pick_answer(view, wish).config["weighting.beta"]
    assert isinstance(value, float)
    return value


def test_a_page_offers_every_rule() -> None:
    assert tuple(rule.name for rule in PICK_RULES) == get_args(PickedBy)


def test_each_rule_picks_its_point_and_says_why() -> None:
    view = played()
    knee = pick_answer(view, Wish("knee"))
    assert (knee.config["weighting.beta"], knee.seed, knee.arm, knee.candidates) == (0.1, 0, "manual β", 3)
    assert knee.why.startswith("of 3 points on the front it bulges furthest from the line between the ends; chosen on")
    assert knee.metrics["i_zy_bits"] == 2.7 and knee.where is None
    assert knee.checkpoint == f"/api/studies/s1/trials/{knee.trial}/checkpoint"
    assert beta(view, Wish("weights", weights="i_zy_bits:1")) == 0.01
    assert beta(view, Wish("weights", weights="i_xz_bits:3, i_zy_bits:0")) == 1.0
    assert beta(view, Wish("gap")) == 0.1
    bound = pick_answer(view, Wish("constraint", at_least="accuracy:0.85"))
    assert bound.config["weighting.beta"] == 0.1
    assert bound.why.startswith("of 4 points with accuracy at least 0.85, 8 in all, it has the least i_xz_bits")
    assert beta(view, Wish("constraint", at_most="i_xz_bits:6.5", then="accuracy")) == 0.01
    assert pick_answer(view, Wish("knee", arm="MIB")).arm == "MIB"


@pytest.mark.parametrize(
    ("wish", "path", "words"),
    [
        (Wish("weights"), "weights", "missing, as i_xz_bits:1,i_zy_bits:2"),
        (Wish("weights", weights="accuracy:1"), "weights", "'accuracy' is no objective"),
        (Wish("weights", weights="i_xz_bits:-1"), "weights", "at least 0, got -1"),
        (Wish("weights", weights="i_xz_bits:0"), "weights", "must be above 0"),
        (Wish("weights", weights="i_xz_bits=1"), "weights", "metric:number, several with commas between, got"),
        (Wish("weights", weights="i_xz_bits:nan"), "weights", "got 'i_xz_bits:nan'"),
        (Wish("weights", weights="i_xz_bits:1,i_xz_bits:2"), "weights", "got 'i_xz_bits' twice"),
        (Wish("constraint"), "at_least", "needs at_least or at_most"),
        (Wish("constraint", at_least="nothing:1"), "at_least", "'nothing' is not a metric"),
        (Wish("constraint", at_least="accuracy:0.5", then="nothing"), "then", "'nothing' is not a metric"),
        (Wish("knee", arm="none"), "arm", "'none' is no arm of this study, which has manual β and MIB"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_path_rule_and_value(wish: Wish, path: str, words: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        pick_answer(played(), wish)
    assert [detail.path for detail in refused.value.details] == [path]
    assert words in refused.value.message.replace("−", "-")


def test_where_nothing_fits_the_state_says_so() -> None:
    for view, wish, words in (
        (bottleneck_of(MANUAL), Wish("knee"), "no trial has a point yet"),
        (played(), Wish("constraint", at_least="accuracy:2"), "none of 8 points has accuracy at least 2"),
        (played(), Wish("gap", arm="MIB"), "a gap needs a point between two others"),
    ):
        with pytest.raises(Conflict, match=words):
            pick_answer(view, wish)


def test_the_study_of_a_point_alone_trains_that_configuration_with_every_seed() -> None:
    view = played()
    answer = pick_answer(view, Wish("knee"))
    assert read_body(answer.yaml, "yaml") == answer.spec == yaml.safe_load(answer.yaml)
    study = check_study(answer.spec)
    trials = expand(study)
    assert [(trial.seed, trial.config) for trial in trials] == [(0, answer.config), (1, answer.config)]
    assert study.baseline is None and study.limits.seconds is None and study.data == view.study.data


def test_a_search_that_found_a_point_leaves_its_values() -> None:
    view = bottleneck_of(TUNED)
    trial = next(iter(view.trials))
    values = {"weighting.beta": 0.123, "training.learning_rate": 0.01}
    tell(view, event("trial_started", trial=trial, config=values))
    tell(view, event("report", trial=trial, metrics={"epoch": 1, "i_xz_bits": 2.0, "i_zy_bits": 1.0}))
    answer = pick_answer(view, Wish("knee"))
    assert answer.state == "running" and answer.checkpoint is None
    study = check_study(answer.spec)
    alone = [trial for trial in expand(study) if isinstance(trial, PlannedTrial)]
    assert [(each.config["weighting.beta"], each.training.learning_rate) for each in alone] == [(0.123, 0.01)] * 2
    assert values.items() <= answer.config.items()


def test_a_trial_whose_values_nobody_told_is_not_picked() -> None:
    view = bottleneck_of(TUNED)
    [one, two, *_] = view.trials
    tell(view, event("trial_started", trial=one))
    tell(view, event("report", trial=one, metrics={"epoch": 1, "i_xz_bits": 1.0, "i_zy_bits": 2.0}))
    rules = (Wish("knee"), Wish("weights", weights="i_zy_bits:1"), Wish("constraint", at_least="i_zy_bits:0.5"))
    for wish in rules:
        with pytest.raises(Conflict):
            pick_answer(view, wish)
    tell(view, event("trial_started", trial=two, config={"weighting.beta": 0.1, "training.learning_rate": 0.1}))
    tell(view, event("report", trial=two, metrics={"epoch": 1, "i_xz_bits": 2.0, "i_zy_bits": 1.0}))
    assert [pick_answer(view, wish).trial for wish in rules] == [two] * 3


def test_of_values_that_no_study_can_have_none_is_made() -> None:
    view = bottleneck_of(TUNED)
    trial = next(iter(view.trials))
    tell(view, event("trial_started", trial=trial, config={"weighting.beta": "much", "training.learning_rate": 0.1}))
    tell(view, event("report", trial=trial, metrics={"epoch": 1, "i_xz_bits": 1.0, "i_zy_bits": 2.0}))
    with pytest.raises(Conflict, match="no study of it alone can be made"):
        pick_answer(view, Wish("knee"))


def test_a_point_of_a_curve_says_where_on_it() -> None:
    view = bottleneck_of(ALL_BETAS, seeds=(0,))
    play_curves(view, next(iter(view.trials)), curve((0.01, 6.0, 3.0), (0.1, 2.0, 2.7), (1.0, 1.0, 0.5)))
    answer = pick_answer(view, Wish("knee"))
    assert answer.where == {"beta": 0.1} and answer.metrics["i_zy_bits"] == 2.7
    assert check_study(answer.spec).arms[0].weighting.name == "conditional"


def test_a_study_of_one_point_leaves_out_what_its_training_does_not_use() -> None:
    schedule = {"schedule": {"grid": ["constant", "cosine"]}, "floor": 0.1, "epochs": 4}
    study = check_study({"name": "s", "training": schedule, "stopping": None, "arms": [MIB]})
    trials = expand(study)
    assert len(trials) > 1
    for trial in trials:
        assert isinstance(trial, PlannedTrial)
        written = alone(study, trial)
        assert check_study(written).training.schedule == trial.training.schedule
