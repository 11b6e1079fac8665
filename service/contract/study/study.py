"""A study: arms compared on the same data, model, training and seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from service.contract.methods.attacks import Attack, label_of, metric_of
from service.contract.methods.balance import Balance, balanced_layers
from service.contract.methods.data import Data, Digits, Gaussian
from service.contract.methods.models import Mlp, Model
from service.contract.methods.own_description import Code
from service.contract.methods.own_problems import OwnProblem
from service.contract.methods.problems import Bottleneck, Problem, ToyProblem, can_be_attacked, has_code
from service.contract.methods.searches import GridSearch, Search
from service.contract.methods.stopping import Halving
from service.contract.methods.weightings import Count, Decay, NonNegative, Positive, Weighting
from service.contract.metrics import (
    BALANCE,
    BALANCE_METRICS,
    BEST_EPOCH,
    CALIBRATIONS,
    COMMON_METRICS,
    COSINE,
    ESTIMATE,
    ESTIMATOR_SAMPLES,
    GAP,
    GRADIENT_NORM,
    LOSS_GAP,
    METRICS,
    OVERFITTING_RATIO,
    ROBUST,
    ROBUST_IMAGES,
    VALIDATION,
    Goal,
    Kind,
    Named,
    described,
    metric,
    of_kind,
)
from service.contract.metrics.estimators import ESTIMATOR_NAMES, EstimatorName
from service.contract.metrics.gradients import gradient_metrics
from service.contract.packages.requirements import MOST_REQUIREMENTS, Requirement
from service.contract.parameters.axes import Axis
from service.contract.parameters.strict import Strict
from service.contract.parameters.with_axes import TakesAxes, with_axes
from service.contract.study.branches import Weighed, WeightingChoice
from service.contract.study.constraints import Constraint, Judged
from service.contract.study.limits import Limits
from service.contract.study.metric_names import MetricName
from service.contract.study.own_code import with_code

ScheduleName = Literal["constant", "step", "exponential", "cosine"]


class Training(Strict):
    """How every trial is trained; an arm may override any of it."""

    epochs: Annotated[int, Field(ge=1, le=10_000)] = Field(20, description="passes over the training data")
    batch_size: Axis[Annotated[int, Field(ge=1, le=65_536)]] = Field(
        128, description="examples per step; the last batch may be smaller"
    )
    learning_rate: Axis[Positive] = Field(1e-3, description="step size")
    optimizer: Axis[Literal["adam", "adamw", "sgd"]] = Field(
        "adam", description="adamw: Adam whose weight decay is no part of the gradient; sgd: plain, or with momentum"
    )
    momentum: Axis[Decay] = Field(0.0, description="of sgd: share of the last step's velocity that is kept; 0: none")
    nesterov: Axis[bool] = Field(False, description="of sgd with momentum: look ahead along the velocity")
    beta1: Axis[Decay] = Field(0.9, description="of adam and adamw: decay β₁ of the gradients' mean")
    beta2: Axis[Decay] = Field(0.999, description="of adam and adamw: decay β₂ of the squared gradients' mean")
    weight_decay: Axis[NonNegative] | None = Field(
        None, description="of adamw: in each step every parameter loses this times the learning rate; none: 0.01"
    )
    schedule: Axis[ScheduleName] = Field(
        "constant",
        description="learning rate over the epochs. step: times `decay` every `decay_epochs`; exponential: times "
        "`decay` every epoch; cosine: half a cosine down to `floor`",
    )
    decay: Axis[Annotated[float, Field(gt=0, le=1)]] | None = Field(
        None, description="factor of schedule step (none: 0.1) or exponential (none: 0.95)"
    )
    decay_epochs: Axis[Count] | None = Field(None, description="epochs between two factors of schedule step; none: 10")
    floor: Axis[Annotated[float, Field(ge=0, le=1)]] = Field(
        0.0, description="of schedule cosine: share of the learning rate that it goes down to"
    )
    warm_up: Axis[Annotated[int, Field(ge=0)]] = Field(
        0, description="epochs at first in which the learning rate rises in even steps, before its schedule"
    )
    clip: Axis[Positive] | None = Field(
        None,
        description="longest gradient of all parameters together: longer ones are shortened to it; none: any length",
    )
    l1: Axis[NonNegative] = Field(0.0, description="l1·sign(w) joins the gradient of every parameter: loss + l1·Σ|w|")
    l2: Axis[NonNegative] = Field(0.0, description="l2·w joins the gradient of every parameter: loss + l2/2·Σw²")
    anneal: Axis[Annotated[int, Field(ge=0)]] = Field(
        0,
        description="epochs at first in which the weights of all terms but the first rise in even steps to what the "
        "weighting says: of a bottleneck, β",
    )
    best: str | None = Field(
        None,
        max_length=80,
        description="keep the weights of the epoch in which this metric was best on the validation split: the last "
        "report is measured with them and says which epoch it was; none: the last epoch",
    )
    flip: Axis[bool] = Field(
        False, description="mirror each training image left to right with probability one half, anew in each epoch"
    )
    shift: Axis[Annotated[int, Field(ge=0, le=16)]] = Field(
        0,
        description="move each training image by up to this many pixels both ways, black outside, anew in each epoch",
    )
    average: Axis[Decay] = Field(
        0.0,
        description="measure and keep the mean of the weights over all steps instead of the last weights: each step "
        "counts so many times as much as the next; 0: the last weights",
    )
    balance: Balance | None = Field(
        None, description="synaptic balance of hidden units; none: neither done nor measured"
    )
    feedback: Literal["backprop", "dfa"] = Field(
        "backprop",
        description="how hidden layers learn of the error; dfa: direct feedback alignment, the logits' error comes "
        "to each of them through a fixed random matrix (model mlp)",
    )


class Objective(Strict):
    """One axis of the front."""

    metric: MetricName = Field(description="a metric that every trial reports")
    goal: Goal = Field(description="which way is better")
    reference: float | None = Field(
        None, description="this axis of the hypervolume's reference point; none: the metric's own"
    )

    @model_validator(mode="after")
    def _is_known(self) -> Objective:
        default = metric(self.metric)
        if default is None:
            raise ValueError(f"{self.metric!r} is not a metric; known: {', '.join(METRICS)}, {ROBUST.name}")
        unknown = default.reference is None or default.goal != self.goal
        if self.reference is None and unknown and not isinstance(self.metric, Named):
            raise ValueError(f"{self.metric} to {self.goal} has no default reference point: give 'reference'")
        return self

    @property
    def reference_value(self) -> float | None:
        """None where only the study's own values can tell: of a metric of its own code."""
        default = described(self.metric)
        if self.reference is not None or default.goal != self.goal:
            return self.reference
        return default.reference


class Arm(Strict):
    """A problem with a weighting, and what is searched in it."""

    name: str = Field(min_length=1, max_length=80, description="shown everywhere; unique in the study")
    problem: Annotated[Problem, TakesAxes()] = Field(with_axes(Bottleneck)(), description="what is trained")
    weighting: Weighed = Field(
        description="how the loss terms are weighted; with search optuna also {choice: [{name: …}, {name: …}]}, of "
        "which the search tries one in each trial"
    )
    search: Search = Field(GridSearch(), description="how the arm's values are chosen")
    model: dict[str, Any] = Field({}, description="overrides of the study's model, for this arm")
    training: dict[str, Any] = Field({}, description="overrides of the study's training, for this arm")
    run: Literal["here", "elsewhere"] = Field(
        "here",
        description="here: Ray trains its trials; elsewhere: whoever asks for one (POST /api/studies/{id}/ask) trains "
        "it and reports, from any machine with a token",
        exclude_if=lambda place: place == "here",
    )


class LatentMap(Strict):
    """Codes of test examples in the plane, per trial: by t-SNE, or as they are where the code has two dimensions."""

    points: Annotated[int, Field(ge=10, le=5000)] = Field(
        500, description="test examples, the first of the split; under an attack as well, where there is one"
    )
    attack: str | None = Field(
        None, description="which of evaluation.attacks, by its label or name; none: the first of them"
    )
    seeds: list[Annotated[int, Field(ge=0, lt=2**31)]] | None = Field(
        None, min_length=1, description="seeds whose trials get a map; none: the first of the study"
    )
    perplexity: Annotated[float, Field(ge=2, le=500)] = Field(
        30.0, description="neighbours that t-SNE keeps together, at most a third of the points"
    )

    def attack_of(self, attacks: Sequence[Attack]) -> Attack | None:
        """The one it names, else the first; none where there is no such attack."""
        return next((attack for attack in attacks if self.attack in (None, label_of(attack))), None)


class Evaluation(Strict):
    """What is measured, the same for every arm."""

    every: Annotated[int, Field(ge=1)] = Field(1, description="evaluate every n epochs, and at the end")
    samples: Annotated[int, Field(ge=1, le=1000)] = Field(
        12, description="latent samples behind every point of a learning curve, the last included"
    )
    estimators: list[EstimatorName] = Field(
        [],
        max_length=len(ESTIMATOR_NAMES),
        description=f"more estimates of I(X;Z), reported as {ESTIMATE.name}",
    )
    estimator_samples: Annotated[int, Field(ge=2, le=100_000)] = Field(
        1000, description="test points N that the estimators use at most; no estimate goes far beyond log2 N bits"
    )
    attacks: list[Attack] = Field(
        [], max_length=32, description=f"accuracy under each of these is {ROBUST.of('<label>')}"
    )
    attack_images: Annotated[int, Field(ge=1)] = Field(
        1000, description="attack at most this many test images, the first of the split"
    )
    attack_every: Annotated[int, Field(ge=1)] | None = Field(
        None, description="attack every n epochs too; none: only at the end of training"
    )
    gradients: bool = Field(
        False,
        description=f"report {COSINE.name} and {GRADIENT_NORM.name} of every trial. Weightings that compare gradients "
        "do so anyway; any other then takes a backward pass per term instead of one: on digits 1.5 to 1.9 times the "
        "training time with two terms, 1.9 to 3.3 times with five. The update is the same",
    )
    overfitting: bool = Field(
        False,
        description=f"report {LOSS_GAP.name} and {OVERFITTING_RATIO.name} where anything is measured: losses of each "
        "term on the validation split and on as many training examples, at the same weights. Not of your own problems",
    )
    checkpoints: bool = Field(True, description="keep the trained weights of every trial with the service")
    latent_map: LatentMap | None = Field(
        None,
        description="codes of test examples in the plane at the end of training (problem bottleneck, or one of "
        "your own that gives its code); none: no map",
    )

    @field_validator("attacks")
    @classmethod
    def _labels_are_unique(cls, attacks: list[Attack]) -> list[Attack]:
        names = [metric_of(attack) for attack in attacks]
        twice = [name for i, name in enumerate(names) if name in names[:i]]
        if twice:
            raise ValueError(f"two attacks report as {twice[0]!r}: give one of them another label")
        return attacks

    def attacks_at(self, epoch: int, last: bool) -> bool:
        """Whether the attacks run after this epoch."""
        due = self.attack_every is not None and epoch % self.attack_every == 0
        return bool(self.attacks) and (last or due)

    def watches(self, weighting: Weighting | WeightingChoice) -> bool:
        """Whether trials of this weighting report the gradients of their terms."""
        return self.gradients or weighting.needs_gram

    @property
    def estimator_metrics(self) -> list[str]:
        """What the estimators add to a trial's metrics."""
        return [*map(ESTIMATE.of, self.estimators), ESTIMATOR_SAMPLES] if self.estimators else []

    @property
    def attack_metrics(self) -> list[str]:
        """What the attacks add to a trial's metrics."""
        return [*map(metric_of, self.attacks), ROBUST_IMAGES] if self.attacks else []


class Resources(Strict):
    """What one Ray Tune trial (a cohort) may use, and how many run at once."""

    cpus: Annotated[float, Field(gt=0, le=1024)] = Field(1, description="CPUs, and threads, of a cohort")
    gpus: Annotated[float, Field(ge=0, le=64)] = Field(0, description="GPUs of a cohort; may be a fraction")
    concurrency: Annotated[int, Field(ge=1, le=1024)] | None = Field(
        None, description="cohorts at once; none: as many as fit"
    )
    cohort: Annotated[int, Field(ge=1, le=1024)] | None = Field(
        None, description="members per cohort; none: the planner decides"
    )


def _own_objectives(fields: dict[str, Any]) -> list[Objective]:
    arms = fields.get("arms")  # missing when they were refused
    names = (arms[0].problem if arms else Bottleneck()).objectives
    return [Objective.model_validate({"metric": name, "goal": described(name).goal}) for name in names]


_TOLD_APART: dict[str, tuple[str, Callable[[Any], object]]] = {
    "arms": ("arm names", lambda arm: arm.name),
    "seeds": ("seeds", lambda seed: seed),
    "objectives": ("objective metrics", lambda objective: objective.metric),
    "constraints": ("constraints", lambda constraint: f"{constraint.metric} {constraint.sign}"),
}


class Study(Strict):
    """A request to compare arms."""

    name: str = Field(min_length=1, max_length=200, description="shown everywhere; need not be unique")
    data: Data = Field(Digits(), description="what every arm is trained and tested on")
    model: Annotated[Model, TakesAxes()] = Field(with_axes(Mlp)(), description="the network; an arm may override it")
    training: Annotated[Training, TakesAxes()] = Field(
        with_axes(Training)(), description="epochs, batches and optimiser; an arm may override it"
    )
    seeds: list[Annotated[int, Field(ge=0, lt=2**31)]] = Field(
        [0], min_length=1, max_length=1000, description="every arm is trained once with each, and compared over them"
    )
    arms: list[Arm] = Field(min_length=1, max_length=64, description="what is compared")
    objectives: list[Objective] = Field(
        default_factory=_own_objectives,
        min_length=2,
        max_length=4,
        description="axes of the front; none: those of the first arm's problem (bottleneck: I(X;Z) and I(Z;Y))",
    )
    constraints: list[Constraint] = Field(
        [],
        max_length=8,
        description="bounds that a trial must keep to count for a front: {metric: accuracy, at_least: 0.9}, or "
        "at_most; searches know them too",
        exclude_if=lambda constraints: not constraints,
    )
    code: Code | None = Field(
        None, description="code of your own that the arms' problems stand in; none: they are Paretoscope's"
    )
    requirements: list[Requirement] = Field(
        [],
        max_length=MOST_REQUIREMENTS,
        description="packages that the code needs, besides those of its requirements.txt, by name and version; they "
        "become part of the code, so of its hash, and are kept there",
        exclude_if=lambda requirements: not requirements,
    )
    problem: Annotated[Problem, TakesAxes()] | None = Field(
        None, description="the problem of every arm that names none"
    )
    baseline: str | None = Field(
        None,
        description="the arm that others are measured against; none: weighted by hand if one is, with the most trials",
    )
    selection: Literal["validation", "test"] = Field(
        "validation",
        description="the split whose values choose (the front, best values, a search's next trial); values of the test "
        "split are what is shown of the chosen. `test` chooses by what it shows, which flatters arms with many trials",
    )
    evaluation: Evaluation = Field(Evaluation(), description="what is measured, and how often")
    resources: Resources = Field(Resources(), description="what the workers may use")
    limits: Limits = Field(Limits(), description="when the study ends in any case")
    stopping: Halving | None = Field(
        None,
        description="which trials end before their last epoch; none: every trial is trained to its end",
        exclude_if=lambda stopping: stopping is None,
    )

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, body: Any) -> Any:
        """The problem that arms share, and what the study's own code says of itself."""
        if not isinstance(body, dict):
            return body
        shared, arms = body.get("problem"), body.get("arms")
        if isinstance(shared, dict) and isinstance(arms, list):
            bare = [isinstance(arm, dict) and arm.get("problem") is None for arm in arms]
            filled = [{**arm, "problem": shared} if is_bare else arm for arm, is_bare in zip(arms, bare, strict=True)]
            body = {**body, "arms": filled}
        return with_code(body)

    @field_validator("arms", "seeds", "objectives", "constraints")
    @classmethod
    def _differ(cls, given: list[Any], info: ValidationInfo) -> list[Any]:
        what, name = _TOLD_APART[str(info.field_name)]
        names = [name(each) for each in given]
        twice = [n for i, n in enumerate(names) if n in names[:i]]
        if twice:
            raise ValueError(f"{what} must differ, {twice[0]!r} appears twice")
        return given

    @property
    def arms_elsewhere(self) -> frozenset[str]:
        """Arms whose trials Ray does not train."""
        return frozenset(arm.name for arm in self.arms if arm.run == "elsewhere")

    @property
    def mapped_seeds(self) -> list[int]:
        """Seeds whose trials get a latent map."""
        chosen = self.evaluation.latent_map
        return [] if chosen is None else chosen.seeds or self.seeds[:1]

    def metrics_of(self, arm: Arm) -> list[str]:
        """Everything that a trial of this arm reports; last what is also measured on the validation split."""
        names = self._test_metrics_of(arm)
        alone = isinstance(arm.problem, ToyProblem) or (isinstance(arm.problem, OwnProblem) and arm.problem.is_script)
        if not self.data.validation_fraction or alone:
            return names
        return [*names, *(VALIDATION.of(name) for name in names if described(name).measured)]

    def chosen_by(self, metric: str, arms: Sequence[Arm] | None = None) -> str:
        """The metric that chooses where this one is claimed: its own on the validation split, if all have one.

        `arms` are those it is claimed of; none: every arm.
        """
        twin = VALIDATION.of(metric)
        reported = [self.metrics_of(arm) for arm in (self.arms if arms is None else arms)]
        if self.selection != "validation" or not all(twin in names for names in reported):
            return metric
        # the reported name: of own code it carries its row
        return next((name for names in reported for name in names if name == twin), twin)

    @property
    def evaluation_at_rungs(self) -> Evaluation:
        """What is measured where trials are compared: all that objectives and constraints need."""
        asked = [*(each.metric for each in self.objectives), *(each.metric for each in self.constraints)]
        attacked = any(metric in self.evaluation.attack_metrics for metric in asked)
        return self.evaluation.model_copy(update={"every": 1, **({"attack_every": 1} if attacked else {})})

    @property
    def choosing(self) -> list[str]:
        """The metrics of the objectives, as a search may see them."""
        return [self.chosen_by(objective.metric) for objective in self.objectives]

    @property
    def bounds(self) -> list[Judged]:
        """The constraints as what chooses sees them."""
        return [each.judged_by(self.chosen_by(each.metric)) for each in self.constraints]

    def _test_metrics_of(self, arm: Arm) -> list[str]:
        of_weighting: tuple[str, ...] = getattr(arm.weighting, "metrics", ())
        terms = arm.problem.terms
        watched = gradient_metrics(terms) if terms and self.evaluation.watches(arm.weighting) else []
        if self.evaluation.overfitting:
            watched += [family.of(term) for family in (LOSS_GAP, OVERFITTING_RATIO) for term in terms]
        kept = [BEST_EPOCH] if arm.training.get("best", self.training.best) else []
        own = [*COMMON_METRICS, *arm.problem.metrics, *self._balance_metrics(arm), *of_weighting, *watched, *kept]
        if not has_code(arm.problem):
            return [*own, *(self.evaluation.attack_metrics if can_be_attacked(arm.problem) else ())]
        if isinstance(self.data, Gaussian):  # a continuous label is not hit or missed
            hits = [*of_kind(own, Kind.ACCURACY), GAP]
            own = [name for name in own if name not in hits]
        own += self.evaluation.estimator_metrics
        calibrated = [row.name for name in own for family in CALIBRATIONS if (row := family.metric(family.of(name)))]
        attacked = self.evaluation.attack_metrics if can_be_attacked(arm.problem) else []
        return [*own, *calibrated, *attacked]

    def _balance_metrics(self, arm: Arm) -> list[str]:
        if arm.training.get("balance", self.training.balance) is None:
            return []
        model = self.model_of(arm)
        layers = balanced_layers(model, arm.problem) if model else []
        return [*map(BALANCE.of, layers), *(BALANCE_METRICS if layers else ())]

    def model_of(self, arm: Arm) -> Model | None:
        """The model with what the arm overrides; none when that is refused."""
        try:
            return type(self.model).model_validate({**self.model.model_dump(by_alias=True), **arm.model})
        except ValidationError:
            return None

    def training_of(self, arm: Arm) -> Training | None:
        """The training with what the arm overrides; none when that is refused."""
        try:
            return type(self.training).model_validate({**self.training.model_dump(by_alias=True), **arm.training})
        except ValidationError:
            return None

    @property
    def metrics(self) -> list[str]:
        """Everything that some trial of this study reports."""
        return list(dict.fromkeys(name for arm in self.arms for name in self.metrics_of(arm)))
