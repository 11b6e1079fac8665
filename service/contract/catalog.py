"""Everything a study may name, with its parameters: read off the contract, so it cannot fall behind it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, get_args

from pydantic import Field

from service.contract.methods.attacks import Attack, Pgd
from service.contract.methods.data import Data, OwnData
from service.contract.methods.models import Model, OwnModel
from service.contract.methods.problems import RATES, BuiltIn
from service.contract.methods.searches import GridSearch, Search
from service.contract.methods.stopping import Halving
from service.contract.methods.weightings import Mib, Weighting
from service.contract.metrics import SINGLE, Bound
from service.contract.metrics.estimators import ESTIMATORS
from service.contract.parameters.strict import Strict
from service.contract.parameters.with_axes import with_axes, without_axes
from service.contract.study.constraints import Constraint
from service.contract.study.limits import Limits
from service.contract.study.study import Arm, Evaluation, Objective, Resources, Study, Training
from service.contract.vocabulary import Vocabulary, vocabulary
from service.contract.wire.answers.answer import Answer, AsItIs
from service.contract.wire.answers.figures import FigureEntry
from service.contract.wire.answers.studies import MetricRow

# The parts of a study that are not chosen by name.
SECTIONS: dict[str, type[Strict]] = {
    "training": Training,
    "objective": Objective,
    "constraint": Constraint,
    "evaluation": Evaluation,
    "resources": Resources,
    "limits": Limits,
    "stopping": Halving,
}

# Parameters that many studies set, by part; a form shows them first and the others when asked.
OFTEN_SET = {
    "data": {"train_fraction", "correlations", "of", "size"},
    "models": {"widths", "channels", "hidden", "latent"},
    "problems": {"rate", "front", "main", "auxiliaries"},
    "weightings": {
        "beta",
        "rate_bits",
        "mu",
        "power",
        "form",
        "alpha",
        "c",
        "temperature",
        "epsilon",
        "learning_rate",
        "points",
    },
    "searches": {"sampler", "trials", "tolerance"},
    "attacks": {"epsilon"},
    "sections": {
        *("epochs", "batch_size", "learning_rate", "optimizer"),
        *("every", "estimators", "cpus", "gpus", "concurrency", "seconds", "trials", "keep", "first"),
    },
}

# What a form starts from: the contract's own default where it has one.
FIRST_CHOICES = {
    Mib,
    Pgd,
    *(without_axes(type(Study.model_fields[part].default)) for part in ("data", "model")),
    *(without_axes(type(Arm.model_fields[part].default)) for part in ("problem", "search")),
}


@dataclass(slots=True, kw_only=True)
class Entry(Answer):
    """Something that a study may name, or a section of it, with its parameters."""

    name: Annotated[str, Field(description="as a study writes it")]
    doc: Annotated[str, Field(description="what it is or does")]
    schema: Annotated[dict[str, Any], AsItIs(), Field(description="the JSON schema of its parameters")]
    often_set: Annotated[list[str], Field(description="parameters that many studies set; a form shows these first")] = (
        field(default_factory=list)
    )
    first_choice: Annotated[bool, Field(description="the one a form selects first")] = False


@dataclass(slots=True, kw_only=True)
class ProblemEntry(Entry):
    """A problem of Paretoscope's, or one of code that was sent and described."""

    code: Annotated[
        list[str],
        Field(description="hashes of the code it stands in, newest first; none: it is Paretoscope's"),
    ] = field(default_factory=list)
    entry: Annotated[str | None, Field(description="the file of that code; none: it is Paretoscope's")] = None
    terms: Annotated[
        list[str], Field(description="loss terms of code of your own, the main one first; none: a script, or ours")
    ] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class SearchEntry(Entry):
    """A search."""

    suggests: Annotated[bool, Field(description="whether it takes ranges and choices in place of grids")]


@dataclass(slots=True, kw_only=True)
class EstimatorEntry(Entry):
    """An estimator of information."""

    kind: Annotated[Bound, Field(description="how it relates to the quantity that it estimates")]


@dataclass(slots=True, kw_only=True)
class FigureKind(FigureEntry):
    """A figure, with a schema as everything in the catalog has one."""

    schema: Annotated[
        dict[str, Any],
        AsItIs(),
        Field(description="empty: a study gives it no parameters; a reader's choices are the `controls` of a study's"),
    ] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Catalog(Answer):
    """Everything a study may name."""

    data: Annotated[list[Entry], Field(description="data sets")]
    models: Annotated[list[Entry], Field(description="models")]
    problems: Annotated[
        list[ProblemEntry],
        Field(
            description="problems: what is trained; last those of code that was sent, for tokens of the scope `code`"
        ),
    ]
    rates: Annotated[list[Entry], Field(description="rates of the bottleneck")]
    weightings: Annotated[list[Entry], Field(description="weightings of the loss terms")]
    searches: Annotated[list[SearchEntry], Field(description="how an arm's values are chosen")]
    attacks: Annotated[list[Entry], Field(description="attacks on the trained model")]
    estimators: Annotated[list[EstimatorEntry], Field(description="estimators of information")]
    sections: Annotated[list[Entry], Field(description="the parts of a study that are not chosen by name")]
    metrics: Annotated[list[MetricRow], Field(description="what trials report, families aside")]
    figures: Annotated[list[FigureKind], Field(description="figures of a study")]
    vocabulary: Annotated[Vocabulary, Field(description="words and limits that a page needs")]


def _members(union: Any) -> list[type[Strict]]:
    """The classes of a discriminated union, or the one class."""
    args = get_args(union)
    if not args:
        return [union]
    inner = get_args(args[0])
    return list(inner) if inner else [args[0]]


def _entry(part: str, kind: type[Strict], name: str | None = None) -> Entry:
    return Entry(
        name=name or kind.model_fields["name"].default,
        doc=" ".join((kind.__doc__ or "").split()),
        schema=with_axes(kind).model_json_schema(),
        often_set=[field for field in kind.model_fields if field in OFTEN_SET[part]],
        first_choice=kind in FIRST_CHOICES,
    )


def _entries(part: str, union: Any) -> list[Entry]:
    """But for what only a study with code of its own has, and has by itself."""
    return [_entry(part, kind) for kind in _members(union) if kind not in (OwnData, OwnModel)]


def catalog(figures: list[FigureEntry]) -> Catalog:
    return Catalog(
        data=_entries("data", Data),
        models=_entries("models", Model),
        problems=[ProblemEntry(**each.fields()) for each in _entries("problems", BuiltIn)],
        rates=[Entry(name=name, doc=doc, schema={}) for name, doc in RATES.items()],
        weightings=_entries("weightings", Weighting),
        searches=[
            SearchEntry(**_entry("searches", kind).fields(), suggests=kind is not GridSearch)
            for kind in _members(Search)
        ],
        attacks=_entries("attacks", Attack),
        estimators=[EstimatorEntry(name=n, kind=e.kind, doc=e.doc, schema={}) for n, e in ESTIMATORS.items()],
        sections=[_entry("sections", kind, name) for name, kind in SECTIONS.items()],
        metrics=[MetricRow(**row._asdict()) for row in SINGLE.values()],
        figures=[FigureKind(**each.fields()) for each in figures],
        vocabulary=vocabulary(),
    )
