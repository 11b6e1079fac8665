"""torchvision's ResNet-18: its batch norm mixes the examples of a batch, so members do not stack.

Imports torchvision, which takes seconds: nothing but `models.build` imports this module, and only when it is named.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torchvision.models import resnet18

from service.contract.methods.models import Resnet18 as Spec
from workers.balance import Pair
from workers.data.random_streams import Seeds
from workers.models import ALL, Sizes
from workers.models.components.heads import Heads
from workers.models.components.layers import scalars
from workers.models.components.stack import Stack

WIDTH = 64  # channels after the first convolution


class Resnet18:
    """A cohort of one: the encoder is ResNet-18 with `fc` to the code's outputs, the head is that of `mlp`.

    Weights live in the Stack and are lent to torchvision's module for each pass, running statistics in `buffers`.
    Batch norm uses the batch between train(True) and train(False), its running statistics otherwise. A batch of one
    example has no statistics of its own (torch refuses it on 1×1 maps): it uses the running ones and leaves them.
    """

    def __init__(self, spec: Spec, sizes: Sizes, seeds: Seeds) -> None:
        if seeds.members != 1:
            raise ValueError(f"model resnet18 does not stack: a cohort of it has 1 member, got {seeds.members}")
        self._image = sizes.shape
        self._training = False
        built: list[nn.Module] = []

        def one(generator: torch.Generator) -> Tensor:
            built.append(_module(spec, sizes, generator.initial_seed()))
            weights = [_channels_last(p.detach()).flatten() for p in built[0].parameters()]
            return torch.cat([*weights, torch.tensor(sizes.scalars)])  # [P]

        flat = seeds.draw("init/encoder", one)  # [1, P]
        (module,) = built
        self._names = [name for name, _ in module.named_parameters()]
        shapes = [tuple(_channels_last(p).shape) for p in module.parameters()] + [(1, 1)] * len(sizes.scalars)
        self.encoder = Stack(flat, shapes)
        self.heads = Heads(sizes.latent, spec.head, sizes.heads, seeds, constants=sizes.constants)
        self.head = self.heads.stack
        self.buffers = {name: b.to(seeds.device) for name, b in module.named_buffers()}
        self._module = module.to("meta")  # only its structure: a weight that is not lent cannot go unnoticed

    def train(self, on: bool) -> None:
        self._training = on

    def encode(self, x: Tensor) -> tuple[Tensor, ...]:
        leaves = self.encoder.leaves
        images = x[0].reshape(-1, *self._image)  # [B, channels, height, width]
        self._module.train(self._training and len(images) > 1)
        images = images.contiguous(memory_format=torch.channels_last)
        lent = {name: _channels_first(leaf[0]) for name, leaf in zip(self._names, leaves, strict=False)}
        out: Tensor = torch.func.functional_call(self._module, {**lent, **self.buffers}, (images,))
        return (out[None], *leaves[len(self._names) :])

    def decode(self, z: Tensor, head: int = 0, rows: slice = ALL) -> Tensor:
        return self.heads(z, head)

    def named(self) -> dict[str, Tensor]:
        """torchvision's own names after `encoder.`, running statistics among them."""
        leaves = self.encoder.leaves
        lent = {name: _channels_first(leaf.detach()[0])[None] for name, leaf in zip(self._names, leaves, strict=False)}
        own = {**lent, **{name: buffer[None] for name, buffer in self.buffers.items()}}
        rest = scalars(leaves[len(self._names) :])
        return {**{f"encoder.{name}": tensor for name, tensor in own.items()}, **rest, **self.heads.named()}

    def pairs(self, code: bool = False) -> list[Pair]:
        """The heads', and the code's: between batch norms and shortcuts nothing can be scaled freely."""
        named = dict(zip(self._names, self.encoder.leaves, strict=False))
        into = [named["fc.weight"].detach(), named["fc.bias"].detach()[:, :, None]]
        return self.heads.pairs(Pair("code", into, []) if code else None)


def _module(spec: Spec, sizes: Sizes, seed: int) -> nn.Module:
    """torchvision's module with fresh weights of this seed; the global random numbers stay as they are."""
    channels = sizes.shape[0]
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # not torch.manual_seed, which would seed the GPUs too
        module: nn.Module = resnet18(weights=None, num_classes=sizes.outputs)
        if spec.small_images:
            module.conv1 = nn.Conv2d(channels, WIDTH, kernel_size=3, padding=1, bias=False)
            module.maxpool = nn.Identity()
        else:
            module.conv1 = nn.Conv2d(channels, WIDTH, kernel_size=7, stride=2, padding=3, bias=False)
        nn.init.kaiming_normal_(module.conv1.weight, mode="fan_out", nonlinearity="relu")  # as torchvision's own
    return module


def _channels_last(weight: Tensor) -> Tensor:
    """A kernel [out, in, k, k] as it lies in the Stack, [out, k, k, in]: CPUs convolve faster so."""
    return weight.permute(0, 2, 3, 1) if weight.dim() == 4 else weight


def _channels_first(leaf: Tensor) -> Tensor:
    """A leaf as torch takes it, without a copy."""
    return leaf.permute(0, 3, 1, 2) if leaf.dim() == 4 else leaf
