"""Trials that are trained elsewhere, asked for by many at once through two services on one database."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.contract.wire.errors import Conflict
from service.contract.wire.events import TrialLeased, TrialReturned
from tests.service.elsewhere import GRID, Office
from tests.service.store.conftest import Opened

TRIALS = 24
WIDE = {**GRID, "problem": {"name": "forest", "depth": {"grid": list(range(1, TRIALS + 1))}}}


@pytest.fixture
def offices(opened: Opened) -> list[Office]:
    return [Office(opened(), WIDE), Office(opened(), create=False)]


def all_asked(offices: list[Office], seconds: float = 60.0) -> Counter[str]:
    with ThreadPoolExecutor(8) as askers:
        handed = list(askers.map(lambda i: offices[i % 2].ask(seconds), range(TRIALS)))
    assert len({each.lease for each in handed}) == TRIALS
    return Counter(each.trial for each in handed)


def test_every_trial_is_handed_out_once(offices: list[Office]) -> None:
    assert set(all_asked(offices).values()) == {1}
    with pytest.raises(Conflict, match=f"no trial is free now \\({TRIALS} trials with others\\)"):
        offices[0].ask()


def test_what_is_held_in_silence_is_taken_back_once_and_handed_out_once_more(offices: list[Office]) -> None:
    all_asked(offices)
    for office in offices:
        office.clock.ahead = 61
    assert set(all_asked(offices, seconds=600).values()) == {1}
    events = [logged.event for logged in offices[0].store.read("s1", 0)]
    kinds = Counter(type(event) for event in events)
    assert (kinds[TrialLeased], kinds[TrialReturned]) == (2 * TRIALS, TRIALS)
