"""How a service is: the memory it holds and what an answer costs it. Two readings make a ratio."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.log import spent
from tests.processes import Running, until

TIMES = 200
QUESTIONS = ("/api/studies", "/api/catalog", "/api/studies/{study}", "/api/studies/{study}/comparison")


class Condition(NamedTuple):
    megabytes: float  # resident
    milliseconds: float  # of the service's CPU time for an answer: other processes do not change it

    def words(self) -> str:
        return f"{self.megabytes:.0f} MB, {self.milliseconds:.2f} ms of CPU an answer"


def condition(service: Running, study: str, times: int = TIMES) -> Condition:
    """After the same questions about one study, so that both readings have the same caches."""
    for path in QUESTIONS:
        service.get(path.format(study=study)).raise_for_status()
    _settled(service)
    begun = spent(service.process.pid)
    for number in range(times):
        service.get(QUESTIONS[number % len(QUESTIONS)].format(study=study)).raise_for_status()
    return Condition(_resident(service.process.pid), 1000 * (spent(service.process.pid) - begun) / times)


def _settled(service: Running) -> None:
    """Nothing is under way any more: no CPU time passes between two looks."""
    last = [-1.0]

    def quiet() -> bool:
        now = spent(service.process.pid)
        is_same, last[0] = now - last[0] < 0.02, now
        return is_same

    until(quiet, "the service has nothing to do")


def _resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / 1e6
