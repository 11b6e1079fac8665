"""Rules of synaptic balance: it needs hidden units, and each of its options something to do."""

from __future__ import annotations

from collections.abc import Iterator

from service.contract.methods.balance import ORDERED, RECURRING, SWEEPING, Balance, balanced_layers
from service.contract.parameters.axes import listed
from service.contract.study.study import Study
from service.contract.wire.errors import Detail


def broken(study: Study) -> Iterator[Detail]:
    for i, arm in enumerate(study.arms):
        model, training = study.model_of(arm), study.training_of(arm)
        if model is None or training is None or training.balance is None:
            continue
        path = f"arms[{i}].training" if "balance" in arm.training else "training"
        layers = balanced_layers(model, arm.problem)
        if not layers:
            rule = f"balance needs hidden units, got none in model {model.name!r} of problem {arm.problem.name!r}"
            yield Detail(path=f"{path}.balance", message=rule)
        if unused := _unused_every(training.balance, training.epochs):
            yield Detail(path=f"{path}.balance.every", message=unused)
        if layers and (unused := _unused_order(training.balance, len(layers))):
            yield Detail(path=f"{path}.balance.order", message=unused)


def idle_options(balance: Balance) -> list[str]:
    """Options that the mode of a trial makes no use of; a grid of modes may have them for its other modes."""
    modes = listed(balance.mode)
    unused = {"every": set(modes).isdisjoint(RECURRING), "order": modes == ["none"]}
    return [option for option, is_unused in unused.items() if is_unused]


def _unused_order(balance: Balance, layers: int) -> str | None:
    """Why an order of layers changes nothing, if so."""
    orders, modes = [each for each in listed(balance.order) if each in ORDERED], listed(balance.mode)
    if orders and modes == ["none"]:
        return f"mode none balances nothing: leave order out, got {' and '.join(orders)}"
    if orders and layers < 2:
        return f"one layer of hidden units has no order: leave it out, got {' and '.join(orders)}"
    return None


def _unused_every(balance: Balance, epochs: int) -> str | None:
    """Why `every` does nothing, if so; 1 is what it is where nobody wrote it."""
    modes, every = listed(balance.mode), listed(balance.every)
    if set(modes).isdisjoint(RECURRING):
        again = f"{', '.join(SWEEPING)} and {RECURRING[-1]}"
        rule = f"only modes {again} balance again, mode {' and '.join(modes)} does not: leave every out"
        return None if every == [1] else f"{rule}, got {', '.join(map(str, every)) or 'a range'}"
    late = next((each for each in every if each > epochs), None)
    return None if late is None else f"the first would come after the last of {epochs} epochs, got {late}"
