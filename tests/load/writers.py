"""Who writes: a driver as the service sees one, which sends its reports in batches at a steady pace."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx


class Writer:
    """Of some trials of a study: an epoch of each in a batch, until all epochs are sent."""

    def __init__(self, http: httpx.AsyncClient, study: str, trials: list[str], epochs: int, pause: float) -> None:
        self._http, self.study, self._trials = http, study, trials
        self._epochs, self._pause = epochs, pause
        self.sent: dict[tuple[str, int], float] = {}  # when the batch with this epoch of this trial was begun

    async def write(self) -> None:
        begun = time.perf_counter()
        await self._send([{"uid": f"{trial}:s", "kind": "trial_started", "trial": trial} for trial in self._trials])
        for epoch in range(1, self._epochs + 1):
            await asyncio.sleep(max(0.0, begun + epoch * self._pause - time.perf_counter()))
            now = time.perf_counter()
            self.sent |= {(trial, epoch): now for trial in self._trials}
            await self._send([self._report(trial, epoch) for trial in self._trials])
        await self._send([{"uid": f"{trial}:f", "kind": "trial_finished", "trial": trial} for trial in self._trials])

    @staticmethod
    def _report(trial: str, epoch: int) -> dict[str, Any]:
        metrics = {"epoch": epoch, "seconds": 0.1 * epoch, "accuracy": 0.5, "i_xz_bits": 10.0, "i_zy_bits": 2.0}
        return {"uid": f"{trial}:{epoch}", "kind": "report", "trial": trial, "metrics": metrics}

    async def _send(self, events: list[dict[str, Any]]) -> None:
        answer = await self._http.post(f"/api/studies/{self.study}/reports", json={"events": events})
        if answer.status_code != 200 or answer.json()["accepted"] != len(events):
            raise ConnectionError(f"a batch of {self.study} answered {answer.status_code}: {answer.text[:300]}")
