"""What runs inside a tree, this one or an older, in that tree's own Python: the fold of a log and a cohort's training.

`python -P in_a_tree.py fold HOME STUDY`, `python -P in_a_tree.py cohort` with the specs of studies on standard input;
prints CPU seconds as JSON. It imports nothing of a tree but by the names below.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

# Where it is now, and where it was in 0.1.0.
PLACES = {
    "SqlStore": ("service.store.sql:SqlStore", "service.store.database:Store"),
    "Views": ("service.views.cache:Views", "service.store.views:Views"),
    "check_study": ("service.contract.study.parsing:check_study", "service.contract.parsing:check_study"),
    "expand": ("service.contract.study.expansion:expand", "service.contract.expansion:expand"),
    "train": ("workers.training.loop:train", "workers.training:train"),
}
TIMES = 3


def imported(name: str) -> Any:
    """From the first place that the tree has."""
    for module, _, attribute in (place.partition(":") for place in PLACES[name]):
        try:
            return getattr(import_module(module), attribute)
        except (ModuleNotFoundError, AttributeError):
            continue
    raise ImportError(f"this tree has no {name}: neither {' nor '.join(PLACES[name])}")


def seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def fold(home: Path, study: str) -> float:
    """The median of a few folds of a log, each of a view that knows nothing."""
    store, views = imported("SqlStore")(home), imported("Views")

    def once() -> None:
        with views(store).read(study):
            pass

    return statistics.median(seconds(once) for _ in range(TIMES))


def cohort(specs: list[dict[str, Any]], members: int) -> list[float]:
    """Of training and evaluating the first trials of each study together, on one thread; a run before that reads the
    data does not count."""
    import torch

    torch.set_num_threads(1)
    check_study, expand, train = imported("check_study"), imported("expand"), imported("train")

    def once(spec: dict[str, Any]) -> None:
        study = check_study(spec)
        for _ in train(expand(study)[:members], study.data, study.evaluation, torch.device("cpu")):
            pass

    once(specs[0])
    return [seconds(partial(once, spec)) for spec in specs]


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    print(json.dumps(fold(Path(arguments[0]), arguments[1]) if what == "fold" else cohort(**json.load(sys.stdin))))
