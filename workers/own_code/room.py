"""How much memory a process with user code may take: code that asks for more is told so, at its line, before the
machine has none left for others."""

from __future__ import annotations

import os
import resource
from pathlib import Path

from service.contract.wording.numbers import setting

SETTING = "PARETOSCOPE_CODE_MEMORY_GB"
SHARE = 0.75  # of the machine's memory, for all such processes together, where nothing is set
OF_CONTAINER = Path("/sys/fs/cgroup/memory.max")
GB = 10**9
ALLOCATOR = "can't allocate memory"  # torch's words


def limit_memory(processes: int) -> None:
    """Of this process, one of so many at once, from now on: its data, not files or memory that it shares."""
    most = _bytes(processes)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def out_of_memory(error: BaseException) -> str | None:
    """In words, if that is what it is."""
    if not (isinstance(error, MemoryError) or ALLOCATOR in str(error)):
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_DATA)
    room = "" if most == resource.RLIM_INFINITY else f": this process may use {setting(most / GB)} GB"
    said = f"{type(error).__name__}: {error}".strip().removesuffix(":")
    return f"out of memory{room}; {said}"[:500]


def _bytes(processes: int) -> int:
    if given := os.environ.get(SETTING):
        return int(float(given) * GB)
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        container = int(OF_CONTAINER.read_text())
    except (OSError, ValueError):  # no such file, or "max"
        container = machine
    return int(SHARE * min(machine, container) / max(processes, 1))
