"""Puts the presets of `configs/` into the wheel as `paretoscope/presets`; all else is in pyproject.toml."""

from __future__ import annotations

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithPresets(build_py):
    """An editable install reads `configs/` itself, so nothing is copied for it."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        folder = Path(self.build_lib) / "paretoscope" / "presets"
        self.mkpath(str(folder))
        for preset in sorted(Path("configs").glob("*.yaml")):
            self.copy_file(str(preset), str(folder / preset.name))


setup(cmdclass={"build_py": BuildWithPresets})
