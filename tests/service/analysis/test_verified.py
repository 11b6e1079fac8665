"""A curve against networks that were trained separately for some of its βs: gaps that are known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.analysis.candidates import front_ids, objectives
from service.analysis.compared import compared
from service.analysis.curve_places import curve_places
from service.analysis.verified import Gaps
from service.analysis.verifying import verified
from service.contract.methods.weightings import Conditional, Fixed
from service.contract.study.expansion import PlannedTrial, count_trials, count_verifying, expand
from service.contract.study.study import Study
from service.contract.wire.events import Curve
from service.figures.drawing.trial_labels import labels_of
from service.views.fold import StudyView
from service.views.selectors import counts, progress
from tests.service.studies import MANUAL, bottleneck_of, curve, play, play_curves, study_of

BETAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
PLACES = ((16.0, 3.2), (8.0, 2.8), (4.0, 2.0), (2.0, 1.2), (1.0, 0.8))
Place = tuple[float, float]


def arm(verify: int = 2, points: int = 5) -> dict[str, object]:
    return {"name": "all β", "weighting": {"name": "conditional", "points": points, "verify": verify}}


def checked(
    *networks: Place, seeds: int = 3, noise: float = 0.0, curves: tuple[Place, ...] = PLACES, **spec: object
) -> StudyView:
    """Curves through PLACES and networks beside them, the least β first; the noise of a seed lifts its curve."""
    view = bottleneck_of(MANUAL, arm(len(networks)), seeds=range(seeds), **spec)
    for trial_id, trial in view.all_trials.items():
        seed = trial.planned.seed
        if trial.planned.arm == MANUAL["name"]:
            play(view, trial_id, [{"i_xz_bits": 6.0, "i_zy_bits": 1.0, "seconds": 10.0}])
        elif trial.planned.verifies:
            x, y = networks[sorted(set(betas_of(view))).index(beta_of(view, trial_id))]
            play(view, trial_id, [{"i_xz_bits": x, "i_zy_bits": y, "seconds": 7.0}])
        else:
            lifted = [(beta, x, y + noise * (seed - 1)) for beta, (x, y) in zip(BETAS, curves, strict=True)]
            play_curves(view, trial_id, curve(*lifted), seconds=16.0)
    return view


def beta_of(view: StudyView, trial: str) -> float:
    return float(view.all_trials[trial].planned.config["weighting.beta"])


def betas_of(view: StudyView) -> list[float]:
    return [beta_of(view, own) for own, trial in view.all_trials.items() if trial.planned.verifies]


def found(view: StudyView) -> Gaps:
    own = verified(view, "all β", objectives(view))
    assert own is not None
    return own.gaps


def test_the_gap_is_what_the_curve_is_better_by_at_the_same_rate() -> None:
    """Under the curve by 0.1 at a β and by 0.3 at the other, at its very rates: 0.2 in the mean."""
    own = found(checked((8.0, 2.7), (2.0, 0.9)))
    assert own.matched["i_zy_bits"].mean == pytest.approx(0.2)
    assert own.matched["i_zy_bits"].half_width == pytest.approx(0.0, abs=1e-9)
    assert own.distance.mean is not None and own.distance.mean > 0
    assert own.reached == 1.0


def test_between_two_points_of_the_curve_a_line_is_compared_with() -> None:
    """Half-way between (4, 2.0) and (8, 2.8) the curve has 2.4, and the network 2.5."""
    own = found(checked((6.0, 2.5)))
    assert own.matched["i_zy_bits"].mean == pytest.approx(-0.1)
    assert own.matched["i_xz_bits"].mean == pytest.approx(-0.5), "it has 2.5 for half a bit less"
    assert own.distance.mean is not None and own.distance.mean < 0


def test_at_the_same_beta_both_objectives_are_told_apart() -> None:
    own = found(checked((9.0, 2.7), (1.5, 0.9)))
    assert [at.where["beta"] for at in own.places] == pytest.approx([1e-3, 1e-1])
    first, second = ({name: gap.mean for name, gap in at.differences.items()} for at in own.places)
    assert first == pytest.approx({"i_xz_bits": -1.0, "i_zy_bits": 0.1})
    assert second == pytest.approx({"i_xz_bits": 0.5, "i_zy_bits": 0.3})
    assert own.differences["i_xz_bits"].mean == pytest.approx(-0.25)


def test_the_interval_is_over_seeds_each_by_its_own_networks() -> None:
    """Gaps 0.1, 0.2 and 0.3: mean 0.2, t₂ 4.303 · 0.1/√3."""
    own = found(checked((8.0, 2.6), noise=0.1))
    assert own.matched["i_zy_bits"].mean == pytest.approx(0.2)
    assert own.matched["i_zy_bits"].half_width == pytest.approx(4.302653 * 0.1 / 3**0.5)


@given(lift=st.floats(-0.3, 0.3), at=st.sampled_from([1, 2, 3]))
def test_a_network_that_lies_so_far_under_the_curve_is_found_there(lift: float, at: int) -> None:
    x, y = PLACES[at]
    gap = found(checked((x, y - lift))).matched["i_zy_bits"].mean
    assert gap == pytest.approx(lift, abs=1e-9)


def test_claims_are_of_the_test_split_and_the_curve_is_chosen_by_the_validation_split() -> None:
    """The point that validation prefers is worse on test: the curve is compared by what it has there."""
    view = bottleneck_of(arm(1, points=1), seeds=(0, 1, 2))
    for trial_id, trial in view.all_trials.items():
        own = {"i_xz_bits": 4.0, "i_zy_bits": 2.0, "validation_i_xz_bits": 4.0, "validation_i_zy_bits": 1.0}
        if trial.planned.verifies:
            play(view, trial_id, [own])
        else:
            better = {"validation_i_xz_bits": 4.0, "validation_i_zy_bits": 3.0}
            play_curves(view, trial_id, curve((1e-2, 4.0, 1.5), **better))
    assert found(view).differences["i_zy_bits"].mean == pytest.approx(-0.5)


def test_what_has_not_finished_and_what_failed_is_not_compared() -> None:
    view = bottleneck_of(arm(2), seeds=(0,))
    curved, first, second = view.all_trials
    play_curves(view, curved, curve(*((b, x, y) for b, (x, y) in zip(BETAS, PLACES, strict=True))), end="")
    play(view, first, [{"i_xz_bits": 8.0, "i_zy_bits": 2.7}])
    assert found(view).differences["i_zy_bits"].seeds == 0, "the curve still grows"
    play_curves(view, curved, curve(*((b, x, y) for b, (x, y) in zip(BETAS, PLACES, strict=True))))
    play(view, second, [{"i_xz_bits": 2.0, "i_zy_bits": 0.2}], end="trial_failed")
    own = found(view)
    assert own.matched["i_zy_bits"].mean == pytest.approx(0.1)
    assert [at.differences["i_zy_bits"].seeds for at in own.places] == [1, 0]
    whole = verified(view, "all β", objectives(view))
    assert whole is not None and "have ended" not in whole.words, "one of them has failed"


def test_a_network_past_an_end_of_the_curve_has_no_height_but_a_difference() -> None:
    own = found(checked((20.0, 3.4), (2.0, 0.9)))
    assert own.reached == 0.5
    assert own.matched["i_zy_bits"].mean == pytest.approx(0.3), "the other one alone"
    assert own.places[0].differences["i_xz_bits"].mean == pytest.approx(8.0 - 20.0)


COLLAPSED = (0.01, 0.0)


def curves_of(*curves: tuple[Place, ...], network: Place = (8.0, 2.7)) -> StudyView:
    """In each seed another curve, and one network beside it."""
    view = bottleneck_of(arm(1), seeds=range(len(curves)))
    for trial_id, trial in view.all_trials.items():
        if trial.planned.verifies:
            play(view, trial_id, [{"i_xz_bits": network[0], "i_zy_bits": network[1]}])
        else:
            places = zip(BETAS, curves[trial.planned.seed], strict=True)
            play_curves(view, trial_id, curve(*((beta, x, y) for beta, (x, y) in places)))
    return view


def test_a_network_whose_curve_collapsed_as_a_whole_is_one_that_the_curve_does_not_reach() -> None:
    own = found(curves_of(PLACES, (COLLAPSED,) * 5, PLACES, PLACES))
    assert own.reached == 0.75
    assert own.matched["i_zy_bits"].seeds == own.distance.seeds == 3, "only where there is a curve"
    assert own.matched["i_zy_bits"].mean == pytest.approx(0.1)


def test_a_network_that_collapsed_is_not_asked_to_be_on_the_curve() -> None:
    assert found(checked((8.0, 2.7), COLLAPSED)).reached == 1.0
    assert found(curves_of(PLACES, network=COLLAPSED)).reached is None, "there is none to reach"


def test_places_where_a_curve_collapsed_are_no_part_of_it() -> None:
    """Else it would reach down to a rate of 0.01, and a network at 0.5 with it."""
    ending = (*PLACES[:4], COLLAPSED)
    assert found(curves_of(ending, network=(0.5, 0.2))).reached == 0.0
    assert found(curves_of(ending, network=(4.0, 1.9))).reached == 1.0


def test_where_every_curve_collapsed_nothing_is_known_of_heights() -> None:
    own = found(curves_of((COLLAPSED,) * 5, (COLLAPSED,) * 5))
    assert own.reached is None and own.distance.seeds == own.matched["i_zy_bits"].seeds == 0
    assert own.differences["i_zy_bits"].mean == pytest.approx(0.0 - 2.7), "at the same β they are compared"


def test_collapsed_networks_are_compared_at_their_beta_alone() -> None:
    own = found(checked((8.0, 2.7), (0.01, 0.0)))
    assert own.matched["i_zy_bits"].mean == pytest.approx(0.1)
    assert own.places[1].differences["i_zy_bits"].mean == pytest.approx(1.2)


PREFERENCES = {"name": "all preferences", "weighting": {"name": "conditional", "points": 5, "verify": 2}}
OF_LEFT = ((0.0, 0.1, 0.9), (0.25, 0.5, 0.8), (0.5, 0.65, 0.65), (0.75, 0.8, 0.5), (1.0, 0.9, 0.1))


def test_a_curve_over_preferences_is_checked_by_networks_of_constant_weights() -> None:
    """At a quarter left and at three of them, where the curve has 0.02 and 0.04 more of the second task."""
    view = study_of(PREFERENCES, seeds=(0, 1, 2))
    weights = []
    for trial_id, trial in view.all_trials.items():
        points: Curve = [
            {"where": {"left": p, "right": 1 - p}, "metrics": {"accuracy_left": left, "accuracy_right": right}}
            for p, left, right in OF_LEFT
        ]
        if trial.planned.verifies:
            assert isinstance(trial.planned, PlannedTrial)
            own = trial.planned.weighting
            assert isinstance(own, Fixed)
            weights.append(own.weights)
            _, left, right = OF_LEFT[1 if own.weights["left"] < 1 else 3]
            lower = 0.02 if own.weights["left"] < 1 else 0.04
            play(view, trial_id, [{"accuracy_left": left, "accuracy_right": right - lower, "seconds": 7.0}])
        else:
            play_curves(view, trial_id, points, seconds=16.0)
    assert weights == [{"left": 0.5, "right": 1.5}] * 3 + [{"left": 1.5, "right": 0.5}] * 3, "n·p of n tasks"
    own_gaps = verified(view, "all preferences", objectives(view))
    assert own_gaps is not None
    assert own_gaps.gaps.matched["accuracy_right"].mean == pytest.approx(0.03)
    assert [at.where for at in own_gaps.gaps.places] == [{"left": 0.25, "right": 0.75}, {"left": 0.75, "right": 0.25}]
    told = [at.differences["accuracy_right"].mean for at in own_gaps.gaps.places]
    assert told == pytest.approx([0.02, 0.04])
    assert "separately trained networks at 2 preferences (3 seeds); at the same preference it has" in own_gaps.words
    (beside,) = [curve_places(view, None).beside]
    assert beside is not None and beside.verifies and len(beside.settings) == 2
    labels = labels_of(view, [t for t, own in view.all_trials.items() if own.planned.verifies])
    assert len(set(labels.values())) == 6


def test_each_configuration_is_checked_by_networks_of_its_own() -> None:
    """Two learning rates, whose networks lie 0.1 and 0.3 under their curves: paired otherwise it would not be so."""
    rates = {"grid": [0.001, 0.01]}
    view = bottleneck_of({**arm(1), "training": {"learning_rate": rates}}, seeds=(0,))
    for trial_id, trial in view.all_trials.items():
        low = 1.0 if trial.planned.config["training.learning_rate"] == 0.01 else 0.0
        if trial.planned.verifies:
            play(view, trial_id, [{"i_xz_bits": 4.0, "i_zy_bits": 2.0 - low - (0.3 if low else 0.1)}])
        else:
            places = ((b, x, y - low) for b, (x, y) in zip(BETAS, PLACES, strict=True))
            play_curves(view, trial_id, curve(*places))
    assert found(view).differences["i_zy_bits"].mean == pytest.approx(0.2)


def test_the_verdict_says_how_far_above_and_what_it_cost() -> None:
    said = compared(checked((8.0, 2.7), (2.0, 0.9), noise=0.01)).verdict
    sentence = (
        "At the same I(X;Z), all β’s curve is 0.200 ± 0.025 bits of I(Z;Y) above the separately trained networks at 2 "
        "βs (3 seeds); at the same β it has the same I(X;Z) and 0.200 ± 0.025 bits more I(Z;Y). They took 42 s "
        "of training besides."
    )
    assert sentence in said


def test_the_verdict_says_below_and_where_nothing_is_shown() -> None:
    assert (
        "curve is 0.100 ± 0.025 bits of I(Z;Y) below the separately"
        in compared(checked((8.0, 2.9), noise=0.01)).verdict
    )
    said = compared(checked((8.0, 2.79), noise=0.1)).verdict
    assert "bits of I(Z;Y) above the separately trained networks at 1 β (3 seeds: no difference shown)" in said
    assert "at 1 β (1 seed: no interval, no difference shown)" in compared(checked((8.0, 2.7), seeds=1)).verdict


def test_where_no_network_has_a_place_on_the_curve_its_height_is_not_known() -> None:
    said = compared(checked((20.0, 3.4))).verdict
    assert (
        "How far all β’s curve lies above or below the separately trained networks at 1 β is not known; at the" in said
    )
    assert "100 % of the networks lie past an end of the curve. They took 21 s of training besides." in said


def test_nothing_is_said_before_a_curve_and_a_network_have_finished() -> None:
    view = bottleneck_of(arm(2), seeds=(0,))
    assert "separately" not in compared(view).verdict
    own = compared(view).arms[0].verified
    assert own is not None and own.counts.planned == 2 and not own.words


def test_arms_that_are_not_verified_say_nothing_of_it() -> None:
    assert [each.verified for each in compared(bottleneck_of(MANUAL, arm(0))).arms] == [None, None]


def test_networks_that_verify_change_no_front_hypervolume_best_value_or_cost() -> None:
    """Better than all others by far, and still the arms are as they would be without them."""
    with_them, without = compared(checked((8.0, 3.3), (0.5, 3.3))), compared(checked())
    for own, bare in zip(with_them.arms, without.arms, strict=True):
        assert own._replace(verified=None) == bare
    assert with_them.pairs == without.pairs and with_them.baseline == without.baseline
    view = checked((8.0, 3.3), (0.5, 3.3))
    assert not any(view.all_trials[trial].planned.verifies for trial in front_ids(view))
    assert not any(trial.planned.verifies for trial in view.trials.values())


def test_they_count_as_work_of_the_study() -> None:
    view = bottleneck_of(arm(2), seeds=(0, 1))
    assert counts(view).planned == 6 and progress(view) == 0.0
    for trial in view.trials:
        play(view, trial, [{"i_xz_bits": 8.0, "i_zy_bits": 2.7}])
    assert progress(view) == pytest.approx(1 / 3)


@given(points=st.integers(1, 64), data=st.data())
def test_the_betas_are_the_middles_of_equal_parts_of_the_curve(points: int, data: st.DataObject) -> None:
    verify = data.draw(st.integers(1, points))
    view = bottleneck_of(arm(verify, points), seeds=(0,))
    study = view.study
    betas = betas_of(view)
    weighting = study.arms[0].weighting
    assert isinstance(weighting, Conditional)
    spread = weighting.beta.spread(points)
    places = [spread.index(beta) for beta in betas]
    assert len(set(places)) == verify and places == sorted(places)
    assert all(
        abs((place + 0.5) / points - (i + 0.5) / verify) <= 0.5 / points + 1e-9 for i, place in enumerate(places)
    )
    assert count_verifying(study) == {"all β": verify} and count_trials(study) == {"all β": 1}


def test_ids_of_the_arms_own_trials_do_not_move() -> None:
    def ids(verify: int) -> list[str]:
        spec = {"name": "s", "seeds": [0, 1], "arms": [arm(verify)]}
        return [trial.id for trial in expand(Study.model_validate(spec)) if not trial.verifies]

    assert ids(3) == ids(0) == ["tef658eaa2996", "ta53b93b19564"]


def test_ids_of_verifying_trials_are_pinned() -> None:
    spec = {"name": "s", "seeds": [0], "arms": [arm(2)]}
    assert [trial.id for trial in expand(Study.model_validate(spec)) if trial.verifies] == [
        "t75002da6c609",
        "t07f246318759",
    ]
