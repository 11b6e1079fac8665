"""The table of metrics: every row by value where something hangs on it, and the names of families both ways."""

from __future__ import annotations

import math

import pytest

from service.contract.metrics import (
    ACCURACY,
    BALANCE,
    BIAS,
    CALIBRATIONS,
    ERROR,
    ESTIMATE,
    FAMILIES,
    GAP,
    I_XZ,
    I_ZY,
    KNOWN_BITS,
    LOSS,
    MISS,
    ROBUST,
    ROBUST_IMAGES,
    SINGLE,
    TASK_ACCURACY,
    TEST_EXAMPLES,
    TEST_LOSS,
    VALIDATION,
    WEIGHT,
    Family,
    Kind,
    Metric,
    accuracies,
    described,
    metric,
    of_kind,
    on_training_split,
)
from service.contract.metrics.estimators import ESTIMATOR_NAMES

NAMES = [
    *SINGLE,
    *(
        family.of(subject)
        for family in (LOSS, WEIGHT, TEST_LOSS, TASK_ACCURACY)
        for subject in ("left", "coarse-class")
    ),
    ROBUST.of("pgd-20"),
    BALANCE.of("head-1"),
    *(family.of(I_XZ) for family in CALIBRATIONS),
    *map(VALIDATION.of, ("accuracy", "i_zy_bits_stderr", "robust_pgd", "test_loss_left", "accuracy_left")),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_metric_is_found_under_the_name_of_its_row(name: str) -> None:
    assert described(name).name == name


@pytest.mark.parametrize("name", NAMES)
def test_a_row_names_only_metrics_that_exist(name: str) -> None:
    row = described(name)
    for other in (row.error_of, row.calibrates, row.examples, row.training_of, row.validation_of):
        assert other is None or metric(other) is not None
    assert row.summarises in (None, *(family.name for family in FAMILIES))


@pytest.mark.parametrize(
    ("family", "subject", "name", "kind"),
    [
        (LOSS, "left", "loss_left", Kind.LOSS),
        (TEST_LOSS, "left", "test_loss_left", Kind.LOSS),
        (WEIGHT, "left", "weight_left", Kind.WEIGHT),
        (TASK_ACCURACY, "left", "accuracy_left", Kind.ACCURACY),
        (ROBUST, "pgd", "robust_pgd", Kind.ROBUSTNESS),
        (BALANCE, "hidden-2", "balance_hidden-2", Kind.IMBALANCE),
        (ESTIMATE, "mine", "i_xz_mine_bits", Kind.RATE),
        (ERROR, "i_zy_bits", "i_zy_bits_stderr", Kind.ERROR),
        (BIAS, "i_xz_bits", "i_xz_bits_bias", Kind.CALIBRATION),
        (MISS, "i_xz_mine_bits", "i_xz_mine_bits_miss", Kind.CALIBRATION),
        (KNOWN_BITS, "i_xz_bits", "i_xz_bits_known", Kind.CALIBRATION),
        (VALIDATION, "i_zy_bits", "validation_i_zy_bits", Kind.RELEVANCE),
        (VALIDATION, "robust_pgd", "validation_robust_pgd", Kind.ROBUSTNESS),
        (VALIDATION, "i_xz_bits_stderr", "validation_i_xz_bits_stderr", Kind.ERROR),
    ],
)
def test_a_family_puts_a_name_together_and_takes_it_apart(family: Family, subject: str, name: str, kind: Kind) -> None:
    assert family.of(subject) == name
    row = described(name)
    assert (row.name, row.family, row.subject, row.kind) == (name, family.name, subject, kind)


@pytest.mark.parametrize(
    "name",
    [
        "loss_",
        "loss_-x",
        "weight",
        "robust_",
        "robust_PGD",
        "robust_a_b",
        "balance_2",
        "i_xz_nothing_bits",
        "i_xz_prior-kl_bits",
        "seconds_stderr",
        "i_xz_bits_stderr_stderr",
        "kl_prior_bits_bias",
        "i_zy_bits_miss",
        "validation_i_xz_bits_bias",
        "xrobust_pgd",
        "robust_pgd\n",
        "",
    ],
)
def test_what_no_row_and_no_family_knows_is_no_metric(name: str) -> None:
    assert metric(name) is None
    with pytest.raises(KeyError):
        described(name)


def test_the_number_of_attacked_images_is_a_count_and_no_attack() -> None:
    row = described(ROBUST_IMAGES)
    assert (row.kind, row.integer, row.subject) == (Kind.COUNT, True, None)


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("accuracy", (0, 1)),
        ("accuracy_left", (0, 1)),
        ("mean_accuracy", (0, 1)),
        ("train_accuracy", (0, 1)),
        ("robust_pgd", (0, 1)),
        ("generalization_gap", (-1, 1)),
        ("seconds", (0, math.inf)),
        ("i_xz_bits", (0, math.inf)),
        ("i_xz_bits_stderr", (0, math.inf)),
        ("i_xz_pairwise-lower_bits", (0, math.inf)),
        ("i_xz_infonce_bits", (-math.inf, math.inf)),
        ("i_xz_mine_bits", (-math.inf, math.inf)),
        ("i_xz_ksg_bits", (-math.inf, math.inf)),
        ("i_zy_bits", (-math.inf, math.inf)),
        ("loss_pred", (-math.inf, math.inf)),
        ("loss_info", (0, math.inf)),
        ("test_loss_left", (0, math.inf)),
        ("weight_info", (-math.inf, math.inf)),
        ("balance_hidden-1", (0, math.inf)),
        ("test_examples", (0, math.inf)),
    ],
)
def test_a_metric_knows_its_ends(name: str, bounds: tuple[float, float]) -> None:
    assert described(name).bounds == bounds


@pytest.mark.parametrize(
    ("name", "label", "unit", "goal", "reference"),
    [
        ("i_xz_bits", "I(X;Z)", "bits", "minimize", 32.0),
        ("i_zy_bits", "I(Z;Y)", "bits", "maximize", 0.0),
        ("i_zy_bits_stderr", "standard error of I(Z;Y)", "bits", "minimize", None),
        ("i_xz_mine_bits", "I(X;Z), MINE", "bits", "minimize", 32.0),
        ("accuracy", "accuracy", "", "maximize", 0.0),
        ("train_accuracy", "train accuracy", "", "maximize", 0.0),
        ("generalization_gap", "generalisation gap", "", "minimize", 1.0),
        ("worst_accuracy", "worst accuracy", "", "maximize", 0.0),
        ("accuracy_left", "accuracy of left", "", "maximize", 0.0),
        ("robust_pgd", "accuracy under pgd", "", "maximize", 0.0),
        ("loss_pred", "cross-entropy (train)", "nats", "minimize", 2.31),
        ("loss_info", "rate (train)", "nats", "minimize", 32.0),
        ("loss_left", "loss of left (train)", "", "minimize", 3.0),
        ("test_loss_left", "loss of left (test)", "", "minimize", 3.0),
        ("loss_f1", "f1 (mean of the epoch)", "", "minimize", 1.0),
        ("f2", "f2", "", "minimize", 1.0),
        ("weight_info", "weight of info", "", "maximize", None),
        ("weight_left", "weight of left", "", "maximize", None),
        ("balance_hidden-1", "imbalance of hidden-1", "", "minimize", None),
        ("seconds", "training time", "s", "minimize", None),
        ("epoch", "epoch", "", "minimize", None),
        ("test_examples", "test examples", "", "maximize", None),
    ],
)
def test_what_people_read_of_a_metric(name: str, label: str, unit: str, goal: str, reference: float | None) -> None:
    row = described(name)
    assert (row.label, row.unit, row.goal, row.reference) == (label, unit, goal, reference)


def test_only_counts_and_epochs_are_integers() -> None:
    assert [name for name in NAMES if described(name).integer] == of_kind(NAMES, Kind.COUNT, Kind.EPOCH)
    assert of_kind(NAMES, Kind.COUNT) == ["test_examples", "estimator_samples", "robust_images"]


def test_a_proportion_names_the_count_of_the_examples_behind_it() -> None:
    own = {ACCURACY: TEST_EXAMPLES, ROBUST.of("pgd-20"): ROBUST_IMAGES}
    twins = {
        VALIDATION.of(ACCURACY): VALIDATION.of(TEST_EXAMPLES),
        VALIDATION.of("robust_pgd"): "validation_robust_images",
    }
    rows = [row for row in map(described, NAMES) if row.kind is not Kind.CALIBRATION]
    behind = {row.name: row.examples for row in rows if row.examples}
    assert behind == {**own, **twins}


def test_an_error_names_what_it_is_the_error_of() -> None:
    assert {name: described(name).error_of for name in of_kind(NAMES, Kind.ERROR)} == {
        "i_xz_bits_stderr": I_XZ,
        "kl_prior_bits_stderr": "kl_prior_bits",
        "i_zy_bits_stderr": I_ZY,
    }


def test_a_calibration_names_its_estimate_and_counts_what_that_was_made_of() -> None:
    of_all, of_points = described(BIAS.of(I_XZ)), described(BIAS.of(ESTIMATE.of("ksg")))
    assert (of_all.calibrates, of_all.examples, of_all.unit) == (I_XZ, TEST_EXAMPLES, "bits")
    assert (of_points.calibrates, of_points.examples) == ("i_xz_ksg_bits", "estimator_samples")
    assert (of_all.bounds, described(MISS.of(I_XZ)).bounds) == ((-math.inf, math.inf), (0, math.inf))


def test_only_what_is_known_to_bound_is_called_a_bound() -> None:
    assert {name: described(ESTIMATE.of(name)).bound for name in ESTIMATOR_NAMES} == {
        "pairwise-lower": "lower",
        "pairwise-upper": "upper",
        "infonce": "lower",
        "mine": "lower",
        "ksg": "estimate",
    }
    assert (described(I_XZ).bound, described(I_ZY).bound) == ("upper", "lower")


def test_accuracies_of_the_test_split_are_neither_of_training_nor_means_nor_counts() -> None:
    names = [
        "train_accuracy",
        "mean_accuracy",
        "accuracy",
        "robust_images",
        "robust_pgd",
        GAP,
        "accuracy_left",
        "oddity",
    ]
    assert accuracies(names) == ["accuracy", "robust_pgd", "accuracy_left"]


def test_accuracy_alone_is_also_measured_on_the_training_split() -> None:
    assert {name: on_training_split(name) for name in NAMES if on_training_split(name)} == {ACCURACY: "train_accuracy"}


def test_a_family_of_pairs_and_a_family_of_metrics_take_one_row_each() -> None:
    def cosine(one: str, other: str) -> Metric:
        label = f"cosine of {one} and {other}"
        return Metric(pairs.of(one, other), label, "", "maximize", None, "", Kind.OBJECTIVE, -1.0, 1.0)

    def validation(of: str) -> Metric | None:
        base = metric(of)
        return base and base._replace(name=validated.of(of), label=f"validation {base.label}")

    pairs = Family("cosine_<term>_<term>", cosine)
    row = pairs.metric("cosine_pred_info")
    assert row is not None
    assert (row.name, row.label, row.subject) == ("cosine_pred_info", "cosine of pred and info", "pred_info")
    assert pairs.metric("cosine_pred") is None
    validated = Family("validation_<metric>", validation, r"[a-z0-9][a-z0-9_-]*")
    row = validated.metric("validation_robust_pgd")
    assert row is not None
    assert (row.name, row.label, row.bounds) == ("validation_robust_pgd", "validation accuracy under pgd", (0, 1))
    assert validated.metric("validation_oddity") is None


def test_only_what_is_measured_on_the_test_split_has_a_twin_on_the_validation_split() -> None:
    assert [metric(VALIDATION.of(name)) for name in ("epoch", "train_accuracy", "weight_info", "f1", "no-metric")] == [
        None
    ] * 5
    assert metric(VALIDATION.of(VALIDATION.of("accuracy"))) is None
    twin, own = described(VALIDATION.of("accuracy")), described("accuracy")
    assert (twin.validation_of, twin.examples) == ("accuracy", VALIDATION.of("test_examples"))
    assert (twin.goal, twin.reference, twin.bounds, twin.unit) == (own.goal, own.reference, own.bounds, own.unit)


def test_who_asks_for_a_kind_is_not_given_the_validation_split() -> None:
    assert of_kind(["accuracy", VALIDATION.of("accuracy")], Kind.ACCURACY) == ["accuracy"]
