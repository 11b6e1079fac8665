"""A scikit-learn forest as a script, on a real Ray: accuracy against leaves, three parameters searched, five seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from frontends.client import Client
from tests.processes import Running

pytestmark = pytest.mark.timeout(480)

FOREST = """
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from paretoscope import Metric, trainable


@trainable(metrics={"acc": Metric("maximize", reference=0.0), "leaves": Metric("minimize", reference=4000.0)})
def forest(trial, trees: int = 10, depth: int = 4, share: float = 0.5):
    \"\"\"Digits by a random forest: accuracy against the number of its leaves.\"\"\"
    x, x2, y, y2 = train_test_split(*load_digits(return_X_y=True), random_state=trial.seed)
    model = RandomForestClassifier(trees, max_depth=depth, max_features=share, random_state=trial.seed).fit(x, y)
    trial.report(acc=model.score(x2, y2), leaves=sum(tree.get_n_leaves() for tree in model.estimators_))
"""


def test_a_forest_draws_a_front_of_accuracy_against_leaves(cluster: Running, tmp_path: Path) -> None:
    (tmp_path / "forest.py").write_text(FOREST)
    searched = {
        "name": "forest",
        "trees": {"range": {"from": 1, "to": 12}},
        "depth": {"range": {"from": 1, "to": 8}},
        "share": {"range": {"from": 0.1, "to": 1.0}},
    }
    arms = [
        {"name": "TPE", "problem": searched, "search": {"name": "optuna", "sampler": "tpe", "trials": 15}},
        {"name": "stumps", "problem": {"name": "forest", "depth": 1, "trees": 10}},
    ]
    spec: dict[str, Any] = {"name": "forest", "code": str(tmp_path / "forest.py"), "seeds": [0, 1, 2, 3, 4]}
    spec |= {"arms": arms, "resources": {"concurrency": 1}}
    with Client(cluster.url, cluster.token) as client:
        study = client.submit(spec).wait(timeout=420)
        assert study.read()["counts"]["finished"] == 20, study.read()["reason"]
        trials = study.trials(arm="TPE")
        assert {trial["seed"] for trial in trials} == {0, 1, 2, 3, 4}
        for trial in trials:
            config, metrics = trial["config"], trial["metrics"]
            assert config.keys() >= {"problem.trees", "problem.depth", "problem.share"}
            assert metrics["leaves"] <= config["problem.trees"] * 2 ** config["problem.depth"]
            assert "i_xz_bits" not in metrics and "weight_pred" not in metrics
        front = study.front()
        assert (front["x"], front["y"]) == ("acc", "leaves") and len(front["points"]) >= 3
        comparison = study.comparison()
        assert all(arm["hypervolume"]["seeds"] == 5 for arm in comparison["arms"]) and comparison["verdict"]
        offered = [figure["name"] for figure in study.read()["figures"]]
        assert "pareto-front" in offered and "information-plane" not in offered
