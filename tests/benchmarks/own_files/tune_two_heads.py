"""The same trainings as plain Ray Tune trials. Run as `python -m tests.benchmarks.own_files.tune_two_heads TRIALS`."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

from tests.benchmarks.own_code import EPOCHS, betas


def train(config: dict[str, Any], data: dict[str, Any]) -> None:
    import torch
    from ray import tune

    from tests.benchmarks.own_files.two_heads import TwoHeads

    torch.set_num_threads(1)
    torch.manual_seed(0)
    problem = TwoHeads()
    split = {name: tuple(torch.from_numpy(column) for column in columns) for name, columns in data.items()}
    model = problem.model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(split["train"][0])).split(128):
            losses = problem.losses(model, tuple(column[rows] for column in split["train"]))
            optimizer.zero_grad()
            (losses["digit"] + config["beta"] * losses["shape"]).backward()
            optimizer.step()
        with torch.no_grad():
            measured = {
                f"{part}-{name}": float(value)
                for part in ("validation", "test")
                for name, value in problem.measure(model, split[part]).items()
            }
        tune.report(measured)


def main(trials: int) -> None:
    os.environ["TUNE_DISABLE_AUTO_CALLBACK_LOGGERS"] = "1"
    import ray
    from ray import tune
    from ray.tune import RunConfig, TuneConfig, Tuner

    from tests.benchmarks.own_files.two_heads import TwoHeads

    ray.init(address=os.environ["BENCH_RAY"], log_to_driver=False)
    data = {name: tuple(column.numpy() for column in columns) for name, columns in TwoHeads().data(0).items()}
    held = len(data["train"][0]) // 5
    data["validation"] = tuple(column[:held] for column in data["train"])
    data["train"] = tuple(column[held:] for column in data["train"])
    with tempfile.TemporaryDirectory() as scratch:
        results = Tuner(
            tune.with_resources(tune.with_parameters(train, data=data), {"cpu": 1}),
            param_space={"beta": tune.grid_search(betas(trials))},
            tune_config=TuneConfig(reuse_actors=True, max_concurrent_trials=2),
            run_config=RunConfig(storage_path=scratch, verbose=0),
        ).fit()
    assert len(results) == trials and not results.errors


if __name__ == "__main__":
    main(int(sys.argv[1]))
