"""The words and limits that a page shares with the service: it keeps no list of its own that could fall behind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated

from annotated_types import MaxLen, MinLen
from pydantic import Field

from service.contract.methods.own_problems import IN_SCHEMAS
from service.contract.parameters.axes import Bounds, Span
from service.contract.parameters.strict import Strict
from service.contract.study.outcomes import COLLAPSED_BELOW_BITS
from service.contract.study.study import Arm, Objective, Study, Training
from service.contract.wire.answers.answer import Answer
from service.contract.wire.answers.downloads import DOWNLOADS, Download
from service.contract.wire.answers.figure_groups import BESIDE_THE_FRONT, FRONT, GROUPS, ROW_PER_ARM, FigureGroup
from service.contract.wire.answers.picking import PICK_RULES, PickRule
from service.contract.wire.ceilings import STUDIES_LISTED, STUDIES_OVERLAID
from service.contract.wire.events import (
    KINDS,
    StudyCancelled,
    StudyEvent,
    StudyExtended,
    StudyPaused,
    StudyResumed,
    StudyRetried,
    StudyState,
    TrialState,
)
from service.contract.wire.transitions import STUDY_MOVES
from service.contract.wording.demo_preset import DEMO_PRESET
from service.contract.wording.keys import LETTERS
from service.contract.wording.lights import LIGHTS, Light
from service.contract.wording.palette import MARKERS

STATE_WORDS = {
    StudyState.QUEUED: "queued, place {place} in the queue",
    StudyState.RUNNING: "running {finished}/{planned}",
    StudyState.PAUSED: "paused {finished}/{planned}",
    StudyState.FINISHED: "finished in {took}",
    StudyState.FAILED: "failed after {took}",
    StudyState.CANCELLED: "cancelled, {finished} of {planned} trials finished",
}
INTERRUPTED_WORDS = "interrupted {finished}/{planned}"


WISHES: dict[str, type[StudyEvent]] = {
    "pause": StudyPaused,
    "resume": StudyResumed,
    "extend": StudyExtended,
    "retry": StudyRetried,
    "cancel": StudyCancelled,
}


def taken_in(state: StudyState) -> list[str]:
    return [wish for wish, event in WISHES.items() if state in STUDY_MOVES[event]]


@dataclass(slots=True, kw_only=True)
class StateWord(Answer):
    """A state that a study can be in."""

    name: Annotated[str, Field(description="as a study's `state`")]
    ended: Annotated[bool, Field(description="whether nothing more happens to a study in this state")]
    takes: Annotated[list[str], Field(description="what can be asked of a study in this state")]
    words: Annotated[
        str,
        Field(
            description="how a page says it: `{took}` is how long it ran, `{place}` the place in the queue, "
            "`{finished}` and the like are counts of trials; the name alone where one of them is not known"
        ),
    ]


@dataclass(slots=True, kw_only=True)
class HowMany(Answer):
    """How few and how many of something there may be."""

    least: Annotated[int, Field(description="the fewest")]
    most: Annotated[int, Field(description="the most")]


@dataclass(slots=True, kw_only=True)
class PageLimits(Answer):
    """Numbers that a page has to know before it asks."""

    studies_overlaid: Annotated[int, Field(description="the most studies that can be overlaid")]
    studies_listed: Annotated[int, Field(description="the most studies in one answer")]
    seeds: Annotated[HowMany, Field(description="seeds of a study")]
    objectives: Annotated[HowMany, Field(description="objectives of a study")]
    collapsed_below_bits: Annotated[
        float, Field(description="a code that carries less is collapsed, as is one at chance level")
    ]


@dataclass(slots=True, kw_only=True)
class Vocabulary(Answer):
    """What a page needs before it has asked for anything: it stands in the page itself, too."""

    study_states: Annotated[list[StateWord], Field(description="in the order in which a study goes through them")]
    interrupted_words: Annotated[
        str, Field(description="of a running study that is interrupted, in place of its state's words")
    ]
    trial_states: Annotated[list[str], Field(description="in the order in which a trial goes through them")]
    event_kinds: Annotated[list[str], Field(description="of the event stream")]
    figure_groups: Annotated[list[FigureGroup], Field(description="in the order of a page")]
    front_figure: Annotated[str, Field(description="the figure that a page draws first")]
    beside_the_front: Annotated[str, Field(description="the figure that joins it where no other main figure does")]
    row_per_arm: Annotated[list[str], Field(description="figures whose height grows with the number of arms")]
    markers: Annotated[
        dict[str, str], Field(description="of arms, by name: the outline as an SVG path on a field of 12 × 12")
    ]
    letters: Annotated[dict[str, str], Field(description="Greek ones that are shown in place of a parameter's name")]
    parameter_types: Annotated[
        dict[str, str], Field(description="of parameters of own code, by kind: the type of their values in JSON Schema")
    ]
    pick_rules: Annotated[list[PickRule], Field(description="by which a point can be picked")]
    lights: Annotated[list[Light], Field(description="marks beside estimates of I(X;Z), the best first")]
    downloads: Annotated[list[Download], Field(description="files of a study")]
    key_order: Annotated[list[str], Field(description="the order in which people write the keys of a study")]
    study_defaults: Annotated[
        dict[str, str | None], Field(description="values of a study's own keys that need not be written")
    ]
    demo_preset: Annotated[str, Field(description="the preset that a newcomer is offered")]
    limits: Annotated[PageLimits, Field(description="numbers that a page has to know before it asks")]


def _names(kind: type[Strict]) -> list[str]:
    return [field.alias or name for name, field in kind.model_fields.items()]


def _key_order() -> list[str]:
    """As the contract has them, but for the objectives: they are few, so they come before the arms."""
    study = _names(Study)
    study.remove("objectives")
    study.insert(study.index("arms"), "objectives")
    return list(
        dict.fromkeys([*study, *(n for kind in (Arm, Objective, Span, Bounds, Training) for n in _names(kind))])
    )


def _how_many(field: str) -> HowMany:
    """By its rules: to write the whole schema for two numbers of it takes a tenth of a second."""
    rules = Study.model_fields[field].metadata
    (least,) = (rule.min_length for rule in rules if isinstance(rule, MinLen))
    (most,) = (rule.max_length for rule in rules if isinstance(rule, MaxLen))
    return HowMany(least=least, most=most)


@cache
def vocabulary() -> Vocabulary:
    return Vocabulary(
        study_states=[
            StateWord(name=s, ended=s.is_ended(), takes=taken_in(s), words=STATE_WORDS[s]) for s in StudyState
        ],
        interrupted_words=INTERRUPTED_WORDS,
        trial_states=list(TrialState),
        event_kinds=list(KINDS),
        figure_groups=list(GROUPS),
        front_figure=FRONT,
        beside_the_front=BESIDE_THE_FRONT,
        row_per_arm=list(ROW_PER_ARM),
        markers=MARKERS,
        letters=LETTERS,
        parameter_types=IN_SCHEMAS,
        pick_rules=list(PICK_RULES),
        lights=list(LIGHTS),
        downloads=list(DOWNLOADS),
        key_order=_key_order(),
        study_defaults={
            name: field.default
            for name, field in Study.model_fields.items()
            if field.default is None or isinstance(field.default, str)
        },
        demo_preset=DEMO_PRESET,
        limits=PageLimits(
            studies_overlaid=STUDIES_OVERLAID,
            studies_listed=STUDIES_LISTED,
            seeds=_how_many("seeds"),
            objectives=_how_many("objectives"),
            collapsed_below_bits=COLLAPSED_BELOW_BITS,
        ),
    )
