"""How long a study ran: from a driver's start to a pause or the study's end. Drivers in between change nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple


class Clock(NamedTuple):
    """It stands in a pause, after an end, and until the driver after either has started."""

    since: str | None = None  # when it was last set going; none: it stands
    ran: float = 0.0  # seconds until then
    before: float = 0.0  # of those, the ones before the study was last taken up after its end

    def going(self, at: str) -> Clock:
        return self if self.since else self._replace(since=at)

    def standing(self, at: str) -> Clock:
        if self.since is None:
            return self
        return self._replace(since=None, ran=self.ran_until(datetime.fromisoformat(at)))

    def with_limit_anew(self) -> Clock:
        return self._replace(before=self.ran)

    def ran_until(self, now: datetime) -> float:
        """Seconds, all together."""
        return self.ran + ((now - datetime.fromisoformat(self.since)).total_seconds() if self.since else 0.0)

    @property
    def limited_from(self) -> str | None:
        """From when `limits.seconds` counts: later than the start, by as long as the clock stood since."""
        if self.since is None:
            return None
        begun = datetime.fromisoformat(self.since) - timedelta(seconds=self.ran - self.before)
        return begun.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
