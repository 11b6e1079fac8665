"""Specs that earlier versions stored, read as they were meant."""

from __future__ import annotations

import pytest

from service.contract.study.earlier import SPEC_VERSION, STEPS, as_meant


def test_before_splits_could_be_asked_for_nothing_was_held_out_and_all_seeds_shared_their_examples() -> None:
    old = {"name": "old", "data": {"name": "gaussian"}}
    assert as_meant(old, 1)["data"] == {"name": "gaussian", "validation_fraction": 0.0, "draw": "shared"}
    assert old["data"] == {"name": "gaussian"}, "what is stored stays"
    asked = {"name": "new", "data": {"name": "digits", "validation_fraction": 0.2, "draw": "per-seed"}}
    assert as_meant(asked, 1) == asked


def test_a_spec_of_this_version_is_read_as_it_is() -> None:
    spec = {"name": "new", "data": {"name": "gaussian"}}
    assert as_meant(spec, SPEC_VERSION) == spec and len(STEPS) == SPEC_VERSION - 1


@pytest.mark.parametrize("version", [0, SPEC_VERSION + 1])
def test_a_version_that_is_not_known_is_not_guessed_at(version: int) -> None:
    with pytest.raises(ValueError, match=f"version {version}, this Paretoscope reads 1 to {SPEC_VERSION}"):
        as_meant({}, version)
