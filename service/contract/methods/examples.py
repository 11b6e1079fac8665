"""What sets of labelled examples have in common: the base classes of the data sets."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from service.contract.parameters.strict import Strict

Fraction = Annotated[float, Field(gt=0, lt=1)]
Share = Annotated[float, Field(ge=0, le=1)]


Count = Annotated[int, Field(ge=1)]


class Drawn(Strict):
    """What every data set is asked for: what is held out to choose by, and whether seeds see the same examples."""

    name: str
    validation_fraction: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.2,
        description="share of the training examples held out, by class, with true labels: what chooses (fronts, best "
        "values, searches, learned weights) goes by these, and the test split only shows what was chosen",
    )
    draw: Literal["per-seed", "shared"] = Field(
        "per-seed",
        description="whether each seed draws its own training and held-out examples, labels and wrong labels, so that "
        "intervals over seeds contain what the data adds, or all seeds share one draw",
    )


class Labelled(Drawn):
    """What every set of labelled examples can be asked for: fewer of them, fewer or wrong labels."""

    coarse: ClassVar[bool] = False  # whether its classes also come in a coarser form

    train_fraction: Annotated[float, Field(gt=0, le=1)] = Field(
        1.0, description="share of the training examples used, by class; a smaller share is part of a larger one"
    )
    label_noise: Share = Field(0.0, description="share of the training labels replaced by another class")
    labels: Count | None = Field(
        None,
        description="at most this many training examples keep the label of the main task, by class; none: all of them",
    )

    @model_validator(mode="before")
    @classmethod
    def _noise_is_of_the_labels(cls, body: Any) -> Any:
        """`noise` is taken for `label_noise`; both at once are refused."""
        if isinstance(body, dict) and "noise" in body and "label_noise" not in body:
            return {"label_noise" if key == "noise" else key: value for key, value in body.items()}
        return body

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Its own tasks, the first is its label; none: known only where the data is."""
        return ()


class Images(Labelled):
    """What every data set of labelled images can be asked for besides; pixels are in [0, 1]."""

    test_images: Count | None = Field(None, description="at most this many test images, by class; none: all of them")


class Table(Labelled):
    """What every table can be asked for besides; its columns are standardised by those trained on."""

    test_examples: Count | None = Field(None, description="at most this many test examples, by class; none: all")


class Texts(Labelled):
    """What every set of texts can be asked for besides: how many words are told apart, and how many are read."""

    vocabulary: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        10_000,
        description="words with a number of their own, the most frequent of the training texts; all others share one",
    )
    length: Annotated[int, Field(ge=1, le=512)] = Field(200, description="words read of each text, padded at the end")
    test_examples: Count | None = Field(None, description="at most this many test texts, by class; none: all of them")
