"""Problems of installed packages: a package names them as entry points, a study names the package.

The package's files are read here and never imported. The code is a file that imports them, stored like any other, so
that a process on Ray reads it, once for each version; it carries what the files were, and refuses others.
"""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint, entry_points

from service.contract.packages.installed import digest_of
from service.contract.wire.errors import Detail, InvalidInput

GROUP = "paretoscope.problems"
PREFIX = "package:"
ENTRY = "main.py"


def files_of(package: str) -> dict[str, bytes]:
    """A file with the package's problems; InvalidInput where no such package names any."""
    by_package: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=GROUP):
        if point.dist is not None:
            by_package.setdefault(_plain(point.dist.name), []).append(point)
    points = by_package.get(_plain(package))
    if not points:
        known = ", ".join(sorted(by_package)) or "none"
        raise _refused(f"no installed package {package[:80]!r} has problems (entry points {GROUP}); known: {known}")
    lines, names = [], []
    for point in sorted(points, key=lambda each: each.name):
        if not all(part.isidentifier() for part in [*point.module.split("."), point.attr or ""]):
            rule = f"entry point {point.name!r} of package {package!r} must name a class or function as module:Name"
            raise _refused(f"{rule}, got {point.value[:80]!r}")
        lines.append(f"from {point.module} import {point.attr}\n")
        names.append(point.attr)
    dist = points[0].dist
    modules = sorted({point.module.partition(".")[0] for point in points})
    was = (dist.name if dist else package, modules, dist.version if dist else "", digest_of(modules))
    check = f"from service.contract.packages.installed import must_be\nmust_be{was!r}\n"
    return {ENTRY: f"{check}{''.join(lines)}__all__ = {names!r}\n".encode()}


def _plain(name: str) -> str:
    """As packages compare their names: `Their_Tasks` is `their-tasks`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _refused(rule: str) -> InvalidInput:
    return InvalidInput(f"code: {rule}", [Detail(path="code", message=rule)])
