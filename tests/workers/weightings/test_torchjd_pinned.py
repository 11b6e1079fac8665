"""torchjd's own pinned values, through our path from gradients to an update.

Source: SimplexLab/TorchJD, tests/unit/aggregation/test_values.py at 862baeda, rounded there to four digits; its J and
UPGrad's values are also the example of the documentation of torchjd.aggregation. Aggregators that are no weighting
here (krum, trimmed mean, graddrop) or draw random weights have no row; one that torchjd pins as an update alone has no
weights.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

from service.contract.methods import weightings as specs
from tests.workers.weightings.test_torchjd_weightings import SOLVERS
from workers.weightings import Setting, build

J = torch.tensor([[-4.0, 1.0, 1.0], [6.0, 1.0, 1.0]])
SETTING = Setting(("a", "b"), 16, torch.device("cpu"), seeds=(0, 0))
AS_WRITTEN = 1e-4  # absolute: four digits

PINNED: dict[str, tuple[Any, list[float], list[float] | None]] = {  # ours, the update wᵀJ, the weights w
    "aligned-mtl": (specs.AlignedMtl(), [0.2133, 0.9673, 0.9673], [0.5591, 0.4083]),
    "cagrad": (specs.Cagrad(c=0.5), [0.1835, 1.2041, 1.2041], [0.7041, 0.5]),
    "config": (specs.Config(), [0.1588, 2.0706, 2.0706], None),
    "constant": (specs.Fixed(weights={"a": 1.0, "b": 2.0}), [8.0, 3.0, 3.0], [1.0, 2.0]),
    "dualproj": (specs.Dualproj(), [0.5563, 1.1109, 1.1109], [0.6109, 0.5]),
    "fairgrad": (specs.Fairgrad(alpha=1.0), [0.0766, 0.9985, 0.9985], [0.5915, 0.4071]),
    "gradvac": (specs.Gradvac(beta=0.5), [0.5848, 3.8012, 3.8012], [2.2222, 1.5789]),
    "imtl-g": (specs.ImtlG(), [0.0767, 1.0, 1.0], [0.5923, 0.4077]),
    "mean": (specs.Fixed(weights={"a": 0.5, "b": 0.5}), [1.0, 1.0, 1.0], [0.5, 0.5]),
    "mgda": (specs.Mgda(), [0.0, 1.0, 1.0], [0.6, 0.4]),
    "mgda, by the min-norm step of mib": (
        specs.Mib(power=1, smoothing=False, normalize="none", info_scale="sum"),
        [0.0, 1.0, 1.0],
        [0.6, 0.4],
    ),
    "nash-mtl": (specs.NashMtl(), [0.0542, 0.7061, 0.7061], None),
    "pcgrad": (specs.Pcgrad(), [0.5848, 3.8012, 3.8012], [2.2222, 1.5789]),
    "sum": (specs.Uniform(), [2.0, 2.0, 2.0], [1.0, 1.0]),
    "upgrad": (specs.Upgrad(), [0.2929, 1.9004, 1.9004], [1.1109, 0.7894]),
}


@pytest.mark.filterwarnings("ignore:You are solving a parameterized problem")  # Nash-MTL's, from cvxpy
@pytest.mark.parametrize("name", PINNED)
def test_the_update_is_the_one_that_torchjd_pins(name: str) -> None:
    """For two members at once, with gradients and their Gram matrix as a step of training makes them."""
    spec, update, weights = PINNED[name]
    if solver := SOLVERS.get(name):
        pytest.importorskip(solver, reason=f"an extra of torchjd, {solver}")
    weighting = build([spec, spec], SETTING)
    g = J.expand(2, -1, -1).contiguous()
    w = weighting(torch.tensor([[1.0, 2.0]]).expand(2, -1), weighting.gram(g))
    found = torch.einsum("mi,mip->mp", w.double(), weighting.direction(g).double())
    expected = torch.tensor(update).double().expand(2, -1)
    torch.testing.assert_close(found, expected, atol=AS_WRITTEN, rtol=0)
    if weights is not None:
        torch.testing.assert_close(w.double(), torch.tensor(weights).double().expand(2, -1), atol=AS_WRITTEN, rtol=0)
