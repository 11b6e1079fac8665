"""Ray and the service, started once for all that take them: those follow each other, and it ends with the last."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.browser.conftest import browser, opened, rested
from tests.end_to_end.their_tasks import install
from tests.processes import OF_A_DATABASE, Running, short_home, up

__all__ = ["browser", "opened", "rested"]


@pytest.fixture(scope="package")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Cohorts save half a second after their last save, at the end of an epoch; a process with code of its own may
    take 6 GB; a package with a problem is installed."""
    site = tmp_path_factory.mktemp("site")
    install(site)
    settings = {
        "PYTHONPATH": os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH")))),
        "PARETOSCOPE_SAVE_SECONDS": "0.5",
        "PARETOSCOPE_CODE_MEMORY_GB": "6",
        "PGPASSWORD": OF_A_DATABASE,
    }
    with short_home() as home, up(home, **settings) as running:
        yield running
