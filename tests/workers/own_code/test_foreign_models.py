"""Models that nobody here wrote, unchanged in a problem file: members equal members alone, stacked or one by one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from service.contract.methods.data import MovieReviews, OwnData
from service.contract.methods.models import OwnModel
from service.contract.methods.own_problems import of_trial
from service.contract.methods.weightings import Fixed, Mgda
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Evaluation, Training
from service.contract.wire.epoch_report import EpochReport
from service.contract.wire.errors import ParetoscopeError
from tests.workers.own_code.parts import CPU, reports
from workers.data import load
from workers.own_code import choosing
from workers.own_code.cohort import OwnCohort
from workers.own_code.describing import describe
from workers.own_code.loaded import LoadedCode
from workers.own_code.running_members import Stacked

FOLDER = Path(__file__).parent / "foreign"
STACKING: dict[
    str, str | tuple[str, ...]
] = {  # on the first batch; batch norm over ten pictures leaves it to the processor's rounding
    "residual": ("not stacked: gradients differ", "stacked"),
    "mobile": ("not stacked: gradients differ", "stacked"),
    "transformer": "stacked",
    "two_tasks": "stacked",
    "reviews": "not stacked: RuntimeError: Batching rule not implemented for aten::lstm.input",
}
WEIGHTINGS: tuple[Any, ...] = (Fixed(beta=0.5), Mgda())
SLOW = "ignore:There is a performance drop because we have not yet implemented the batching rule"


def code_of(name: str) -> LoadedCode:
    return LoadedCode(FOLDER, f"{name}.py")


def trials(name: str, members: int, weighting: Any, source: str = "made", **training: Any) -> list[PlannedTrial]:
    """What the reader of film reviews reads is made here, unless its source is said; then it reads more of it."""
    (own,) = describe(FOLDER, f"{name}.py")
    read = {"source": source, "examples": 128 if source == "made" else 2000} if name == "reviews" else {}
    spec = of_trial(own).model_validate({"name": own.name, **read})
    how = Training(**{"epochs": 2, "batch_size": 10, **training})
    return [PlannedTrial(f"t{seed}", "arm", seed, {}, spec, weighting, OwnModel(), how) for seed in range(members)]


def told(told_by: Sequence[EpochReport], name: str) -> list[dict[str, Any]]:
    """All but the clock's."""
    return [
        {metric: value for metric, value in report.metrics[name].items() if metric != "seconds"} for report in told_by
    ]


def prefer(monkeypatch: pytest.MonkeyPatch, stacked: bool) -> None:
    """Whatever the clock says."""
    monkeypatch.setattr(choosing, "_timed", lambda way, *rest: 1.0 if isinstance(way, Stacked) == stacked else 2.0)


@pytest.mark.parametrize("name", STACKING)
def test_a_foreign_model_is_described(name: str) -> None:
    code_of(name)
    (own,) = describe(FOLDER, f"{name}.py")
    assert own.kind == "problem" and len(own.terms) == 2 and len(own.metrics) == 2 and own.doc


@pytest.mark.filterwarnings(SLOW)
@pytest.mark.parametrize("weighting", WEIGHTINGS, ids=lambda weighting: weighting.name)
@pytest.mark.parametrize("name", STACKING)
def test_one_by_one_a_member_is_what_it_is_alone_to_the_last_digit(
    monkeypatch: pytest.MonkeyPatch, name: str, weighting: Any
) -> None:
    prefer(monkeypatch, stacked=False)
    code, members = code_of(name), trials(name, 3, weighting)
    together, alone = reports(code, members), reports(code, members[-1:])
    assert told(together, "t2") == told(alone, "t2")
    assert len(together) == 2 and not together[-1].failures


NEAR = 1e-5  # what a stacked member is after a step, relatively to what it is alone; one by one it is that exactly
NEAR_AFTER_EPOCHS, NEAR_OF_DEEP = 1e-5, 3e-4  # what it reports after two epochs
LARGE = ("residual", "mobile")
NOTHING = 1e-2  # the length as which a shorter parameter counts: a bias before batch norm learns by rounding alone
DEEP = "mobile"  # whose rounding grows through fifty layers, step by step
# Adam makes a whole step of what is nothing but rounding.
BY_PLAIN_STEPS: dict[str, Any] = {"optimizer": "sgd", "learning_rate": 0.003}


@pytest.mark.filterwarnings(SLOW)
@pytest.mark.parametrize("weighting", WEIGHTINGS, ids=lambda weighting: weighting.name)
@pytest.mark.parametrize("name", STACKING)
def test_after_one_step_from_the_same_state_a_member_is_what_it_is_alone(
    monkeypatch: pytest.MonkeyPatch, name: str, weighting: Any
) -> None:
    """Stacked where the first batch lets it, and else one by one: the losses, the way of the step, and what the model
    is and measures after it."""
    prefer(monkeypatch, stacked=True)
    code = code_of(name)
    members = trials(name, 3, weighting, **BY_PLAIN_STEPS)
    (together, losses, way), (alone, own_losses, own_way) = (
        after_a_step(code.cohort(some, OwnData(), CPU)) for some in (members, members[-1:])
    )
    print(f"{name}, {weighting.name}: {together.stacking}")
    assert together.stacking.startswith(STACKING[name])
    near = NEAR if together.stacks else 0.0
    assert apart(losses[-1], own_losses[0]) <= near
    assert apart(way[-1], own_way[0]) <= near, "the gradients, each times its weight"
    for tensor, own in zip(together.model.state().values(), alone.model.state().values(), strict=True):
        assert apart(tensor[-1], own[0], least=NOTHING) <= near
    measured, own_measured = (cohort.evaluate(Evaluation(), 1, True) for cohort in (together, alone))
    assert measured.keys() == own_measured.keys() and len(measured) >= 8
    for metric, values in measured.items():
        assert values[-1] == pytest.approx(own_measured[metric][0], rel=near, abs=near / 10)


def after_a_step(cohort: OwnCohort) -> tuple[OwnCohort, Tensor, Tensor]:
    """The cohort after the first batch, with its losses [K, n] and the way it went [K, P + Q]."""
    cohort.model.train(True)
    with torch.random.fork_rng(devices=()):
        update = cohort._step(next(cohort._passes.epoch(1)))
        cohort.optimizer.step([update.encoder, update.head])
    cohort.model.train(False)
    return cohort, update.losses, torch.cat((update.encoder, update.head), dim=1)


def apart(own: Tensor, expected: Tensor, least: float = 1e-7) -> float:
    """The length of the difference, as a share of what is expected, or of the least that counts."""
    difference = float((own.double() - expected.double()).norm())
    return difference / max(float(expected.double().norm()), least) if difference else 0.0


@pytest.mark.filterwarnings(SLOW)
@pytest.mark.parametrize("name", STACKING)
def test_after_two_epochs_a_member_reports_what_it_does_alone(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """To the last digit where its cohort was not stacked. The large ones take their time: by one weighting alone."""
    prefer(monkeypatch, stacked=True)
    code = code_of(name)
    for weighting in WEIGHTINGS[-1:] if name in LARGE else WEIGHTINGS:
        members = trials(name, 3, weighting, **BY_PLAIN_STEPS)
        stacks = code.cohort(members, OwnData(), CPU).stacks
        print(f"{name}, {weighting.name}: {'stacked' if stacks else 'one by one'}")
        together, alone = reports(code, members), reports(code, members[-1:])
        relative, absolute = (NEAR_OF_DEEP, 5e-5) if name == DEEP else (NEAR_AFTER_EPOCHS, 1e-6)
        assert len(alone) == 2
        for own, expected in zip(told(together, "t2"), told(alone, "t2"), strict=True):
            assert own == (pytest.approx(expected, rel=relative, abs=absolute) if stacks else expected)


def test_the_lstm_reads_the_film_reviews() -> None:
    """The real ones, where they are: `paretoscope data prepare movie-reviews`. All other tests read made words."""
    try:
        load(MovieReviews())
    except ParetoscopeError as error:
        pytest.skip(f"the film reviews are not here: {error.message}")
    code = code_of("reviews")
    members = trials("reviews", 3, WEIGHTINGS[0], source="film-reviews", epochs=5, batch_size=50, learning_rate=0.01)
    together, alone = reports(code, members), reports(code, members[-1:])
    assert told(together, "t2") == told(alone, "t2") and not together[-1].failures
    for metric in ("acc", "error"):
        print(f"film reviews, {metric}:", *(round(each[metric] or 0, 3) for each in together[-1].metrics.values()))
