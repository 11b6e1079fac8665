"""What sets of labelled examples have in common: the base classes of the data sets."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from service.contract.study.strict import Strict

Fraction = Annotated[float, Field(gt=0, lt=1)]
Share = Annotated[float, Field(ge=0, le=1)]


Count = Annotated[int, Field(ge=1)]


class Labelled(Strict):
    """What every set of labelled examples can be asked for: fewer of them, fewer or wrong labels, a third split."""

    name: str
    train_fraction: Annotated[float, Field(gt=0, le=1)] = Field(
        1.0, description="share of the training examples used, by class; a smaller share is part of a larger one"
    )
    label_noise: Share = Field(
        0.0, description="share of the training labels replaced by another class, the same in every trial"
    )
    labels: Count | None = Field(
        None,
        description="at most this many training examples keep the label of the main task, by class, the same in every "
        "trial; none: all of them",
    )
    validation_fraction: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.0, description="share of the training examples held out as a third split, by class, with true labels"
    )


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
