"""A package that somebody else has installed: a script which asks a shell."""

from __future__ import annotations

from pathlib import Path

FILES = {
    "main.py": """
from paretoscope import trainable

from .shells import said


@trainable(metrics={"gain": "maximize", "cost": "minimize"})
def shell(trial, x: float = 0.5):
    square = said(f"echo $(({round(100 * x)} * {round(100 * x)}))")
    trial.report(gain=x + 0.001 * trial.seed, cost=float(square) / 10000)
""",
    "shells.py": """
import subprocess


def said(command):
    return subprocess.run(["sh", "-c", command], capture_output=True, check=True).stdout
""",
}


def install(site: Path) -> None:
    """In a folder that is on the path of the service and of Ray, as in that of an environment."""
    from service.launching.packaged import GROUP

    info = site / "their_tasks-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-tasks\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nshell = their_tasks.main:shell\n")
    (site / "their_tasks").mkdir()
    for name, text in FILES.items():
        (site / "their_tasks" / name).write_text(text)
