"""No bottleneck: a deterministic code."""

from __future__ import annotations

from torch import Tensor

from workers.models.components.latent_code import Code


class Rate:
    """z = f(x), rate 0 with gradient 0: cross-entropy alone trains.

    The information of a deterministic continuous code is not finite, so its rate is null. Min-norm weightings
    (mib) find the zero gradient stationary and give pred the weight 0: the encoder then stays as it started.
    """

    separable = True
    scalars = ()

    def outputs(self, latent: int) -> int:
        return latent

    def code(self, s: tuple[Tensor, ...]) -> Code:
        return Code(s[0], s[0].new_zeros(()))

    def sample(self, code: Code, noise: Tensor) -> Tensor:
        return code.mean

    def nats(self, code: Code) -> Tensor:
        return code.mean.new_zeros(code.mean.shape[:2], requires_grad=code.mean.requires_grad)
