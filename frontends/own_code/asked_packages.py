"""Packages that a study asks for, put into the code that is sent: they belong to it, so they count in its hash."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence

from frontends.own_code.packing import Sent


def packages_of(spec: Mapping[str, object] | str) -> list[str]:
    """Those of a study as it is written; none also where it cannot be read: then the service says so."""
    if "requirements" not in spec:
        return []
    from service.contract.packages.requirements import asked_for  # not read where none are asked for
    from service.contract.study.parsing import read_body
    from service.contract.wire.errors import InvalidInput

    try:
        body = read_body(spec, "yaml") if isinstance(spec, str) else spec
    except InvalidInput:
        return []
    return asked_for(body.get("requirements")) if isinstance(body, Mapping) else []


def with_packages(sent: Sent, asked: Sequence[str]) -> Sent:
    """The same code whose requirements.txt also asks for these; as it is where none are asked for."""
    if not asked:
        return sent
    from service.contract.packages.requirements import FILE, joined

    files = {sent.entry: sent.content}
    if sent.kind == "application/zip":
        with zipfile.ZipFile(io.BytesIO(sent.content)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    files[FILE] = joined(files.get(FILE, b""), asked)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return Sent(buffer.getvalue(), "application/zip", sent.entry)
