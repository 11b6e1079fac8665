"""What analysis takes from a view: who counts for the front, on which axes, and what was spent."""

from __future__ import annotations

import pytest

from service.analysis.candidates import candidates, chosen_axes, front_ids, metric_axis, objectives, spent_by_arm
from service.contract.wire.errors import InvalidInput
from tests.service.studies import MIB, bits, bottleneck_of, play


def test_the_front_is_of_all_objectives() -> None:
    view = bottleneck_of(MIB, seeds=(0, 1, 2))
    small, large, worse = view.trials
    for trial, place in ((small, (2.0, 2.0)), (large, (3.0, 3.0)), (worse, (4.0, 1.0))):
        play(view, trial, bits(place))
    assert front_ids(view) == {small, large}


def test_failed_collapsed_and_silent_trials_are_no_candidates() -> None:
    view = bottleneck_of(MIB, seeds=(0, 1, 2, 3, 4))
    good, failed, collapsed, running, _ = view.trials
    play(view, good, bits((2.0, 2.0)))
    play(view, failed, bits((1.0, 3.0)), "trial_failed")
    play(view, collapsed, bits((0.0, 0.0)))
    play(view, running, bits((3.0, 1.0)), "")
    assert [trial for trial, *_ in candidates(view)] == [good, running]
    ended = [(spent.seed, len(spent.points)) for spent in spent_by_arm(view, objectives(view))["MIB"]]
    assert ended == [(0, 1), (1, 0), (2, 0)], "what failed or collapsed was spent too"


def test_axes_are_those_asked_for_else_the_first_two_objectives() -> None:
    view = bottleneck_of(MIB)

    def names(x: str | None, y: str | None) -> list[str]:
        return [axis.metric for axis in chosen_axes(view, x, y)]

    assert names(None, None) == ["i_xz_bits", "i_zy_bits"]
    assert names("seconds", None) == ["seconds", "i_zy_bits"]
    assert names(None, "accuracy") == ["i_xz_bits", "accuracy"]


@pytest.mark.parametrize("name", ["colour", "robust_pgd", ""])
def test_a_metric_that_no_trial_reports_is_refused_with_the_parameter_that_asked(name: str) -> None:
    with pytest.raises(InvalidInput, match="is not a metric of this study; known: epoch, seconds") as refused:
        metric_axis(bottleneck_of(MIB), name, "z")
    assert [detail.path for detail in refused.value.details] == ["z"]
