"""A study that names files outside the open folders is refused before anything starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.service.bench import Bench

ARMS = [{"name": "a", "weighting": {"name": "uniform"}}]


@pytest.mark.parametrize("kind", ["text", "image-folder"])
def test_data_lies_below_the_data_folder_or_where_a_setting_says(tmp_path: Path, kind: str) -> None:
    bench = Bench(tmp_path, data=tmp_path / "sets", open_folders=f"{tmp_path}/more")

    def asked(path: str, where: str) -> tuple[int, Any]:
        data, model = {"name": kind, "path": path}, {"name": "transformer" if kind == "text" else "mlp"}
        study = {"name": "s", "data": data, "model": model, "arms": ARMS}
        answer = bench.ask("POST", f"/api/studies{where}", json=study)
        return answer.status_code, answer.json()

    for path in ("/etc/passwd", "../x", "a/../../x", f"{tmp_path}/sets2/x", f"{tmp_path}/more/../x", "/"):
        status, answer = asked(path, "")
        assert status == 422 and answer["error"]["details"][0]["path"] == "data.path", path
        assert "PARETOSCOPE_OPEN_FOLDERS" in answer["error"]["message"]
        assert asked(path, "/check")[1]["error"]["details"] == answer["error"]["details"]
    for path in ("x", "a/../x", f"{tmp_path}/sets/x", f"{tmp_path}/more/x"):
        assert asked(path, "")[0] == 201 and asked(path, "/check")[1]["valid"] is True, path
    assert len(bench.get("/api/studies")["studies"]) == 4
    bench.close()
