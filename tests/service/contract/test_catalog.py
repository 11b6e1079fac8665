"""The catalog names every method a study may name, with what each of its parameters means."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from service.contract.catalog import OFTEN_SET, Catalog, Entry, catalog
from service.contract.study.parsing import check_study
from service.figures import described

NAMES = {
    "weightings": "fixed uniform single target-rate mib arml mgb blending mgda upgrad pcgrad cagrad nash-mtl imtl-g "
    "aligned-mtl fairgrad uw dwa famo imtl-l stch tchebycheff config db-mtl go4align dualproj gradvac pcd cr-mogm modo "
    "sdmgrad excess-mtl geometric-mean random cosmos pbi",
    "attacks": "fgsm pgd mifgsm nifgsm eotpgd upgd jitter",
    "searches": "grid optuna",
    "problems": "bottleneck toy multitask",
    "rates": "vib nib none",
    "sections": "training objective evaluation resources limits",
    "data": "digits fashion-mnist mnist cifar10 svhn celeba overlaid image-folder yeast census-income movie-reviews "
    "text gaussian toy",
}


def entries(kind: str) -> list[Entry]:
    return list(getattr(catalog([]), kind))


@pytest.mark.parametrize("kind", NAMES)
def test_every_name_of_the_contract_is_listed_once(kind: str) -> None:
    """Promised names: more may come, none goes."""
    found = [entry.name for entry in entries(kind)]
    assert len(found) == len(set(found))
    assert set(NAMES[kind].split()) <= set(found)


@pytest.mark.parametrize("kind", ["data", "models", "problems", "weightings", "searches", "attacks", "sections"])
def test_every_parameter_is_described(kind: str) -> None:
    listed = entries(kind)
    assert listed
    for entry in listed:
        assert len(entry.doc) > 15 and "\n" not in entry.doc, entry.name
        fields = {name: field for name, field in entry.schema.get("properties", {}).items() if name != "name"}
        silent = [name for name, field in fields.items() if not field.get("description")]
        assert silent == [], entry.name


def test_everything_in_the_catalog_has_a_name_words_and_a_schema() -> None:
    """As promised of all of it: a reader goes through it without asking which kind it is."""
    whole = TypeAdapter(Catalog).dump_python(catalog(described()))
    kinds = ["data", "models", "problems", "rates", "weightings", "searches", "attacks", "estimators", "figures"]
    for kind in kinds:
        assert whole[kind] and all({"name", "doc", "schema"} <= set(entry) for entry in whole[kind]), kind


@pytest.mark.parametrize("name", [entry.name for entry in entries("weightings")])
def test_a_study_may_name_every_weighting_of_the_catalog(name: str) -> None:
    problem = {"name": "multitask" if name == "single" else "bottleneck"}  # whose tasks it trains alone
    arm = {"name": "a", "problem": problem, "weighting": {"name": name}}
    study = check_study({"name": "s", "arms": [arm], "data": {"name": "digits", "validation_fraction": 0.1}})
    assert study.arms[0].weighting.name == name


@pytest.mark.parametrize("kind", ["data", "models", "problems", "weightings", "searches", "attacks"])
def test_a_form_starts_from_one_of_each_kind(kind: str) -> None:
    assert len([entry.name for entry in entries(kind) if entry.first_choice]) == 1


def test_what_is_often_set_is_a_parameter_of_something() -> None:
    assert {part: {name for entry in entries(part) for name in entry.often_set} for part in OFTEN_SET} == OFTEN_SET


def test_only_a_search_that_suggests_takes_ranges() -> None:
    suggests = {entry.name: entry.suggests for entry in catalog([]).searches}
    assert suggests == {"grid": False, "optuna": True, "fill": True}
