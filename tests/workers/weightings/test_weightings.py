"""MIB's weights against torchjd, autograd and the paper's formulas."""

from __future__ import annotations

from typing import Any, Literal

import pytest
import torch
from torch import Tensor
from torchjd.aggregation import MGDAWeighting

from service.contract.methods.weightings import Fixed, Mib
from workers.weightings import Setting, build
from workers.weightings.solving import min_norm

LATENT = 16
SETTING = Setting(("pred", "info"), LATENT, torch.device("cpu"))
BARE: dict[str, Any] = {"power": 1, "smoothing": False, "normalize": "none", "info_scale": "sum"}


def gradients(m: int, n: int, seed: int = 0, scale: float = 1.0) -> Tensor:
    """m sets of n gradients of different lengths, conflicting ones among them."""
    g = torch.Generator().manual_seed(seed)
    lengths = torch.exp(scale * torch.randn(m, n, 1, generator=g))
    return torch.randn(m, n, 5, generator=g) * lengths


def mgda(gram: Tensor) -> Tensor:
    solver = MGDAWeighting(epsilon=1e-9)  # 100 steps, whatever their length
    return torch.stack([solver(one) for one in gram])


def test_bare_mib_equals_mgda_of_torchjd() -> None:
    g = gradients(60, 2)
    gram = g @ g.mT
    w = build([Mib(**BARE)] * 60, SETTING)(torch.rand(60, 2), gram)
    torch.testing.assert_close(w, mgda(gram), atol=1e-3, rtol=0)
    assert ((w > 0.01) & (w < 0.99)).any(), "some weights should lie inside the simplex"


def test_the_papers_steps_approach_mgda_of_torchjd() -> None:
    g = gradients(60, 2)
    gram = g @ g.mT
    torch.testing.assert_close(min_norm.paper_steps(gram, steps=2500), mgda(gram), atol=1e-3, rtol=0)
    w = build([Mib(**BARE, solver="frank-wolfe")] * 60, SETTING)(torch.rand(60, 2), gram)
    torch.testing.assert_close(w, mgda(gram), atol=2 / min_norm.PAPER_STEPS, rtol=0)


def test_equal_or_zero_gradients_share_the_weight() -> None:
    gram = torch.stack((torch.ones(2, 2), torch.zeros(2, 2)))
    assert min_norm.exact(gram).tolist() == [[0.5, 0.5]] * 2
    normalizations: list[Any] = ["none", "l2", "loss", "loss+"]
    for normalize in normalizations:
        w = build([Mib(normalize=normalize)] * 2, SETTING)(torch.zeros(2, 2), gram)
        assert w.isfinite().all()


def test_a_loss_of_zero_is_not_divided_by() -> None:
    spec = Mib(power=1, smoothing=False, normalize="loss", info_scale="sum")
    gram = torch.tensor([[[1.0, 0.0], [0.0, 4.0]]])
    w = build([spec], SETTING)(torch.tensor([[1.0, 0.0]]), gram)
    torch.testing.assert_close(w, torch.tensor([[0.8, 0.2]]))


@pytest.mark.parametrize("smoothing", [True, False])
@pytest.mark.parametrize("power", [1, 2])
def test_weights_are_the_gradient_of_the_smooth_ib_loss(smoothing: bool, power: Literal[1, 2]) -> None:
    a = torch.randn(2, 6, generator=torch.Generator().manual_seed(1))
    theta = torch.linspace(-1, 1, 6).requires_grad_()
    losses = torch.stack([(theta - a[0]).square().sum(), (theta - a[1]).square().sum() * 4])
    g = torch.stack([torch.autograd.grad(loss, theta, retain_graph=True)[0] for loss in losses])
    spec = Mib(power=power, smoothing=smoothing, mu=0.7, normalize="none", info_scale=0.25)
    w = build([spec], SETTING)(losses.detach()[None], (g @ g.T)[None])[0]

    scale = torch.tensor([1.0, 0.25])
    scaled = g * scale[:, None]
    powered = min_norm.exact((scaled @ scaled.T)[None])[0] ** power
    assert 0.1 < powered[0] < 0.9, "inside the simplex, or the power would not show"
    terms = powered * scale * losses
    loss = terms.sum() + (0.7 * torch.logsumexp(terms / 0.7, 0) if smoothing else 0)
    torch.testing.assert_close(w @ g, torch.autograd.grad(loss, theta)[0])


@pytest.mark.parametrize(
    ("normalize", "divisor"),
    [
        ("none", lambda losses, norms: torch.ones(2)),
        ("l2", lambda losses, norms: norms),
        ("loss", lambda losses, norms: losses),
        ("loss+", lambda losses, norms: losses * norms),
    ],
)
def test_normalize_divides_scaled_gradients_before_the_min_norm_step(normalize: Any, divisor: Any) -> None:
    g = gradients(1, 2, seed=4, scale=0.2)[0]
    losses = torch.tensor([1.3, 20.0])
    scale = torch.tensor([1.0, 1 / LATENT])
    scaled = g * scale[:, None]
    divided = scaled / divisor(losses * scale, scaled.norm(dim=1))[:, None]
    expected = min_norm.exact((divided @ divided.T)[None])[0] * scale
    spec = Mib(power=1, smoothing=False, normalize=normalize, info_scale="dimension")
    torch.testing.assert_close(build([spec], SETTING)(losses[None], (g @ g.T)[None])[0], expected)


def test_without_automatic_weights_each_term_has_half() -> None:
    spec = Mib(automatic=False, power=1, smoothing=False, info_scale="sum")
    g = gradients(1, 2)
    assert build([spec], SETTING)(torch.ones(1, 2), g @ g.mT).tolist() == [[0.5, 0.5]]


def test_three_terms_without_automatic_weights_have_a_third_each_and_no_scale() -> None:
    spec = Mib(automatic=False, power=1, smoothing=False, info_scale=0.1)
    g = gradients(1, 3)
    three = Setting(("a", "b", "c"), LATENT, torch.device("cpu"))
    assert build([spec], three)(torch.ones(1, 3), g @ g.mT).tolist() == [pytest.approx([1 / 3] * 3)]


def test_the_information_is_scaled_wherever_it_stands() -> None:
    spec = Mib(automatic=False, power=1, smoothing=False, info_scale="dimension")
    turned = Setting(("info", "pred"), LATENT, torch.device("cpu"))
    assert build([spec], turned)(torch.ones(1, 2), torch.eye(2)[None]).tolist() == [[0.5 / LATENT, 0.5]]


def test_where_no_size_of_the_code_is_known_the_information_is_not_scaled() -> None:
    """A user's problem with a term of that name."""
    own = Setting(("class", "info"), 0, torch.device("cpu"))
    losses, gram = torch.tensor([[2.0, 3.0]]), torch.tensor([[[4.0, 0.5], [0.5, 1.0]]])
    as_sum = build([Mib(info_scale="sum")], own)(losses, gram)
    assert torch.equal(build([Mib()], own)(losses, gram), as_sum)


def test_a_loss_below_zero_is_divided_by_its_size() -> None:
    """Densities have losses below 0; a negative divisor would turn the gradient round."""
    spec = Mib(power=1, smoothing=False, normalize="loss", info_scale="sum")
    gram = torch.tensor([[[4.0, 0.5], [0.5, 1.0]]])
    losses = torch.tensor([[2.0, 3.0]])
    below = build([spec], SETTING)(losses * torch.tensor([-1.0, 1.0]), gram)
    torch.testing.assert_close(below, build([spec], SETTING)(losses, gram))
    assert 0.01 < below[0, 0] < 0.99


def test_each_group_of_a_mixed_cohort_sees_its_own_rows() -> None:
    specs: list[Fixed | Mib] = [
        Fixed(beta=0.1),
        Mib(),
        Fixed(beta=0.2),
        Mib(power=1, solver="frank-wolfe"),
        Mib(smoothing=False),
    ]
    g = gradients(5, 2, seed=2)
    losses, gram = torch.rand(5, 2) + 0.1, g @ g.mT
    mixed = build(specs, SETTING)
    assert mixed.needs_gram
    alone = [build([s], SETTING)(losses[k : k + 1], gram[k : k + 1])[0] for k, s in enumerate(specs)]
    torch.testing.assert_close(mixed(losses, gram), torch.stack(alone))
    assert alone[2].tolist() == pytest.approx([1.0, 0.2])


def test_a_manual_grid_needs_no_gram() -> None:
    fixed = build([Fixed(beta=0.1), Fixed(beta=0.0)], SETTING)
    assert not fixed.needs_gram
    torch.testing.assert_close(fixed(torch.rand(2, 2), None), torch.tensor([[1.0, 0.1], [1.0, 0.0]]))
