"""Quantities say what the page says, with how few seeds there are; what is asked wrongly is told."""

from __future__ import annotations

import pytest

from findings.expression import Question, arguments, parsed
from findings.finding import Finding
from findings.quantities import QUANTITIES, quantity_named
from findings.replay import view_of
from findings.tables import table
from service.analysis.compared import compared
from service.contract.wording.numbers import p_value
from tests.findings.played import finding, view
from tests.service.studies import MANUAL, bottleneck_of, event, play, tell

FIVE = finding(curves=["accuracy"])
THREE, TWO, ONE = (finding(view(range(seeds))) for seeds in (3, 2, 1))


def said(asked: str, of: Finding = FIVE) -> str:
    seen = view_of(of)
    name, parts = parsed(asked)
    question = Question(of, seen, arguments(seen, parts))
    quantity_named(name).check(question)
    return quantity_named(name).say(question).alone


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("seeds", "5"),
        ("trials", "20"),
        ("trials(manual β)", "15"),
        ("counted(MIB)", "5 trials"),
        ("configurations(manual β)", "3"),
        ("failed", "0"),
        ("date", "2026-01-01"),
        ("measured", "measured 2026-01-01 with 0.1.0, 5 seeds, 2 cores, no GPU"),
        ("setting(training.batch_size)", "128"),
        ("setting(arms.1.weighting.mu)", "0.2"),
        ("entropy", "3.32"),
        ("baseline", "manual β"),
        ("training(MIB)", "2.5 s"),
        ("mean(i_xz_bits; MIB)", "8.25 ± 0.25"),
        ("mean(i_xz_bits; manual β; weighting.beta = 0.1)", "6.25 ± 0.25"),
        ("mean(i_xz_bits; MIB; seed < 3)", "8.13 ± 0.31 (3 of 5 seeds)"),
        ("best(accuracy; manual β)", "0.855 ± 0.009"),
        ("least(i_xz_bits; manual β)", "3.00"),
        ("largest(i_xz_bits)", "12.5"),
        ("largest(i_xz_bits; MIB; manual β; seed < 1; weighting.beta > 0.05)", "8.00 (1 of 5 seeds)"),
        ("by seed(i_xz_bits; MIB)", "8.00, 8.13, 8.25, 8.38, 8.50"),
        ("difference(i_xz_bits; MIB; manual β; weighting.beta = 0.1)", "+2.00 ± 0.00"),
        ("best difference(accuracy; MIB; manual β)", "−0.150 ± 0.000"),
        ("ratio(i_zy_bits; manual β; MIB; weighting.beta = 0.01)", "1.33 (1.32 to 1.34)"),
        ("count(manual β; accuracy > 0.6)", "10 of 15 (28 to 91 %)"),
        ("count(manual β; accuracy > 0.6; weighting.beta = 0.01)", "5 of 5 (57 to 100 %)"),
        ("count(manual β; accuracy > 0.6; seed < 2)", "4 of 6"),
        ("share(manual β; accuracy > 0.6)", "67 %"),
        ("widest gap(i_xz_bits; 0; 20; manual β)", "7.75 ± 0.25"),
        ("epochs(accuracy; 0.4; MIB)", "2.00 ± 0.00"),
        ("epochs(accuracy; 0.4; manual β; weighting.beta = 0.01)", "1.00 ± 0.00"),
        ("epochs(accuracy; 0.9; MIB)", "never in 5 of 5 seeds"),
        ("epochs by seed(accuracy; 0.4; MIB)", "2 2 2 2 2"),
        ("times fewer epochs(accuracy; 0.4; manual β; MIB; weighting.beta = 0.01)", "2.00 (2.00 to 2.00)"),
        ("at epoch(accuracy; 1; MIB)", "0.352 ± 0.004"),
        ("over epochs(accuracy; MIB)", "0.529 ± 0.006"),
        ("standing(MIB)", "not shown to be off the front"),  # by the same in every seed
        ("how many(not shown to be off the front)", "1 of 1"),
        ("how many(above the front; MIB)", "0 of 1"),
    ],
)
def test_a_quantity_is_said(asked: str, answer: str) -> None:
    assert said(asked) == answer


def test_the_commit_is_said_where_it_is_known() -> None:
    known = FIVE.model_copy(update={"commit": "e0785b1abc"})
    assert said("measured", known) == "measured 2026-01-01 with 0.1.0 (e0785b1abc), 5 seeds, 2 cores, no GPU"


def timed(values: dict[str, tuple[float, int]]) -> Finding:
    """Whose trainings took so many seconds for so many epochs, by arm."""
    seconds, epoch = FIVE.metrics.index("seconds"), FIVE.metrics.index("epoch")
    trials = []
    for trial in FIVE.trials:
        own = list(trial.values)
        own[seconds], own[epoch] = values[trial.arm]
        trials.append(trial.model_copy(update={"values": own}))
    return FIVE.model_copy(update={"trials": trials})


def test_the_seconds_of_a_training_and_of_its_epochs_are_held_against_another_arm_s() -> None:
    """Five trainings of 0.91 s and 8 epochs against fifteen of 0.5 s and 2."""
    of = timed({"MIB": (0.91, 8), "manual β": (0.5, 2)})
    assert said("training ratio(MIB; manual β)", of) == "1.82"
    assert said("training ratio(manual β; MIB)", of) == "0.549"
    assert said("epoch ratio(MIB; manual β)", of) == "0.455"
    with pytest.raises(ValueError, match="manual β has no seconds of training"):
        said("training ratio(MIB; manual β)", timed({"MIB": (0.91, 8), "manual β": (0.0, 2)}))


def test_places_are_those_of_the_comparison() -> None:
    place = next(arm for arm in compared(view_of(FIVE)).arms if arm.name == "MIB").place
    distance = place.place.distance.told
    assert distance.mean is not None and -0.2 < distance.mean < 0
    assert said("distance(MIB)").startswith(f"−{-distance.mean:.3f}"[:5])
    assert said("distance(manual β)") == "baseline"
    assert said("matched(i_zy_bits; MIB; step)").startswith("−")
    assert said("amounts to(MIB)").startswith("β ≈ 0.0")
    assert said("verdict") == compared(view_of(FIVE)).verdict
    (pair,) = compared(view_of(FIVE)).pairs
    assert said("hypervolume p(MIB)") == p_value(pair.p_adjusted) and said("hypervolume p(manual β)") == "baseline"


@pytest.mark.parametrize(("of", "few"), [(THREE, "3 seeds"), (TWO, "two seeds"), (ONE, "one seed")])
@pytest.mark.parametrize(
    "asked",
    [
        "hypervolume(MIB)",
        "distance(MIB)",
        "matched(i_zy_bits; MIB)",
        "mean(accuracy; MIB)",
        "best(accuracy; manual β)",
        "difference(accuracy; MIB; manual β; weighting.beta = 0.1)",
        "ratio(accuracy; MIB; manual β; weighting.beta = 0.1)",
        "least(accuracy)",
        "count(accuracy > 0.5)",
        "amounts to(MIB)",
        "epsilon(MIB)",
        "lost without(MIB)",
        "training ratio(MIB; manual β)",
    ],
)
def test_a_claim_from_fewer_than_five_seeds_says_how_few(asked: str, of: Finding, few: str) -> None:
    assert said(asked, of).endswith(f"({few})")
    assert "seed" not in said(asked)


def test_of_two_seeds_both_values_are_said() -> None:
    assert said("mean(i_xz_bits; MIB)", TWO) == "8.00 and 8.13 (two seeds)"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("hypervolum(MIB)", "'hypervolum' is not a quantity; known:\n  measured\n"),
        ("distance(MIBB)", r"'MIBB' is neither an arm \(manual β, MIB\) nor a metric \(epoch, "),
        ("distance", r"distance takes 1 ARM, got 0; usage: distance\(ARM; \[step\|line\]\)"),
        ("mean(accuracy; i_xz_bits; MIB)", "mean takes 1 METRIC, got 2"),
        ("mean(accuracy; manual β)", "manual β has 3 configurations here, and their average is no result"),
        ("mean(accuracy; MIB; weighting.beta = 0.1)", "no finished trial of MIB with weighting.beta=0.1"),
        ("mean(accuracy; manual β; weighting.bta = 0.1)", "no trial has 'weighting.bta'; known: "),
        ("epochs(i_xz_bits; 3; MIB)", r"the reports of i_xz_bits were not kept \(curves: epoch, accuracy\)"),
        ("setting(training.epoch)", "the spec has no 'training.epoch': 'epoch' is not among epochs, batch_size"),
        ("exact distance(MIB)", "the exact front of this study is not known"),
        ("MIB distance", "is no quantity"),
    ],
)
def test_what_is_asked_wrongly_is_told(asked: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        said(asked)


def test_a_usage_is_a_signature_and_every_quantity_is_explained() -> None:
    assert len(QUANTITIES) > 40
    assert all(quantity.doc and name == quantity.usage.split("(")[0] for name, quantity in QUANTITIES.items())


def test_a_table_by_arm_says_the_seeds_once() -> None:
    asked = "by arm | trials | mean(i_xz_bits; all) as rate | best difference(accuracy; manual β)"
    assert table(FIVE, view_of(FIVE), asked).splitlines() == [
        "| arm (mean ± 95 % interval over 5 seeds) | trials | rate | best accuracy, difference to manual β |",
        "| --- | --- | --- | --- |",
        "| manual β | 15 | 7.25 ± 0.25 | – |",
        "| MIB | 5 | 8.25 ± 0.25 | −0.150 ± 0.000 |",
    ]
    assert "| arm (two seeds, both values, no interval) |" in table(TWO, view_of(TWO), "by arm | hypervolume")


def test_a_table_promises_the_intervals_that_it_has() -> None:
    lines = table(FIVE, view_of(FIVE), "by arm | trials | count(accuracy > 0.6) as many").splitlines()
    assert lines[0] == "| arm (95 % Wilson interval over 5 seeds) | trials | many |"
    assert lines[2] == "| manual β | 15 | 10 of 15 (28 to 91 %) |"
    lines = table(FIVE, view_of(FIVE), "by arm | trials | share(accuracy > 0.6) as many").splitlines()
    assert lines[0] == "| arm (over 5 seeds) | trials | many |"


def test_trials_of_one_seed_are_no_more_evidence_than_the_seed() -> None:
    """Three βs of five seeds, none of them above: as wide as one trial of each."""
    assert said("count(manual β; accuracy > 9)") == "0 of 15 (0 to 43 %)"
    assert said("count(MIB; accuracy > 9)") == "0 of 5 (0 to 43 %)"


def test_where_seeds_differ_every_cell_says_its_own() -> None:
    lost = finding(view(fails=lambda trial: trial.planned.seed == 4 and "weighting.beta" not in trial.planned.config))
    lines = table(lost, view_of(lost), "by arm | mean(i_xz_bits; all)").splitlines()
    assert lines[2:] == ["| manual β | 7.25 ± 0.25 |", "| MIB | 8.19 ± 0.26 (4 of 5 seeds) |"]


def test_tables_by_configuration_and_by_metric() -> None:
    seen = view_of(FIVE)
    lines = table(FIVE, seen, "by configuration(manual β) | mean(i_zy_bits) | difference(accuracy; MIB)").splitlines()
    assert lines[0].endswith("| I(Z;Y) [bits] | accuracy, difference to MIB |")
    assert [line.split(" | ")[0] for line in lines[2:]] == ["| β 0.01", "| β 0.1", "| β 1"]
    lines = table(FIVE, seen, "by metric(i_xz_bits; accuracy) | mean(MIB) as MIB").splitlines()
    assert lines[2] == "| I(X;Z) [bits] | 8.25 ± 0.25 |"
    with pytest.raises(ValueError, match="'MIBB' is neither an arm"):
        table(FIVE, seen, "by arm(MIBB) | trials")


def test_the_best_is_chosen_on_validation_and_claimed_on_test() -> None:
    played = bottleneck_of(seeds=range(5), data={"name": "digits", "validation_fraction": 0.2, "draw": "per-seed"})
    tell(played, event("study_started"))
    for trial_id, trial in played.trials.items():
        beta = trial.planned.config.get("weighting.beta", 0.0)
        places = {"i_xz_bits": 3.0, "i_zy_bits": 2.0, "validation_i_xz_bits": 3.0, "validation_i_zy_bits": 2.0}
        shown, judged = {0.01: (0.9, 0.5), 0.1: (0.75, 0.8)}.get(beta, (0.5, 0.4))
        play(played, trial_id, [{**places, "accuracy": shown, "validation_accuracy": judged}])
    tell(played, event("study_finished"))
    of = finding(played)
    assert said("best(accuracy; manual β)", of) == "0.750 ± 0.000"
    assert said("best difference(accuracy; MIB; manual β)", of) == "−0.250 ± 0.000"
    assert said("chosen(accuracy; manual β)", of) == "0.750 ± 0.000"
    assert said("chosen setting(accuracy; manual β)", of) == "β 0.1"
    assert said("selection", of) == "chosen on the validation split, shown on the test split"


def test_chosen_epochs_are_those_of_the_setting_that_the_validation_split_likes_best() -> None:
    """On test β 0.1 is there after one epoch, which nobody may know."""
    seen = {0.01: (0.7, [0.2, 0.7]), 0.1: (0.8, [0.8, 0.8]), 1.0: (0.9, [0.3, 0.7])}
    played = bottleneck_of(MANUAL, seeds=range(3), data={"name": "digits", "validation_fraction": 0.2})
    tell(played, event("study_started"))
    for trial_id, trial in played.trials.items():
        held, shown = seen[trial.planned.config["weighting.beta"]]
        reports = [{"validation_accuracy": held, "accuracy": own, "i_xz_bits": 4.0, "i_zy_bits": 1.0} for own in shown]
        play(played, trial_id, reports)
    tell(played, event("study_finished"))
    kept = finding(played, ["accuracy"])
    assert said("chosen epochs(accuracy; 0.6; manual β)", kept) == "2.00 ± 0.00 (3 seeds)"
    assert said("chosen epochs(accuracy; 0.8; manual β)", kept) == "never in 3 of 3 seeds"
    assert said("times fewer chosen epochs(accuracy; 0.6; manual β; manual β)", kept).startswith("1.00 (1.00 to 1.00)")


def test_a_picked_point_is_chosen_on_one_split_and_shown_on_the_other() -> None:
    """Two of three βs keep the bound on validation, and the one of them with the fewer bits breaks it on test."""
    seen = bottleneck_of(MANUAL, seeds=[0, 1])
    tell(seen, event("study_started"))
    for trial, own in seen.trials.items():
        x, held, shown = {0.01: (6.0, 0.95, 0.9), 0.1: (3.0, 0.92, 0.8), 1.0: (1.0, 0.5, 0.99)}[
            own.planned.config["weighting.beta"]
        ]
        values = {"i_xz_bits": x, "i_zy_bits": 1.0, "accuracy": shown}
        play(seen, trial, [{**values, "validation_i_xz_bits": x + 1, "validation_accuracy": held}])
    tell(seen, event("study_finished"))
    two = finding(seen)
    assert said("picked(accuracy; 0.9)", two) == "3.00 (two seeds)"
    assert said("picked bound(accuracy; 0.9; manual β)", two) == "0.800 (two seeds)"
    assert said("picked keeping(accuracy; 0.9)", two) == "0 of 2"
