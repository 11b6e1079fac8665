"""Code that users sent, by the hash of its files. It is kept and handed out, never imported here."""

from __future__ import annotations

import hashlib
import io
import lzma
import math
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pydantic import Field

from service.contract.packages.requirements import FILE, MOST_REQUIREMENTS, lines_of
from service.contract.wire.errors import Detail, InvalidInput, TooLarge
from service.contract.wire.reading import CodeReading
from service.contract.wording.plain_text import hidden_in, printable
from service.store.artifacts import remove, size_below
from service.store.incoming import drafted

CONTENT, DESCRIPTION = "content.zip", "description.json"
MOST_FILES = 2000
# What zipfile raises for an archive that is damaged, of whatever kind of compression.
DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, RuntimeError, EOFError, OSError),
    *(ValueError, IndexError, KeyError, struct.error),
)
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # so that the same files make the same archive


class Reading(CodeReading):
    """What a fresh process found in the code, or why it could not read it; nothing of both: it has not yet."""

    entry: str
    requirements: list[str] = Field([])
    attempt: int = 0  # processes that were asked to read it
    token: str | None = None  # whose bytes it counts for, by its id; none: nobody's

    @property
    def is_over(self) -> bool:
        return bool(self.problems) or self.refusal is not None


class Stamp(NamedTuple):
    """Which code, and what changes when something new is written about it."""

    hash: str
    changed: int
    inode: int


class CodeStore:
    """Below one folder, by hash. The hash is of names and contents, so it cannot be two different things."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, files: Mapping[str, bytes], entry: str, token: str | None = None) -> str:
        """Keeps the files; sending them twice changes nothing, and they count for the token that sent them first."""
        check_files(files, entry)
        requirements, code_hash = _requirements(files), hash_of(files, entry)
        if self.content(code_hash) is None:
            self._write(code_hash, CONTENT, _archive(files))
        if self.reading(code_hash) is None:
            self.note(code_hash, Reading(entry=entry, requirements=requirements, token=token))
        return code_hash

    def content(self, code_hash: str) -> Path | None:
        place = self._folder / code_hash / CONTENT
        return place if place.is_file() else None

    def files(self, code_hash: str) -> dict[str, bytes]:
        """By name; none where there is no such code."""
        place = self.content(code_hash)
        return unpacked(place.read_bytes()) if place else {}

    def reading(self, code_hash: str) -> Reading | None:
        """None where there is no such code."""
        place = self._folder / code_hash / DESCRIPTION
        try:
            return Reading.model_validate_json(place.read_bytes())
        except FileNotFoundError:
            return None

    def kept(self) -> dict[str, Reading]:
        """All that is known, by hash."""
        hashes = sorted(place.parent.name for place in self._folder.glob(f"*/{DESCRIPTION}"))
        readings = {code_hash: self.reading(code_hash) for code_hash in hashes}
        return {code_hash: reading for code_hash, reading in readings.items() if reading is not None}

    def stamps(self) -> tuple[Stamp, ...]:
        """Newest first; as long as they are the same, so is what `kept` says."""
        return tuple(sorted(_stamps(self._folder), key=lambda stamp: (-stamp.changed, stamp.hash)))

    def bytes_of(self, code_hash: str) -> int:
        return size_below(self._folder / code_hash)

    def bytes_for(self, token: str) -> int:
        """Of all code that counts for a token."""
        return sum(self.bytes_of(code_hash) for code_hash, reading in self.kept().items() if reading.token == token)

    def forget(self, code_hash: str) -> None:
        remove(self._folder / code_hash)

    def note(self, code_hash: str, reading: Reading) -> None:
        self._write(code_hash, DESCRIPTION, reading.model_dump_json().encode())

    def _write(self, code_hash: str, name: str, content: bytes) -> None:
        with drafted(self._folder / code_hash / name) as draft:
            draft.file.write(content)
            draft.settle()


def _stamps(folder: Path) -> Iterator[Stamp]:
    for place in folder.glob(f"*/{DESCRIPTION}"):
        with suppress(FileNotFoundError):  # deleted meanwhile
            file = place.stat()
            yield Stamp(place.parent.name, file.st_mtime_ns, file.st_ino)


def hash_of(files: Mapping[str, bytes], entry: str) -> str:
    digest = hashlib.sha256(f"{entry}\n".encode())
    for name in sorted(files):
        digest.update(f"{name}\n{hashlib.sha256(files[name]).hexdigest()}\n".encode())
    return digest.hexdigest()


def unpacked(content: bytes, most_bytes: float = math.inf) -> dict[str, bytes]:
    """The files of an archive that somebody sent, none of which leads out of it."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if len(entries) > MOST_FILES:
                raise TooLarge(f"the code has {len(entries):,} files, over the limit of {MOST_FILES:,}")
            total = sum(entry.file_size for entry in entries)
            if total > most_bytes:
                raise TooLarge(f"the code has {total:,} bytes, over the limit of {most_bytes:,}")
            for entry in entries:
                if stat.S_ISLNK(entry.external_attr >> 16):
                    raise _refused(entry.filename, "is a link: send the file itself")
            return {entry.filename: archive.read(entry) for entry in entries}
    except DAMAGED as error:
        raise InvalidInput(f"the archive cannot be read: {printable(str(error))[:200]}") from None


def check_files(files: Mapping[str, bytes], entry: str) -> None:
    """Names that stay in their folder, and an entry among them."""
    for name in files:
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or "\\" in name or ".." in parts or ":" in name:
            raise _refused(name, "leads out of its folder: give names relative to it")
        if hidden_in(name):
            raise _refused(name, str(hidden_in(name)))
    if entry not in files or not entry.endswith(".py"):
        known = ", ".join(sorted(name for name in files if name.endswith(".py"))[:20]) or "none"
        raise InvalidInput(
            f"entry: {entry!r} is not a Python file of the code, which has {known}",
            [Detail(path="entry", message=f"{entry!r} is not a Python file of the code, which has {known}")],
        )


def _refused(name: str, rule: str) -> InvalidInput:
    shown = repr(name[:200])
    return InvalidInput(f"{shown} {rule}", [Detail(path="files", message=f"{shown} {rule}")])


def _archive(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name, LONG_AGO), files[name], zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _requirements(files: Mapping[str, bytes]) -> list[str]:
    """The lines of its requirements.txt, if it has one."""
    asked = lines_of(files.get(FILE, b"").decode(errors="replace"))
    if len(asked) > MOST_REQUIREMENTS:
        raise _refused(FILE, f"asks for {len(asked)} packages, over the limit of {MOST_REQUIREMENTS}")
    if hidden := next((rule for line in asked if (rule := hidden_in(line))), None):
        raise _refused(FILE, hidden)
    return asked
