"""What ending early saved and gave away, of studies whose course is known."""

from __future__ import annotations

from statistics import mean, stdev
from typing import Any

import pytest

from findings.expression import Question, arguments
from findings.finding import Finding, finding_text
from findings.folder import load
from findings.quantities import early
from findings.quantities.early import given_away, replayed
from findings.replay import view_of
from service.analysis.compared import compared
from service.contract.study.batches import batches_of
from service.contract.study.limits import Limits
from service.contract.study.outcomes import objective_values
from service.views.fold import StudyView
from service.views.view import View
from tests.findings.played import finding
from tests.findings.quantities.test_quantities import said
from tests.service.studies import FILLED, MANUAL, MIB, bottleneck_of, event, play, tell
from workers.planning.enough import UntilEnough, until_enough
from workers.planning.past import Past

BETA = "weighting.beta"


def stopped_at_5() -> Finding:
    """Of three βs one trains on, in three seeds; the others have spent half as long."""
    return finding(_played(_of([0, 1, 2]), lambda beta: beta < 1))


def _of(seeds: list[int]) -> StudyView:
    return bottleneck_of(MANUAL, seeds=seeds, training={"epochs": 10}, stopping={"name": "halving", "keep": 0.5})


def _played(view: StudyView, stops: Any, bits: float = 1.0) -> StudyView:
    tell(view, event("study_started"))
    for trial, own in view.trials.items():
        beta = own.planned.config["weighting.beta"]
        epoch = 5 if stops(beta) else 10
        report = {"epoch": epoch, "i_xz_bits": 2.0, "i_zy_bits": bits, "seconds": float(epoch)}
        play(view, trial, [report], end="")
        end = event("trial_stopped", trial=trial, epoch=5, reason="why") if stops(beta) else None
        tell(view, end or event("trial_finished", trial=trial))
    tell(view, event("study_finished"))
    return view


def test_epochs_and_seconds_of_a_study_with_halving_are_shares_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _played(bottleneck_of(MANUAL, seeds=[0, 1, 2], training={"epochs": 10}), lambda beta: False)
    monkeypatch.setattr(early, "other_study", lambda name: {"whole": whole}[name])
    assert said("epochs trained(manual β)", stopped_at_5()) == "67 %"
    assert said("epochs each(manual β)", stopped_at_5()) == "6.67"
    assert said("seconds share of study(whole; manual β)", stopped_at_5()) == "0.667 ± 0.000 (3 seeds)"


def test_studies_of_one_seed_each_are_held_together_against_the_same_seeds_of_a_whole_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Seed s stops all but s + 1 of three βs and has (s + 2)/4 of the hypervolume; another name counts for nothing."""
    single = {
        f"of-seed-{seed}": _played(_of([seed]), lambda beta, most=most: beta > most, bits=0.5 + seed / 4)
        for seed, most in enumerate((0.05, 0.5, 5.0))
    }
    twice = {"more-0": single["of-seed-0"], "more-1": single["of-seed-0"]}
    monkeypatch.setattr(early, "names", lambda: [*single, *twice, "other"])
    monkeypatch.setattr(early, "other_study", (single | twice).__getitem__)
    whole = finding(_played(_of([0, 1, 2]), lambda beta: False))
    assert said("share in studies(of-seed-*; manual β)", whole) == "0.750 ± 0.621 (3 seeds)"
    assert said("least share in studies(of-seed-*; manual β)", whole) == "0.500 (3 seeds)"
    assert said("least share in studies(of-seed-1; manual β)", whole) == "0.750 (1 of 3 seeds)"
    assert said("seconds share in studies(of-seed-*; manual β)", whole) == "0.833 ± 0.414 (3 seeds)"
    assert said("largest seconds share in studies(of-seed-*; manual β)", whole) == "1.00 (3 seeds)"
    with pytest.raises(ValueError, match=r"no kept study is called halved-\*"):
        said("share in studies(halved-*; manual β)", whole)
    with pytest.raises(ValueError, match=r"seed 0 is in two of the studies more-\*"):
        said("share in studies(more-*; manual β)", whole)


def test_epochs_have_an_interval_where_seeds_differ() -> None:
    view = bottleneck_of(MANUAL, seeds=[0, 1, 2], training={"epochs": 10})
    tell(view, event("study_started"))
    for trial, own in view.trials.items():
        play(view, trial, [{"epoch": 4 + own.planned.seed, "i_xz_bits": 2.0, "i_zy_bits": 1.0, "seconds": 1.0}])
    tell(view, event("study_finished"))
    assert said("epochs each(manual β)", finding(view)) == "5.00 ± 2.48 (3 seeds)"
    assert said("epochs trained(manual β)", finding(view)) == "0.500 ± 0.248 (3 seeds)"


def test_what_a_clock_ended_is_kept_with_what_it_had_reached() -> None:
    """Else its arms would be told as still under way, and not tested."""
    view = bottleneck_of(MANUAL, MIB, seeds=[0, 1, 2], limits={"training_seconds": 9})
    tell(view, event("study_started"))
    for trial, own in view.trials.items():
        seconds, bits = (9.0, 2.0) if own.planned.arm == "MIB" else (3.0, 3.0)
        play(view, trial, [{"i_xz_bits": bits, "i_zy_bits": bits / 2, "seconds": seconds}], end="")
    tell(view, event("study_finished", reason="its 9 s of training are spent", spared=list(view.trials)))
    assert {trial.cut_off for trial in view.trials.values()} == {True}
    again = view_of(finding(view))
    assert {trial.cut_off for trial in again.trials.values()} == {True}
    assert said("verdict", finding(view)) == compared(view).verdict
    assert "not all trials have ended" not in compared(view).verdict
    assert said("epochs each(MIB)", finding(view)) == "1.00"


def test_a_search_that_ended_early_is_kept_without_what_it_spared() -> None:
    view = bottleneck_of(FILLED, seeds=[0, 1])
    tell(view, event("study_started"))
    ids = list(view.trials)
    for i, trial in enumerate(ids[:8]):
        tell(view, event("trial_started", trial=trial, config={"weighting.beta": 0.1 + 0.1 * (i // 2)}))
        play(view, trial, [{"i_xz_bits": 1.0 + i, "i_zy_bits": 1.0 + i / 8, "seconds": 1.0}])
    tell(view, event("study_finished", reason="filled: no gap left", spared=ids[8:]))
    again = view_of(Finding.model_validate_json(finding_text(finding(view))))
    assert list(again.trials) == ids[:8] and again.state is view.state and again.reason == "filled: no gap left"
    assert said("counted(filled)", finding(view)) == "8 trials"


def by_the_driver(view: View, limits: Limits) -> UntilEnough:
    """The driver's own search, whose trials have the kept values, told what each reached when it asks for it."""
    study = view.study.model_copy(update={"limits": limits})
    begun = {trial: Past({BETA: own.planned.config[BETA]}, False, None) for trial, own in view.trials.items()}
    (arm,) = study.arms
    search = until_enough(study, arm, batches_of(study)[arm.name], begun)
    while batch := search.ask():
        for trial in batch:
            search.tell(trial.id, objective_values(view.trials[trial.id].metrics, study.choosing))
    return search


@pytest.mark.parametrize(
    ("gain", "patience", "trials"),
    [(0.001, 2, None), (0.003, 2, None), (0.005, 2, 240), (0.01, 2, 180), (0.02, 3, 160)],
)
def test_the_replay_of_a_search_ends_where_the_driver_ends_it_and_never_before_its_interval_allows(
    gain: float, patience: int, trials: int | None
) -> None:
    kept = load("enough-gaussian")
    search = by_the_driver(view_of(kept), Limits(gain=gain, patience=patience))
    own = replayed(view_of(kept), search.arm)
    assert search.gains == own.gains[: len(search.gains)]
    below = [each is not None and each.upper < gain for each in search.gains]
    assert not any(all(below[k : k + patience]) for k in range(len(below) - patience)), "never before"
    if trials is None:
        assert search.ended is None
    else:
        asked = f"({search.arm}; {gain}; {patience})"
        assert said(f"enough after{asked}", kept) == f"{trials} of 300 trials" and all(below[-patience:])
        assert search.ended is not None and f": stopped after {trials} of 300 trials: " in search.ended.reason
        print(gain, patience, said(f"given away{asked}", kept))


@pytest.mark.parametrize("name", ["enough-gaussian", "enough-gaussian-other-seeds"])
def test_half_a_percent_gives_away_less_than_one_in_every_seed(name: str) -> None:
    """Of seeds on which it was chosen, and of others."""
    kept = load(name)
    view = view_of(kept)
    question = Question(kept, view, arguments(view, ["searched β", "0.005", "2"]))
    shares = list(given_away(question).values())
    print(f"{name}, given away: {mean(shares):.4f} ± {stdev(shares):.4f} over {len(shares)} seeds")
    assert len(shares) == 5 and max(shares) < 0.01


def test_the_preset_that_was_run_with_its_limit_ended_where_the_replay_ends_it() -> None:
    """And with the figure that the replay has: the same trials, and the driver's own rule."""
    ended, whole = load("enough-gaussian-ended"), load("enough-gaussian")
    assert said("enough after(searched β; 0.005; 2)", whole) == "240 of 300 trials"
    assert said("finished(searched β)", ended) == "240" and said("counted", ended) == "240 trials"
    (gain,) = (gain for gain in replayed(view_of(whole), "searched β").gains[11:12] if gain)
    assert f"at most {100 * gain.upper:.2g} % of hypervolume" in said("reason", ended)
    with pytest.raises(ValueError, match="gave no reason"):
        said("reason", whole)
