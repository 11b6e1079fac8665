"""What is handed out next: cohorts that were begun, with those of their members who live, and the rest in new ones."""

from __future__ import annotations

from collections.abc import Sequence

from service.contract.study.expansion import PlannedTrial
from service.contract.study.parsing import check_study
from tests.planned import planned
from workers.on_ray.searcher import CohortSearcher
from workers.on_ray.trainable import members_of
from workers.planning.begun import Begun
from workers.planning.supply import Supply

BETAS = {"grid": [0.1, 0.2, 0.3, 0.4, 0.5]}
STUDY = check_study({"name": "s", "arms": [{"name": "a", "weighting": {"name": "fixed", "beta": BETAS}}]})
A, B, C, D, E = planned(STUDY)


def begun(*cohort: PlannedTrial, gone: tuple[PlannedTrial, ...] = ()) -> Begun:
    return Begun(list(cohort), 3, frozenset(trial.id for trial in gone))


def handed_out(supply: Supply) -> list[list[PlannedTrial]]:
    cohorts = []
    while (cohort := supply.next()) is not None:
        cohorts.append(cohort)
    assert supply.is_over
    return cohorts


class Asked:
    """A search that suggests these batches, one after the other."""

    def __init__(self, *batches: list[PlannedTrial]) -> None:
        self.left = list(batches)
        self.told: list[tuple[str, list[float] | None]] = []

    @property
    def exhausted(self) -> bool:
        return not self.left

    def ask(self) -> list[PlannedTrial]:
        return self.left.pop(0) if self.left else []

    def tell(self, trial: str, objectives: list[float] | None, excesses: Sequence[float] = ()) -> None:
        self.told.append((trial, objectives))


def test_a_retried_trial_that_failed_in_a_saved_cohort_is_trained_in_a_new_one() -> None:
    saved = begun(A, B, C, gone=(B,))
    supply = Supply([A, B, C, D], [], 1, None, [saved])
    assert handed_out(supply) == [[A, B, C], [B, D]]
    assert supply.gone_from([A, B, C]) == {B.id} and supply.gone_from([B, D]) == frozenset()


def test_a_retried_trial_is_trained_alone_where_the_others_of_its_saved_cohort_are_over() -> None:
    assert handed_out(Supply([B], [], 1, None, [begun(A, B, gone=(B,))])) == [[B]]


def test_a_saved_cohort_goes_on_whole_while_one_of_its_living_is_wanted() -> None:
    """Its state is of them all, also of those who have ended."""
    assert handed_out(Supply([B, D], [], 1, None, [begun(A, B, C)])) == [[A, B, C], [D]]


def test_a_saved_cohort_of_which_nobody_is_wanted_is_left_alone() -> None:
    assert handed_out(Supply([D], [], 1, None, [begun(A, B)])) == [[D]]
    assert handed_out(Supply([], [], 1, None, [begun(A, B)])) == []


def test_a_trial_that_failed_in_one_saved_cohort_and_lives_in_another_goes_on_in_that_one() -> None:
    saved = [begun(A, B, gone=(B,)), begun(B, C)]
    assert handed_out(Supply([A, B, C, D], [], 1, None, saved)) == [[A, B], [B, C], [D]]


def test_suggestions_whose_cohort_was_saved_go_on_in_it_before_what_is_planned() -> None:
    supply = Supply([D], [Asked([A, B], [E])], 1, None, [begun(A, B, gone=(B,))])
    assert [supply.next() for _ in range(5)] == [[A, B], [B], [E], [D], None]


def test_the_end_of_a_saved_cohort_says_nothing_of_whom_another_one_trains_again() -> None:
    search = Asked([A, B])
    supply = Supply([], [search], 2, None, [begun(A, B, gone=(B,))])
    searcher = CohortSearcher(supply, 2, {})
    assert [list(members_of(searcher.suggest(name))) for name in ("saved", "anew")] == [[A.id, B.id], [B.id]]
    searcher.on_trial_complete("saved")
    supply.tell(B.id, [1.0])
    assert search.told == [(A.id, None), (B.id, [1.0])]


def test_a_search_is_told_once_how_its_own_trials_ended() -> None:
    search = Asked([A])
    supply = Supply([D], [search], 1, None)
    assert supply.next() == [A]
    for objectives in ([1.0, 2.0], None):
        supply.tell(A.id, objectives)
        supply.tell(D.id, objectives)
    assert search.told == [(A.id, [1.0, 2.0])]


def test_no_cohort_comes_any_more_only_when_the_searches_are_exhausted_too() -> None:
    supply = Supply([], [Asked([A], [B])], 1, None)
    assert not supply.is_over, "before the first is asked for"
    assert supply.next() == [A] and not supply.is_over, "while another may be suggested"
    assert supply.next() == [B] and supply.is_over


def test_a_cohort_that_was_too_large_comes_again_in_smaller_ones_and_so_do_those_like_it() -> None:
    supply = Supply([A, B, C, D, E], [], 2, 3)
    first = supply.next()
    assert first is not None and len(first) > 1
    supply.cut(first, 1)
    assert not supply.is_over
    assert sorted(len(cohort) for cohort in handed_out(supply)) == [1] * 5


def test_others_are_as_large_as_before() -> None:
    longer = [trial._replace(training=trial.training.model_copy(update={"epochs": 3})) for trial in (D, E)]
    supply = Supply([A, B, C, *longer], [], 1, 3)
    handed = [supply.next(), supply.next()]
    large = next(cohort for cohort in handed if cohort and len(cohort) == 3)
    supply = Supply([A, B, C, *longer], [], 1, 3)
    supply.cut(large, 2)
    assert sorted(len(cohort) for cohort in handed_out(supply)) == [1, 1, 2, 2, 2]
