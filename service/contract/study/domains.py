"""The tasks of an image folder are its domains. They are known only where the folder is, and are checked there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from service.contract.methods.problems import MADE_TASKS, Multitask
from service.contract.methods.task_data import DOMAIN, PICTURES, ImageFolder
from service.contract.study.data_paths import is_below
from service.contract.study.study import Study
from service.contract.wire.errors import Detail, InvalidInput


def task_of(domain: str) -> str:
    """`art_painting` → `domain-art-painting`."""
    return f"{DOMAIN}{domain.lower().replace('_', '-').replace(' ', '-')}"


def check_domains(study: Study, folder: Path, opened: Sequence[Path]) -> None:
    """Where the images cannot be seen from here nothing is said: whoever trains on them looks again."""
    if not isinstance(study.data, ImageFolder):
        return
    domains = domains_of(folder / study.data.path, [each.resolve() for each in (folder, *opened)])
    if details := list(_unknown(study, study.data.leave_out, domains)) if domains else []:
        more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
        raise InvalidInput(f"{details[0].path}: {details[0].message}{more}", details)


def domains_of(root: Path, allowed: Sequence[Path]) -> list[str]:
    """Folders with a picture in a folder of a class; none of a folder that is not here, or that no study may read."""
    try:
        seen = [each for each in root.iterdir() if is_below(each.resolve(), allowed) and each.is_dir()]
        return sorted(each.name for each in seen if any(f.suffix.lower() in PICTURES for f in each.glob("*/*")))
    except (OSError, ValueError, RuntimeError):  # no such folder, links that go round, a name that no file can have
        return []


def _unknown(study: Study, left_out: str | None, domains: Sequence[str]) -> Iterator[Detail]:
    if left_out is not None and left_out not in domains:
        rule = f"there is no domain {left_out!r} in this folder; known: {', '.join(domains)}"
        yield Detail(path="data.leave_out", message=rule)
        return
    trained = [task_of(domain) for domain in domains if domain != left_out]
    for i, arm in enumerate(study.arms):
        terms = arm.problem.tasks if isinstance(arm.problem, Multitask) else ()
        for j, task in enumerate(terms):
            if task in MADE_TASKS or task in trained:
                continue
            left = left_out is not None and task == task_of(left_out)
            rule = f"the folder has no domain for task {task!r}"
            rule = f"task {task!r} is of the domain that data.leave_out keeps for testing" if left else rule
            path = f"arms[{i}].problem.{'main' if j == 0 else f'auxiliaries[{j - 1}]'}"
            yield Detail(path=path, message=f"{rule}; known: {', '.join(trained)}")
