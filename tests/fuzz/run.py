"""A run: a study as a yardstick, hostile inputs and scenarios, then what is left and how the service is."""

from __future__ import annotations

import httpx

from tests.fuzz.condition import Condition, condition
from tests.fuzz.hostile import CASES, Victim, fault_of, send
from tests.fuzz.leftovers import clear, leftovers, readable
from tests.fuzz.workflow import Told, play
from tests.golden.logs import play_all
from tests.processes import Running
from tests.service.bench import SPEC

WARM = 60  # requests before the first reading
RIGHTS = ["read", "write", "code", "ingest"]  # of who sends what is hostile: more than a stranger has, and not all


class Run:
    """What was found; `complaints` is empty when all is well."""

    def __init__(self, service: Running, cases: int, begin: int) -> None:
        own = set(play_all(service).values())
        study = sorted(own)[0]
        _load_all(service, own)
        warm = play(service, WARM, begin + 1_000_000)
        clear(service, warm)
        made = service.post("/api/tokens", json={"name": "hostile", "scopes": RIGHTS}).json()
        self.before: Condition = condition(service, study)
        victim = _waiting(service)
        self.complaints = [*warm.complaints, *hostile(service._replace(token=made["token"]), victim)]
        service.delete(f"/api/studies/{victim.study}")
        self.told: Told = play(service, cases, begin)
        self.told.tokens |= warm.tokens | {made["id"]}
        self.complaints += [*self.told.complaints, *readable(service, self.told)]
        self.complaints += leftovers(service, self.told, own)
        clear(service, self.told)
        self.complaints += leftovers(service, self.told, own)
        self.after: Condition = condition(service, study)
        log = service.log()
        self.complaints += [f"the log has a {word}" for word in ("Traceback", "Warning") if word in log]

    @property
    def memory(self) -> float:
        return self.after.megabytes / self.before.megabytes

    @property
    def cost(self) -> float:
        return self.after.milliseconds / self.before.milliseconds


def _load_all(service: Running, studies: set[str]) -> None:
    """What a service imports or keeps when it is first asked for is not growth."""
    figures = [figure["name"] for figure in service.get("/api/figures").json()["figures"]]
    ends = [f"figures/{name}" for name in figures] + ["report", "methods", "comparison", "trials", "curves"]
    ends += [f"export?format={kind}" for kind in ("csv", "json", "parquet")]
    for study in studies:
        for end in ends:
            service.get(f"/api/studies/{study}/{end}")


def _waiting(service: Running) -> Victim:
    study = service.post("/api/studies", json=SPEC).json()["id"]
    return Victim(study, service.get(f"/api/studies/{study}/trials").json()["trials"][0]["id"])


def hostile(service: Running, victim: Victim) -> list[str]:
    """The kept collection over real HTTP; what is wrong with the answers."""
    with httpx.Client(base_url=service.url, headers=service.headers, timeout=60, trust_env=False) as http:
        faults = {case["why"]: fault_of(send(http.request, case, victim), case) for case in CASES}
    return [f"{why}: {fault}" for why, fault in faults.items() if fault]
