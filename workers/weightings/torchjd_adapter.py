"""torchjd's methods behind our interface. A new one is a class in the contract and a line in a table here.

Theirs take one Gram matrix or one set of losses, branch on its values and keep state, so each member has an object
of its own and they are called in turn, on the CPU.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from torchjd import aggregation, scalarization

from service.contract.methods import weightings as specs
from workers import optimizers
from workers.data.random_streams import generator
from workers.state import State, copy_into, joined, put, within
from workers.state import of as remembered
from workers.weightings import Setting, Weighting

log = logging.getLogger(__name__)


def _preference(p: Any, setting: Setting) -> Tensor | None:
    """λ, none where all are equal: the share of all terms but the first, each with the same part of it; for the
    bottleneck that of the information term.
    """
    if p.preference == "equal":
        return None
    return _shares(p, setting)


def _shares(p: Any, setting: Setting) -> Tensor:
    """The same for a method that has no word for equal parts."""
    others = len(setting.terms) - 1
    if p.preference == "equal":
        return torch.full((others + 1,), 1 / (others + 1)).double()
    return torch.tensor([1 - p.preference] + [p.preference / others] * others).double()


def _root(gram: Tensor) -> Any:
    """J with J Jᵀ = G, for a method that asks for the gradients themselves."""
    values, vectors = torch.linalg.eigh(gram)
    return vectors * values.clamp_min(0).sqrt()


SMOOTHED: dict[str, Callable[[], Any]] = {
    "mgda": specs.Mgda,
    "pcgrad": specs.Pcgrad,
    "cagrad": specs.Cagrad,
    "upgrad": specs.Upgrad,
}

MATRICES: dict[str, Callable[[Any, Setting], Any]] = {
    "mgda": lambda p, s: aggregation.MGDAWeighting(p.epsilon, p.max_iters),
    "upgrad": lambda p, s: aggregation.UPGradWeighting(_preference(p, s)),
    "pcgrad": lambda p, s: aggregation.PCGradWeighting(),
    "cagrad": lambda p, s: aggregation.CAGradWeighting(p.c, p.norm_eps),
    "nash-mtl": lambda p, s: (
        aggregation.NashMTL(len(s.terms), p.max_norm, p.update_weights_every, p.optim_niter).weighting << _root
    ),
    "imtl-g": lambda p, s: aggregation.IMTLGWeighting(),
    "aligned-mtl": lambda p, s: aggregation.AlignedMTLWeighting(_preference(p, s), p.scale_mode),
    "fairgrad": lambda p, s: aggregation.FairGradWeighting(p.alpha, p.max_iters),
    "dualproj": lambda p, s: aggregation.DualProjWeighting(_preference(p, s)),
    "gradvac": lambda p, s: aggregation.GradVacWeighting(p.beta),
    "pcd": lambda p, s: aggregation.PCDWeighting(p.tau, p.decay),
    "cr-mogm": lambda p, s: aggregation.CRMOGMWeighting(MATRICES[p.method](SMOOTHED[p.method](), s), p.smoothing),
    "modo": lambda p, s: aggregation.MoDoWeighting(p.learning_rate, p.rho),
    "sdmgrad": lambda p, s: aggregation.SDMGradWeighting(
        p.learning_rate, p.momentum, p.steps, p.pull, _preference(p, s)
    ),
    "excess-mtl": lambda p, s: aggregation.ExcessMTLWeighting(p.step_size, p.warm_up * s.batches),
}

REMEMBERED: dict[str, tuple[str, ...]] = {  # attributes that calls change; that of Nash-MTL is saved by itself
    "gradvac": ("_phi_t",),
    "pcd": ("_sq_norm_ema", "_n_steps"),
    "cr-mogm": ("_lambda",),
    "modo": ("_lambda",),
    "sdmgrad": ("_w",),
    "excess-mtl": ("_weights", "_sq_grad_sum", "_initial_w", "_warmup_w_sum", "_n_steps"),
}


class Scalar(NamedTuple):
    """A scalarizer, what it wants before it sees the losses of a step, and whether its parameters are learned."""

    make: Callable[[Any, Setting], Any]
    before: Callable[[Any, Tensor, int, int], None] = lambda method, losses, step, batches: None
    learned: bool = False
    remembers: tuple[str, ...] = ()  # attributes that its calls change, beside its parameters
    draws: bool = False  # from torch's global generator


def _close_epoch(method: scalarization.DWA, losses: Tensor, step: int, batches: int) -> None:
    if step % batches == 0:
        method.step()


def _look_back(method: scalarization.FAMO, losses: Tensor, step: int, batches: int) -> None:
    """FAMO asks how the last step changed its batch's losses; this batch's stand for them and save a forward pass."""
    if step > 0:
        method.update(losses)


def _as_precise(method: scalarization.PBI, losses: Tensor, step: int, batches: int) -> None:
    method.weights = method.weights.to(losses)


SCALARIZERS: dict[str, Scalar] = {
    "uw": Scalar(lambda p, s: scalarization.UW(len(s.terms)), learned=True),
    "dwa": Scalar(
        lambda p, s: scalarization.DWA(p.temperature),
        before=_close_epoch,
        remembers=("_loss_sum", "_n_batches", "_previous_averages"),
    ),
    "famo": Scalar(
        lambda p, s: scalarization.FAMO(len(s.terms), lr=p.learning_rate, weight_decay=p.weight_decay),
        before=_look_back,
        remembers=("_prev_losses",),
    ),
    "imtl-l": Scalar(lambda p, s: scalarization.IMTLL(len(s.terms)), learned=True),
    "stch": Scalar(lambda p, s: scalarization.STCH(p.mu, _preference(p, s))),
    "geometric-mean": Scalar(lambda p, s: scalarization.GeometricMean()),
    "random": Scalar(lambda p, s: scalarization.Random(), draws=True),
    "cosmos": Scalar(lambda p, s: scalarization.COSMOS(p.penalty, _shares(p, s))),
    "pbi": Scalar(lambda p, s: scalarization.PBI(p.theta, _shares(p, s)), before=_as_precise),
}


class Member(Protocol):
    """The weights [n] of one member from its Gram matrix [n, n], its gradients [n, P] or its losses [n]."""

    def __call__(self, statistic: Tensor, step: int) -> Tensor: ...
    def state(self) -> State: ...
    def load(self, state: State) -> None: ...


@contextmanager
def _own_numbers(seed: int, step: int) -> Iterator[None]:
    """torchjd draws from torch's global generator: it stands at a member's own numbers for a call."""
    with torch.random.fork_rng(devices=()):
        torch.default_generator.set_state(generator(seed, f"weighting/{step}").get_state())
        yield


class MatrixMember:
    """torchjd's weights from a matrix with a row for each term."""

    def __init__(self, p: Any, setting: Setting, seed: int) -> None:
        self._method, self._seed = MATRICES[p.name](p, setting), seed
        self._terms, self._remembers = len(setting.terms), REMEMBERED.get(p.name, ())

    def __call__(self, statistic: Tensor, step: int) -> Tensor:
        with _own_numbers(self._seed, step):
            weights: Tensor = self._method(statistic)
        return weights

    def state(self) -> State:
        if (nash := self._nash()) is None:
            return remembered(self._method, self._remembers)
        if nash.step == 0:
            return {}
        return {"step": torch.tensor(int(nash.step)), "alpha": torch.from_numpy(nash.prvs_alpha).clone()}

    def load(self, state: State) -> None:
        if not any(tensor.dim() for tensor in state.values()):
            return  # it was never called
        if nash := self._nash():
            nash._init_optim_problem()  # which it does itself only in its first step
            nash.step, nash.prvs_alpha = float(state["step"]), state["alpha"].numpy().copy()
        elif state:
            largest = max(state.values(), key=Tensor.numel)
            columns = largest.shape[-1] if largest.dim() == 2 else self._terms
            self(torch.eye(self._terms, columns).to(largest), 0)  # from its first call on it knows its shapes
            put(self._method, self._remembers, state)

    def _nash(self) -> Any:
        inner = getattr(self._method, "weighting", None)
        return inner if hasattr(inner, "prvs_alpha") else None


class ScalarizerMember:
    """w = ∂S/∂ℓ, exactly, and one Adam step on the scalarizer's own parameters, as if trained with the model."""

    def __init__(self, p: Any, setting: Setting, seed: int) -> None:
        make, self._before, learned, self._remembers, draws = SCALARIZERS[p.name]
        self._numbers = partial(_own_numbers, seed) if draws else nullcontext
        self._method, self._batches = make(p, setting), setting.batches
        self._learned = list(self._method.parameters()) if learned else []
        rate = torch.tensor([p.learning_rate]) if learned else torch.empty(0)
        views = [q.detach()[None] for q in self._learned]  # a cohort of one
        self._optimizer = optimizers.build("adam", views, rate) if learned else None

    def __call__(self, statistic: Tensor, step: int) -> Tensor:
        self._before(self._method, statistic, step, self._batches)
        losses = statistic.clone().requires_grad_()
        with self._numbers(step):
            w, *own = torch.autograd.grad(self._method(losses), [losses, *self._learned])
        if self._optimizer is not None:
            self._optimizer.step([g[None] for g in own])
        return w

    def state(self) -> State:
        own = remembered(self._method, self._remembers)
        optimizer = self._optimizer.state() if self._optimizer else _moments(self._method)
        return joined({"own": own, "parameters": self._method.state_dict(), "optimizer": optimizer})

    def load(self, state: State) -> None:
        put(self._method, self._remembers, within("own", state))
        copy_into(self._method.state_dict(), within("parameters", state), "weighting")
        moments = within("optimizer", state)
        if self._optimizer is not None:
            self._optimizer.load(moments)
        elif moments:
            _put_moments(self._method, moments)


def _moments(method: Any) -> State:
    """Of the Adam that FAMO makes for its logits with their first step."""
    optimizer = getattr(method, "_optimizer", None)
    return {} if optimizer is None else dict(optimizer.state[method._w])


def _put_moments(method: Any, moments: State) -> None:
    from torch.optim import Adam  # which takes seconds to load, so only where FAMO itself has it

    method._optimizer = Adam([method._w], lr=method.lr, weight_decay=method.weight_decay)
    method._optimizer.state[method._w] = dict(moments)


class Guarded:
    """Calls members one by one. Where a solver fails, that member's weights are NaN: its losses follow, and it fails
    alone."""

    def __init__(self, members: Sequence[Member], name: str) -> None:
        self._members, self._name, self._step = members, name, 0

    def __call__(self, statistic: Tensor, like: Tensor) -> Tensor:
        rows = statistic.detach().cpu()
        w = torch.stack([self._weights(k, row) for k, row in enumerate(rows)])
        self._step += 1
        return w.to(like)

    def state(self) -> State:
        own = {"steps": torch.tensor(self._step)}
        return joined({"all": own, **{str(k): member.state() for k, member in enumerate(self._members)}})

    def load(self, state: State) -> None:
        self._step = int(state["all.steps"])
        for k, member in enumerate(self._members):
            member.load({name: tensor.cpu() for name, tensor in within(str(k), state).items()})

    def _weights(self, k: int, row: Tensor) -> Tensor:
        nothing = row.new_full(row.shape[:1], torch.nan)
        if not row.isfinite().all():
            return nothing
        try:
            w = self._members[k](row, self._step)
        except Exception as error:  # noqa: BLE001 - three solver libraries, each with its own errors
            why = str(error) or type(error).__name__
        else:
            if w.isfinite().all():
                return w
            why = f"weights {w.tolist()}"
        log.warning("%s failed for member %d in step %d: %s", self._name, k, self._step + 1, why)
        return nothing


class _Each(Weighting):
    """Members that keep their own."""

    _each: Guarded

    def state(self) -> State:
        return self._each.state()

    def load(self, state: State) -> None:
        self._each.load(state)

    @classmethod
    def of_members(cls, state: State, rows: Sequence[int]) -> State:
        return joined({"all": within("all", state), **{str(i): within(str(k), state) for i, k in enumerate(rows)}})


class Gramian(_Each):
    """torchjd's weights from the Gram matrix, solved in double precision."""

    needs_gram = True

    def __init__(self, params: Sequence[Any], setting: Setting) -> None:
        members = [MatrixMember(p, setting, seed) for p, seed in zip(params, setting.seeds, strict=True)]
        self._each = Guarded(members, params[0].name)

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        if gram is None:
            raise ValueError("this weighting needs the Gram matrix of the gradients")
        return self._each(gram.double(), losses)


class Halves(Gramian):
    """The same of A Bᵀ, where A and B are the gradients of two halves of the batch: their noise is independent, so that
    E <a_i, b_j> = <E g_i, E g_j>, also for i = j. The update is of the whole batch.
    """

    own_gram = True
    needs_halves = True

    def gram(self, g: Tensor, half: Tensor | None = None) -> Tensor:
        if half is None:
            raise ValueError("this weighting needs the gradients of half the batch")
        return 4 * torch.bmm(half, (g - half).mT)  # halves of g are half as long as gradients


class Jacobian(Gramian):
    """The same of the gradients themselves, as they are."""

    own_gram = True

    def gram(self, g: Tensor, half: Tensor | None = None) -> Tensor:
        self._gradients = g
        return torch.bmm(g, g.mT)

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        return self._each(self._gradients, losses)


class Scalarizer(_Each):
    """torchjd's scalarizers S(ℓ), as the weights ∂S/∂ℓ."""

    needs_gram = False

    def __init__(self, params: Sequence[Any], setting: Setting) -> None:
        members = [ScalarizerMember(p, setting, seed) for p, seed in zip(params, setting.seeds, strict=True)]
        self._each = Guarded(members, params[0].name)

    def __call__(self, losses: Tensor, gram: Tensor | None) -> Tensor:
        return self._each(losses, losses)
