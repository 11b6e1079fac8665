"""Who writes to a service while it is backed up: reports, saved states, and retries."""

from __future__ import annotations

import threading
from itertools import count

import httpx

from service.contract.wire.cohort_state import key_of
from tests.processes import Running
from tests.service.bench import SPEC
from tests.service.routes.test_cohorts import content


class Writer(threading.Thread):
    """Plays the driver of a study of its own, without a pause: of each trial an epoch, then the state after it."""

    def __init__(self, service: Running) -> None:
        super().__init__(name="writer", daemon=True)
        self._http = httpx.Client(base_url=service.url, timeout=30, trust_env=False)
        self.study = str(self._post("/api/studies", SPEC).json()["id"])
        self.trials = [trial["id"] for trial in self._http.get(f"{self._path}/trials").json()["trials"]]
        self.error: Exception | None = None
        self.epochs = 0  # that each of its trials has saved
        self._stopping, self._to_retry, self._retried = threading.Event(), threading.Event(), threading.Event()

    @property
    def _path(self) -> str:
        return f"/api/studies/{self.study}"

    def run(self) -> None:
        try:
            self._play()
        except Exception as error:
            self.error = error
        finally:
            self._http.close()

    def retry(self) -> None:
        """Its first trial fails and begins anew; returns when that was granted."""
        self._to_retry.set()
        assert self._retried.wait(30), self.error

    def stop(self) -> None:
        self._stopping.set()
        self.join(timeout=30)

    def _play(self) -> None:
        self._tell({"uid": "start", "kind": "study_started"})
        epochs, begins = dict.fromkeys(self.trials, 0), dict.fromkeys(self.trials, 0)
        for attempt in count(1):
            if self._stopping.is_set():
                return
            for trial in self.trials:
                epochs[trial] += 1
                self._report(trial, begins[trial], epochs[trial])
            self.epochs = min(epochs.values())
            if self._to_retry.is_set():
                first = self.trials[0]
                self._tell(
                    {"uid": f"{first}:{attempt}:f", "kind": "trial_failed", "trial": first, "reason": "diverged"}
                )
                self._post(f"{self._path}/pause")
                self._post(f"{self._path}/retry")
                self._to_retry.clear()
                self._retried.set()
                self._tell({"uid": f"start{attempt}", "kind": "study_started"})
                epochs[first], begins[first] = 0, begins[first] + 1

    def _report(self, trial: str, begin: int, epoch: int) -> None:
        uid = f"{trial}:{begin}:{epoch}"
        self._tell({"uid": uid, "kind": "report", "trial": trial, "metrics": {"epoch": epoch}})
        state = content({trial: {}}, epoch=epoch, epochs=10_000)
        self._http.put(f"{self._path}/cohorts/{key_of({trial: {}})}/state", content=state).raise_for_status()

    def _tell(self, event: dict[str, object]) -> None:
        answer = self._post(f"{self._path}/reports", {"events": [event]}).json()
        assert answer["accepted"] == 1, answer

    def _post(self, path: str, body: object = None) -> httpx.Response:
        return self._http.post(path, json=body).raise_for_status()
