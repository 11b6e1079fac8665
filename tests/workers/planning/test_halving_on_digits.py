"""Halving 64 trials of one seed: what it keeps of the whole, by the reports of a study that stopped nobody, and what
kept studies that did stop had, for how many of the seconds."""

from __future__ import annotations

from statistics import mean, stdev

from findings.folder import asked, load
from findings.quantities.early import seconds_by_seed
from findings.quantities.volumes import volumes
from findings.replay import view_of
from service.analysis.candidates import objectives, points_on
from service.analysis.fronts import hypervolume
from service.contract.study.expansion import PlannedTrial, expand
from service.contract.study.study import Study
from service.contract.wire.events import Metrics
from service.views.view import View
from workers.planning.rungs import Rungs

ARM = "manual β"
ON_AVERAGE, IN_THE_WORST_SEED = 0.98, 0.96  # at least, of the hypervolume of all
MEANT, OF_THE_SECONDS = 0.97, 0.5


def of_one_seed(study: Study, seed: int) -> Study:
    arms = [arm for arm in study.arms if arm.name == ARM]
    return study.model_copy(update={"seeds": [seed], "arms": arms})


def reported(view: View, trial: str, epoch: int) -> Metrics:
    (report,) = (report for report in view.trials[trial].reports if report["epoch"] == epoch)
    return report


def going_on(view: View, study: Study) -> tuple[set[str], float]:
    """Who trains to the end, and the share of all epochs that was trained: decided as the driver decides."""
    assert study.stopping is not None
    planned = {trial.id: trial for trial in expand(study) if isinstance(trial, PlannedTrial)}
    rungs, left, trained = Rungs(study, planned.values(), {}), set(planned), 0
    before = 0
    for rung in study.stopping.rungs(study.training.epochs):
        for trial in left:
            assert rungs.next(trial) == rung
            rungs.reached(trial, rung, reported(view, trial, rung))
        trained += len(left) * (rung - before)
        left -= {each.trial for each in rungs.decide()}
        before = rung
    trained += len(left) * (study.training.epochs - before)
    return left, trained / (len(planned) * study.training.epochs)


def test_of_64_trials_of_one_seed_halving_keeps_most_of_the_hypervolume_for_two_fifths_of_the_epochs() -> None:
    view, study = view_of(load("halving-digits-whole")), asked("halving-digits").study
    axes = objectives(view)
    shares, epochs = [], []
    for seed in study.seeds:
        alone = of_one_seed(study, seed)
        assert len(expand(alone)) == 64
        left, trained = going_on(view, alone)
        points = [point for point in points_on(view, axes) if point.arm == ARM and point.seed == seed]
        kept, whole = (hypervolume(own, axes) for own in ([p for p in points if p.trial in left], points))
        assert kept and whole
        shares.append(kept / whole)
        epochs.append(trained)
    told = [round(share, 3) for share in shares]
    print(f"hypervolume {mean(shares):.3f} ± {stdev(shares):.3f} over {len(shares)} seeds: {told}; epochs {epochs}")
    assert set(epochs) == {0.3875}  # 64 to epoch 8, 22 to 24, 8 to 40
    assert mean(shares) >= ON_AVERAGE and min(shares) >= IN_THE_WORST_SEED


def kept_of_the_whole(name: str) -> dict[int, tuple[float, float]]:
    """By seed: its share of the hypervolume and of the training seconds of the study that stopped nobody."""
    view, whole = view_of(load(name)), view_of(load("halving-digits-whole"))
    volume, seconds = volumes(whole, ARM), seconds_by_seed(whole, ARM)
    own = seconds_by_seed(view, ARM)
    return {seed: (each / volume[seed], own[seed] / seconds[seed]) for seed, each in volumes(view, ARM).items()}


def test_five_seeds_together_keep_97_percent_of_the_hypervolume_for_at_most_half_of_the_seconds() -> None:
    shares = kept_of_the_whole("halving-digits")
    assert sorted(shares) == asked("halving-digits").study.seeds and len(shares) == 5
    assert min(volume for volume, _ in shares.values()) >= MEANT
    assert max(seconds for _, seconds in shares.values()) <= OF_THE_SECONDS


def test_so_do_five_studies_of_64_trials_and_one_seed_on_average() -> None:
    """What a study of 64 trials by itself keeps is what the reports of the whole said it would."""
    shares: dict[int, tuple[float, float]] = {}
    for seed in range(5):
        study = asked(f"halving-digits-of-seed-{seed}").study
        assert len(expand(of_one_seed(study, seed))) == 64
        shares |= kept_of_the_whole(f"halving-digits-of-seed-{seed}")
    volumes_, seconds = zip(*shares.values(), strict=True)
    print(
        f"hypervolume {mean(volumes_):.3f} ± {stdev(volumes_):.3f}, seconds {mean(seconds):.3f} ± {stdev(seconds):.3f}"
    )
    assert sorted(shares) == list(range(5)) and min(volumes_) >= IN_THE_WORST_SEED
    assert mean(volumes_) >= ON_AVERAGE >= MEANT and mean(seconds) <= OF_THE_SECONDS
