"""Synaptic balance: scale what comes into a hidden unit against what leaves it, so that Σ|w|^p is least.

The network's function stays as it is; members of a cohort are balanced independently.
"""

from workers.balance.balancing import cost, full, imbalance, sweep
from workers.balance.orders import Visit, alternating, in_reverse, in_turn, shuffled
from workers.balance.pairs import Pair, chain, convolution, dense, recurrent, weights_of

__all__ = [
    "Pair",
    "Visit",
    "alternating",
    "chain",
    "convolution",
    "cost",
    "dense",
    "full",
    "imbalance",
    "in_reverse",
    "in_turn",
    "recurrent",
    "shuffled",
    "sweep",
    "weights_of",
]
