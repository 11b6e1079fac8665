"""Each rule between the parts of a study, from both sides: a study that breaks it, and its neighbour that does not."""

from __future__ import annotations

from typing import Any

import pytest

from service.contract.study.parsing import check_study
from service.contract.wire.errors import InvalidInput

FIXED: dict[str, Any] = {"name": "fixed"}
BOTTLENECK: dict[str, Any] = {"name": "bottleneck"}
TASKS: dict[str, Any] = {"name": "multitask", "main": "left", "auxiliaries": ["right"]}
THREE: dict[str, Any] = {"name": "multitask", "main": "class", "auxiliaries": ["rotation", "exemplar"]}
OVERLAID: dict[str, Any] = {"name": "overlaid"}
PGD: dict[str, Any] = {"attacks": [{"name": "pgd"}]}
GAUSSIAN: dict[str, Any] = {"name": "gaussian"}


def arm(problem: dict[str, Any] = BOTTLENECK, weighting: dict[str, Any] = FIXED, **more: Any) -> dict[str, Any]:
    return {"name": more.pop("name", "a"), "problem": problem, "weighting": weighting, **more}


TOY = arm({"name": "toy"})
VIB = arm()
UNIFORM: dict[str, Any] = {"name": "uniform"}
MIB: dict[str, Any] = {"name": "mib"}
CONDITIONAL: dict[str, Any] = {"name": "conditional"}
FVIB: dict[str, Any] = {"name": "fvib"}
OPTUNA = {"name": "optuna", "trials": 4}
RATED: dict[str, Any] = {"range": {"from": 0.1, "to": 1.0}}
RATES: dict[str, Any] = {"grid": {"from": 1e-4, "to": 1e-2, "count": 15, "scale": "log"}}


def goals(*metrics: str) -> list[dict[str, Any]]:
    return [{"metric": metric, "goal": "maximize", "reference": 0.0} for metric in metrics]


def details(*arms: dict[str, Any], **parts: Any) -> list[tuple[str, str]]:
    """Paths and messages of what is refused; nothing when the study is taken."""
    try:
        check_study({"name": "s", "arms": list(arms), **parts})
    except InvalidInput as error:
        assert error.details and error.details[0].message in error.message
        return [(detail.path, detail.message) for detail in error.details]
    return []


CASES: dict[str, tuple[list[tuple[str, list[str]]], list[Any], dict[str, Any]]] = {
    # what is refused: (path, words)…, the arms, the other parts
    "an objective that one arm does not report": (
        [("objectives[1].metric", ["'accuracy'", "arm 't' (problem toy)", "f1, f2"])],
        [VIB, {**TOY, "name": "t"}],
        {"objectives": goals("seconds", "accuracy")},
    ),
    "an objective of the split that chooses": (
        [("objectives[1].metric", ["validation split chooses", "name 'accuracy'", "got 'validation_accuracy'"])],
        [VIB],
        {"objectives": goals("i_xz_bits", "validation_accuracy")},
    ),
    "a baseline that is no arm": (
        [("baseline", ["'b'", "not an arm", "'a'"])],
        [VIB],
        {"baseline": "b"},
    ),
    "accuracy under an attack that is not made": (
        [("objectives[0].metric", ["'robust_pgd'", "evaluation.attacks"])],
        [VIB],
        {"objectives": goals("robust_pgd", "accuracy")},
    ),
    "an estimate without its estimator": (
        [("objectives[0].metric", ["i_xz_infonce_bits", "evaluation.estimators"])],
        [VIB],
        {"objectives": goals("i_xz_infonce_bits", "accuracy")},
    ),
    "few labels for a bottleneck": (
        [("data.labels", ["train_fraction"])],
        [VIB],
        {"data": {"name": "digits", "labels": 100}},
    ),
    "few labels for a bottleneck beside tasks": (
        [("data.labels", ["train_fraction"])],
        [arm(THREE, UNIFORM), {**VIB, "name": "b"}],
        {"data": {"name": "digits", "labels": 100}, "objectives": goals("seconds", "epoch")},
    ),
    "attacks on a toy": (
        [
            ("evaluation.attacks", ["problem bottleneck in every arm", "'toy'", "arm 't'"]),
        ],
        [VIB, {**TOY, "name": "t"}],
        {"evaluation": PGD, "objectives": goals("seconds", "epoch")},
    ),
    "estimators of a toy": (
        [("evaluation.estimators", ["problem bottleneck in every arm", "'toy'"])],
        [TOY],
        {"evaluation": {"estimators": ["infonce"]}},
    ),
    "nearest neighbours of images": (
        [("evaluation.estimators[1]", ["ksg", "at most 5 dimensions of the input", "'digits'"])],
        [VIB],
        {"evaluation": {"estimators": ["mine", "ksg"]}, "model": {"name": "mlp", "latent": 5}},
    ),
    "nearest neighbours of many dimensions": (
        [("evaluation.estimators[0]", ["at most 5 dimensions of the input", "got 25"])],
        [VIB],
        {
            "evaluation": {"estimators": ["ksg"]},
            "data": {"name": "gaussian", "correlations": [0.8, 0.8, *[0.01] * 23]},
            "model": {"name": "mlp", "latent": 5},
        },
    ),
    "nearest neighbours of a wide code": (
        [("evaluation.estimators[0]", ["at most 5 dimensions of the code", "got model.latent 6", "arm 'wide'"])],
        [VIB, {**VIB, "name": "wide", "model": {"latent": {"grid": [2, 6]}}}],
        {"evaluation": {"estimators": ["ksg"]}, "data": GAUSSIAN, "model": {"name": "mlp", "latent": 5}},
    ),
    "attacks on what has no pixels": (
        [("evaluation.attacks", ["they need images", "'gaussian'"])],
        [VIB],
        {"evaluation": PGD, "data": {"name": "gaussian"}},
    ),
    "a latent map without a code": (
        [("evaluation.latent_map", ["problem bottleneck", "'toy'"])],
        [TOY],
        {"evaluation": {"latent_map": {}}},
    ),
    "a latent map of a seed that is not there": (
        [("evaluation.latent_map.seeds[1]", ["7 is not a seed", "0, 1"])],
        [VIB],
        {"evaluation": {"latent_map": {"seeds": [1, 7]}}, "seeds": [0, 1]},
    ),
    "a target rate without a rate": (
        [("arms[1].weighting.name", ["target-rate", "'multitask'"])],
        [arm(TASKS, UNIFORM), arm(TASKS, {"name": "target-rate"}, name="b")],
        {"data": OVERLAID},
    ),
    "an automatic weighting without a rate": (
        [("arms[0].problem.rate", ["no information term", "'mib'"])],
        [arm({**BOTTLENECK, "rate": "none"}, MIB)],
        {},
    ),
    "an automatic weighting where one of the rates is none": (
        [("arms[0].problem.rate", ["no information term", "'target-rate'"])],
        [arm({**BOTTLENECK, "rate": {"grid": ["vib", "none"]}}, {"name": "target-rate"})],
        {},
    ),
    "a weight of no term": (
        [("arms[0].weighting.weights.middle", ["'middle' is not a term of problem multitask", "left, right"])],
        [arm(TASKS, {**FIXED, "weights": {"left": 1.0, "middle": 2.0}})],
        {"data": OVERLAID},
    ),
    "one beta for three terms": (
        [("arms[0].weighting.beta", ["second of two terms", "class, rotation, exemplar"])],
        [arm(THREE, {**FIXED, "beta": 0.1})],
        {},
    ),
    "a simplex and weights": (
        [("arms[0].weighting.simplex", ["leave weights out", "got weights of left"])],
        [arm(TASKS, {**FIXED, "simplex": 2, "weights": {"left": 1.0}})],
        {"data": OVERLAID},
    ),
    "a simplex in a search": (
        [("arms[0].weighting.simplex", ["simplex is a grid", "got simplex 2"])],
        [arm(TASKS, {**FIXED, "simplex": 2}, search=OPTUNA, training={"learning_rate": RATED})],
        {"data": OVERLAID},
    ),
    **{
        f"conditional with a {name} that cannot be modulated": (
            [("arms[0].weighting.name", ["conditional", "mlp or cnn", f"'{name}'"])],
            [arm(weighting=CONDITIONAL)],
            {"model": {"name": name}},
        )
        for name in ("resnet18", "rnn", "transformer")
    },
    "conditional with a single task": (
        [("arms[0].weighting.name", ["conditional", "two terms or more", "one (class)"])],
        [arm({"name": "multitask"}, CONDITIONAL)],
        {},
    ),
    "conditional on a toy": (
        [("arms[0].weighting.name", ["network", "'toy'"])],
        [arm({"name": "toy"}, CONDITIONAL)],
        {},
    ),
    "conditional with direct feedback": (
        [("arms[0].weighting.name", ["backprop", "'dfa'"])],
        [arm(weighting=CONDITIONAL)],
        {"training": {"feedback": "dfa"}},
    ),
    "conditional with balance": (
        [("arms[0].weighting.name", ["without balance"])],
        [arm(weighting=CONDITIONAL)],
        {"training": {"balance": {}}},
    ),
    "conditional with a teacher": (
        [("arms[0].weighting.name", ["teacher", "'exemplar'"])],
        [arm(THREE, CONDITIONAL)],
        {},
    ),
    "conditional in a search": (
        [("arms[0].search", ["one point per trial", "got optuna"])],
        [arm(weighting=CONDITIONAL, training={"learning_rate": RATED}, search=OPTUNA)],
        {},
    ),
    "conditional with βs in the wrong order": (
        [("arms[0].weighting.beta", ["from must be below to", "got 1 and 0.0001"])],
        [arm(weighting={**CONDITIONAL, "beta": {"from": 1.0, "to": 1e-4}})],
        {},
    ),
    "conditional from a β of 0 on a log law": (
        [("arms[0].weighting.beta", ["log scale", "above 0", "got 0 and 1"])],
        [arm(weighting={**CONDITIONAL, "beta": {"from": 0.0, "to": 1.0}})],
        {},
    ),
    "conditional with a grid over β": (
        [("arms[0].weighting.beta", ["all β", "{from, to}", "got a grid"])],
        [arm(weighting={**CONDITIONAL, "beta": {"grid": [0.01, 0.1]}})],
        {},
    ),
    "conditional from a β that single precision does not have": (
        [("arms[0].weighting.beta", ["from: networks hold βs from 1e−30 to 1e30", "got 1e−60"])],
        [arm(weighting={**CONDITIONAL, "beta": {"from": 1e-60, "to": 1.0}})],
        {},
    ),
    "fvib to a β that single precision does not have": (
        [("arms[0].weighting.beta", ["to: networks hold βs", "got 1e40"])],
        [arm(weighting={**FVIB, "beta": {"from": 1e-3, "to": 1e40}})],
        {},
    ),
    "conditional with βs whose ratio single precision does not have": (
        [("arms[0].weighting.beta", ["to must be at most 1e30 times from", "got 1e−20 and 1e20"])],
        [arm(weighting={**CONDITIONAL, "beta": {"from": 1e-20, "to": 1e20}})],
        {},
    ),
    "conditional with preferences that are no numbers": (
        [("arms[0].weighting.concentration", ["greater than or equal to 0.000001", "got 1e-38"])],
        [arm(TASKS, {**CONDITIONAL, "concentration": 1e-38})],
        {"data": OVERLAID},
    ),
    "conditional with a concentration that single precision does not have": (
        [("arms[0].weighting.concentration", ["less than or equal to 1000000", "got 1e+39"])],
        [arm(TASKS, {**CONDITIONAL, "concentration": 1e39})],
        {"data": OVERLAID},
    ),
    "conditional with a temperature that single precision does not have": (
        [("arms[0].weighting.mu", ["greater than or equal to 0.000001", "got 1e-50"])],
        [arm(TASKS, {**CONDITIONAL, "scalarization": "stch", "mu": 1e-50})],
        {"data": OVERLAID},
    ),
    "conditional with βs that are one to a network": (
        [("arms[0].weighting.beta", ["too close", "got 1.0 and 1.000000001"])],
        [arm(weighting={**CONDITIONAL, "beta": {"from": 1.0, "to": 1.000000001}})],
        {},
    ),
    "conditional with preferences of a bottleneck": (
        [("arms[0].weighting.concentration", ["preferences among tasks", "leave it out", "got 0.5"])],
        [arm(weighting={**CONDITIONAL, "concentration": 0.5})],
        {},
    ),
    "conditional with a temperature of a sum": (
        [("arms[0].weighting.mu", ["scalarization stch", "leave it out", "got 0.5"])],
        [arm(weighting={**CONDITIONAL, "mu": 0.5})],
        {},
    ),
    "conditional with the βs of tasks": (
        [("arms[0].weighting.beta", ["is of a bottleneck", "leave it out", "0.01"])],
        [arm(TASKS, {**CONDITIONAL, "beta": {"from": 0.01, "to": 1.0}})],
        {"data": OVERLAID},
    ),
    "fvib whose decoder is less sure than chance": (
        [("arms[0].weighting.confidence", ["above 0.5", "got 0.05"])],
        [arm(weighting={**FVIB, "confidence": 0.05})],
        {},
    ),
    "a gain of conditional, whose trials are curves": (
        [("limits.gain", ["one point per trial", "arm 'a' (conditional)", "got 15 configurations"])],
        [arm(weighting=CONDITIONAL, training={"learning_rate": RATES})],
        {"limits": {"gain": 0.01}},
    ),
    "a gain of fvib, whose trials are curves": (
        [("limits.gain", ["one point per trial", "arm 'a' (fvib)", "got 15 configurations"])],
        [arm(weighting=FVIB, training={"learning_rate": RATES})],
        {"limits": {"gain": 0.01}},
    ),
    "conditional without points": (
        [("arms[0].weighting.points", ["greater than or equal to 1", "0"])],
        [arm(weighting={**CONDITIONAL, "points": 0})],
        {},
    ),
    "conditional with a million points": (
        [("arms[0].weighting.points", ["less than or equal to 256", "1000000"])],
        [arm(weighting={**CONDITIONAL, "points": 10**6})],
        {},
    ),
    "verify below 0": (
        [("arms[0].weighting.verify", ["greater than or equal to 0", "-1"])],
        [arm(weighting={**CONDITIONAL, "verify": -1})],
        {},
    ),
    "verify over its limit": (
        [("arms[0].weighting.verify", ["less than or equal to 64", "65"])],
        [arm(weighting={**CONDITIONAL, "verify": 65})],
        {},
    ),
    "verify at more βs than the curve has": (
        [("arms[0].weighting.verify", ["from the 4 of the curve", "got 5"])],
        [arm(weighting={**CONDITIONAL, "points": 4, "verify": 5})],
        {},
    ),
    "verify of a curve that the clock ends": (
        [("arms[0].weighting.verify", ["as many epochs", "leave verify or training_seconds out", "got 2"])],
        [arm(weighting={**CONDITIONAL, "verify": 2})],
        {"limits": {"training_seconds": 5}},
    ),
    "an objective of the training alone, where an arm has a curve": (
        [("objectives[0].metric", ["each point of arm 'a' (conditional)", "of the training alone", "got 'loss_info'"])],
        [arm(weighting=CONDITIONAL)],
        {"objectives": goals("loss_info", "i_zy_bits")},
    ),
    "a bound on the training alone, where an arm has a curve": (
        [("constraints[0].metric", ["each point of arm 'a' (fvib)", "got 'loss_pred'"])],
        [arm(weighting=FVIB)],
        {"constraints": [{"metric": "loss_pred", "at_most": 1.0}]},
    ),
    "verify of several tasks that no weighted sum trains": (
        [("arms[0].weighting.verify", ["weighted sums", "got scalarization stch"])],
        [arm(TASKS, {**CONDITIONAL, "verify": 2, "scalarization": "stch"})],
        {"data": OVERLAID},
    ),
    "verify at more preferences than the curve has": (
        [("arms[0].weighting.verify", ["preferences from the 6 of the curve", "got 7"])],
        [arm({**TASKS, "auxiliaries": ["right", "random-labels"]}, {**CONDITIONAL, "points": 9, "verify": 7})],
        {"data": OVERLAID},
    ),
    "fvib of several tasks": (
        [("arms[0].weighting.name", ["problem bottleneck", "got problem 'multitask'"])],
        [arm(TASKS, FVIB)],
        {"data": OVERLAID},
    ),
    "fvib with another rate": (
        [("arms[0].weighting.name", ["rate vib", "got rate [nib]"])],
        [arm({**BOTTLENECK, "rate": "nib"}, FVIB)],
        {},
    ),
    "fvib with a transform": (
        [("arms[0].weighting.name", ["without a transform", "transform [square]"])],
        [arm({**BOTTLENECK, "transform": "square"}, FVIB)],
        {},
    ),
    "fvib with labels that are no classes": (
        [("arms[0].weighting.name", ["classes", "'gaussian'"])],
        [arm(weighting=FVIB)],
        {"data": {"name": "gaussian"}},
    ),
    "fvib with a decoder that has hidden layers": (
        [("arms[0].weighting.name", ["model.head []", "got model.head [64]"])],
        [arm(weighting=FVIB)],
        {"model": {"name": "mlp", "head": [64]}},
    ),
    "fvib with direct feedback": (
        [("arms[0].weighting.name", ["backprop", "'dfa'"])],
        [arm(weighting=FVIB)],
        {"training": {"feedback": "dfa"}},
    ),
    "fvib with balance": (
        [("arms[0].weighting.name", ["without balance"])],
        [arm(weighting=FVIB)],
        {"training": {"balance": {}}},
    ),
    "fvib with weights that shrink": (
        [("arms[0].weighting.name", ["training.l1 and training.l2 of 0"])],
        [arm(weighting=FVIB, training={"l2": {"grid": [0.0, 1e-3]}})],
        {},
    ),
    "fvib with weights that decay": (
        [("arms[0].weighting.name", ["training.weight_decay of 0 with adamw"])],
        [arm(weighting=FVIB, training={"optimizer": "adamw"})],
        {},
    ),
    "fvib without noise": (
        [("arms[0].weighting.beta.from", ["above 0", "got 0.0"])],
        [arm(weighting={**FVIB, "beta": {"from": 0.0, "to": 0.5, "law": "uniform"}})],
        {},
    ),
    "fvib where nothing is left": (
        [("arms[0].weighting.beta.to", ["at most 1", "got 2.0"])],
        [arm(weighting={**FVIB, "beta": {"from": 0.1, "to": 2.0}})],
        {},
    ),
    "fvib in a search": (
        [("arms[0].search", ["one point per trial", "got optuna"])],
        [arm(weighting=FVIB, training={"learning_rate": RATED}, search=OPTUNA)],
        {},
    ),
    "fvib verified at more βs than its curve has": (
        [("arms[0].weighting.verify", ["from the 4 of the curve", "got 5"])],
        [arm(weighting={**FVIB, "points": 4, "verify": 5})],
        {},
    ),
    "more networks to verify than the study may have trials": (
        [("limits.trials", ["expands to 4 trials", "limits.trials = 3"])],
        [arm(weighting={**CONDITIONAL, "verify": 3})],
        {"limits": {"trials": 3}},
    ),
    "several βs in a batch whose rate takes all examples": (
        [("arms[0].weighting.draws", ["must be 1", "got 4"])],
        [arm({**BOTTLENECK, "rate": "nib"}, {**CONDITIONAL, "draws": 4})],
        {},
    ),
    "several βs in a batch whose rate is transformed": (
        [("arms[0].weighting.draws", ["must be 1", "got 4"])],
        [arm({**BOTTLENECK, "transform": "square"}, {**CONDITIONAL, "draws": 4})],
        {},
    ),
    "stch of a bottleneck": (
        [("arms[0].weighting.scalarization", ["multitask", "'bottleneck'"])],
        [arm(weighting={**CONDITIONAL, "scalarization": "stch"})],
        {},
    ),
    "blending without a validation split": (
        [("arms[0].weighting.name", ["data.validation_fraction > 0", "0.0", "'digits'"])],
        [arm(weighting={"name": "blending"})],
        {"data": {"name": "digits", "validation_fraction": 0}},
    ),
    "blending on a toy": (
        [("arms[0].weighting.name", ["validation split", "toy"])],
        [arm({"name": "toy"}, {"name": "blending"})],
        {},
    ),
    "feedback alignment of a toy": (
        [("arms[1].training.feedback", ["model mlp", "problem 'toy'"])],
        [TOY, {**TOY, "name": "b", "training": {"feedback": "dfa"}}],
        {},
    ),
    "feedback alignment of a convolution": (
        [("training.feedback", ["model mlp", "model 'cnn'"])],
        [VIB],
        {"training": {"feedback": "dfa"}, "model": {"name": "cnn"}},
    ),
    "feedback alignment without hidden units": (
        [("training.feedback", ["hidden units", "model.widths", "none in model 'mlp' of problem 'bottleneck'"])],
        [arm(model={"widths": []})],
        {"training": {"feedback": "dfa"}},
    ),
    "feedback alignment and gradients to compare": (
        [("arms[1].weighting.name", ["without a Gram matrix", "'mib'"])],
        [VIB, arm(weighting=MIB, name="b")],
        {"training": {"feedback": "dfa"}},
    ),
    "a main task that is misspelt": (
        [
            (
                "arms[0].problem.main",
                ["'overlaid' has no task 'lft'", "known: class, coarse-class, rotation", "left, right"],
            )
        ],
        [arm({**TASKS, "main": "lft"}, UNIFORM)],
        {"data": OVERLAID},
    ),
    "a column of other data": (
        [("arms[0].problem.auxiliaries[0]", ["'digits' has no task 'right'", "random-labels"])],
        [arm({**TASKS, "main": "class"}, UNIFORM)],
        {},
    ),
    "an attribute that was not asked for": (
        [("arms[0].problem.main", ["'celeba' has no task 'male'", "known: class", "young, bald"])],
        [arm({"name": "multitask", "main": "male", "auxiliaries": ["bald"]}, UNIFORM)],
        {"data": {"name": "celeba", "attributes": ["young", "bald"]}},
    ),
    "a domain by its folder's name": (
        [("arms[0].problem.auxiliaries[0]", ["no task 'photo'", "domain-<folder>"])],
        [arm({"name": "multitask", "auxiliaries": ["photo"]}, UNIFORM)],
        {"data": {"name": "image-folder", "path": "p"}},
    ),
    "tasks that cannot be made of a table": (
        [
            ("arms[0].problem.main", ["'coarse-class'", "no coarser form"]),
            ("arms[0].problem.auxiliaries[0]", ["'rotation'", "only images can be turned", "known: class, exemplar"]),
        ],
        [arm({"name": "multitask", "main": "coarse-class", "auxiliaries": ["rotation"]}, UNIFORM)],
        {"data": {"name": "yeast"}},
    ),
    "classes of a continuous label": (
        [("arms[0].problem.main", ["'gaussian' has no task 'class'", "continuous"])],
        [arm({"name": "multitask", "auxiliaries": ["reconstruction"]}, UNIFORM)],
        {"data": {"name": "gaussian"}},
    ),
    "one column by two names": (
        [("arms[0].problem.main", ["'class' is the first column of data 'overlaid'", "'left'"])],
        [arm({"name": "multitask", "main": "class", "auxiliaries": ["left"]}, UNIFORM)],
        {"data": OVERLAID},
    ),
    "balance without hidden units": (
        [("arms[0].training.balance", ["hidden units", "'mlp'", "'bottleneck'"])],
        [arm(training={"balance": {}}, model={"widths": []})],
        {},
    ),
    "balance of a toy for all": (
        [("training.balance", ["hidden units", "'toy'"])],
        [TOY],
        {"training": {"balance": {}}},
    ),
    "balance every so often that never sweeps again": (
        [("training.balance.every", ["partial, both and repeated", "mode full", "got 2"])],
        [VIB],
        {"training": {"balance": {"mode": "full", "every": 2}}},
    ),
    "several intervals of a balance that is only measured or done once": (
        [("arms[0].training.balance.every", ["mode none and full", "got 1, 2"])],
        [arm(training={"balance": {"mode": {"grid": ["none", "full"]}, "every": {"grid": [1, 2]}}})],
        {},
    ),
    "balance after more epochs than there are": (
        [("training.balance.every", ["last of 3 epochs", "got 4"])],
        [VIB],
        {"training": {"balance": {"every": {"grid": [3, 4]}}, "epochs": 3}},
    ),
    "a balance after training that a clock may cut": (
        [("training.balance.mode", ["mode after", "limits.training_seconds", "leave one out"])],
        [VIB],
        {"training": {"balance": {"mode": "after"}}, "limits": {"training_seconds": 5}},
    ),
    "a balance after training where the best epoch is kept": (
        [("training.best", ["mode after", "training.best", "'accuracy'"])],
        [VIB],
        {"training": {"balance": {"mode": "after"}, "best": "accuracy"}},
    ),
    "an order of a balance that is only measured": (
        [("training.balance.order", ["mode none balances nothing", "got reverse"])],
        [VIB],
        {"training": {"balance": {"mode": "none", "order": "reverse"}}},
    ),
    "an order of one layer": (
        [("arms[0].training.balance.order", ["one layer", "got alternating"])],
        [arm(training={"balance": {"order": "alternating"}}, model={"widths": [8]})],
        {},
    ),
    "overfitting of a toy": (
        [("evaluation.overfitting", ["validation split", "problem toy"])],
        [TOY],
        {"evaluation": {"overfitting": True}},
    ),
    "overfitting with nothing held out": (
        [("evaluation.overfitting", ["data.validation_fraction > 0", "got 0.0"])],
        [VIB],
        {"evaluation": {"overfitting": True}, "data": {"name": "digits", "validation_fraction": 0}},
    ),
    "an objective of overfitting that nobody asked for": (
        [("objectives[0].metric", ["not reported by arm 'a'", "evaluation.overfitting"])],
        [VIB],
        {"objectives": goals("loss_gap_pred", "i_zy_bits")},
    ),
    "direct feedback to the samples of a code": (
        [("arms[0].problem.rate", ["dfa", "leave the rate out", "'vib'"])],
        [arm({**TASKS, "rate": "vib"}, UNIFORM)],
        {"data": OVERLAID, "training": {"feedback": "dfa"}},
    ),
    "a rate trained alone": (
        [("arms[0].weighting.task", ["'info' is not a task", "left, right"])],
        [arm({**TASKS, "rate": "vib"}, {"name": "single", "task": "info"})],
        {"data": OVERLAID},
    ),
    "balance of a code that is sampled": (
        [("training.balance", ["hidden units", "'multitask'"])],
        [arm({**TASKS, "rate": "vib"}, UNIFORM, model={"widths": []})],
        {"data": OVERLAID, "training": {"balance": {}}},
    ),
    "a teacher without its task": (
        [("arms[0].problem", ["teacher_sees", "exemplar"])],
        [arm({**TASKS, "teacher_sees": "original"}, UNIFORM)],
        {"data": OVERLAID},
    ),
    "a search with nothing to search": (
        [("arms[0].search", ["something to search"])],
        [arm(search=OPTUNA)],
        {},
    ),
}

TAKEN: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "objectives that every arm reports": ([VIB, {**TOY, "name": "t"}], {"objectives": goals("seconds", "epoch")}),
    "a baseline that is an arm": ([VIB], {"baseline": "a"}),
    "accuracy under an attack that is made": (
        [VIB],
        {"objectives": goals("robust_pgd", "accuracy"), "evaluation": PGD},
    ),
    "an estimate with its estimator": (
        [VIB],
        {"objectives": goals("i_xz_infonce_bits", "accuracy"), "evaluation": {"estimators": ["infonce"]}},
    ),
    "few labels for tasks": ([arm(THREE, UNIFORM)], {"data": {"name": "digits", "labels": 100}}),
    "all labels for a bottleneck": ([VIB], {"data": {"name": "digits", "labels": None}}),
    "attacks on a bottleneck of images": ([VIB], {"evaluation": PGD}),
    "nearest neighbours in five dimensions": (
        [VIB],
        {"evaluation": {"estimators": ["ksg"]}, "data": GAUSSIAN, "model": {"name": "mlp", "latent": 5}},
    ),
    "estimators of what has no pixels": (
        [VIB],
        {"evaluation": {"estimators": ["infonce"]}, "data": {"name": "gaussian"}},
    ),
    "a latent map where one arm has a code": (
        [VIB, {**TOY, "name": "t"}],
        {"evaluation": {"latent_map": {}}, "objectives": goals("seconds", "epoch")},
    ),
    "a latent map of seeds that are there": (
        [VIB],
        {"evaluation": {"latent_map": {"seeds": [1, 0]}}, "seeds": [0, 1]},
    ),
    "a target rate of a bottleneck": ([arm(weighting={"name": "target-rate"})], {}),
    "weights by hand without a rate": (
        [
            arm({**BOTTLENECK, "rate": {"grid": ["vib", "none"]}}, FIXED),
            arm({**BOTTLENECK, "rate": "none"}, UNIFORM, name="b"),
        ],
        {},
    ),
    "an automatic weighting of other rates": ([arm({**BOTTLENECK, "rate": {"grid": ["vib", "nib"]}}, MIB)], {}),
    "weights of some terms": ([arm(TASKS, {**FIXED, "weights": {"right": 2.0}})], {"data": OVERLAID}),
    "weights of three terms": ([arm(THREE, {**FIXED, "weights": {"exemplar": 2.0}})], {}),
    "one beta for two terms": ([arm(TASKS, {**FIXED, "beta": 0.1})], {"data": OVERLAID}),
    "a simplex of three terms": ([arm(THREE, {**FIXED, "simplex": 3})], {}),
    "weights in a search": (
        [arm(TASKS, {**FIXED, "weights": {"right": RATED}}, search=OPTUNA)],
        {"data": OVERLAID},
    ),
    "conditional with one β for each batch of a nonlinear bottleneck": (
        [arm({**BOTTLENECK, "rate": "nib"}, {**CONDITIONAL, "draws": 1})],
        {},
    ),
    "fvib with any encoder whose decoder is linear": (
        [arm(weighting=FVIB), arm(weighting={**FVIB, "verify": 3}, name="b", model={"widths": [8]})],
        {},
    ),
    "conditional of several tasks, verified at every preference of its curve": (
        [arm(TASKS, {**CONDITIONAL, "points": 4, "verify": 4})],
        {"data": OVERLAID, "limits": {"trials": 5}},
    ),
    "conditional verified at every β of its curve": (
        [arm(weighting={**CONDITIONAL, "points": 4, "verify": 4})],
        {"limits": {"trials": 5}},
    ),
    "conditional with a temperature of stch, and few preferences": (
        [arm(TASKS, {**CONDITIONAL, "scalarization": "stch", "mu": 0.5, "concentration": 0.01})],
        {"data": OVERLAID},
    ),
    "fvib that is fairly sure, over few βs": (
        [arm(weighting={**FVIB, "confidence": 0.51, "beta": {"from": 0.99, "to": 1.0}})],
        {},
    ),
    "a gain of a grid beside one curve": (
        [arm(training={"learning_rate": RATES}), arm(weighting={**CONDITIONAL, "verify": 3}, name="b")],
        {"limits": {"gain": 0.01}},
    ),
    "conditional with a cnn, and of several tasks": (
        [arm(weighting=CONDITIONAL)],
        {"model": {"name": "cnn"}},
    ),
    "blending with a validation split": (
        [arm(weighting={"name": "blending"})],
        {},
    ),
    "feedback alignment of an mlp": ([VIB, arm(weighting=UNIFORM, name="b")], {"training": {"feedback": "dfa"}}),
    "feedback alignment of a head's hidden units": (
        [arm(model={"widths": [], "head": [8]})],
        {"training": {"feedback": "dfa"}},
    ),
    "feedback alignment of a hidden code": (
        [arm(TASKS, UNIFORM, model={"widths": []})],
        {"training": {"feedback": "dfa"}, "data": OVERLAID},
    ),
    "an arm that goes back to backpropagation": (
        [VIB, arm(weighting=MIB, name="b", training={"feedback": "backprop"})],
        {"training": {"feedback": "dfa"}},
    ),
    "domains that only the folder knows": (
        [arm({"name": "multitask", "main": "domain-photo", "auxiliaries": ["class", "domain-art"]}, UNIFORM)],
        {"data": {"name": "image-folder", "path": "p"}},
    ),
    "a column beside made tasks": (
        [arm({"name": "multitask", "main": "right", "auxiliaries": ["class", "coarse-class"]}, UNIFORM)],
        {"data": OVERLAID},
    ),
    "balance of hidden units": ([VIB], {"training": {"balance": {}}}),
    "balance every so often that sweeps in one of its modes": (
        [VIB],
        {"training": {"balance": {"mode": {"grid": ["full", "both"]}, "every": 3}, "epochs": 3}},
    ),
    "balance after training": ([VIB], {"training": {"balance": {"mode": "after"}}}),
    "an order of two layers, and full balance every second epoch": (
        [VIB],
        {"training": {"balance": {"mode": "repeated", "every": 2, "order": "reverse"}, "epochs": 2}},
    ),
    "overfitting with examples held out": ([VIB], {"evaluation": {"overfitting": True}}),
    "a rate beside tasks": ([arm({**THREE, "rate": "vib"}, {"name": "fixed", "weights": {"info": 0.01}})], {}),
    "a teacher with its task": ([arm({**THREE, "teacher_sees": "original"}, UNIFORM)], {}),
    "a task as its file spells it": (
        [arm({"name": "multitask", "main": "Smiling", "auxiliaries": ["Young"]}, UNIFORM)],
        {"data": {"name": "celeba", "attributes": ["Smiling", "Young"]}},
    ),
    "balance before training": ([VIB], {"training": {"balance": {"mode": "full", "every": 1}}}),
    "no balance where there is nothing to balance": (
        [arm(training={"balance": None}, model={"widths": []}), arm(name="b")],
        {"training": {"balance": {}}},
    ),
    "balance of a hidden code": (
        [arm(TASKS, UNIFORM, training={"balance": {}}, model={"widths": []})],
        {"data": OVERLAID},
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_it_is_refused_with_path_rule_and_value_and_nothing_else_is(what: str) -> None:
    expected, arms, parts = CASES[what]
    found = details(*arms, **parts)
    assert [path for path, _ in found] == [path for path, _ in expected], found
    for (_, message), (_, words) in zip(found, expected, strict=True):
        assert [word for word in words if word not in message] == [], message


@pytest.mark.parametrize("what", TAKEN)
def test_its_neighbour_is_taken(what: str) -> None:
    arms, parts = TAKEN[what]
    assert details(*arms, **parts) == []


def test_every_broken_rule_is_told_not_only_the_first() -> None:
    found = details(
        arm(weighting={"name": "blending"}),
        arm({**BOTTLENECK, "rate": "none"}, MIB, name="b"),
        data={"name": "digits", "labels": 10, "validation_fraction": 0},
        evaluation={"latent_map": {"seeds": [9]}},
    )
    assert [path for path, _ in found] == [
        "data.labels",
        "evaluation.latent_map.seeds[0]",
        "arms[1].problem.rate",
        "arms[0].weighting.name",
    ]
