"""The dashboard's files, compressed once and kept: thirty small modules are asked for with every first visit."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from fastapi import Request
from fastapi.responses import Response

from service.contract.wire.errors import NotFound
from service.web.policies import CLOSED, POLICY

KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@cache
def plotly_script() -> Path:
    """plotly.js of the installed package, found without importing it."""
    spec = importlib.util.find_spec("plotly")
    if spec is None or spec.origin is None:
        raise NotFound("the plotly package is not installed")
    return Path(spec.origin).parent / "package_data" / "plotly.min.js"


class Asset(NamedTuple):
    plain: bytes
    packed: bytes
    tag: str
    kind: str

    @classmethod
    def of(cls, plain: bytes, kind: str) -> Asset:
        tag = f'"{hashlib.sha256(plain).hexdigest()[:16]}"'
        return cls(plain, gzip.compress(plain, compresslevel=6), tag, kind)


@lru_cache(maxsize=256)
def _read(path: Path, changed: int) -> Asset:
    return Asset.of(path.read_bytes(), KINDS[path.suffix])


def below(folder: Path, name: str) -> Path:
    """The asset of this name; none outside the folder, whatever the name says."""
    try:
        path = (folder / name).resolve()
        if path.is_relative_to(folder.resolve()) and path.suffix in KINDS and path.is_file():
            return path
    except (OSError, ValueError):  # a name that no file can have
        pass
    raise NotFound(f"there is no asset {name[:200]!r}")


@lru_cache(maxsize=8)
def _joined(paths: tuple[Path, ...], changed: tuple[int, ...]) -> Asset:
    return Asset.of(b"\n".join(path.read_bytes() for path in paths), KINDS[paths[0].suffix])


def joined_answer(request: Request, paths: tuple[Path, ...]) -> Response:
    """Several files as one, as they are now."""
    return answer(request, _joined(paths, tuple(path.stat().st_mtime_ns for path in paths)))


def file_answer(request: Request, path: Path, cache: str = "no-cache") -> Response:
    """The file as it is now."""
    return answer(request, _read(path, path.stat().st_mtime_ns), cache)


def answer(request: Request, asset: Asset, cache: str = "no-cache", policy: str = CLOSED) -> Response:
    """Not again when the reader has it, compressed when the reader can; a page says what it may do."""
    headers = {"Cache-Control": cache, "ETag": asset.tag, "Vary": "Accept-Encoding", POLICY: policy}
    if request.headers.get("if-none-match") == asset.tag:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(asset.packed, media_type=asset.kind, headers={**headers, "Content-Encoding": "gzip"})
    return Response(asset.plain, media_type=asset.kind, headers=headers)
