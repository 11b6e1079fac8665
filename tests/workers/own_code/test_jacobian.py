"""Gradients of all terms of all members: how they are held is said, and fewer members train where they do not fit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from service.contract.methods.own_problems import OwnProblem
from service.contract.methods.weightings import Arml, DbMtl, Fixed, Mgda
from tests.workers.own_code.parts import CPU, trial, two_heads, written
from workers.own_code import step as steps
from workers.own_code.cohort import OwnCohort
from workers.planning.cohorts import TooLarge

SHARED = 6 * 8 + 8
WHOLE, GROUPS = "Gram matrices of all gradients at once", "Gram matrices are summed over groups of parameters"
HELD = "all gradients are held at once"


def cohort_of(folder: Path, weighting: Any, held: int, members: int = 3, **more: Any) -> OwnCohort:
    trials = [trial(f"t{k}", weighting, seed=k) for k in range(members)]
    code = written(folder, two_heads())
    problem = trials[0].problem
    assert isinstance(problem, OwnProblem)
    return OwnCohort(trials, code.problem(problem), code.folder, CPU, held=held, **more)


@pytest.mark.parametrize(
    ("weighting", "held", "words"),
    [
        (Mgda(), 10**6, WHOLE),
        (Mgda(), 100, GROUPS),
        (DbMtl(), 10**6, WHOLE),
        (DbMtl(), 100, HELD),
        (Arml(gram="halves"), 100, HELD),
        (Arml(), 100, GROUPS),
        (Fixed(), 100, None),
    ],
)
def test_what_is_said_is_what_a_step_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weighting: Any, held: int, words: str | None
) -> None:
    cohort = cohort_of(tmp_path, weighting, held)
    said = [each for each in (WHOLE, GROUPS, HELD) if each in str(cohort)]
    assert said == ([words] if words else [])
    taken: list[str] = []
    for name in ("_gram_by_leaves", "_term_gradients"):
        monkeypatch.setattr(steps, name, partial(_noted, taken, name, getattr(steps, name)))
    cohort.train_epoch(1)
    assert set(taken) == ({None: set(), GROUPS: {"_gram_by_leaves"}}.get(words, {"_term_gradients"}))


def _noted(taken: list[str], name: str, way: Callable[..., Any], *how: Any) -> Any:
    taken.append(name)
    return way(*how)


@pytest.mark.parametrize(("room", "most"), [(1.5, 1), (2.0, 2), (0.5, 1)])
def test_fewer_members_train_where_all_gradients_are_needed_and_do_not_fit(
    tmp_path: Path, room: float, most: int
) -> None:
    held = int(room * 2 * SHARED)
    with pytest.raises(TooLarge, match=f"3 members have gradients of .* GB.* cohorts of at most {most}") as told:
        cohort_of(tmp_path, DbMtl(), held, may_be_cut=True)
    assert told.value.most == most
    cohort_of(tmp_path, DbMtl(), held, members=most, may_be_cut=True)
    cohort_of(tmp_path, Mgda(), held, may_be_cut=True)
    cohort_of(tmp_path, DbMtl(), 3 * 2 * SHARED, may_be_cut=True)
