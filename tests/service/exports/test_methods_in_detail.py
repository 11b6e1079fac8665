"""The methods paragraph, clause by clause: it says what was run, and nothing that was not."""

from __future__ import annotations

from service.exports.methods import methods
from service.exports.settings_in_words import value_words
from tests.service.studies import MANUAL, MIB, bottleneck_of, play, study_of


def test_an_arms_own_settings_are_told_of_model_and_training_alike() -> None:
    own = {**MIB, "model": {"latent": 3}, "training": {"epochs": 7, "l2": 0.5}}
    text = methods(bottleneck_of(MANUAL, own, seeds=(0,))).paragraph
    assert "weighting mib [@anonymous2024mib], its own latent 3, epochs 7, l2 0.5; 1 trial)" in text
    assert text.count("its own") == 1, "the other arm has none"
    only_model = methods(bottleneck_of({**MIB, "model": {"latent": 3}}, seeds=(0,))).paragraph
    assert ", its own latent 3; 1 trial)" in only_model


def test_what_the_training_adds_is_told_where_it_is_on() -> None:
    plain = methods(bottleneck_of(MIB)).paragraph
    assert "batches of 128, from 2 seeds (0, 1)." in plain
    training = {"l1": 0.001, "balance": {"mode": "partial"}, "feedback": "dfa"}
    own = {"name": "a", "weighting": {"name": "uniform"}}
    text = methods(bottleneck_of(own, training=training)).paragraph
    assert "batches of 128, l1 0.001, with synaptic balance [@" in text
    assert "], with direct feedback alignment [@" in text
    assert ", l2 " not in text


def test_the_test_examples_are_counted_where_all_trials_have_as_many() -> None:
    view = bottleneck_of(MIB)
    first, second = view.trials
    play(view, first, [{"test_examples": 1360.0}])
    assert "; 1,360 test examples)" in methods(view).paragraph, "a trial that has not reported says nothing else"
    play(view, second, [{"test_examples": 1000.0}])
    assert "test examples" not in methods(view).paragraph


def test_changed_settings_of_the_data_are_told() -> None:
    data = {"name": "digits", "train_fraction": 0.5, "label_noise": 0.1}
    text = methods(bottleneck_of(MIB, data=data)).paragraph
    assert "; train fraction 0.5, label noise 0.1) [" in text.partition(" Model: ")[0]
    assert "train fraction" not in methods(bottleneck_of(MIB)).paragraph


def test_tasks_are_told_by_name_and_claim_no_information() -> None:
    text = methods(study_of()).paragraph
    assert "“a” (multitask of left and right" in text
    assert "I(X;Z)" not in text and "prior" not in text
    assert "Fronts are of most accuracy of left and most accuracy of right" in text


def test_several_rates_and_transforms_are_listed_without_a_paper_of_one() -> None:
    grid = {"name": "bottleneck", "rate": {"grid": ["vib", "nib"]}, "transform": {"grid": ["identity", "square"]}}
    text = methods(bottleneck_of({**MANUAL, "problem": grid}, seeds=(0,))).paragraph
    assert "with rate in {vib, nib} and transform in {identity, square}, weighting fixed" in text


def test_goals_and_reference_are_the_studys_own() -> None:
    objectives = [
        {"metric": "accuracy", "goal": "minimize", "reference": 1.0},
        {"metric": "seconds", "goal": "minimize", "reference": 60.0},
    ]
    text = methods(bottleneck_of(MIB, objectives=objectives)).paragraph
    assert "Fronts are of least accuracy and least training time [s], compared by hypervolume" in text
    assert "from the reference point (1, 60), one hypervolume per arm and seed" in text


def test_trials_that_did_not_end_are_counted_with_the_stopped_ones() -> None:
    view = bottleneck_of(MANUAL, seeds=(0,))
    first, second, _ = view.trials
    play(view, first, [{"i_xz_bits": 3.0, "i_zy_bits": 1.0}])
    play(view, second, [], "trial_failed")
    assert ", 1 failed and 1 did not end." in methods(view).paragraph


def test_choices_ranges_lists_and_switches_have_their_words() -> None:
    tuned = {
        "name": "tuned",
        "weighting": {"name": "fixed", "beta": {"choice": [0.1, 0.2, 0.3, 0.4]}},
        "search": {"name": "optuna", "trials": 2},
    }
    ranged = {**tuned, "weighting": {"name": "fixed", "beta": {"range": {"from": 0.125, "to": 2}}}}
    assert "beta among {0.1, 0.2, 0.3, 0.4}" in methods(bottleneck_of(tuned)).paragraph, "a choice has no ends"
    assert "beta between 0.125 and 2" in methods(bottleneck_of(ranged)).paragraph
    assert (value_words(False), value_words([]), value_words((8, 4)), value_words(1.23456789)) == (
        "off",
        "none",
        "8–4",
        "1.23457",
    )


def test_attacks_and_estimators_say_on_how_many_examples() -> None:
    evaluation = {"attacks": [{"name": "pgd"}], "attack_images": 1234, "estimators": ["infonce"]}
    text = methods(bottleneck_of(evaluation={**evaluation, "estimator_samples": 4321})).paragraph
    assert "on at most 1,234 test images" in text and "on at most 4,321 points" in text


def test_one_bottleneck_among_other_arms_is_enough_to_say_how_information_is_measured() -> None:
    toy = {"name": "t", "problem": {"name": "toy"}, "weighting": {"name": "uniform"}}
    goals = [{"metric": metric, "goal": "minimize", "reference": 9.0} for metric in ("seconds", "epoch")]
    text = methods(bottleneck_of(MIB, toy, objectives=goals)).paragraph
    assert "I(X;Z) is the upper bound by the KL divergence to a marginal fitted to training codes" in text
    assert "of them collapsed to a code of less than 0.05 bit" in text


def test_a_training_with_many_points_says_what_it_covers_and_where_it_was_measured() -> None:
    covers = {"name": "conditional", "beta": {"from": 1e-3, "to": 0.5}, "points": 12}
    text = methods(bottleneck_of(MANUAL, {"name": "all β", "weighting": covers})).paragraph
    assert (
        "Each training of “all β” covers all β from 0.001 to 0.5 (log-uniform) and was measured at 12 of them: " in text
    )
    assert "each of these counts as a point, and the training is counted once." in text
    tasks = methods(study_of({"name": "all", "weighting": {"name": "conditional"}})).paragraph
    assert "covers all preferences among left and right and was measured at up to 24 of them: " in tasks
    assert "Each training of" not in methods(bottleneck_of(MANUAL)).paragraph


def test_a_weight_that_nobody_chose_is_told_of_fixed_weights_too() -> None:
    text = methods(bottleneck_of({"name": "a", "weighting": {"name": "fixed"}})).paragraph
    assert "weighting fixed: beta 0.01; 2 trials" in text


def test_a_paper_that_is_for_two_things_is_listed_for_both_and_once_in_the_bibliography() -> None:
    done = methods(bottleneck_of(evaluation={"estimators": ["infonce"]}))
    reasons = [paper.reason for paper in done.citations if paper.key == "poole2019bounds"]
    assert reasons == ["estimator marginal-kl", "estimator infonce"]
    assert done.bibtex.count("{poole2019bounds,") == 1


def test_both_penalties_of_the_weights_are_told() -> None:
    text = methods(bottleneck_of(MIB, training={"l1": 0.001, "l2": 0.01})).paragraph
    assert "batches of 128, l1 0.001, l2 0.01, from 2 seeds" in text


def test_two_arms_were_compared_by_tests_and_one_was_not() -> None:
    tested = "Arms were compared with paired t-tests over seeds, adjusted by Holm's method"
    assert tested in methods(bottleneck_of(MANUAL, MIB, seeds=(0, 1, 2))).paragraph
    assert tested not in methods(bottleneck_of(MIB, seeds=(0, 1, 2))).paragraph
    assert tested not in methods(bottleneck_of(MANUAL, MIB)).paragraph, "two seeds"


def test_one_point_of_a_curve_is_its_middle() -> None:
    one, two = (
        methods(bottleneck_of({"name": "all β", "weighting": {"name": "conditional", "points": n}})).paragraph
        for n in (1, 2)
    )
    assert "was measured at the middle of them" in one and "was measured at 2 of them" in two


def test_settings_of_the_optimiser_are_told_where_they_are_not_the_usual_ones() -> None:
    sgd = {"optimizer": "sgd", "momentum": 0.9, "nesterov": True, "clip": 1.0, "schedule": "cosine", "warm_up": 2}
    text = methods(bottleneck_of(MIB, training=sgd)).paragraph
    told = ", momentum 0.9, Nesterov's look ahead [@sutskever2013momentum], schedule cosine [@loshchilov2017sgdr], "
    assert f"batches of 128{told}epochs of warm-up 2, gradients clipped at 1 [@pascanu2013difficulty], from" in text
    decayed = methods(bottleneck_of(MIB, training={"optimizer": "adamw", "weight_decay": 0.1, "anneal": 4})).paragraph
    assert "with adamw [@loshchilov2019adamw]" in decayed
    assert "batches of 128, weight decay 0.1, epochs of annealing 4 [@bowman2016sentences], from" in decayed
