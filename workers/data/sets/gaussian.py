"""Jointly Gaussian X and Y with given canonical correlations."""

from __future__ import annotations

from pathlib import Path

from service.contract.methods.data import Gaussian
from workers.data import DataSet

SEED = 0
MADE = "made on the fly"


def load(spec: Gaussian, folder: Path) -> DataSet:
    """y ~ N(0, I), c = ρ y + √(1 − ρ²) ε coordinate by coordinate, x = Q c with a fixed rotation Q.

    The rotation changes no information; without it an encoder would find the canonical coordinates laid out for it.
    """
    import torch  # not above: `paretoscope data` lists without it

    from workers.data.random_streams import generator

    rho = torch.tensor(spec.correlations, dtype=torch.float64)
    d, count = len(rho), spec.train_samples + spec.test_samples
    g = generator(SEED, "gaussian")
    rotation, _ = torch.linalg.qr(torch.randn(d, d, generator=g, dtype=torch.float64))
    y = torch.randn(count, d, generator=g, dtype=torch.float64)
    c = rho * y + (1 - rho.square()).sqrt() * torch.randn(count, d, generator=g, dtype=torch.float64)
    x, y = (c @ rotation.T).float(), y.float()
    n = spec.train_samples
    return DataSet(x[:n], y[:n], x[n:], y[n:], 0, (1, 1, d), mean=(0.0,), std=(1.0,))
