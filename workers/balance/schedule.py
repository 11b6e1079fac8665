"""When a cohort in training is balanced, and what is reported of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from service.contract.methods.balance import SWEEPING, Balance
from service.contract.metrics import BALANCE
from workers.balance.balancing import full, imbalance, sweep
from workers.balance.orders import Visit, in_turn, shuffled
from workers.balance.pairs import Pair
from workers.data.random_streams import generator


class Schedule:
    """What `training.balance` asks for, done to the pairs of a cohort's model; `seeds` are its members'.

    Moments that an optimiser keeps are not scaled with the weights they belong to.
    """

    def __init__(self, spec: Balance, pairs: Sequence[Pair], seeds: Sequence[int], device: torch.device) -> None:
        self._spec, self._pairs = spec, pairs
        self._p, self._tied = spec.p, spec.tied
        self._members = {seed: torch.tensor([s == seed for s in seeds], device=device) for seed in seeds}

    def before_epoch(self, epoch: int) -> None:
        """Full balance, before the first one."""
        if epoch == 1 and self._spec.mode in ("full", "both"):
            for members, order in self._orders("before"):
                full(self._pairs, self._p, self._tied, order, members=members)

    def after_epoch(self, epoch: int) -> None:
        """One sweep, where it is due."""
        due = epoch % self._spec.every == 0
        if due and self._spec.mode in SWEEPING:
            for members, order in self._orders(str(epoch)):
                rows = slice(None) if members.all() else members.nonzero()[:, 0]
                sweep(order(), self._p, self._tied, rows)

    def measure(self) -> dict[str, list[float]]:
        """`balance_<layer>` of each member: the imbalance of its least balanced unit."""
        worst: dict[str, Tensor] = {}
        for pair in self._pairs:
            off = imbalance(pair, self._p, self._tied)  # [K]
            worst[pair.name] = torch.maximum(off, worst.get(pair.name, off))
        return {BALANCE.of(name): off.tolist() for name, off in worst.items()}

    def _orders(self, stream: str) -> list[tuple[Tensor, Callable[[], list[Visit]]]]:
        """Who is visited in which order: members of one seed share theirs, whoever trains beside them."""
        if self._spec.order == "sweep":
            everyone = torch.stack(list(self._members.values())).any(0)
            return [(everyone, lambda: in_turn(self._pairs, self._tied))]
        return [
            (members, self._shuffle(generator(seed, f"balance/{stream}"))) for seed, members in self._members.items()
        ]

    def _shuffle(self, g: torch.Generator) -> Callable[[], list[Visit]]:
        return lambda: shuffled(self._pairs, self._tied, g)
