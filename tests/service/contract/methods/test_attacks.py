"""Attacks in a study: defaults, names of metrics, and what is refused."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from service.analysis import Axis
from service.analysis.candidates import metric_axis
from service.contract.catalog import catalog
from service.contract.methods.attacks import Eotpgd, Stepped, Upgd, metric_of
from service.contract.metrics import METRICS, described, metric
from service.contract.study.parsing import check_study
from service.contract.study.study import Study
from service.contract.wire.errors import InvalidInput
from service.figures.drawing.style import axis_layout, title_of

NAMES = ["fgsm", "pgd", "mifgsm", "nifgsm", "eotpgd", "upgd", "jitter"]
ARM = {"name": "a", "weighting": {"name": "fixed"}}


def study(*attacks: dict[str, Any], **change: Any) -> Study:
    return check_study({"name": "s", "arms": [ARM], "evaluation": {"attacks": list(attacks)}, **change})


def refused(*attacks: dict[str, Any], **change: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidInput) as caught:
        study(*attacks, **change)
    return [(detail.path, detail.message) for detail in caught.value.details]


def robust(name: str, **more: Any) -> dict[str, Any]:
    return {"objectives": [{"metric": "i_xz_bits", "goal": "minimize"}, {"metric": name, "goal": "maximize", **more}]}


def test_a_study_has_no_attacks_unless_it_lists_them() -> None:
    evaluation = study().evaluation
    assert evaluation.attacks == [] and evaluation.attack_metrics == []
    assert (evaluation.attack_images, evaluation.attack_every) == (1000, None)


def test_defaults_are_the_budget_that_reproduces_and_the_rules_of_the_methods() -> None:
    fgsm, pgd, mifgsm, nifgsm, eotpgd, upgd, jitter = study(*({"name": n} for n in NAMES)).evaluation.attacks
    for attack in (pgd, mifgsm, nifgsm, eotpgd, upgd, jitter):
        assert isinstance(attack, Stepped)
        assert (attack.epsilon, attack.step_size, attack.steps) == (8 / 255, 10 / 255, 10)
    assert fgsm.model_dump() == {"name": "fgsm", "epsilon": 8 / 255, "label": None}
    starts = [getattr(a, "random_start", None) for a in (pgd, mifgsm, nifgsm, eotpgd, upgd, jitter)]
    assert starts == [True, None, None, True, False, True]
    decays = [attack.model_dump().get("decay") for attack in (pgd, mifgsm, nifgsm, eotpgd, upgd, jitter)]
    assert decays == [None, 1.0, 1.0, None, 1.0, None]
    assert isinstance(eotpgd, Eotpgd) and eotpgd.eot == 10
    assert isinstance(upgd, Upgd) and upgd.loss == "ce"


def test_an_attack_may_stand_twice_under_two_labels() -> None:
    attacks = study({"name": "pgd"}, {"name": "pgd", "label": "pgd-1", "epsilon": 1 / 255}).evaluation.attacks
    assert [metric_of(a) for a in attacks] == ["robust_pgd", "robust_pgd-1"]


@pytest.mark.parametrize(
    ("attacks", "path", "words"),
    [
        ([{"name": "pdg"}], "evaluation.attacks[0].name", ["'pdg'", ", ".join(NAMES)]),
        ([{"name": "fgsm"}, {"epsilon": 0.1}], "evaluation.attacks[1]", ["give a name"]),
        ([{"name": "fgsm", "steps": 3}], "evaluation.attacks[0].steps", ["known keys: epsilon, label, name"]),
        ([{"name": "fgsm", "epsilon": 0}], "evaluation.attacks[0].epsilon", ["greater than 0", "got 0"]),
        ([{"name": "fgsm", "epsilon": 8}], "evaluation.attacks[0].epsilon", ["less than or equal to 1", "got 8"]),
        ([{"name": "pgd", "step_size": -0.1}], "evaluation.attacks[0].step_size", ["greater than 0", "-0.1"]),
        ([{"name": "pgd", "steps": 0}], "evaluation.attacks[0].steps", ["equal to 1", "got 0"]),
        ([{"name": "eotpgd", "eot": 0}], "evaluation.attacks[0].eot", ["equal to 1", "got 0"]),
        ([{"name": "upgd", "loss": "cw"}], "evaluation.attacks[0].loss", ["'ce', 'margin' or 'dlr'", "'cw'"]),
        ([{"name": "mifgsm", "decay": -1.0}], "evaluation.attacks[0].decay", ["equal to 0", "-1.0"]),
        ([{"name": "pgd", "label": "Strong PGD"}], "evaluation.attacks[0].label", ["pattern", "'Strong PGD'"]),
        ([{"name": "pgd", "label": "images"}], "evaluation.attacks[0].label", ["robust_images", "another label"]),
        ([{"name": "pgd"}, {"name": "pgd"}], "evaluation.attacks", ["'robust_pgd'", "another label"]),
        ([{"name": "pgd"}, {"name": "fgsm", "label": "pgd"}], "evaluation.attacks", ["'robust_pgd'"]),
    ],
)
def test_a_bad_attack_names_path_rule_and_value(attacks: list[dict[str, Any]], path: str, words: list[str]) -> None:
    found = dict(refused(*attacks))
    assert path in found, found
    for word in words:
        assert word in found[path]


def test_an_objective_may_be_the_accuracy_under_a_listed_attack() -> None:
    chosen = study({"name": "pgd", "label": "strong"}, **robust("robust_strong"))
    assert chosen.objectives[1].reference_value == 0.0


@pytest.mark.parametrize("attacks", [[], [{"name": "fgsm"}]])
def test_an_objective_whose_attack_is_missing_is_refused_by_name(attacks: list[dict[str, Any]]) -> None:
    ((_, message),) = refused(*attacks, **robust("robust_pgd"))
    assert "'robust_pgd'" in message and "evaluation.attacks" in message
    assert ("robust_fgsm" in message) == bool(attacks)


def test_metrics_know_the_names_of_attacks_and_no_others() -> None:
    found = described("robust_pgd-1")
    assert (found.goal, found.reference, found.unit) == ("maximize", 0.0, "") and "pgd-1" in found.label
    assert all(metric(name) is METRICS[name] for name in METRICS)
    assert [metric(n) for n in ("robust", "robust_", "robust_PGD", "robust_a b", "xrobust_a", "acuracy")] == [None] * 6
    assert described("robust_images").reference is None
    with pytest.raises(KeyError, match="acuracy"):
        described("acuracy")


def test_fronts_take_the_attacks_of_their_study_as_axes_and_refuse_others() -> None:
    chosen = study({"name": "pgd", "label": "strong"})
    view: Any = SimpleNamespace(study=chosen, metrics=chosen.metrics)
    assert metric_axis(view, "robust_strong", "y") == Axis("robust_strong", "maximize", 0.0, "validation_robust_strong")
    assert title_of("robust_strong") == "accuracy under strong"
    assert axis_layout("robust_strong", [0.01, 0.9])["title"] == {"text": "accuracy under strong"}
    with pytest.raises(InvalidInput, match=r"'robust_pgd' is not a metric of this study.*robust_strong"):
        metric_axis(view, "robust_pgd", "y")


def test_the_catalog_lists_all_seven_with_their_parameters() -> None:
    entries = catalog([]).attacks
    assert [entry.name for entry in entries] == NAMES
    for entry in entries:
        assert len(entry.doc) > 40
        fields = entry.schema["properties"]
        assert all("description" in fields[f] and "default" in fields[f] for f in fields if f != "name"), entry.name
