"""The presets: YAML studies in `configs/`, each opening with a comment that says what it asks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from service.contract.errors import NotFound
from service.contract.parsing import read_body


class Preset(BaseModel):
    name: str
    doc: str
    text: str
    spec: dict[str, Any]


def _folder() -> Path:
    return Path(os.environ.get("PARETOSCOPE_CONFIGS") or Path(__file__).parent.parent / "configs")


def presets() -> list[Preset]:
    found = []
    for path in sorted(_folder().glob("*.yaml")):
        text = path.read_text()
        comment = [line.lstrip("# ").rstrip() for line in text.split("\n\n")[0].splitlines() if line.startswith("#")]
        found.append(Preset(name=path.stem, doc=" ".join(comment), text=text, spec=read_body(text, "yaml")))
    return found


def preset(name: str) -> Preset:
    for candidate in presets():
        if candidate.name == name:
            return candidate
    raise NotFound(f"there is no preset {name!r}; known: {', '.join(p.name for p in presets())}")
