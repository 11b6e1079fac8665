"""Imports a user's file without letting it stand in for anything of ours.

Its neighbours in the folder are found before installed packages, so names that would hide what we or Python need are
refused. Nothing is written into the folder.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType

from workers.own_code.errors import CodeError, users_own
from workers.own_code.packages import provide

MODULE = "paretoscope_own_code"  # the name of the user's file among the modules of the process
OURS = ("paretoscope", "service", "workers", "frontends", "findings")
NEEDED = ("torch", "numpy", "pydantic", "pydantic_core", "ray", "safetensors", "torchjd", MODULE)


def load(folder: Path, entry: str) -> ModuleType:
    """The module of the file `entry` of a folder, freshly imported; CodeError with file and line if it cannot be.

    What was loaded from another folder before is forgotten.
    """
    folder = folder.resolve()
    file = (folder / entry).resolve()
    if not file.is_relative_to(folder):
        raise CodeError(f"the code's entry must be inside its folder, got {entry!r}")
    if file.suffix != ".py" or not file.is_file():
        raise CodeError(f"the code's entry must be a Python file that is there, got {entry!r}")
    names = _neighbours(file.parent)
    for name, path in names.items():
        _check_name(name, path.relative_to(folder).as_posix())
    _forget()
    provide(folder)
    sys.meta_path.insert(0, Neighbours(file.parent, names))
    # As a package of its folder, so that relative imports work in it too.
    spec = importlib.util.spec_from_file_location(
        MODULE, file, loader=_Unwritten(MODULE, str(file)), submodule_search_locations=[str(file.parent)]
    )
    if spec is None or spec.loader is None:
        raise CodeError(f"Python cannot import {entry!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE] = module
    if file.stem in names:
        sys.modules[file.stem] = module  # its neighbours may import it by its own name
    with users_own(folder):
        spec.loader.exec_module(module)
    return module


def folder_of(module: ModuleType, entry: str) -> Path:
    """The folder that a loaded module's entry is counted from."""
    return Path(str(module.__file__)).parents[len(Path(entry).parts) - 1]


class Neighbours(MetaPathFinder):
    """Finds the modules that lie beside the user's file."""

    def __init__(self, folder: Path, names: dict[str, Path]) -> None:
        self._folder, self._names = folder, names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top = _top(fullname)
        if top != MODULE and top not in self._names:
            return None
        spec = PathFinder.find_spec(fullname, [str(self._folder)] if path is None else path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Unwritten(fullname, spec.loader.path)
        return spec

    def forget(self) -> None:
        """What it found, taken out of the process's modules."""
        for name in [name for name in sys.modules if _top(name) in self._names]:
            del sys.modules[name]


class _Unwritten(SourceFileLoader):
    """Reads the source itself and leaves no bytecode behind: the folder is stored by its hash."""

    def path_stats(self, path: str) -> Mapping[str, float]:
        raise OSError("no bytecode is looked for")


def _neighbours(folder: Path) -> dict[str, Path]:
    """What can be imported from a folder by one name: files and folders with Python in them."""
    files = {path.stem: path for path in sorted(folder.glob("*.py"))}
    packages = {path.name: path for path in sorted(folder.iterdir()) if path.is_dir() and any(path.glob("*.py"))}
    return {name: path for name, path in (packages | files).items() if name.isidentifier() and name != "__init__"}


def _check_name(name: str, file: str) -> None:
    for names, whose in (
        (sys.stdlib_module_names, "a module of Python's own"),
        (OURS, "a package of Paretoscope"),
        (NEEDED, "a package that Paretoscope needs"),
    ):
        if name in names:
            raise CodeError(
                f"a file or folder of the code may not be called {name!r}, which is {whose}: rename it", file
            )


def _forget() -> None:
    for finder in [each for each in sys.meta_path if isinstance(each, Neighbours)]:
        sys.meta_path.remove(finder)
        finder.forget()
    for name in [name for name in sys.modules if _top(name) == MODULE]:
        del sys.modules[name]


def _top(name: str) -> str:
    """The first part of a module's name."""
    return name.partition(".")[0]
