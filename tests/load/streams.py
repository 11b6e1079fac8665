"""A client of a study's stream that keeps what it is told, and when."""

from __future__ import annotations

import asyncio
import hashlib
import time
from typing import NamedTuple
from urllib.parse import urlsplit


class Heard(NamedTuple):
    """Of one client: the numbers of its events in their order, when each came, and a hash of all that was said."""

    study: str
    seqs: list[int]
    at: list[float]
    content: str
    told: list[bytes]  # the data of each event, of clients that were asked to keep it

    def fault(self, events: int) -> str | None:
        """Why these are not the numbers 1, 2, 3 … without holes, each once."""
        if self.seqs == list(range(1, events + 1)):
            return None
        return f"a client of {self.study} heard {len(self.seqs)} events of {events}, or not in order"


async def follow(url: str, study: str, joined: asyncio.Event, keep: bool = False) -> Heard:
    """From the first event until the service ends the stream; `joined` is set when it has begun."""
    place = urlsplit(url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    # HTTP/1.0, whose answer is not cut into chunks: its lines are those of the stream.
    writer.write(f"GET /api/studies/{study}/events HTTP/1.0\r\nHost: {place.netloc}\r\n\r\n".encode())
    seqs: list[int] = []
    at: list[float] = []
    told: list[bytes] = []
    content = hashlib.blake2b()
    try:
        status = await reader.readline()
        if b" 200 " not in status:
            raise ConnectionError(f"the stream of {study} answered {status!r}")
        async for line in reader:
            if line.startswith(b":"):
                joined.set()
            elif line.startswith(b"id: "):
                seqs.append(int(line[4:]))
                at.append(time.perf_counter())
            elif line.startswith(b"data: "):
                content.update(line)
                if keep:
                    told.append(line[6:])
    finally:
        writer.close()
    return Heard(study, seqs, at, content.hexdigest(), told)
