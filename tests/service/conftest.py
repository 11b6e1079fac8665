from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.processes import short_home
from tests.service.bench import Bench


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    """The service as an app in this process, one for all tests of a module."""
    with short_home() as home:
        bench = Bench(home)
        yield bench
        bench.close()
