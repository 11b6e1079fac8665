"""What ending early saved and gave away: halving against the whole study, and a search that has enough.

Of a search that trained all its trials it is told when `limits.gain` would have ended it, by the driver's own rule.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import NamedTuple

import moocore
import numpy as np

from findings.expression import Question
from findings.folder import names
from findings.quantities.metrics import BySeed, over_seeds
from findings.quantities.quantity import Quantity
from findings.quantities.volumes import least, other_study, volumes
from findings.wording import Said, mean
from service.analysis import mean_interval
from service.analysis.candidates import objectives, points_on
from service.analysis.fronts import hypervolume_by_seed
from service.contract.study.batches import batches_of
from service.contract.study.expected_gain import Curve, Gain, enough, expected_gain, volume_curves
from service.contract.study.outcomes import objective_values
from service.contract.wording.numbers import number, percent, plural, setting, whole
from service.views.view import View


def epochs_by_seed(view: View, arm: str) -> BySeed:
    """Epochs trained as a share of those planned."""
    by_seed: dict[int, list[tuple[int, int]]] = {}
    for trial in view.trials.values():
        if trial.planned.arm == arm:
            by_seed.setdefault(trial.planned.seed, []).append((trial.epoch, trial.planned.training.epochs))
    return {seed: sum(own for own, _ in each) / sum(all_ for _, all_ in each) for seed, each in by_seed.items()}


def epochs_trained(question: Question) -> Said:
    """The seeds of a configuration stop together, so that every seed has the same share."""
    return _same_or_mean(epochs_by_seed(question.view, question.arm), question, percent)


def epochs_each(question: Question) -> Said:
    """Networks of one stack, whatever their seeds, are stopped by one clock."""
    by_seed: dict[int, list[int]] = {}
    for trial in question.view.trials.values():
        if trial.planned.arm == question.arm:
            by_seed.setdefault(trial.planned.seed, []).append(trial.epoch)
    return _same_or_mean({seed: float(np.mean(own)) for seed, own in by_seed.items()}, question, number)


def _same_or_mean(by_seed: BySeed, question: Question, said: Callable[[float], str]) -> Said:
    """What is the same in every seed because one decision made it has no interval that would say anything."""
    if len(set(by_seed.values())) > 1:
        return mean(over_seeds(by_seed), question.seeds)
    return Said(said(max(by_seed.values())))


def seconds_by_seed(view: View, arm: str) -> BySeed:
    by_seed = dict.fromkeys(view.study.seeds, 0.0)
    for trial in view.trials.values():
        if trial.planned.arm == arm:
            by_seed[trial.planned.seed] += trial.training_seconds or 0.0
    return by_seed


def seconds_shares(question: Question) -> BySeed:
    (name,) = question.given.words
    own, other = seconds_by_seed(question.view, question.arm), seconds_by_seed(other_study(name), question.arm)
    return {seed: own[seed] / other[seed] for seed in own}


def _in_studies(question: Question, of: Callable[[View, str], BySeed]) -> BySeed:
    """Of the same arm in the kept studies of these names, each seed over the same seed here; no seed is in two."""
    (pattern,) = question.given.words
    here, shares = of(question.view, question.arm), dict[int, float]()
    for name in (name for name in names() if fnmatchcase(name, pattern)):
        for seed, own in of(other_study(name), question.arm).items():
            if seed in shares:
                raise ValueError(f"seed {seed} is in two of the studies {pattern}")
            shares[seed] = own / here[seed]
    if not shares:
        raise ValueError(f"no kept study is called {pattern}")
    return shares


def _largest(by_seed: BySeed, question: Question) -> Said:
    return Said(number(max(by_seed.values())), len(by_seed), question.seeds)


class Replayed(NamedTuple):
    """A search whose every trial was trained: its curves batch by batch, and what was expected after each."""

    batches: list[list[list[str]]]  # [S, K, b]
    curves: list[Curve]  # [S, K], as the rule sees them after the last batch
    gains: list[Gain | None]

    def trials(self, batch: int) -> int:
        return sum(len(own) for seed in self.batches for own in seed[:batch])


def _volume(points: list[list[float]], corner: list[float]) -> float:
    return float(moocore.hypervolume(np.array(points), ref=corner))


def replayed(view: View, arm: str) -> Replayed:
    """By what the driver knows after each batch, no more."""
    seeds = batches_of(view.study, [trial.planned for trial in view.trials.values()])[arm]
    batches = [[[trial.id for trial in batch] for batch in own] for own in seeds.values()]
    reached = {
        trial: objective_values(view.trials[trial].metrics, view.study.choosing)
        for own in batches
        for batch in own
        for trial in batch
    }
    known = [[[reached[trial] for trial in batch] for batch in own] for own in batches]
    after = [
        volume_curves([own[:k] for own in known], view.study.objectives, _volume) for k in range(1, len(known[0]) + 1)
    ]
    return Replayed(batches, after[-1], [expected_gain(curves) for curves in after])


def _stop(question: Question) -> tuple[Replayed, int]:
    gain, patience = question.given.numbers
    played = replayed(question.view, question.arm)
    batch = enough(played.gains, gain, int(patience))
    if batch is None:
        raise ValueError(f"{question.arm} never has enough by gain {setting(gain)} and patience {setting(patience)}")
    return played, batch


def enough_after(question: Question) -> Said:
    played, batch = _stop(question)
    return Said(f"{whole(played.trials(batch))} of {plural(played.trials(len(played.gains)), 'trial')}")


def given_away(question: Question) -> BySeed:
    """Of each seed's hypervolume, chosen and shown as everywhere, by the trials after the stop."""
    played, batch = _stop(question)
    view, axes = question.view, objectives(question.view)
    before = {trial for own in played.batches for each in own[:batch] for trial in each}
    points = [point for point in points_on(view, axes) if point.trial in before]
    stopped = hypervolume_by_seed(points, view.study.seeds, axes)
    return {seed: 1 - stopped[seed] / own for seed, own in volumes(view, question.arm).items()}


def given_away_as_seen(question: Question) -> BySeed:
    """The same by what the rule sees, the split that chooses."""
    played, batch = _stop(question)
    return {
        seed: 1 - curve[batch - 1] / curve[-1]
        for seed, curve in zip(question.view.study.seeds, played.curves, strict=True)
    }


def _percents(shares: BySeed) -> Said:
    return Said(", ".join(f"{number(100 * share)} %" if share else "0" for share in shares.values()))


def gains_within(question: Question) -> Said:
    """Of the batches after which one was expected and another followed: how often that gained no more, over seeds."""
    played = replayed(question.view, question.arm)
    yes = of = 0
    for k, gain in enumerate(played.gains[:-1], 1):
        if gain is not None:
            now, then = (mean_interval([curve[i] for curve in played.curves]).mean or 0.0 for i in (k - 1, k))
            of += 1
            yes += (then - now) / now <= gain.upper
    return Said(f"{whole(yes)} of {whole(of)}")


QUANTITIES = [
    Quantity("epochs trained(ARM)", "as a share of those planned", epochs_trained),
    Quantity(
        "epochs each(ARM)",
        "to which its trainings came, mean over those of each seed, then over seeds where they differ",
        epochs_each,
        lambda q: "epochs of each training",
    ),
    Quantity(
        "seconds share of study(PATH; ARM)",
        "training seconds of each seed over those of the same arm in another kept study, mean over seeds",
        lambda q: mean(over_seeds(seconds_shares(q)), q.seeds),
    ),
    Quantity(
        "share in studies(PATH; ARM)",
        "hypervolume of the arm in kept studies (PATH is NAME-*) over that of the same seed here, mean over seeds",
        lambda q: mean(over_seeds(_in_studies(q, volumes)), q.seeds),
    ),
    Quantity(
        "least share in studies(PATH; ARM)",
        "the same of the seed that has the least",
        lambda q: least(_in_studies(q, volumes), q),
    ),
    Quantity(
        "seconds share in studies(PATH; ARM)",
        "training seconds of the arm in these studies over those of the same seed here, mean over seeds",
        lambda q: mean(over_seeds(_in_studies(q, seconds_by_seed)), q.seeds),
    ),
    Quantity(
        "largest seconds share in studies(PATH; ARM)",
        "the same of the seed that has the largest",
        lambda q: _largest(_in_studies(q, seconds_by_seed), q),
    ),
    Quantity(
        "enough after(ARM; NUMBER; NUMBER)",
        "trials after which gain and patience would have ended the arm, as: 120 of 300 trials",
        enough_after,
    ),
    Quantity(
        "given away(ARM; NUMBER; NUMBER)",
        "share of each seed's hypervolume that the trials after that stop add, one value per seed",
        lambda q: _percents(given_away(q)),
    ),
    Quantity(
        "given away as seen(ARM; NUMBER; NUMBER)",
        "the same on the split that chooses",
        lambda q: _percents(given_away_as_seen(q)),
    ),
    Quantity(
        "gains within(ARM)",
        "batches that gained no more, over seeds, than the upper end of what was expected",
        gains_within,
    ),
]
