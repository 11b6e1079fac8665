"""Presets of two kinds on a real Ray, at their smallest: networks of digits and images train there in other tests."""

from __future__ import annotations

import pytest

from frontends.client import Client
from tests.end_to_end.test_presets import PRESETS, check, put_data, shrunk
from tests.processes import Running

pytestmark = pytest.mark.timeout(900)

ON_RAY = ("concave-front", "multilabel-yeast")


def test_presets_of_several_kinds_finish_on_ray(cluster: Running) -> None:
    put_data(cluster.home)
    with Client(cluster.url, cluster.token) as client:
        for study in [client.submit(shrunk(PRESETS[name])) for name in ON_RAY]:
            study.wait()
            check(cluster, study)
