"""Of a study as a whole: when, with what, how many; and what it shows in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from findings.expression import Question
from findings.quantities.quantity import Quantity
from findings.wording import ENOUGH_SEEDS, ONE_TO_FOUR, Said
from service.analysis.compared import ArmCompared, compared
from service.analysis.truth import label_entropy
from service.contract.wording.chosen_split import selection_words
from service.contract.wording.numbers import duration, number, plural, setting, whole
from service.views.selectors import configurations, counts, training_seconds
from service.views.trial import TrialView


def arm_of(question: Question, name: str | None = None) -> ArmCompared:
    return next(arm for arm in compared(question.view).arms if arm.name == (name or question.arm))


def _asked(question: Question) -> str | None:
    return question.given.arms[0] if question.given.arms else None


def date(question: Question) -> Said:
    return Said(question.finding.study.ended_at.date().isoformat())


def seed_words(seeds: int) -> str:
    return ONE_TO_FOUR.get(seeds, f"{seeds} seeds") if seeds < ENOUGH_SEEDS else f"{seeds} seeds"


def measured(question: Question) -> Said:
    finding = question.finding
    code = finding.paretoscope + (f" ({finding.commit})" if finding.commit else "")
    return Said(f"measured {date(question).text} with {code}, {seed_words(question.seeds)}, {finding.machine}")


def took(question: Question) -> Said:
    study = question.finding.study
    return Said(duration((study.ended_at - study.started_at).total_seconds()))


def training(question: Question) -> Said:
    seconds = training_seconds(question.view)
    arm = _asked(question)
    return Said(duration(sum(seconds.values()) if arm is None else seconds[arm]))


def training_per_seed(question: Question) -> Said:
    return Said(duration(training_seconds(question.view)[question.arm] / question.seeds))


def _ratio_per(question: Question, pieces: Callable[[TrialView], int]) -> Said:
    """Networks of a stack share its seconds equally, whatever their seeds, so that there is no interval over them."""
    seconds, trials = training_seconds(question.view), question.view.trials.values()
    one, other = (
        seconds[arm] / sum(pieces(trial) for trial in trials if trial.planned.arm == arm) for arm in question.given.arms
    )
    if not other:
        raise ValueError(f"{question.given.arms[1]} has no seconds of training")
    return Said(number(one / other), question.seeds)


def spec_value(question: Question) -> Said:
    """By its path in the spec: `training.epochs`, `arms.0.weighting.mu`."""
    here: Any = question.finding.study.spec
    (path,) = question.given.words
    for key in path.split("."):
        known = range(len(here)) if isinstance(here, list) else here
        step: Any = int(key) if isinstance(here, list) and key.isdigit() else key
        if not isinstance(here, dict | list) or step not in known:
            keys = ", ".join(map(str, known)) if isinstance(here, dict | list) else "nothing"
            raise ValueError(f"the spec has no {path!r}: {key!r} is not among {keys}")
        here = here[step]
    return Said(f"{here:,}" if isinstance(here, int) and not isinstance(here, bool) else setting(here, digits=6))


def entropy(question: Question) -> Said:
    bits = label_entropy(question.view.study.data)
    if bits is None:
        raise ValueError(f"H(Y) of data {question.view.study.data.name} is not known")
    return Said(number(bits))


def verdict(question: Question) -> Said:
    return Said(compared(question.view).verdict)


def reason(question: Question) -> Said:
    said = question.finding.study.reason
    if not said:
        raise ValueError("this study ended with its last trial, and gave no reason")
    return Said(said)


def words(question: Question) -> Said:
    said = compared(question.view).words
    if question.arm not in said:
        raise ValueError(f"nothing is said of {question.arm}; there are words of {', '.join(said) or 'no arm'}")
    return Said(said[question.arm])


def _configurations(question: Question) -> Said:
    return Said(whole(len(configurations(question.view, question.arm))))


QUANTITIES = [
    Quantity("measured", "when, with which version and commit (where it is known), how many seeds, on what", measured),
    Quantity("date", "the day on which it ended", date),
    Quantity("version", "of Paretoscope", lambda q: Said(q.finding.paretoscope)),
    Quantity("machine", "in words", lambda q: Said(q.finding.machine)),
    Quantity("seeds", "how many", lambda q: Said(str(q.seeds))),
    Quantity("arms", "how many", lambda q: Said(str(len(q.view.study.arms)))),
    Quantity("configurations(ARM)", "settings that the arm tries in each seed", _configurations),
    Quantity("trials([ARM])", "how many were planned", lambda q: Said(whole(counts(q.view, _asked(q)).planned))),
    Quantity("finished([ARM])", "how many trials", lambda q: Said(whole(counts(q.view, _asked(q)).finished))),
    Quantity("failed([ARM])", "how many trials", lambda q: Said(whole(counts(q.view, _asked(q)).failed))),
    Quantity("collapsed([ARM])", "how many trials", lambda q: Said(whole(counts(q.view, _asked(q)).collapsed))),
    Quantity("counted([ARM])", "as: 39 trials", lambda q: Said(plural(counts(q.view, _asked(q)).planned, "trial"))),
    Quantity("took", "from the first start to the end", took),
    Quantity("training([ARM])", "training time of all trials", training),
    Quantity("training per seed(ARM)", "training time of the arm's trials, for one seed", training_per_seed),
    Quantity(
        "training ratio(ARM; ARM)",
        "seconds of one training of the first arm over those of one of the second",
        lambda q: _ratio_per(q, lambda trial: 1),
    ),
    Quantity(
        "epoch ratio(ARM; ARM)",
        "seconds of an epoch of one training of the first arm over those of the second",
        lambda q: _ratio_per(q, lambda trial: trial.epoch),
    ),
    Quantity("setting(PATH)", "a value of the spec by its path: training.epochs", spec_value),
    Quantity("entropy", "H(Y) of the test split in bits", entropy),
    Quantity(
        "baseline", "the arm that the others are held against", lambda q: Said(compared(q.view).baseline or "none")
    ),
    Quantity("selection", "which split chose, in words", lambda q: Said(selection_words(compared(q.view).chooser))),
    Quantity("reason", "why it ended, as it says", reason),
    Quantity("verdict", "the first sentences of the study's page", verdict),
    Quantity("words(ARM)", "what is shown of the arm against the baseline, a sentence", words),
]
