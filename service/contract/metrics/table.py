"""The table: every metric that a trial may report, as a row. Nothing else spells a metric's name."""

from __future__ import annotations

from functools import partial

from service.contract.metrics.estimators import ESTIMATOR_NAMES, ESTIMATORS, KINDS
from service.contract.metrics.metric import METRIC_NAME, Family, Kind, Metric, Named

EPOCH, SECONDS = "epoch", "seconds"
I_XZ, I_ZY, KL_PRIOR = "i_xz_bits", "i_zy_bits", "kl_prior_bits"
ACCURACY, TRAIN_ACCURACY, GAP = "accuracy", "train_accuracy", "generalization_gap"
MEAN_ACCURACY, WORST_ACCURACY = "mean_accuracy", "worst_accuracy"
TEST_EXAMPLES, ROBUST_IMAGES, ESTIMATOR_SAMPLES = "test_examples", "robust_images", "estimator_samples"
F1, F2 = "f1", "f2"
ALPHA_GAP, BEST_EPOCH = "alpha_gap", "best_epoch"
COSINE_MEAN = "cosine_mean"
POWER_SUM = "power_sum"
PRED, INFO = "pred", "info"  # the terms of a bottleneck

_proportion = partial(Metric, unit="", goal="maximize", reference=0.0, low=0.0, high=1.0, measured=True)
_count = partial(
    Metric, unit="", goal="maximize", reference=None, kind=Kind.COUNT, low=0.0, integer=True, measured=True
)


def _loss(task: str) -> Metric:
    doc = f"mean training loss of the task {task} in the epoch"
    return Metric(LOSS.of(task), f"loss of {task} (train)", "", "minimize", 3.0, doc, Kind.LOSS, low=0.0, quantity=task)


def _test_loss(task: str) -> Metric:
    doc = f"mean loss of the task {task} on the test split"
    name, label = TEST_LOSS.of(task), f"loss of {task} (test)"
    return Metric(name, label, "", "minimize", 3.0, doc, Kind.LOSS, low=0.0, measured=True, quantity=task)


def _weight(term: str) -> Metric:
    doc = f"mean weight of the term {term} in the epoch"
    return Metric(WEIGHT.of(term), f"weight of {term}", "", "maximize", None, doc, Kind.WEIGHT)


def _cosine(first: str, second: str) -> Metric:
    doc = (
        f"cosine of the angle between the gradients of {first} and {second} over the encoder: mean over the epoch's "
        "batches in which neither is 0, null without one; noise of small batches draws it towards 0"
    )
    name, label = COSINE.of(first, second), f"cosine of {first} and {second}"
    return Metric(name, label, "", "maximize", None, doc, Kind.COSINE, low=-1.0, high=1.0)


def _gradient_norm(term: str) -> Metric:
    doc = f"length of the gradient of {term} over the encoder, before any weight: mean over the epoch's batches"
    return Metric(
        GRADIENT_NORM.of(term), f"gradient of {term}, length", "", "minimize", None, doc, Kind.LENGTH, low=0.0
    )


def _task_accuracy(task: str) -> Metric:
    doc = f"test accuracy of the task {task}"
    return _proportion(TASK_ACCURACY.of(task), f"accuracy of {task}", doc=doc, kind=Kind.ACCURACY, quantity=task)


def _robust(attack: str) -> Metric:
    doc = f"test accuracy under the attack {attack}, softmax averaged over latent samples"
    label = f"accuracy under {attack}"
    return _proportion(ROBUST.of(attack), label, doc=doc, kind=Kind.ROBUSTNESS, examples=ROBUST_IMAGES)


def _imbalance(layer: str) -> Metric:
    doc = "largest |ln(‖OUT‖/‖IN‖)| of a layer's hidden units after the epoch, in the balance's norm; 0 is balanced"
    return Metric(BALANCE.of(layer), f"imbalance of {layer}", "", "minimize", None, doc, Kind.IMBALANCE, low=0.0)


def _spread(task: str) -> Metric:
    doc = (
        f"1 − ‖mean of the projections of the task {task}, each of length one‖² over the test split; near 0 the task "
        "has collapsed: all images have one projection, which the teacher then asks for"
    )
    more = Metric(SPREAD.of(task), f"spread of {task}", "", "maximize", None, doc, Kind.SPREAD, low=0.0, high=1.0)
    return more._replace(measured=True)


def _loss_gap(term: str) -> Metric:
    doc = f"loss of {term} on the validation split − on as many training examples, both of the weights after the epoch"
    return Metric(LOSS_GAP.of(term), f"loss gap of {term}", "", "minimize", None, doc, Kind.GAP)


def _overfitting_ratio(term: str) -> Metric:
    doc = (
        f"|ΔO/ΔG| of the term {term} since before training: O its loss gap, G its loss on the validation split; "
        "below 1: generalisation improved more than the gap grew; null where G has not moved"
    )
    name = OVERFITTING_RATIO.of(term)
    return Metric(name, f"overfitting-to-generalisation ratio of {term}", "", "minimize", None, doc, Kind.GAP, low=0.0)


def _estimate(estimator: str) -> Metric | None:
    if estimator not in ESTIMATOR_NAMES:
        return None
    e = ESTIMATORS[estimator]
    doc, label = f"{KINDS[e.kind]}, test split: {e.doc}", f"I(X;Z), {e.label}"
    return Metric(
        ESTIMATE.of(estimator),
        label,
        "bits",
        "minimize",
        32.0,
        doc,
        Kind.RATE,
        low=e.least,
        bound=e.kind,
        measured=True,
        quantity=INFO,
    )


def _error(of: str) -> Metric | None:
    if of not in INFORMATION:
        return None
    measured = INFORMATION[of]
    doc, label = "of the mean over test examples; the model is given", f"standard error of {measured.label}"
    name, unit = ERROR.of(of), measured.unit
    return Metric(name, label, unit, "minimize", None, doc, Kind.ERROR, low=0.0, error_of=of, measured=True)


def _calibration(family: str, label: str, doc: str, low: float | None) -> Family:
    """Members of estimates of I(X;Z). KL_PRIOR is none: where the prior fits, as in an easy task, it misses nothing."""

    def describe(of: str) -> Metric | None:
        row = METRICS.get(of) or ESTIMATOR_METRICS.get(of)
        if row is None or row.kind is not Kind.RATE or of == KL_PRIOR:
            return None
        name, title, count = own.of(of), f"{label} of {row.label}", TEST_EXAMPLES if of == I_XZ else ESTIMATOR_SAMPLES
        more = Metric(name, title, row.unit, "minimize", None, f"{doc}; at the end of training", Kind.CALIBRATION)
        return more._replace(low=low, calibrates=of, examples=count)

    own = Family(family, describe, METRIC_NAME)
    return own


def _validation(of: str) -> Metric | None:
    """The same quantity on the validation split: what is chosen by it is claimed by the metric of the test split."""
    row = _test_metric(of)
    if row is None or not row.measured:
        return None

    def twin(name: str | None) -> str | None:
        return None if name is None else VALIDATION.of(name)

    return row._replace(
        name=VALIDATION.of(row.name),
        label=f"{row.label}, validation",
        doc=f"on the validation split: {row.doc}",
        error_of=twin(row.error_of),
        examples=twin(row.examples),
        validation_of=of,
        measured=False,
    )


def _test_metric(name: str) -> Metric | None:
    if isinstance(name, Named):
        return name.row
    single = METRICS | ESTIMATOR_METRICS | ATTACK_METRICS
    return single.get(name) or next((row for f in FAMILIES if f is not VALIDATION and (row := f.metric(name))), None)


LOSS = Family("loss_<term>", _loss)
TEST_LOSS = Family("test_loss_<task>", _test_loss)
WEIGHT = Family("weight_<term>", _weight)
COSINE = Family("cosine_<term>_<term>", _cosine)
GRADIENT_NORM = Family("gradient_norm_<term>", _gradient_norm)
TASK_ACCURACY = Family("accuracy_<task>", _task_accuracy)
ROBUST = Family("robust_<attack>", _robust, r"[a-z0-9-]+")
BALANCE = Family("balance_<layer>", _imbalance, r"[a-z]+(?:-[a-z]+)*(?:-[0-9]+)?")
SPREAD = Family("spread_<task>", _spread)
LOSS_GAP = Family("loss_gap_<term>", _loss_gap)
OVERFITTING_RATIO = Family("ogr_<term>", _overfitting_ratio)
ESTIMATE = Family("i_xz_<estimator>_bits", _estimate)
ERROR = Family("<metric>_stderr", _error, METRIC_NAME)
KNOWN_BITS = _calibration(
    "<metric>_known",
    "known task",
    "the information of a Gaussian task of the same shape on which this estimator says about the same",
    0.0,
)
BIAS = _calibration("<metric>_bias", "bias", "mean of estimate − truth over draws of that Gaussian task", None)
MISS = _calibration(
    "<metric>_miss", "expected error", "root mean square of estimate − truth over draws of that Gaussian task", 0.0
)
CALIBRATIONS = (KNOWN_BITS, BIAS, MISS)
VALIDATION = Family("validation_<metric>", _validation, METRIC_NAME)
FAMILIES = (
    *(LOSS, TEST_LOSS, WEIGHT, COSINE, GRADIENT_NORM, TASK_ACCURACY, ROBUST, BALANCE),
    *(SPREAD, LOSS_GAP, OVERFITTING_RATIO, ESTIMATE, ERROR),
    *CALIBRATIONS,
    VALIDATION,
)


def _rows(*rows: Metric) -> dict[str, Metric]:
    return {row.name: row for row in rows}


def _known(family: Family, subject: str, label: str, unit: str, reference: float | None, doc: str) -> Metric:
    """A member of which more is known than of the family's others."""
    return family.member(subject)._replace(label=label, unit=unit, reference=reference, doc=doc)


COMMON_METRICS = _rows(
    Metric(EPOCH, "epoch", "", "minimize", None, "passes over the training data", Kind.EPOCH, low=0.0, integer=True),
    Metric(
        SECONDS,
        "training time",
        "s",
        "minimize",
        None,
        "this trial's share of its cohort's training time",
        Kind.TIME,
        low=0.0,
    ),
)

INFORMATION = _rows(
    Metric(
        I_XZ,
        "I(X;Z)",
        "bits",
        "minimize",
        32.0,
        "upper bound by the KL to a marginal fitted to training codes, test split; null for rate none",
        Kind.RATE,
        low=0.0,
        bound="upper",
        measured=True,
        quantity=INFO,
    ),
    Metric(
        KL_PRIOR,
        "KL to N(0, I)",
        "bits",
        "minimize",
        32.0,
        "looser upper bound on I(X;Z), which rises with the code's scale too, test split: what rate vib trains and "
        "target-rate then holds; null for rate none",
        Kind.RATE,
        low=0.0,
        bound="upper",
        measured=True,
        quantity=INFO,
    ),
    Metric(
        I_ZY,
        "I(Z;Y)",
        "bits",
        "maximize",
        0.0,
        "lower bound H(Y) − cross-entropy, test split",
        Kind.RELEVANCE,
        bound="lower",
        measured=True,
        quantity=PRED,
    ),
)

BOTTLENECK_METRICS = _rows(
    _known(LOSS, PRED, "cross-entropy (train)", "nats", 2.31, "mean training cross-entropy of the epoch")._replace(
        low=None
    ),  # the density of a continuous label may exceed 1
    _known(
        LOSS,
        INFO,
        "rate (train)",
        "nats",
        32.0,
        "mean training rate r, before any transform: KL to the prior (vib), pairwise bound (nib), 0 (none)",
    ),
    _known(WEIGHT, PRED, "weight of pred", "", None, "mean weight of the prediction term in the epoch"),
    _known(
        WEIGHT, INFO, "weight of info", "", None, "mean weight of the information term; for a fixed weighting this is β"
    ),
    INFORMATION[I_XZ],
    ERROR.member(I_XZ),
    INFORMATION[KL_PRIOR],
    ERROR.member(KL_PRIOR),
    INFORMATION[I_ZY],
    ERROR.member(I_ZY),
    _proportion(
        ACCURACY,
        "accuracy",
        doc="test accuracy, softmax averaged over latent samples",
        kind=Kind.ACCURACY,
        examples=TEST_EXAMPLES,
        quantity=PRED,
    ),
    _count(TEST_EXAMPLES, "test examples", doc="test examples behind accuracy, I(X;Z) and I(Z;Y)"),
    _proportion(
        TRAIN_ACCURACY,
        "train accuracy",
        doc="accuracy on as many training images as there are test images",
        kind=Kind.ACCURACY,
        training_of=ACCURACY,
        measured=False,
        quantity=PRED,
    ),
    Metric(
        GAP, "generalisation gap", "", "minimize", 1.0, "train accuracy − test accuracy", Kind.GAP, low=-1.0, high=1.0
    ),
)

TOY_METRICS = _rows(
    Metric(
        F1,
        "f1",
        "",
        "minimize",
        1.0,
        "first objective of the toy problem after the epoch",
        Kind.OBJECTIVE,
        0.0,
        quantity=F1,
    ),
    Metric(
        F2,
        "f2",
        "",
        "minimize",
        1.0,
        "second objective of the toy problem after the epoch",
        Kind.OBJECTIVE,
        0.0,
        quantity=F2,
    ),
    _known(LOSS, F1, "f1 (mean of the epoch)", "", 1.0, "mean of f1 over the epoch's updates"),
    _known(LOSS, F2, "f2 (mean of the epoch)", "", 1.0, "mean of f2 over the epoch's updates"),
    _known(WEIGHT, F1, "weight of f1", "", None, "mean weight of f1 in the epoch"),
    _known(WEIGHT, F2, "weight of f2", "", None, "mean weight of f2; for a fixed weighting this is β"),
)

MULTITASK_METRICS = _rows(
    _proportion(
        MEAN_ACCURACY,
        "mean accuracy",
        doc="mean over the tasks that have an accuracy, test split",
        kind=Kind.ACCURACY,
        summarises=TASK_ACCURACY.name,
    ),
    _proportion(
        WORST_ACCURACY,
        "worst accuracy",
        doc="smallest over the tasks that have an accuracy",
        kind=Kind.ACCURACY,
        summarises=TASK_ACCURACY.name,
    ),
)

# Reported only by weightings that look for an optimum of their own.
WEIGHTING_METRICS = _rows(
    Metric(
        ALPHA_GAP,
        "distance of α from its optimum",
        "",
        "minimize",
        None,
        "ARML: largest |α_k − α*_k| after the epoch, α* the exact minimiser of the mean of what α descended over about "
        "the last quarter of its steps, for the most part",
        Kind.DISTANCE,
        low=0.0,
    ),
)

# Reported only where an earlier epoch may be kept, with the last report.
KEEPING_METRICS = _rows(
    Metric(
        BEST_EPOCH,
        "best epoch",
        "",
        "minimize",
        None,
        "the epoch whose weights the last report was measured with: the best by validation; 0: no epoch had a number, "
        "and the last weights were kept",
        Kind.EPOCH,
        low=0.0,
        integer=True,
    ),
)

# Reported only with training.balance.
BALANCE_METRICS = _rows(
    Metric(
        POWER_SUM,
        "Σ|w|^p of balanced layers",
        "",
        "minimize",
        None,
        "Σ|w|^p after the epoch over all weights that balance may scale, each once, with the balance's p: what "
        "balancing makes least",
        Kind.SIZE,
        low=0.0,
    ),
)

# Reported only where gradients are watched, of more than two terms.
GRADIENT_METRICS = _rows(
    Metric(
        COSINE_MEAN,
        "mean cosine of gradients",
        "",
        "maximize",
        None,
        "mean of the cosines of all pairs of terms, each the mean over the epoch's batches",
        Kind.COSINE,
        low=-1.0,
        high=1.0,
        summarises=COSINE.name,
    ),
)

METRICS = COMMON_METRICS | BOTTLENECK_METRICS | TOY_METRICS | MULTITASK_METRICS

# Reported only when evaluation.estimators, or evaluation.attacks, asks.
ESTIMATOR_METRICS = _rows(
    *map(ESTIMATE.member, ESTIMATOR_NAMES),
    _count(ESTIMATOR_SAMPLES, "estimator samples", doc="N, the test points of the estimators"),
)
ATTACK_METRICS = _rows(_count(ROBUST_IMAGES, "attacked images", doc="test images behind every accuracy under attack"))
