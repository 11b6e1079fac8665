"""Lines of the logs of service and drivers: for machines one JSON object each, for people at a terminal text."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from service.contract.wording.plain_text import printable

LogFormat = Literal["auto", "text", "json"]
LOG_FORMAT = "PARETOSCOPE_LOG_FORMAT"  # by which drivers are told of the setting
TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
KNOWN = ("study", "trial", "job")

_about: ContextVar[Mapping[str, str]] = ContextVar("about", default={})  # noqa: B039  never changed in place


class LogLine(BaseModel):
    """What happened when, and to which study, trial and job on Ray where that is known."""

    model_config = ConfigDict(extra="forbid")

    time: str = Field(description="UTC")
    level: str
    logger: str
    message: str
    study: str | None = None
    trial: str | None = None
    job: str | None = None
    exception: str | None = Field(None, description="its traceback")


class JsonLines(logging.Formatter):
    """`known` is the same in every line of a process; what a record says itself as `extra` counts before it."""

    def __init__(self, **known: str) -> None:
        super().__init__()
        self._known = known

    def format(self, record: logging.LogRecord) -> str:
        own = {name: str(vars(record)[name]) for name in KNOWN if vars(record).get(name) is not None}
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = LogLine(
            time=at.replace("+00:00", "Z"),
            level=record.levelname.lower(),
            logger=record.name,
            message=record.getMessage(),
            exception=self.formatException(record.exc_info) if record.exc_info and record.exc_info[0] else None,
            **{**self._known, **_about.get(), **own},
        )
        return line.model_dump_json(exclude_none=True, ensure_ascii=True)


@contextmanager
def about(**what: str | None) -> Iterator[None]:
    """Lines that are logged within are about this study, trial or job; none: nothing is known."""
    token = _about.set({**_about.get(), **{name: said for name, said in what.items() if said is not None}})
    try:
        yield
    finally:
        _about.reset(token)


def formatter_of(asked: str, is_terminal: bool, **known: str) -> logging.Formatter:
    if asked == "json" or (asked == "auto" and not is_terminal):
        return JsonLines(**known)
    return logging.Formatter(TEXT)


def log_to_stderr(asked: str, **known: str) -> None:
    """All loggers of this process, from INFO on; a client's line per request is left out."""
    handler = logging.StreamHandler()
    handler.setFormatter(formatter_of(asked, sys.stderr.isatty(), **known))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.getLogger("httpx").setLevel(logging.WARNING)


def readable(line: str) -> str:
    """A line of JSON as people read it; what is none stays as it is."""
    try:
        said = LogLine.model_validate_json(line)
    except ValidationError:
        return line
    text = f"{said.time} {said.level.upper()} {said.logger}: {said.message}"
    return "\n".join(printable(each) for each in [text, *(said.exception or "").splitlines()])


def messages(text: str) -> str:
    """A log's end without what stands before the messages."""

    def message(line: str) -> str:
        try:
            return LogLine.model_validate_json(line).message
        except ValidationError:
            return line

    return "\n".join(message(line) for line in text.splitlines())
