"""Clients and writers at once: every client hears every event of its study once and in order, and how late."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from tests.load.streams import Heard, follow
from tests.load.writers import Writer
from tests.processes import Running

TRIALS = 5  # of a writer: so many reports in a batch
LONGEST_SECONDS = 600.0


class Storm(NamedTuple):
    """How many of what; a writer sends a batch every `pause` seconds, and clients are spread over the studies."""

    clients: int
    writers: int
    studies: int
    epochs: int
    pause: float


class Weather(NamedTuple):
    """What was seen."""

    events: int  # of all studies
    deliveries: int
    faults: list[str]
    latencies: list[float]  # seconds from a writer's request to a client's line, sorted
    seconds: float
    megabytes: tuple[float, float, float]  # resident: before, at its highest, afterwards

    def late(self, share: float) -> float:
        return self.latencies[min(len(self.latencies) - 1, int(share * len(self.latencies)))]

    @property
    def median(self) -> float:
        return statistics.median(self.latencies)


def spec(trials: int) -> dict[str, Any]:
    arms = [{"name": "MIB", "weighting": {"name": "mib"}}]
    return {"name": "load", "seeds": list(range(trials)), "training": {"epochs": 10_000}, "arms": arms}


async def _made(http: httpx.AsyncClient, storm: Storm) -> list[Writer]:
    """Started studies, and who writes to each."""
    writers: list[Writer] = []
    for number in range(storm.studies):
        count = len(range(number, storm.writers, storm.studies))
        answer = await http.post("/api/studies", json=spec(TRIALS * count))
        study = answer.raise_for_status().json()["id"]
        start = {"events": [{"uid": "start", "kind": "study_started"}]}
        (await http.post(f"/api/studies/{study}/reports", json=start)).raise_for_status()
        trials = (await http.get(f"/api/studies/{study}/trials", params={"limit": 1000})).json()["trials"]
        ids = [trial["id"] for trial in trials]
        for i in range(count):
            writers.append(Writer(http, study, ids[i * TRIALS : (i + 1) * TRIALS], storm.epochs, storm.pause))
    return writers


async def _played(service: Running, storm: Storm) -> tuple[list[Writer], list[Heard]]:
    async with httpx.AsyncClient(base_url=service.url, timeout=120, trust_env=False) as http:
        writers = await _made(http, storm)
        studies = sorted({writer.study for writer in writers})
        joined = [asyncio.Event() for _ in range(storm.clients)]
        places = [studies[i % len(studies)] for i in range(storm.clients)]
        following = [
            asyncio.create_task(follow(service.url, study, event, keep=i < len(studies)))
            for i, (study, event) in enumerate(zip(places, joined, strict=True))
        ]
        await asyncio.gather(*(event.wait() for event in joined))
        await asyncio.gather(*(writer.write() for writer in writers))
        for study in studies:
            end = {"events": [{"uid": "end", "kind": "study_finished"}]}
            (await http.post(f"/api/studies/{study}/reports", json=end)).raise_for_status()
        return writers, list(await asyncio.gather(*following))


def weather(service: Running, storm: Storm) -> Weather:
    """Ends by itself: there are so many events, and a time for all of them."""
    begun, before = time.perf_counter(), memory(service.process.pid, "VmRSS")

    async def bounded() -> tuple[list[Writer], list[Heard]]:
        async with asyncio.timeout(LONGEST_SECONDS):
            return await _played(service, storm)

    writers, heard = asyncio.run(bounded())
    seconds = time.perf_counter() - begun
    megabytes = before, memory(service.process.pid, "VmHWM"), memory(service.process.pid, "VmRSS")
    faults, latencies, events = [], [], 0
    for study in sorted({writer.study for writer in writers}):
        own = [writer for writer in writers if writer.study == study]
        clients = [client for client in heard if client.study == study]
        told = [json.loads(data) for data in clients[0].told]
        faults += [fault for client in clients if (fault := client.fault(_written(own, storm)))]
        if len({client.content for client in clients}) != 1:
            faults.append(f"clients of {study} were told different things")
        reports = {e["seq"]: (e["trial"], e["metrics"]["epoch"]) for e in told if e["kind"] == "report"}
        sent = {key: at for writer in own for key, at in writer.sent.items()}
        if sorted(reports.values()) != sorted(sent):
            faults.append(f"what {study} was sent is not what its clients were told")
        else:
            times = [(client, i, seq) for client in clients for i, seq in enumerate(client.seqs) if seq in reports]
            latencies += [client.at[i] - sent[reports[seq]] for client, i, seq in times]
        events += len(told)
    return Weather(events, sum(len(h.seqs) for h in heard), faults, sorted(latencies), seconds, megabytes)


def _written(writers: list[Writer], storm: Storm) -> int:
    """Queued, started and finished, and what each writer sent."""
    return 3 + sum(TRIALS * (storm.epochs + 2) for _ in writers)


def memory(pid: int, name: str) -> float:
    """MB, as the kernel counts."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1000
