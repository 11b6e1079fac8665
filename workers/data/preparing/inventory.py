"""What is here, and preparing what is not: everything behind `paretoscope data`. Needs no torch."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple, get_args

from service.contract.methods.data import Data, OwnData
from service.contract.parameters.strict import Strict
from service.contract.wire.errors import InvalidInput, NotFound, Unavailable
from workers.data import module_of
from workers.data.preparing import fetching, prepared
from workers.data.preparing.recipes import Recipe


class Entry(NamedTuple):
    """One data set: `prepared`, `source` (prepared at first use), `damaged` or `missing`."""

    name: str
    state: str
    bytes: int | None
    source: str | None
    path: str | None
    get: str | None  # how to get it; none: it is here

    @property
    def present(self) -> bool:
        return self.state in ("prepared", "source")


def kinds() -> dict[str, type[Strict]]:
    """The data sets of the contract by name, but for what a study's own code gives."""
    union, _ = get_args(Data)
    return {kind.model_fields["name"].default: kind for kind in get_args(union) if kind is not OwnData}


def entries(folder: Path) -> list[Entry]:
    return [entry_of(name, folder) for name in kinds()]


def entry_of(name: str, folder: Path) -> Entry:
    recipe = recipe_of(name)
    if made := getattr(module_of(name), "MADE", None):
        return Entry(name, "prepared", None, made, None, None)
    if recipe is None:
        file: Path = module_of(name).source()
        return Entry(name, "prepared", file.stat().st_size, "in scikit-learn's package", str(file), None)
    how = prepared.command(name, folder)
    path = prepared.path_of(recipe, folder)
    if path.is_file():
        size = path.stat().st_size
        try:
            return Entry(name, "prepared", size, prepared.source_of(path), str(path), None)
        except InvalidInput:
            return Entry(name, "damaged", size, None, str(path), how)
    for place in recipe.places:
        if source := place.find(folder):
            files = [source] if source.is_file() else [file for file in source.iterdir() if file.is_file()]
            return Entry(name, "source", sum(file.stat().st_size for file in files), place.title, str(source), None)
    return Entry(name, "missing", None, " or ".join(download.title for download in recipe.downloads), None, how)


def recipe_of(name: str) -> Recipe | None:
    """None for a data set that needs no files, or only those of a package we depend on."""
    if name not in kinds():
        raise NotFound(f"there is no data set {name!r}; known: {', '.join(kinds())}")
    recipe: Recipe | None = getattr(module_of(name), "RECIPE", None)
    return recipe


def prepare(name: str, folder: Path, say: fetching.Say) -> Entry:
    """Make the prepared file: from what is here, else by trying each download in turn."""
    recipe = recipe_of(name)
    before = entry_of(name, folder)
    if recipe is None or before.state == "prepared":
        say(f"{name} is ready: {before.path or before.source}")
        return before
    if before.state == "damaged":
        say(f"{before.path} is damaged and will be replaced")
    failures: list[str] = []
    if not _from(recipe, folder, folder, say, failures):
        _download(recipe, folder, say, failures)
    return entry_of(name, folder)


def _from(recipe: Recipe, found_in: Path, folder: Path, say: fetching.Say, failures: list[str]) -> bool:
    try:
        splits, source = prepared.from_places(recipe, found_in)
    except NotFound:
        return False
    except InvalidInput as error:
        say(error.message)
        failures.append(error.message)
        return False
    path = prepared.path_of(recipe, folder)
    count = f"{len(splits.train_labels):,} + {len(splits.test_labels):,} {recipe.things}"
    say(f"{count} from {source} → {path}")
    try:
        prepared.write(path, splits, source)
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error}; give another folder with --folder") from error
    return True


def _download(recipe: Recipe, folder: Path, say: fetching.Say, failures: list[str]) -> None:
    for download in recipe.downloads:
        with tempfile.TemporaryDirectory(prefix="paretoscope-data-") as scratch:
            say(f"getting {recipe.name}: {download.title}")
            try:
                fetching.fetch(download, Path(scratch), say)
            except Unavailable as error:
                say(error.message)
                failures.append(error.message)
                continue
            if _from(recipe, Path(scratch), folder, say, failures):
                return
    places = "\n".join(f"  {folder / place.path}  ({place.title})" for place in recipe.places)
    again = prepared.command(recipe.name, folder)
    tried = "\n".join(f"  {failure}" for failure in failures)
    raise Unavailable(
        f"{recipe.name} could not be prepared:\n{tried}\nPut its files in one of these and run {again!r}:\n{places}"
    )
