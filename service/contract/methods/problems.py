"""Parameters of the problems. A problem turns a batch into named loss terms: see workers/problems."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import (
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from service.contract.methods.own_problems import OwnProblem, own_problem
from service.contract.methods.task_data import as_task
from service.contract.metrics import (
    ACCURACY,
    BOTTLENECK_METRICS,
    F1,
    F2,
    I_XZ,
    I_ZY,
    INFO,
    KL_PRIOR,
    LOSS,
    MULTITASK_METRICS,
    PRED,
    SPREAD,
    TASK_ACCURACY,
    TEST_EXAMPLES,
    TEST_LOSS,
    TOY_METRICS,
    WEIGHT,
)
from service.contract.parameters.axes import Axis, Choice, Grid, Range
from service.contract.parameters.strict import Strict

USED_BY = {"exponent": ("power",), "eta": ("exp", "shifted-exp"), "shift_bits": ("shifted-exp",)}


class Bottleneck(Strict):
    """Information bottleneck with the terms `pred` (cross-entropy) and `info` (the rate), both in nats.

    `transform` replaces the information term by a convex u(r) of the rate r, the mean over the batch (Rodríguez
    Gálvez et al. 2020), so that each β has a point of its own where labels are deterministic. The weights multiply
    u(r); the loss that is reported stays r.
    """

    terms: ClassVar[tuple[str, ...]] = (PRED, INFO)

    name: Literal["bottleneck"] = "bottleneck"
    rate: Axis[Literal["vib", "nib", "none"]] = Field(
        "vib",
        description="vib: Gaussian code, KL to N(0, I) summed over latent dimensions; nib: one trained noise level, "
        "pairwise bound, at most ln(batch); none: deterministic code, no information term",
    )
    transform: Axis[Literal["identity", "square", "power", "exp", "shifted-exp"]] = Field(
        "identity",
        description="u(r), r in nats: r; r²; r^(1+exponent); e^(eta·r); e^(eta·(r − shift))/eta. "
        "Where the exponent exceeds 20 (exp) or 3 (shifted-exp) they go on as their tangent",
    )
    exponent: Axis[Annotated[float, Field(gt=0, le=10)]] = Field(
        1.0, description="a of the power r^(1+a); 1 is the square"
    )
    eta: Axis[Annotated[float, Field(gt=0, le=100)]] = Field(0.1, description="η of the exponentials, per nat")
    shift_bits: Axis[Annotated[float, Field(ge=0)]] = Field(
        0.0,
        description="the rate in bits at which the shifted exponential has slope 1; there β means what it "
        "means without a transform",
    )

    @property
    def objectives(self) -> tuple[str, ...]:
        return (I_XZ, I_ZY)

    @property
    def metrics(self) -> list[str]:
        """What a trial reports, besides what every trial does."""
        return list(BOTTLENECK_METRICS)

    @model_validator(mode="after")
    def _grids_are_used(self) -> Bottleneck:
        for field, transforms in USED_BY.items():
            unused = isinstance(self.transform, str) and self.transform not in transforms
            if unused and isinstance(getattr(self, field), (Grid, Range, Choice)):
                raise ValueError(f"{field} takes several values but transform {self.transform!r} does not use it")
        return self


class ToyProblem(Strict):
    """Two objectives of a vector x of `model.latent` numbers with a known front: no data, no network.

    With the unit vector u = (1, …, 1)/√d: convex f = ‖x ∓ u‖²/4, front √f1 + √f2 = 1; concave
    f = 1 − exp(−‖x ∓ u‖²), which no constant weights reach but at its ends. On both fronts x = t·u, −1 ≤ t ≤ 1.
    """

    terms: ClassVar[tuple[str, ...]] = (F1, F2)

    name: Literal["toy"] = "toy"
    front: Axis[Literal["convex", "concave"]] = Field("concave", description="shape of the known front")
    spread: Axis[Annotated[float, Field(gt=0, le=10)]] = Field(
        0.5, description="standard deviation of the random start, drawn per seed and dimension"
    )
    steps: Axis[Annotated[int, Field(ge=1, le=10_000)]] = Field(20, description="updates of an epoch")

    @property
    def objectives(self) -> tuple[str, ...]:
        return (F1, F2)

    @property
    def metrics(self) -> list[str]:
        return list(TOY_METRICS)


TaskName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$"), BeforeValidator(as_task)]
MADE_TASKS = {
    "class": "the label of the data set; with `data.labels` only that many training images have one",
    "coarse-class": "a coarser label of the same images: kinds of clothing, digits by shape",
    "rotation": "by how many quarter turns the image was rotated (self-supervised, four ways)",
    "exemplar": "a shifted, noisy view of an image should have the projection that an averaged teacher gives another "
    "view, or the image itself: 1 − cosine",
    "reconstruction": "the pixels themselves, mean squared error",
    "random-labels": "a fixed random label per image: harmful on purpose",
}
WITHOUT_ACCURACY = ("exemplar", "reconstruction", INFO)


class Multitask(Strict):
    """A main task and auxiliaries over one encoder with a head each; the terms are named after the tasks.

    With a `rate` the code is a bottleneck's, and its rate is the last term, `info`, which is weighed as the tasks are.
    Tasks are those made from any images (class, coarse-class, rotation, exemplar, reconstruction, random-labels) and
    the data set's own columns (left and right of overlaid pairs, attributes, domains).
    """

    name: Literal["multitask"] = "multitask"
    main: TaskName = Field(
        "class", description="the task that counts; its weight is 1 where a weighting has a main term"
    )
    auxiliaries: list[TaskName] = Field([], max_length=63, description="tasks that may help it")
    random_classes: Axis[Annotated[int, Field(ge=2, le=1000)]] = Field(10, description="classes of random-labels")
    teacher_decay: Axis[Annotated[float, Field(ge=0, lt=1)]] = Field(
        0.99, description="of the exemplar task's teacher, an average over past parameters"
    )
    shift: Axis[Annotated[int, Field(ge=0, le=8)]] = Field(
        1, description="pixels that exemplar views are shifted by, at most"
    )
    teacher_sees: Axis[Literal["shifted", "original"]] = Field(
        "shifted",
        description="of the exemplar task; shifted: another shifted, noisy view; original: the image as it is, neither "
        "shifted nor augmented, as in the ARML paper",
    )

    rate: Literal["none", "vib"] = Field(
        "none",
        description="none: heads read ReLU(code), and the terms are the tasks; vib: heads read a sample of a Gaussian "
        "code, and its KL to N(0, I), summed over latent dimensions, is one term more, info",
    )

    @model_validator(mode="after")
    def _tasks_differ(self) -> Multitask:
        twice = [task for i, task in enumerate(self.tasks) if task in self.tasks[:i]]
        if twice:
            raise ValueError(f"tasks must differ, {twice[0]!r} appears twice")
        if self.rate != "none" and INFO in self.tasks:
            raise ValueError(f"with rate {self.rate} the term {INFO!r} is that rate: no task can have this name")
        if self.teacher_sees != "shifted" and "exemplar" not in self.tasks:
            raise ValueError("teacher_sees is of the task exemplar, which is not among the tasks: leave it out")
        return self

    @property
    def tasks(self) -> tuple[str, ...]:
        return (self.main, *self.auxiliaries)

    @property
    def terms(self) -> tuple[str, ...]:
        return self.tasks if self.rate == "none" else (*self.tasks, INFO)

    @property
    def objectives(self) -> tuple[str, ...]:
        """The accuracies of the first two tasks that have one, else the only accuracy and the main task's loss."""
        accurate = [task for task in self.tasks if task not in WITHOUT_ACCURACY]
        if len(accurate) > 1:
            return (TASK_ACCURACY.of(accurate[0]), TASK_ACCURACY.of(accurate[1]))
        return (TEST_LOSS.of(self.main), TASK_ACCURACY.of(accurate[0]) if accurate else LOSS.of(self.main))

    @property
    def metrics(self) -> list[str]:
        accurate = [task for task in self.tasks if task not in WITHOUT_ACCURACY]
        of_tasks = [family.of(task) for family in (LOSS, WEIGHT, TEST_LOSS) for task in self.terms]
        of_tasks += map(TASK_ACCURACY.of, accurate)
        main = [ACCURACY] if self.main in accurate else []
        spread = [SPREAD.of(task) for task in self.tasks if task == "exemplar"]
        rate = [] if self.rate == "none" else [KL_PRIOR]
        return [*of_tasks, *main, *(MULTITASK_METRICS if accurate else ()), *spread, *rate, TEST_EXAMPLES]


OWN_SCHEMA: JsonSchemaValue = {
    "title": "OwnProblem",
    "description": "a class or function of the study's code, and its parameters",
    "type": "object",
    "properties": {"name": {"type": "string", "description": "of the class or function"}},
    "required": ["name"],
    "additionalProperties": True,
}


class _OwnToo:
    """Marks a field for a built-in problem, told apart by its name, or one of the study's own code."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        known = reduce(or_, [kind for kind in get_args(source) if not issubclass(kind, OwnProblem)])
        built_in = handler.generate_schema(Annotated[known, Field(discriminator="name")])
        serialization = core_schema.wrap_serializer_function_ser_schema(_dumped, info_arg=True, schema=built_in)
        return core_schema.no_info_wrap_validator_function(_checked, built_in, serialization=serialization)

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [handler(core), OWN_SCHEMA]}


def _checked(value: Any, built_in: core_schema.ValidatorFunctionWrapHandler) -> Any:
    own = own_problem(value)
    return built_in(value) if own is None else own


def _dumped(value: Any, built_in: SerializerFunctionWrapHandler, info: SerializationInfo) -> Any:
    if isinstance(value, OwnProblem):
        return value.model_dump(mode=info.mode, by_alias=info.by_alias)
    return built_in(value)


BuiltIn = Annotated[Bottleneck | ToyProblem | Multitask, Field(discriminator="name")]
Problem = Annotated[Bottleneck | ToyProblem | Multitask | OwnProblem, _OwnToo()]


def tasks_of(problem: Problem) -> tuple[str, ...]:
    """The terms that can be trained alone: all but the rate of several tasks."""
    return problem.tasks if isinstance(problem, Multitask) else problem.terms


def has_code(problem: Problem) -> bool:
    """Whether its inputs get a Gaussian code, whose information is measured."""
    return isinstance(problem, Bottleneck) or (isinstance(problem, OwnProblem) and problem.described.has_code)


def can_be_attacked(problem: Problem) -> bool:
    """Whether it gives logits of an input, which attacks change."""
    return isinstance(problem, Bottleneck) or (isinstance(problem, OwnProblem) and problem.described.can_be_attacked)


RATES = {
    "vib": "Gaussian encoder, KL to a standard normal prior, summed over latent dimensions (Alemi et al. 2017)",
    "nib": "Nonlinear IB: f(x) + N(0, σ²I) with one trained σ², pairwise upper bound on I(X;Z) over the batch, "
    "never above ln(batch) (Kolchinsky et al. 2019)",
    "none": "Deterministic encoder, cross-entropy only; the information of a deterministic continuous code is not "
    f"finite, so {I_XZ} is null",
}
