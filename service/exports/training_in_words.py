"""How a study's arms were trained, in words: by our loop, with an optimiser of their code's own, or by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from service.contract.methods.own_problems import OwnProblem
from service.contract.methods.papers import PAPERS
from service.contract.parameters import axes
from service.contract.study.study import Arm, Study, Training
from service.contract.wording.lists import listed
from service.contract.wording.numbers import plural
from service.exports.settings_in_words import settings_words, value_words

Cite = Callable[[str, str], str]

SETTINGS = {  # of training, in words; each is told where it is not its default, some with a paper
    "momentum": "momentum",
    "nesterov": "Nesterov's look ahead",
    "beta1": "β₁",
    "beta2": "β₂",
    "weight_decay": "weight decay",
    "schedule": "schedule",
    "decay": "decay",
    "decay_epochs": "epochs to a decay",
    "floor": "floor",
    "warm_up": "epochs of warm-up",
    "clip": "gradients clipped at",
    "anneal": "epochs of annealing",
    "l1": "l1",
    "l2": "l2",
    "flip": "images mirrored at random",
    "shift": "images moved, in pixels at most",
    "average": "weights averaged with decay",
    "best": "weights of the best epoch by validation, by",
}
PACE = (
    "schedule",
    "decay",
    "decay_epochs",
    "floor",
    "warm_up",
    "anneal",
    "average",
    "best",
)  # what any optimiser has of them


def training_words(study: Study, cite: Cite) -> str:
    """One sentence. Where arms were trained in different ways each way names its own."""
    model = f"Model: {study.model.name} ({settings_words(study.model)}){cite('model', study.model.name)}, trained"
    arms_by_way: dict[str, list[str]] = {}
    for arm in study.arms:
        arms_by_way.setdefault(_way(study.training, arm, cite), []).append(f"“{arm.name}”")
    told = [f"{way} ({listed(arms)})" if len(arms_by_way) > 1 else way for way, arms in arms_by_way.items()]
    seeds = f"from {plural(len(study.seeds), 'seed')} ({', '.join(map(str, study.seeds))})"
    return f"{model if study.code is None else 'Trained'} {'; '.join(told)}, {seeds}."


def _way(training: Training, arm: Arm, cite: Cite) -> str:
    problem = arm.problem
    hooks = problem.described.hooks if isinstance(problem, OwnProblem) else ()
    if isinstance(problem, OwnProblem) and problem.is_script:
        return "by the code itself"
    if "optimizer" in hooks:
        steps, settings = "an optimiser of the code's own", "".join(_settings(training, cite, PACE))
    else:
        named = " or ".join(f"{each}{cite('optimizer', each)}" for each in axes.listed(training.optimizer))
        steps = f"{named}, learning rate {value_words(training.learning_rate)}"
        settings = "".join(_settings(training, cite, tuple(SETTINGS)))
    pace = ", learning rates on a schedule of the code's own" if "schedule" in hooks else ""
    balance = f", with synaptic balance{cite('training', 'balance')}" if training.balance else ""
    feedback = f", with direct feedback alignment{cite('training', 'dfa')}" if training.feedback == "dfa" else ""
    epochs, batches = plural(training.epochs, "epoch"), f"batches of {value_words(training.batch_size)}"
    return f"for {epochs} with {steps}, {batches}{settings}{pace}{balance}{feedback}"


def _settings(training: Training, cite: Cite, fields: tuple[str, ...]) -> Iterator[str]:
    for field in fields:
        value = getattr(training, field)
        if value == Training.model_fields[field].default:
            continue
        named = str(value) if field == "schedule" else field
        paper = cite("training", named) if named in PAPERS["training"] else ""
        yield f", {SETTINGS[field]}{'' if value is True else f' {value_words(value)}'}{paper}"
