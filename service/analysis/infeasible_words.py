"""How many trials break the constraints of their study, in a sentence of the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.contract.study.constraints import Constraint
from service.contract.wording.lists import listed
from service.contract.wording.numbers import plural


def infeasible_words(constraints: Sequence[Constraint], finished: int, broken: Mapping[str, int]) -> str:
    """`3 of 12 finished trials (manual β 2, MIB 1) break accuracy ≥ 0.9 and lie on no front.`

    `broken` has the trials of each arm that break one. Nothing is said where nothing is asked for, or finished.
    """
    if not constraints or not finished:
        return ""
    rule, count = listed([each.words for each in constraints]), sum(broken.values())
    if not count:
        return f"All finished trials meet {rule}."
    arms = ", ".join(f"{name} {own:,}" for name, own in broken.items() if own)
    whose = f" ({arms})" if len(broken) > 1 else ""
    broke, lie = ("breaks", "lies") if count == 1 else ("break", "lie")
    return f"{count:,} of {plural(finished, 'finished trial')}{whose} {broke} {rule} and {lie} on no front."
