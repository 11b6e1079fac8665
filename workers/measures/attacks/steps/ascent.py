"""The one loop of all attacks: x ← clip_[0,1](x0 + clip_ε(x + α·sign(d) − x0)), with d from the gradient."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from service.contract.methods.attacks import Budgeted, Stepped
from workers.data.random_streams import Seeds
from workers.measures.attacks.steps import losses
from workers.measures.coding import Coder, Coding


class Target(NamedTuple):
    """The K members that are attacked."""

    model: Coder
    problem: Coding


class Noise(NamedTuple):
    """Random numbers of one block of images, each member's from its own seed."""

    seeds: Seeds
    block: str

    def normal(self, purpose: str, *shape: int) -> Tensor:  # [K, *shape]
        draws = self.seeds.draw(f"{self.block}/{purpose}", lambda g: torch.randn(shape, generator=g))
        return self.seeds.spread(draws)

    def uniform(self, purpose: str, *shape: int) -> Tensor:  # [K, *shape] in [−1, 1]
        draws = self.seeds.draw(f"{self.block}/{purpose}", lambda g: torch.rand(shape, generator=g) * 2 - 1)
        return self.seeds.spread(draws)


class Look(NamedTuple):
    """One pass of the model at x: what an attack's loss may use."""

    logits: Tensor  # [K, B, classes]
    y: Tensor  # [K, B]
    delta: Tensor  # [K, B, F], x − x0
    noise: Noise
    stream: str  # names this step and pass among the draws


class Attack:
    """The sign of the cross-entropy's gradient; an attack overrides what its rule changes."""

    def __init__(self, spec: Budgeted) -> None:
        self.epsilon, self.step_size, self.steps = spec.epsilon, spec.epsilon, 1
        if isinstance(spec, Stepped):
            self.step_size, self.steps = spec.step_size, spec.steps
        self.random_start = bool(getattr(spec, "random_start", False))
        self.passes = 1  # latent samples per gradient

    def loss(self, look: Look) -> Tensor:
        """What the attack raises: [K, B]."""
        return losses.cross_entropy(look.logits, look.y)

    def place(self, x: Tensor, d: Tensor) -> Tensor:
        """Where the gradient is taken."""
        return x

    def direction(self, g: Tensor, d: Tensor) -> Tensor:
        """The next direction from the gradient and the last direction, which starts at 0."""
        return g


class Momentum(Attack):
    """d ← g/mean|g| + decay·d, the mean over an image's pixels."""

    decay: float

    def direction(self, g: Tensor, d: Tensor) -> Tensor:
        size = g.abs().mean(-1, keepdim=True)
        return g / torch.where(size > 0, size, 1.0) + self.decay * d


def perturb(attack: Attack, target: Target, x0: Tensor, y: Tensor, noise: Noise) -> Tensor:
    """Attacked images of x0 [K, B, F] with labels [K, B]: each member's own, from its own gradients."""
    x, d = x0, torch.zeros_like(x0)
    if attack.random_start:
        x = (x0 + attack.epsilon * noise.uniform("start", *x0.shape[1:])).clamp(0, 1)
    for step in range(attack.steps):
        g = _gradient(attack, target, attack.place(x, d), x0, y, noise, step)
        d = attack.direction(g, d)
        change = (x + attack.step_size * d.sign() - x0).clamp(-attack.epsilon, attack.epsilon)
        x = (x0 + change).clamp(0, 1)
    return x


def _gradient(attack: Attack, target: Target, x: Tensor, x0: Tensor, y: Tensor, noise: Noise, step: int) -> Tensor:
    """∇_x of the attack's loss, summed over passes with fresh latent noise: [K, B, F].

    The noise enters after the encoder, so one run through the encoder serves all passes.
    """
    model, problem = target
    x = x.detach().requires_grad_()
    with torch.enable_grad():
        s = model.encode(x)
        total = x.new_zeros(y.shape)
        for i in range(attack.passes):
            latent = noise.normal(f"latent/{step}/{i}", x.shape[1], problem.latent)
            look = Look(problem.logits(model, s, latent), y, x - x0, noise, f"{step}/{i}")
            total = total + attack.loss(look)
        return torch.autograd.grad(total.sum(), x)[0]
