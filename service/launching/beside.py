"""A Ray that starts beside the service, as `up` starts both at once."""

from __future__ import annotations

import threading

from service.settings import Settings

LOOK_SECONDS = 0.1


def wait_for_ray(settings: Settings, stopping: threading.Event) -> None:
    """Until its file says that it takes jobs: before that it is not away, and needs all processors for itself."""
    path = settings.ray_ready_path
    while path is not None and not path.exists() and not stopping.wait(LOOK_SECONDS):
        pass
