"""Jointly Gaussian X and Y with given canonical correlations."""

from __future__ import annotations

from pathlib import Path

from service.contract.methods.data import Gaussian
from workers.data import DataSet, Draw

SEED = 0
MADE = "made on the fly"


def load(spec: Gaussian, folder: Path) -> Draw:
    """y ~ N(0, I), c = ρ y + √(1 − ρ²) ε coordinate by coordinate, x = Q c with a fixed rotation Q.

    The rotation changes no information; without it an encoder would find the canonical coordinates laid out for it.
    Every draw has examples of its own, those to measure on too.
    """
    import torch  # not above: `paretoscope data` lists without it

    from workers.data.pool import Rows
    from workers.data.random_streams import generator

    rho = torch.tensor(spec.correlations, dtype=torch.float64)
    d, count = len(rho), spec.train_samples + spec.test_samples
    held = round(spec.validation_fraction * spec.train_samples)
    n = spec.train_samples - held

    def draw(seed: int | None) -> DataSet:
        g = generator(SEED, "gaussian")
        rotation, _ = torch.linalg.qr(torch.randn(d, d, generator=g, dtype=torch.float64))
        if seed is not None:
            g = generator(seed, "gaussian draw")
        y = torch.randn(count, d, generator=g, dtype=torch.float64)
        c = rho * y + (1 - rho.square()).sqrt() * torch.randn(count, d, generator=g, dtype=torch.float64)
        x, y = Rows.all_of((c @ rotation.T).float()), y.float()
        train, out, test = slice(n), slice(n, n + held), slice(n + held, None)
        return DataSet(
            x.some(train),
            y[train],
            x.some(test),
            y[test],
            0,
            (1, 1, d),
            mean=(0.0,),
            std=(1.0,),
            x_validation=x.some(out) if held else None,
            y_validation=y[out] if held else None,
            seed=seed,
        )

    return draw
