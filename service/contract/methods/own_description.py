"""What a user's file offers, as a fresh process read it: names, parameters, terms, metrics. Stored with every study
that names it, so that a study can be read without its code."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from service.contract.metrics.metric import METRIC_NAME, NAME, Goal
from service.contract.packages.requirements import MOST_REQUIREMENTS
from service.contract.parameters.strict import Strict
from service.contract.wording.plain_text import PlainText, Word, printable

Scalar = bool | int | float | Word
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
OwnName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,79}$")]
Doc = Annotated[str, Field(max_length=4000), AfterValidator(printable)]
MOST_TERMS = 64
MOST_PARAMETERS = 64
MOST_METRICS = 64

Hook = Literal["shared", "schedule", "code", "decode", "logits", "optimizer"]


class Parameter(Strict):
    """A parameter of a problem or a script: a scalar with bounds."""

    name: OwnName = Field(description="as a study writes it")
    kind: Literal["bool", "int", "float", "str"] = Field(description="the type of its values")
    choices: list[Scalar] | None = Field(None, max_length=1000, description="the only values it takes; none: any")
    default: Scalar | None = Field(None, description="its value where a study gives none")
    required: bool = Field(False, description="whether a study has to give it: it has no default")
    optional: bool = Field(False, description="whether it may be null")
    at_least: float | None = Field(None, description="its least value")
    above: float | None = Field(None, description="it is larger than this")
    at_most: float | None = Field(None, description="its largest value")
    below: float | None = Field(None, description="it is smaller than this")
    doc: Doc = Field("", description="what it means")


class OwnMetric(Strict):
    """A metric that the code declares."""

    name: Annotated[str, Field(pattern=f"^{METRIC_NAME}$", max_length=80)] = Field(description="as it is reported")
    goal: Goal = Field(description="which way is better")
    unit: Annotated[PlainText, Field(max_length=20)] = Field("", description="shown behind its values")
    reference: float | None = Field(
        None, description="its part of the hypervolume's reference point; none: the worst value of the study"
    )
    doc: Annotated[str, Field(max_length=1000), AfterValidator(printable)] = Field("", description="what it measures")
    low: float | None = Field(None, description="the least it can be; none: no such end")
    high: float | None = Field(None, description="the most it can be; none: no such end")


class Described(Strict):
    """A problem or a script of the code."""

    name: OwnName = Field(description="of the class or function: as a study writes it")
    kind: Literal["problem", "script"] = Field(
        description="problem: loss terms that Paretoscope trains; script: a function that trains by itself and reports"
    )
    doc: Doc = Field("", description="its documentation")
    file: PlainText = Field("", max_length=1000, description="where it stands in the code")
    line: int = Field(0, ge=0, description="the line it begins at")
    terms: list[Annotated[str, Field(pattern=f"^{NAME}$", max_length=40)]] = Field(
        [], max_length=MOST_TERMS, description="its loss terms, the main one first; none: a script"
    )
    metrics: list[OwnMetric] = Field(min_length=1, max_length=MOST_METRICS, description="what its trials report")
    parameters: list[Parameter] = Field([], max_length=MOST_PARAMETERS, description="what a study may set")
    hooks: list[Hook] = Field([], description="which of the optional methods it has")
    stacks: bool | None = Field(None, description="whether its members train together; none: not tried")
    stacking: Annotated[str, Field(max_length=1000), AfterValidator(printable)] = Field(
        "", description="why they do not, or how much it pays"
    )

    @property
    def has_code(self) -> bool:
        """Whether its inputs get a Gaussian code that can be measured."""
        return "code" in self.hooks

    @property
    def reads_code(self) -> bool:
        """Whether classes are read off that code, so that what it says about them can be measured too."""
        return "decode" in self.hooks

    @property
    def can_be_attacked(self) -> bool:
        """Whether it gives logits of an input."""
        return self.reads_code or "logits" in self.hooks

    @model_validator(mode="after")
    def _is_whole(self) -> Described:
        if self.kind == "problem" and not self.terms:
            raise ValueError(f"problem {self.name} needs at least one term")
        if self.reads_code and not self.has_code:
            raise ValueError(f"problem {self.name} has a method decode, which reads the code of a method code: give it")
        if self.has_code and "logits" in self.hooks:
            raise ValueError(f"logits of problem {self.name} are read off its code: give decode in place of logits")
        for what, names in (
            ("terms", self.terms),
            ("metrics", [metric.name for metric in self.metrics]),
            ("parameters", [parameter.name for parameter in self.parameters]),
        ):
            twice = [name for i, name in enumerate(names) if name in names[:i]]
            if twice:
                raise ValueError(f"{what} of {self.name} must differ, {twice[0]!r} appears twice")
        return self


class Code(Strict):
    """Code that a study runs: which, and what is in it."""

    hash: Hash = Field(description="of its files: the same code has the same hash")
    entry: str = Field(max_length=1000, description="the file that is imported")
    requirements: list[PlainText] = Field(
        [], max_length=MOST_REQUIREMENTS, description="packages that are installed where it runs"
    )
    problems: list[Described] = Field(min_length=1, max_length=64, description="what a study may name of it")

    def named(self, name: str) -> Described | None:
        return next((each for each in self.problems if each.name == name), None)
