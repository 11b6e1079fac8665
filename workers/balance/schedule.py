"""When a cohort in training is balanced, and what is reported of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from service.contract.methods.balance import SWEEPING, Balance
from service.contract.metrics import BALANCE, POWER_SUM
from workers.balance.balancing import cost, full, imbalance, sweep
from workers.balance.orders import Visit, alternating, in_reverse, in_turn, shuffled
from workers.balance.pairs import Pair, weights_of
from workers.data.random_streams import generator

ORDERS: Mapping[str, Callable[[Sequence[Pair], bool], list[Visit]]] = {
    "sweep": in_turn,
    "reverse": in_reverse,
    "alternating": alternating,
}


class Schedule:
    """What `training.balance` asks for, done to the pairs of a cohort's model; `seeds` are its members'.

    Moments that an optimiser keeps are not scaled with the weights they belong to.
    """

    def __init__(
        self, spec: Balance, pairs: Sequence[Pair], seeds: Sequence[int], device: torch.device, epochs: int
    ) -> None:
        self._spec, self._pairs, self._epochs = spec, pairs, epochs
        self._p, self._tied = spec.p, spec.tied
        self._members = {seed: torch.tensor([s == seed for s in seeds], device=device) for seed in seeds}

    def before_epoch(self, epoch: int) -> None:
        """Full balance, before the first one."""
        if epoch == 1 and self._spec.mode in ("full", "both", "repeated"):
            self._in_full("before")

    def after_epoch(self, epoch: int) -> None:
        """One sweep or a full balance, where it is due."""
        due = epoch % self._spec.every == 0
        if (due and self._spec.mode == "repeated") or (epoch == self._epochs and self._spec.mode == "after"):
            self._in_full(str(epoch))
        if due and self._spec.mode in SWEEPING:
            for members, order in self._orders(str(epoch)):
                rows = slice(None) if members.all() else members.nonzero()[:, 0]
                sweep(order(), self._p, self._tied, rows)

    def _in_full(self, stream: str) -> None:
        for members, order in self._orders(stream):
            full(self._pairs, self._p, self._tied, order, members=members)

    def measure(self) -> dict[str, list[float]]:
        """Of each member and layer the imbalance of its least balanced unit, and of each member Σ|w|^p."""
        worst: dict[str, Tensor] = {}
        for pair in self._pairs:
            off = imbalance(pair, self._p, self._tied)  # [K]
            worst[pair.name] = torch.maximum(off, worst.get(pair.name, off))
        columns = {BALANCE.of(name): off.tolist() for name, off in worst.items()}
        return {**columns, POWER_SUM: cost(weights_of(self._pairs), self._p).tolist()} if self._pairs else columns

    def _orders(self, stream: str) -> list[tuple[Tensor, Callable[[], list[Visit]]]]:
        """Who is visited in which order: members of one seed share theirs, whoever trains beside them."""
        if (ordered := ORDERS.get(self._spec.order)) is not None:
            everyone = torch.stack(list(self._members.values())).any(0)
            return [(everyone, lambda: ordered(self._pairs, self._tied))]
        return [
            (members, self._shuffle(generator(seed, f"balance/{stream}"))) for seed, members in self._members.items()
        ]

    def _shuffle(self, g: torch.Generator) -> Callable[[], list[Visit]]:
        return lambda: shuffled(self._pairs, self._tied, g)
