"""Parameters of synaptic balance, and which layers of a model it reaches: see workers/balance."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from service.contract.methods.models import Model
from service.contract.methods.problems import Multitask, Problem
from service.contract.parameters.axes import Axis
from service.contract.parameters.strict import Strict

SWEEPING = ("partial", "both")  # the modes that sweep after epochs
RECURRING = (*SWEEPING, "repeated")  # those that do something every so many epochs
ORDERED = ("reverse", "alternating")  # orders that differ from the usual one by that of layers


class Balance(Strict):
    """Scale what comes into each hidden unit against what leaves it, so that Σ|w|^p is least; outputs stay as they are.

    Every trial with a balance reports each layer's imbalance, so mode none measures what others are compared with.
    """

    mode: Axis[Literal["none", "full", "partial", "both", "repeated", "after"]] = Field(
        "both",
        description="full: before training, sweeps until every unit is balanced; partial: one sweep after an epoch; "
        "both; repeated: full before training and again after an epoch; after: full after the last epoch alone; none: "
        "only measured",
    )
    p: Axis[Annotated[float, Field(ge=0.1, le=10)]] = Field(2.0, description="of the norms ‖·‖_p that are made equal")
    tied: Axis[bool] = Field(False, description="one factor for all units of a layer (of convolutions always)")
    order: Axis[Literal["sweep", "reverse", "alternating", "random"]] = Field(
        "sweep",
        description="sweep: from the input on; reverse: from the output back; alternating: the first, third, … layer, "
        "then the others; random: all units in an order drawn per seed and sweep. All end alike in full balance",
    )
    every: Axis[Annotated[int, Field(ge=1)]] = Field(
        1, description="epochs from one balance to the next (modes partial, both and repeated)"
    )


def hidden_code(problem: Problem) -> bool:
    """Whether the code's units are hidden ones: heads read ReLU(code) of several tasks, but samples of a bottleneck."""
    return isinstance(problem, Multitask) and problem.rate == "none"


def balanced_layers(model: Model, problem: Problem) -> list[str]:
    """The layers with hidden units to balance; the heads' i-th layers are one."""
    if problem.name == "toy":  # has no model
        return []
    code = ["code"] if hidden_code(problem) else []
    return [*model.balanced, *code, *(f"head-{i + 1}" for i in range(len(model.head)))]
