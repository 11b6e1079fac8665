"""What goes wrong in a user's code, with their file and line."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from service.contract.wire.errors import Code, ParetoscopeError
from workers.own_code.room import out_of_memory


class CodeError(ParetoscopeError):
    """A fault of the user's code. The message begins with its place, where there is one."""

    code: Code = "invalid_input"
    status = 422

    def __init__(self, message: str, file: str = "", line: int = 0) -> None:
        place = f"{file}:{line}: " if line else f"{file}: " if file else ""
        super().__init__(f"{place}{message}")
        self.words, self.file, self.line = message, file, line


@contextmanager
def users_own(folder: Path, method: Callable[..., Any] | None = None) -> Iterator[None]:
    """Turns what the user's code raises into a CodeError that names its deepest line in their folder.

    `method` is what of theirs is called: a broken rule that has no place of its own is told at its first line.
    """
    try:
        yield
    except CodeError as error:
        if error.file or method is None:
            raise
        raise at(method, folder, error.words) from error
    except (Exception, SystemExit) as error:
        raise explained(error, folder, getattr(method, "__name__", "")) from error


def explained(error: BaseException, folder: Path, doing: str = "") -> CodeError:
    """The exception's own words, and where in the user's files it was raised."""
    if isinstance(error, SyntaxError) and error.filename and (own := _within(error.filename, folder)):
        return CodeError(f"{type(error).__name__}: {error.msg}", own, error.lineno or 0)
    if isinstance(error, SystemExit):
        words = f"it ended the process: sys.exit({'' if error.code is None else repr(error.code)})"
    elif memory := out_of_memory(error):
        words = memory
    else:
        words = "".join(traceback.format_exception_only(error)[-1:]).strip()
    file, line = "", 0
    for frame in traceback.extract_tb(error.__traceback__):
        if own := _within(frame.filename, folder):
            file, line = own, frame.lineno or 0
    return CodeError(f"{words} (in {doing})" if doing else words, file, line)


def at(thing: Callable[..., Any] | type, folder: Path, message: str) -> CodeError:
    """A rule that a class or function of the user's breaks, at the line where it begins."""
    file, line = place_of(thing, folder)
    return CodeError(message, file, line)


def place_of(thing: Callable[..., Any] | type, folder: Path) -> tuple[str, int]:
    """File, as seen from the user's folder, and line; nothing where it is not known."""
    plain = inspect.unwrap(thing) if callable(thing) else thing
    try:
        file = inspect.getsourcefile(plain) or ""
        line = inspect.getsourcelines(plain)[1]
    except (OSError, TypeError):
        return "", 0
    return _within(file, folder), line


def _within(file: str, folder: Path) -> str:
    """The path below the folder; empty where it is not in it."""
    path, root = Path(file).resolve(), folder.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else ""
