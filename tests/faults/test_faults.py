"""The short form of `make faults`: a study on SQLite, a handful of faults, and all that must hold."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from safetensors.numpy import save

from tests.faults.disk import small_disk
from tests.faults.disturbed import study
from tests.faults.disturbing import Disturbing, Fault, drawn
from tests.faults.holding import Told, _same_weights, ended_only_when_killed, held, starts_again
from tests.faults.leftovers import leftovers
from tests.faults.paced import Pace
from tests.faults.stack import PARTS, running
from tests.faults.undisturbed import undisturbed

SAVE_SECONDS, EPOCHS = 1.0, 20
SPEC = study(EPOCHS, grid=[0.01], searched=4, fraction=0.3)
FAULTS = [
    [Fault("kill", "worker", at=0.1), Fault("kill", "service", at=0.1)],
    [Fault("fill", "the disk", 2, at=0.3)],  # and a driver and the service die meanwhile
    [Fault("stop", "worker", 2, at=0.45)],
    [Fault("kill", "up", at=0.55)],
]


@pytest.mark.timeout(900)
def test_a_disturbed_study_ends_as_if_nothing_had_happened() -> None:
    with ThreadPoolExecutor(1) as meanwhile, small_disk() as disk:
        alone = meanwhile.submit(undisturbed, SPEC)  # while the other waits for processes to come back
        faults = FAULTS if disk.mounted else [FAULTS[0], [Fault("kill", "driver", at=0.3)], *FAULTS[2:]]
        pace = Pace(disk.folder / "fault-under-way")
        with running(disk.folder / "home", SAVE_SECONDS, pace=pace) as stack, stack.client() as client:
            handle = client.submit(SPEC)
            Disturbing(stack, disk, handle.id, 0, print, pace).all(faults)
            handle.wait(timeout=600)
            told = Told.of(handle)
        assert stack.ends == [-9], "`up` ended when it was killed, and only then"
        rows = list(held(told, alone.result(), EPOCHS, SAVE_SECONDS))
        assert [row for row in rows if not row.holds] == []
        assert list(leftovers(stack.home, stack.drivers)) == []


def test_a_seed_draws_the_same_faults_again_and_every_part_is_killed() -> None:
    faults = drawn(7, 21, 7, 2, 3)
    assert faults == drawn(7, 21, 7, 2, 3) != drawn(8, 21, 7, 2, 3)
    assert [group[0].at for group in faults] == sorted(group[0].at for group in faults)
    assert sum(map(len, faults)) == 33 > len(faults), "some come at once"
    assert {fault.part for group in faults for fault in group if fault.kind == "kill"} == set(PARTS)


def test_training_that_is_repeated_is_counted_from_the_save() -> None:
    def event(kind: str, second: int, **more: object) -> dict[str, object]:
        return {"kind": kind, "trial": "t", "at": f"2026-01-01T00:00:{second:02d}.000Z", **more}

    reports = [event("report", e, metrics={"epoch": e, "seconds": e / 4}) for e in range(1, 10)]
    events = [event("trial_started", 0), *reports, event("trial_started", 20, epoch=6)]
    events += [event("report", 21, metrics={"epoch": 10, "seconds": 2.5})]
    [again] = starts_again(events, "t", 3.0)
    assert again == (3, 3.0, 1.5, 3.5), "half a second an epoch, of both members"
    late = [event("trial_started", 0), *reports, event("trial_started", 20, epoch=0), events[-1]]
    [again] = starts_again(late, "t", 3.0)
    assert again.epochs == 9 and again.trained == 4.5 > again.allowed == 3.5, "and what is too much is seen"


def test_weights_that_are_no_numbers_equal_none() -> None:
    def told(*weights: float) -> Told:
        return Told({}, [], {"t": {}}, {"t": save({"w": np.array(weights, np.float32)})})

    assert _same_weights(told(1.0, 2.0), told(1.0, 2.0)).holds
    for other in ([1.0, 2.5], [1.0, math.nan], [1.0, math.inf], [1.0, 2.0, 3.0]):
        assert not _same_weights(told(*other), told(1.0, 2.0)).holds, other
        assert not _same_weights(told(*other), told(*other)).holds or all(map(math.isfinite, other))


def test_an_end_of_up_that_nobody_asked_for_does_not_hold() -> None:
    assert ended_only_when_killed([-9, -9], 2).holds
    for ends, kills in (([1], 0), ([-9, 0], 1), ([-9, -9], 1)):
        assert not ended_only_when_killed(ends, kills).holds
