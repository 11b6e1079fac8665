"""Everything that is read of a study works on one of somebody's own code, in its words and not in ours."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

from service.figures import FIGURES
from service.web.assets import plotly_script
from tests.processes import short_home
from tests.service.bench import Bench
from tests.service.own_code import PROBLEM, SCRIPT

OURS = re.compile(r"I\(X;Z\)|I\(Z;Y\)|H\(Y\)|\bbits?\b|bottleneck|information plane", re.IGNORECASE)
GRID = {"grid": [0.1, 1.0, 10.0]}
ARMS: dict[str, list[dict[str, Any]]] = {
    "problem": [
        {"name": "by hand", "problem": {"name": "Mine"}, "weighting": {"name": "fixed", "beta": GRID}},
        {"name": "MGDA", "problem": {"name": "Mine", "width": 16}, "weighting": {"name": "mgda"}},
    ],
    "script": [
        {"name": "depths", "problem": {"name": "forest", "depth": {"grid": [1, 2, 3]}}},
        {"name": "stumps", "problem": {"name": "forest", "depth": 1}},
    ],
}


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with short_home() as home:
        bench = Bench(home, allow_code=True)
        yield bench
        bench.close()


def played(bench: Bench, kind: str) -> str:
    """A study of the code whose trials have reported two epochs and finished."""
    headers = {"Content-Type": "text/x-python"}
    sent = bench.ask("POST", "/api/code?entry=mine.py", content=f"# {kind}\n".encode(), headers=headers)
    code = sent.json()["hash"]
    bench.ask("POST", f"/api/code/{code}/description", json={"problems": [PROBLEM, SCRIPT]})
    study = bench.submit(name=kind, code=code, seeds=[0, 1], training={"epochs": 2}, arms=ARMS[kind])
    arms = {trial["id"]: trial["arm"] for trial in bench.get(f"/api/studies/{study}/trials")["trials"]}
    for k, trial in enumerate(arms):
        events: list[dict[str, Any]] = [{"kind": "trial_started"}]
        for epoch in (1, 2):
            own = {"acc": 0.5 + 0.04 * k + 0.01 * epoch, "leaves": 10.0 * (k + 1)}
            if kind == "problem":
                own = {"acc": own["acc"], "mae": 1.0 + 0.1 * k, "validation_acc": own["acc"], "validation_mae": 1.2}
                own |= {f"{what}_{term}": 0.5 for what in ("loss", "test_loss") for term in ("class", "price")}
                own |= {"weight_class": 1.0, "weight_price": 0.1 * (k + epoch)}
                if arms[trial] == "MGDA":  # MGDA has the gradients anyway
                    own |= {"cosine_class_price": 0.5, "gradient_norm_class": 1.0, "gradient_norm_price": 2.0}
            events.append({"kind": "report", "metrics": {"epoch": epoch, "seconds": 0.1 * epoch, **own}})
        events.append({"kind": "trial_finished"})
        bench.report(study, *({"uid": f"{trial}/{i}", "trial": trial, **each} for i, each in enumerate(events)))
    bench.finish(study)
    return study


@pytest.mark.parametrize("kind", ["problem", "script"])
def test_figures_exports_report_and_methods_of_code_of_ones_own(bench: Bench, kind: str) -> None:
    study = played(bench, kind)
    path = f"/api/studies/{study}"
    offered = [figure["name"] for figure in bench.read(study)["figures"]]
    assert {"pareto-front", "learning-curves", "attainment", "parallel-coordinates", "timeline"} <= set(offered)
    said: dict[str, str] = {}
    for name in FIGURES:
        answer = bench.ask("GET", f"{path}/figures/{name}")
        assert answer.status_code == 200, (name, answer.text)
        if name in offered:
            assert answer.json()["data"], name
            said[f"figure {name}"] = answer.text
    for table in ("trials", "points", "reports"):
        text, packed = (
            bench.ask("GET", f"{path}/export", params={"format": kind_of_file, "table": table})
            for kind_of_file in ("csv", "parquet")
        )
        assert (text.status_code, packed.status_code) == (200, 200), (text.text, packed.text)
        frame = pd.read_parquet(io.BytesIO(packed.content))
        assert len(frame) == len(pd.read_csv(io.StringIO(text.text))) >= 8 and "acc" in frame.columns
        said[f"csv of {table}"], said[f"parquet of {table}"] = text.text, " ".join(frame.columns)
    for what, format in (("export", "json"), ("export", "latex"), ("report", ""), ("methods", "")):
        answer = bench.ask("GET", f"{path}/{what}", params={"format": format} if format else {})
        assert answer.status_code == 200, (what, format, answer.text)
        said[f"{what} {format}".strip()] = answer.text
    assert json.loads(said["export json"])["trials"] and ARMS[kind][1]["name"] in said["export latex"]
    assert "the study's own code" in json.loads(said["methods"])["paragraph"]
    said["report"] = said["report"].replace(plotly_script().read_text(encoding="utf-8"), "")
    for where, words in said.items():
        ours = OURS.search(words)
        assert ours is None, (where, words[max(0, ours.start() - 200) : ours.end() + 200])
