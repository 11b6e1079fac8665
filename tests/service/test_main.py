"""`python -m service`: how it starts."""

from __future__ import annotations

import subprocess
import sys

STARTED = (
    "import gc; from service.__main__ import fresh_app; fresh_app(); print(gc.isenabled(), gc.get_freeze_count() > 0)"
)


def test_garbage_is_collected_once_the_service_has_started() -> None:
    said = subprocess.run([sys.executable, "-c", STARTED], check=True, capture_output=True, text=True, timeout=120)
    assert said.stdout.split() == ["True", "True"]
