"""The Ray that a driver was started on."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import ray


@contextmanager
def connected() -> Iterator[None]:
    """Connected to it; its loss is a ConnectionError, as that of the service is."""
    try:
        ray.init(address="auto", log_to_driver=False, logging_level=logging.WARNING)
        yield
    except ray.exceptions.RayError as error:
        raise ConnectionError(f"Ray: {error}") from error
