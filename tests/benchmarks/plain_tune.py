"""What a researcher would write without Paretoscope: VIB on digits as plain Ray Tune trials.

The same trainings as the grid that `grid.py` submits: same model, data, epochs, evaluation. The data are loaded once
and shared through Ray's object store, so this is a good plain script, not a strawman.
Run as `python -m tests.benchmarks.plain_tune TRIALS default|reuse`.
"""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
from typing import Any

import numpy as np

from tests.benchmarks.grid import EPOCHS, LATENT, SEEDS, WIDTHS, betas

SAMPLES = 12  # latent samples of every evaluation, the default of a study


def train(config: dict[str, Any], data: dict[str, np.ndarray[Any, Any]]) -> None:
    import torch
    from ray import tune
    from torch import nn
    from torch.nn.functional import cross_entropy, softplus

    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    x, y, x_test, y_test = (torch.from_numpy(data[name]) for name in ("x", "y", "x_test", "y_test"))
    sizes = [x.shape[1], *WIDTHS]
    layers = [m for a, b in itertools.pairwise(sizes) for m in (nn.Linear(a, b), nn.ReLU())]
    encoder = nn.Sequential(*layers, nn.Linear(sizes[-1], 2 * LATENT))
    decoder = nn.Linear(LATENT, 10)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)

    def encode(batch: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mu, rho = encoder(batch).chunk(2, dim=1)
        return mu, softplus(rho - 5)

    def rate(mu: torch.Tensor, sigma: torch.Tensor) -> torch.Tensor:
        return (0.5 * (mu**2 + sigma**2 - 1) - sigma.log()).sum(1).mean()

    def accuracy(images: torch.Tensor, labels: torch.Tensor, samples: int) -> tuple[float, float, float]:
        mu, sigma = encode(images)
        logits = decoder(mu + sigma * torch.randn(samples, *mu.shape))
        loss = cross_entropy(logits.flatten(0, 1), labels.repeat(samples))
        right = (logits.softmax(-1).mean(0).argmax(1) == labels).float().mean()
        return float(right), float(loss), float(rate(mu, sigma))

    for _ in range(EPOCHS):
        for batch in torch.randperm(len(x)).split(128):
            mu, sigma = encode(x[batch])
            logits = decoder(mu + sigma * torch.randn_like(mu))
            loss = cross_entropy(logits, y[batch]) + config["beta"] * rate(mu, sigma)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            test, ce, kl = accuracy(x_test, y_test, SAMPLES)
            seen, _, _ = accuracy(x[: len(x_test)], y[: len(x_test)], SAMPLES)
        tune.report({"accuracy": test, "cross_entropy": ce, "rate": kl, "train_accuracy": seen})


def main(trials: int, reuse: bool) -> None:
    os.environ["TUNE_DISABLE_AUTO_CALLBACK_LOGGERS"] = "1"
    import ray
    from ray import tune
    from ray.tune import RunConfig, TuneConfig, Tuner
    from sklearn.datasets import load_digits

    ray.init(address=os.environ["BENCH_RAY"], log_to_driver=False)
    digits = load_digits()
    x, y = (digits.data / 16).astype(np.float32), digits.target.astype(np.int64)
    order = np.random.default_rng(0).permutation(len(x))
    x, y, test = x[order], y[order], len(x) // 5
    data = {"x": x[test:], "y": y[test:], "x_test": x[:test], "y_test": y[:test]}
    with tempfile.TemporaryDirectory() as scratch:
        results = Tuner(
            tune.with_resources(tune.with_parameters(train, data=data), {"cpu": 1}),
            param_space={"beta": tune.grid_search(betas(trials)), "seed": tune.grid_search(SEEDS)},
            tune_config=TuneConfig(reuse_actors=reuse, max_concurrent_trials=2),
            run_config=RunConfig(storage_path=scratch, verbose=0),
        ).fit()
    assert len(results) == trials and not results.errors
    best = max((results[i].metrics or {})["accuracy"] for i in range(len(results)))
    assert best > 0.93, best


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] == "reuse")
