"""Arms of a study against single tasks: which trials count, what is said, and what a single arm leaves alone."""

from __future__ import annotations

import pytest

from service.analysis.compared import compared
from service.analysis.delta_m import DeltaM
from service.analysis.intervals import Interval, mean_interval
from service.analysis.place import NOWHERE
from service.analysis.single_tasks import against_single, measure_of
from service.analysis.single_words import drop_words, note_words
from service.analysis.verdict import verdict
from service.figures.attainment_difference import default_arms
from service.views.overlay import Overlay
from service.views.trial import TrialView
from tests.service.single_tasks import GRID, HELD, MGB, PLAIN, SINGLE, UNIFORM, Told, alone, always, hits, played, usual
from tests.service.studies import Reported, event, play, study_of, tell


def test_an_arm_is_measured_against_the_single_trial_of_each_task_and_seed() -> None:
    against = against_single(usual())
    assert against is not None and against.arms == ["alone"] and against.without == []
    assert against.measures == {"left": "accuracy_left", "right": "accuracy_right"}
    assert against.delta_m["uniform"].by_seed == pytest.approx({0: 10.0, 1: 10.0, 2: 10.0})
    assert against.delta_m["MGB"].by_seed == pytest.approx({0: 10.0, 1: 8.0, 2: 6.0})
    assert against.mean_rank["MGB"].mean == pytest.approx((1.5 + 1 + 1) / 3)
    assert against.mean_rank["uniform"].mean == pytest.approx((1.5 + 2 + 2) / 3)
    assert "alone" not in against.delta_m | against.mean_rank, "it is what others are measured by"


def test_validation_chooses_the_trial_of_a_grid_and_the_single_trial_of_a_task() -> None:
    rates = {**SINGLE, "training": {"learning_rate": {"grid": [1e-3, 1e-2]}}}

    def of_grid(trial: TrialView) -> Reported:
        lucky = trial.planned.config["weighting.weights.right"] == 0.5
        return hits(0.79, 0.49, held=(0.2, 0.2)) if lucky else hits(0.72, 0.45, held=(0.7, 0.4))

    def of_single(trial: TrialView) -> Reported:
        lucky = trial.planned.config["training.learning_rate"] == 1e-2
        return hits(0.9, 0.9, held=(0.1, 0.1)) if lucky else hits(0.8, 0.5, held=(0.7, 0.5))

    told: dict[str, Told] = {"grid": of_grid, "alone": of_single}
    against = against_single(played(GRID, rates, told=told))
    assert against is not None and list(against.delta_m["grid"].by_seed.values()) == pytest.approx([10.0] * 3)
    flattered = against_single(played(GRID, rates, told=told, selection="test"))
    by_test = 100 * ((0.9 - 0.79) / 0.9 + (0.9 - 0.49) / 0.9) / 2
    assert flattered is not None and flattered.delta_m["grid"].mean.mean == pytest.approx(by_test)


def test_without_a_validation_split_the_test_split_chooses() -> None:
    def of_grid(trial: TrialView) -> Reported:
        return hits(0.8, 0.5) if trial.planned.config["weighting.weights.right"] == 2.0 else hits(0.4, 0.25)

    against = against_single(played(GRID, SINGLE, told={"grid": of_grid, "alone": alone}, data=PLAIN))
    assert against is not None and against.delta_m["grid"].mean.mean == pytest.approx(0.0)


def test_a_seed_whose_single_trial_failed_has_no_delta_m_and_it_is_said() -> None:
    def failing(trial: TrialView) -> Reported:
        gone = trial.planned.seed == 1 and trial.planned.config["weighting.task"] == "right"
        return {} if gone else alone(trial)

    told: dict[str, Told] = {"alone": failing, "uniform": always(0.72, 0.45), "MGB": always(0.76, 0.45)}
    view = played(UNIFORM, MGB, SINGLE, told=told)
    against = against_single(view)
    assert against is not None and against.without == [1]
    assert list(against.delta_m["uniform"].by_seed) == [0, 2] and against.delta_m["uniform"].mean.half_width is None
    assert against.mean_rank["uniform"].seeds == 2
    assert "Seed 1 has neither: not every task has a single trial with a result there." in note_words(against)
    assert "(Δm over 2 tasks, two seeds: no interval)" in compared(view).verdict


def test_an_arm_that_failed_in_a_seed_comes_last_there_and_has_no_delta_m_in_it() -> None:
    def failing(trial: TrialView) -> Reported:
        return {} if trial.planned.seed == 0 else hits(0.72, 0.45)

    told: dict[str, Told] = {"alone": alone, "uniform": always(0.6, 0.4), "MGB": failing}
    against = against_single(played(UNIFORM, MGB, SINGLE, told=told))
    assert against is not None and list(against.delta_m["MGB"].by_seed) == [1, 2]
    assert against.mean_rank["MGB"].mean == pytest.approx((2 + 1 + 1) / 3)


def test_only_trials_that_have_ended_count() -> None:
    view = study_of(UNIFORM, SINGLE, seeds=[0], data=HELD)
    own, left, right = view.trials
    for trial in (left, right):
        play(view, trial, [hits(0.8, 0.5)])
    play(view, own, [hits(0.4, 0.2)], end="")
    running = against_single(view)
    assert running is not None and running.delta_m["uniform"].by_seed == {} and running.without == []
    tell(view, event("trial_finished", trial=own))
    ended = against_single(view)
    assert ended is not None and ended.delta_m["uniform"].by_seed == pytest.approx({0: 55.0})


def test_an_arm_that_lacks_a_task_has_neither_and_a_task_without_accuracy_goes_by_its_loss() -> None:
    tasks = {"name": "multitask", "main": "left", "auxiliaries": ["right", "reconstruction"]}
    goals = [{"metric": "accuracy_left", "goal": "maximize"}, {"metric": "accuracy_right", "goal": "maximize"}]

    def losing(loss: float, left: float, right: float) -> Told:
        lost = {"test_loss_reconstruction": loss, "validation_test_loss_reconstruction": loss}
        return lambda trial: {**hits(left, right), **lost}

    arms = [{**UNIFORM, "problem": tasks}, {**SINGLE, "problem": tasks}, MGB]
    told = {"uniform": losing(0.2, 0.72, 0.45), "alone": losing(0.1, 0.8, 0.5), "MGB": always(0.8, 0.5)}
    against = against_single(played(*arms, told=told, objectives=goals))
    assert against is not None and list(against.delta_m) == ["uniform"] and against.mean_rank == {}
    assert against.measures["reconstruction"] == "test_loss_reconstruction"
    assert against.delta_m["uniform"].by_seed[0] == pytest.approx((10 + 10 + 100) / 3), "twice the loss is 100 % lost"


def test_validation_chooses_also_where_another_arm_lacks_the_task() -> None:
    """An arm of fewer tasks has no Δm, so it has no say in how the others are chosen."""
    fewer = {**MGB, "problem": {"name": "multitask", "main": "left"}}
    goals = [{"metric": "accuracy_left", "goal": "maximize"}, {"metric": "test_loss_left", "goal": "minimize"}]

    def of_grid(trial: TrialView) -> Reported:
        lucky = trial.planned.config["weighting.weights.right"] == 0.5
        return hits(0.9, 0.9, held=(0.2, 0.2)) if lucky else hits(0.72, 0.45, held=(0.7, 0.4))

    told: dict[str, Told] = {"grid": of_grid, "alone": alone, "MGB": always(0.8, 0.5)}
    against = against_single(played(GRID, SINGLE, fewer, told=told, objectives=goals))
    assert against is not None and against.delta_m["grid"].mean.mean == pytest.approx(10.0)


def test_one_task_alone_is_compared_by_that_task() -> None:
    main = {"name": "alone", "weighting": {"name": "single", "task": "left"}}
    against = against_single(played(UNIFORM, main, told={"uniform": always(0.76, 0.1), "alone": alone}))
    assert against is not None and against.measures == {"left": "accuracy_left"}
    assert against.delta_m["uniform"].mean.mean == pytest.approx(5.0)


def test_a_goal_of_the_study_does_not_turn_a_measure_round() -> None:
    """Somebody may want to see little of a task; more accuracy is still more."""
    few = {"metric": "accuracy_left", "goal": "minimize", "reference": 1.0}
    against = against_single(usual(objectives=[few, {"metric": "accuracy_right", "goal": "maximize"}]))
    assert against is not None and against.delta_m["uniform"].mean.mean == pytest.approx(10.0)


def test_the_measure_of_a_task_is_its_accuracy_else_its_loss() -> None:
    tasks = {"name": "multitask", "main": "left", "auxiliaries": ["exemplar"]}
    goals = [{"metric": "accuracy_left", "goal": "maximize"}, {"metric": "test_loss_left", "goal": "minimize"}]
    study = study_of({**UNIFORM, "problem": tasks}, data=HELD, objectives=goals).study
    rows = [measure_of(study, study.arms[0], task) for task in ("left", "exemplar")]
    assert [(row.name, row.goal) for row in rows] == [("accuracy_left", "maximize"), ("test_loss_exemplar", "minimize")]


def test_studies_on_different_data_are_not_measured_against_each_other() -> None:
    assert against_single(Overlay([usual(), usual(data=PLAIN)])) is None
    other = usual()
    other.id = "s2"
    both = against_single(Overlay([usual(), other]))
    assert both is not None and len(both.delta_m) == 4 and len(both.arms) == 2


def test_before_anything_has_ended_there_is_no_number() -> None:
    against = against_single(study_of(UNIFORM, MGB, SINGLE, data=HELD))
    assert against is not None and against.delta_m["uniform"].mean == Interval(None, None, 0)
    assert against.mean_rank["uniform"] == Interval(None, None, 0) and against.without == []
    assert against_single(study_of(UNIFORM, MGB, data=HELD)) is None


# What a single arm leaves alone


def test_a_single_arm_is_neither_baseline_nor_rival() -> None:
    """Though it has the most trials and is weighted by hand."""
    view = usual()
    comparison = compared(view)
    assert comparison.baseline == "uniform" and [pair.arm for pair in comparison.pairs] == ["MGB"]
    assert [arm.automatic for arm in comparison.arms] == [False, True, False]
    assert default_arms(view.study) == ("uniform", "MGB")
    assert "other arm" not in comparison.verdict


def test_what_is_said_of_the_others_does_not_change_with_it() -> None:
    def varied(trial: TrialView) -> Reported:
        return hits(0.70 - 0.01 * trial.planned.seed**2, 0.44)

    told: dict[str, Told] = {"uniform": always(0.72, 0.45), "MGB": varied, "alone": alone}
    without, with_it = compared(played(UNIFORM, MGB, told=told)), compared(played(UNIFORM, MGB, SINGLE, told=told))
    *others, single = with_it.arms
    assert others[1].place.place.distance.told.mean and single.place.place == NOWHERE
    for before, after in zip(without.arms, others, strict=True):
        assert (before.place.place, before.place.test) == (after.place.place, after.place.test)
        assert before.result.hypervolume == after.result.hypervolume
    assert without.pairs == with_it.pairs and with_it.verdict.startswith(without.verdict)


def test_it_may_be_named_as_the_baseline_and_may_be_all_there_is() -> None:
    named = compared(usual(baseline="alone"))
    assert named.baseline == "alone" and [pair.arm for pair in named.pairs] == ["uniform", "MGB"]
    only = compared(played(SINGLE, told={"alone": alone}))
    assert only.baseline == "alone" and only.verdict.startswith("So far: alone has a hypervolume of")


# Words


def drop(*by_seed: float) -> DeltaM:
    return DeltaM(mean_interval(by_seed), dict(enumerate(by_seed)), dict.fromkeys("ab", mean_interval(by_seed)))


@pytest.mark.parametrize(
    ("by_seed", "words"),
    [
        ((1.0, 1.2, 1.4), "it loses 1.20 ± 0.50 % (Δm over 2 tasks, 3 seeds)"),
        ((-1.0, -1.2, -1.4), "it gains 1.20 ± 0.50 % (Δm over 2 tasks, 3 seeds)"),
        ((-1.0, 0.0, 1.6), "it is not shown to lose or gain, 0.200 ± 3.258 % (Δm over 2 tasks, 3 seeds)"),
        ((0.5, 1.5), "it is not shown to lose or gain, 0.500 and 1.50 % (Δm over 2 tasks, two seeds: no interval)"),
        ((-0.5, -1.5), "it is not shown to lose or gain, −1.50 and −0.500 % (Δm over 2 tasks, two seeds: no interval)"),
        ((2.0,), "it is not shown to lose or gain, 2.00 % (Δm over 2 tasks, one seed: no interval)"),
        ((0.0,), "it is not shown to lose or gain, 0 % (Δm over 2 tasks, one seed: no interval)"),
    ],
)
def test_a_drop_in_words(by_seed: tuple[float, ...], words: str) -> None:
    assert drop_words(drop(*by_seed)) == f"Against single tasks {words}."


def test_the_baselines_drop_stands_beside_it() -> None:
    own = "it loses 1.20 ± 0.50 %"
    other = "grid is not shown to lose or gain, −1.20 and −1.00 % over 2 seeds"
    words = drop_words(drop(1.0, 1.2, 1.4), "grid", drop(-1.0, -1.2))
    assert words == f"Against single tasks {own}, {other} (Δm over 2 tasks, 3 seeds)."
    assert drop_words(None) == drop_words(drop()) == ""


def test_the_verdict_tells_the_drop_of_the_best_arm() -> None:
    both = "it loses 8.00 ± 4.97 %, uniform loses 10.0 ± 0.0 %"
    assert f"Against single tasks {both} (Δm over 2 tasks, 3 seeds)." in compared(usual()).verdict
    one = compared(played(UNIFORM, SINGLE, told={"uniform": always(0.72, 0.45), "alone": alone})).verdict
    assert one.endswith("Against single tasks it loses 10.0 ± 0.0 % (Δm over 2 tasks, 3 seeds).")
    assert "other arm" not in one
    assert (
        "single" not in compared(played(UNIFORM, MGB, told=dict.fromkeys(("uniform", "MGB"), always(0.7, 0.4)))).verdict
    )
    assert verdict([], [], [], ended=False, drops={"x": drop(1.0)}) == "No results yet."


def test_many_tasks_are_counted_not_named() -> None:
    against = against_single(usual())
    assert against is not None and "2 tasks (left and right)," in note_words(against)
    many = against._replace(measures={f"t{i}": f"accuracy_t{i}" for i in range(14)}, without=[2, 4])
    assert "mean over 14 tasks, in percent" in note_words(many) and "Seeds 2 and 4 have neither" in note_words(many)
