"""Errors in a user's code, with their file and line."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from service.contract.wire.errors import Code, ParetoscopeError
from workers.own_code.room import out_of_memory


class CodeError(ParetoscopeError):
    """A fault of the user's code. The message begins with its place, where there is one."""

    code: Code = "invalid_input"
    status = 422

    def __init__(self, message: str, file: str = "", line: int = 0, frames: Sequence[str] = ()) -> None:
        place = f"{file}:{line}: " if line else f"{file}: " if file else ""
        super().__init__(f"{place}{message}")
        self.words, self.file, self.line, self.frames = message, file, line, tuple(frames)

    @property
    def told(self) -> str:
        """For a log: the message, and below it the way there through the user's files, without ours."""
        return "\n".join((self.message, *self.frames))


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
    frames = frames_of(error, folder)
    file, line = (frames[-1].file, frames[-1].line) if frames else ("", 0)
    return CodeError(f"{words} (in {doing})" if doing else words, file, line, list(map(str, frames)))


class Frame(NamedTuple):
    """A place in the user's files on the way to a fault."""

    file: str
    line: int
    function: str
    text: str

    def __str__(self) -> str:
        return f"  {self.file}:{self.line} in {self.function}: {self.text}"


def frames_of(error: BaseException, folder: Path) -> list[Frame]:
    """Those of a traceback that are in the user's folder, the deepest last."""
    return [
        Frame(own, frame.lineno or 0, frame.name, frame.line or "")
        for frame in traceback.extract_tb(error.__traceback__)
        if (own := _within(frame.filename, folder))
    ]


def at(thing: Callable[..., Any] | type, folder: Path, message: str) -> CodeError:
    """A rule that a class or function of the user's breaks, at the line where it begins."""
    file, line = place_of(thing, folder)
    return CodeError(message, file, line)


def at_line(file: str, line: int, folder: Path, message: str) -> CodeError:
    """A rule that is broken at a line of the user's; without a place where the file is not theirs."""
    own = _within(file, folder)
    return CodeError(message, own, line if own else 0)


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
