"""What a service has kept, against what was asked of it: nothing else may be there."""

from __future__ import annotations

from tests.fuzz.workflow import Told
from tests.processes import Running

KEPT = ("paretoscope.db", "summaries.db", "audit.log", "service.log")  # the databases have a journal beside them
OF_STUDIES = ("artifacts", "states")
MOST = 1000


def leftovers(service: Running, told: Told, before: set[str]) -> list[str]:
    """In words; `before` are studies that nobody here has made."""
    lists = [service.get("/api/studies", limit=MOST, archived=away).json()["studies"] for away in (False, True)]
    studies = {study["id"] for listed in lists for study in listed}
    expected = before | (told.made - told.deleted)
    wrong = [f"study {study} is there" for study in studies - expected]
    wrong += [f"study {study} is not there" for study in expected - studies]
    if service.token:
        tokens = {token["id"] for token in service.get("/api/tokens").json()["tokens"]}
        wrong += [f"token {token} is there" for token in tokens - told.tokens]
        wrong += [f"token {token} is not there" for token in told.tokens - tokens]
        kept = {code["hash"] for code in service.get("/api/code").json()["code"]}
        wrong += [f"code {code} is there" for code in kept - told.code]
        wrong += [f"code {code} is not there" for code in told.code - kept]
    for path in service.home.rglob("*"):
        parts = path.relative_to(service.home).parts
        if parts[0] in OF_STUDIES:
            if (len(parts) > 1 and parts[1] not in studies) or ".draft-" in path.name:
                wrong.append(f"{'/'.join(parts)} is left")
        elif parts[0] == "code":
            if (len(parts) > 1 and parts[1] not in told.code) or ".draft-" in path.name:
                wrong.append(f"{'/'.join(parts)} is left")
        elif path.is_file() and not path.name.startswith(KEPT):
            wrong.append(f"{'/'.join(parts)} was written")
    return wrong


def readable(service: Running, told: Told) -> list[str]:
    """Every study that is left can be read, and its trials."""
    paths = [f"/api/studies/{study}{end}" for study in told.made - told.deleted for end in ("", "/trials")]
    answers = {path: service.get(path).status_code for path in paths}
    return [f"{path} answered {status}" for path, status in answers.items() if status != 200]


def clear(service: Running, told: Told) -> None:
    """Ends and deletes all that was made, as people would: first cancel, then delete."""
    for study in sorted(told.made - told.deleted):
        service.post(f"/api/studies/{study}/cancel")
        service.delete(f"/api/studies/{study}").raise_for_status()
        told.deleted.add(study)
    for code in sorted(told.code):
        service.delete(f"/api/code/{code}").raise_for_status()
        told.code.discard(code)
