from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.bench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path, studies_at_once=2, driver_attempts=3)
    yield bench
    bench.close()
