"""The presets: YAML studies in `configs/`, each opening with a comment that says what it asks."""

from __future__ import annotations

import os
from pathlib import Path

import paretoscope
from service.contract.study.parsing import read_body
from service.contract.wire.answers.presets import Preset
from service.contract.wire.errors import NotFound


def _folder() -> Path:
    """PARETOSCOPE_CONFIGS, else what an installed package carries, else the folder of a checkout."""
    if given := os.environ.get("PARETOSCOPE_CONFIGS"):
        return Path(given)
    installed = Path(paretoscope.__file__).with_name("presets")
    return installed if installed.is_dir() else Path(__file__).parents[2] / "configs"


def presets() -> list[Preset]:
    listed = []
    for path in sorted(_folder().glob("*.yaml")):
        text = path.read_text()
        comment = [line.lstrip("# ").rstrip() for line in text.split("\n\n")[0].splitlines() if line.startswith("#")]
        listed.append(Preset(name=path.stem, doc=" ".join(comment), text=text, spec=read_body(text, "yaml")))
    return listed


def preset(name: str) -> Preset:
    for candidate in presets():
        if candidate.name == name:
            return candidate
    raise NotFound(f"there is no preset {name!r}; known: {', '.join(p.name for p in presets())}")
