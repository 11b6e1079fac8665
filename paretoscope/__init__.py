"""Paretoscope by its name: `from paretoscope import Client; Client().submit(spec).wait().front()`.

What needs another import is loaded when it is first asked for, so the service can read its version here.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frontends.client import Client, ClientError, LeaseOver, NoTrialLeft, NoTrialNow, Study
    from paretoscope.own import Metric, Problem, trainable

__version__ = "0.2.0"
__all__ = [
    "Client",
    "ClientError",
    "LeaseOver",
    "Metric",
    "NoTrialLeft",
    "NoTrialNow",
    "Problem",
    "Study",
    "__version__",
    "trainable",
]

_HOMES = {
    **dict.fromkeys(("Client", "ClientError", "LeaseOver", "NoTrialLeft", "NoTrialNow", "Study"), "frontends.client"),
    **dict.fromkeys(("Metric", "Problem", "trainable"), "paretoscope.own"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
