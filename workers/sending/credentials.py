"""The token of a driver: from a file that only its owner reads, or for a code that is good once.

Neither stands in the environment, where every process of this user could read it and Ray's logs would keep it.
"""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from service.contract.wire.answers.read_by_drivers import KnownToken
from service.contract.wire.errors import OtherVersion, ParetoscopeError, Unavailable
from workers.sending.asking import Asking


def own_token(url: str, study_id: str) -> str | None:
    """None where the service asks for no token."""
    if path := os.environ.get("PARETOSCOPE_TOKEN_PATH"):
        return _from_file(Path(path))
    if code := os.environ.pop("PARETOSCOPE_CLAIM", None):
        return _for_code(url, study_id, code)
    return os.environ.get("PARETOSCOPE_TOKEN")


def _from_file(path: Path) -> str:
    """Read once: another driver of this study gets a file of its own."""
    try:
        token = path.read_text().strip()
        path.unlink(missing_ok=True)
    except OSError as error:
        raise Unavailable(f"the driver's token cannot be read: {error.strerror} ({path})") from error
    return token


class _Claim(Asking):
    """A driver that has a code, and no token yet."""

    def exchanged(self) -> str:
        """Asked once: a second use of the code counts as somebody else's."""
        return KnownToken.model_validate_json(self._ask("POST", "/token", seconds=0).content).token


def _for_code(url: str, study_id: str, code: str) -> str:
    try:
        with _Claim(url, code, f"/api/studies/{study_id}", "driver") as claim:
            return claim.exchanged()
    except OtherVersion:
        raise
    except ParetoscopeError as error:
        raise Unavailable(f"the service gave no token for this driver's code: {error.message}") from error
    except ValidationError as error:
        raise Unavailable("the service gave no token for this driver's code: its answer has none") from error
