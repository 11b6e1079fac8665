"""Attacks against references in numpy, by their bounds, and on trained models."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import TypeAdapter
from torch import Tensor

from service.contract.methods.attacks import Attack as Spec
from service.contract.methods.models import Mlp
from service.contract.methods.problems import Bottleneck
from service.contract.methods.weightings import Fixed
from service.contract.study.study import Evaluation
from tests.workers.parts import part_of
from workers import models
from workers.data.random_streams import Seeds, generator
from workers.measures import attacks
from workers.measures.attacks.steps import losses
from workers.measures.attacks.steps.ascent import Look, Noise, Target, perturb
from workers.measures.robustness import accuracy
from workers.problems.bottleneck import Bottleneck as Problem

CPU = torch.device("cpu")
NAMES = ["fgsm", "pgd", "mifgsm", "nifgsm", "eotpgd", "upgd", "jitter"]
ALL = [{"name": name} for name in NAMES]
FEATURES, CLASSES = 6, 4
Floats = NDArray[np.float64]


def attack_of(name: str, **fields: Any) -> Any:
    spec: Any = TypeAdapter(Spec).validate_python({"name": name, **fields})
    return attacks.build(spec)


class Linear:
    """K linear softmax models z = x W; latent noise is added to the logits, `scale` times."""

    latent = CLASSES

    def __init__(self, w: Tensor, scale: float = 0.0) -> None:
        self.w, self.scale = w, scale  # [K, F, C]

    def encode(self, x: Tensor) -> tuple[Tensor, ...]:
        return (x @ self.w,)

    def logits(self, model: Any, s: tuple[Tensor, ...], noise: Tensor) -> Tensor:
        return s[0] + self.scale * noise

    @property
    def target(self) -> Any:
        stand_in: Any = self  # of what an attack asks a model and a problem for, and no more
        return Target(stand_in, stand_in)


class Case:
    """Two members with seeds 5 and 8, weights large enough that directions turn from step to step."""

    def __init__(self, scale: float = 0.0, images: int = 12) -> None:
        g = np.random.default_rng(1)
        self.seeds, self.scale = (5, 8), scale
        self.w = g.normal(size=(2, FEATURES, CLASSES)) * 6
        self.x = g.uniform(size=(images, FEATURES))
        self.y = g.integers(CLASSES, size=images)

    def attacked(self, attack: Any) -> Floats:
        x0 = torch.from_numpy(self.x).expand(2, -1, -1)
        y = torch.from_numpy(self.y).expand(2, -1)
        target = Linear(torch.from_numpy(self.w), self.scale).target
        moved: Floats = perturb(attack, target, x0, y, Noise(Seeds(self.seeds, CPU), "b")).numpy()
        assert moved.shape == (2, *self.x.shape)
        return moved

    def draw(self, member: int, purpose: str, width: int, kind: Any) -> Floats:
        shape = (len(self.x), width)
        drawn: Tensor = kind(shape, generator=generator(self.seeds[member], f"b/{purpose}"))
        return drawn.double().numpy()

    def start(self, member: int, epsilon: float) -> Floats:
        """All images of a member, moved uniformly within the ball."""
        return np.clip(self.x + epsilon * (2 * self.draw(member, "start", FEATURES, torch.rand) - 1), 0, 1)

    def slope(self, member: int, x: Floats, noise: Floats | float = 0.0) -> Floats:
        """∇_x of the cross-entropy of a linear softmax model, W (softmax(z) − onehot(y)): [B, F]."""
        z = x @ self.w[member] + noise
        p = np.exp(z - z.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        slope: Floats = (p - np.eye(CLASSES)[self.y]) @ self.w[member].T
        return slope

    def step(self, x: Floats, d: Floats, alpha: float, epsilon: float) -> Floats:
        return np.clip(self.x + np.clip(x + alpha * np.sign(d) - self.x, -epsilon, epsilon), 0, 1)


def unit(g: Floats) -> Floats:
    divided: Floats = g / np.abs(g).mean(1, keepdims=True)
    return divided


BUDGET = {"epsilon": 0.2, "step_size": 0.04, "steps": 7}
MOVE = {"alpha": 0.04, "epsilon": 0.2}


def test_fgsm_is_one_step_of_epsilon_worked_out_by_hand() -> None:
    """z = x, so the gradient for label 0 is (p0 − 1, p1): down in the first pixel, up in the second."""
    target = Linear(torch.eye(2, CLASSES)[None]).target
    x0 = torch.tensor([[[0.5, 0.5], [0.05, 1.0]]])
    y = torch.zeros(1, 2, dtype=torch.long)
    found = perturb(attack_of("fgsm", epsilon=0.1), target, x0, y, Noise(Seeds([0], CPU), "b"))
    torch.testing.assert_close(found, torch.tensor([[[0.4, 0.6], [0.0, 1.0]]]))


@pytest.mark.parametrize("name", ["pgd", "mifgsm", "nifgsm", "eotpgd", "upgd"])
def test_one_step_without_random_start_is_fgsm(name: str) -> None:
    start = {"random_start": False} if name in ("pgd", "eotpgd", "upgd") else {}
    one = attack_of(name, epsilon=0.1, step_size=0.1, steps=1, **start)
    np.testing.assert_array_equal(Case().attacked(one), Case().attacked(attack_of("fgsm", epsilon=0.1)))


def test_fgsm_agrees_with_the_slope_of_each_member() -> None:
    case = Case()
    for k, found in enumerate(case.attacked(attack_of("fgsm", epsilon=0.1))):
        np.testing.assert_allclose(found, case.step(case.x, case.slope(k, case.x), 0.1, 0.1))


def test_pgd_agrees_with_its_reference() -> None:
    case = Case()
    for k, found in enumerate(case.attacked(attack_of("pgd", **BUDGET))):
        x = case.start(k, 0.2)
        for _ in range(7):
            x = case.step(x, case.slope(k, x), **MOVE)
        np.testing.assert_allclose(found, x, atol=1e-7)


@pytest.mark.parametrize(
    ("name", "decay", "start"), [("mifgsm", 1.0, False), ("mifgsm", 0.5, False), ("upgd", 0.7, True)]
)
def test_momentum_agrees_with_its_reference(name: str, decay: float, start: bool) -> None:
    case = Case()
    more = {"random_start": True} if start else {}
    for k, found in enumerate(case.attacked(attack_of(name, decay=decay, **BUDGET, **more))):
        x, d = case.start(k, 0.2) if start else case.x, np.zeros_like(case.x)
        for _ in range(7):
            d = unit(case.slope(k, x)) + decay * d
            x = case.step(x, d, **MOVE)
        np.testing.assert_allclose(found, x, atol=1e-7)


def test_nifgsm_takes_the_gradient_ahead() -> None:
    case = Case()
    for k, found in enumerate(case.attacked(attack_of("nifgsm", decay=0.9, **BUDGET))):
        x, d = case.x, np.zeros_like(case.x)
        for _ in range(7):
            d = unit(case.slope(k, x + 0.9 * 0.04 * d)) + 0.9 * d
            x = case.step(x, d, **MOVE)
        np.testing.assert_allclose(found, x, atol=1e-7)


def test_eotpgd_sums_the_gradients_of_fresh_passes() -> None:
    case = Case(scale=5.0)
    for k, found in enumerate(case.attacked(attack_of("eotpgd", eot=3, **BUDGET))):
        x = case.start(k, 0.2)
        for t in range(7):
            noise = [5.0 * case.draw(k, f"latent/{t}/{i}", CLASSES, torch.randn) for i in range(3)]
            x = case.step(x, np.sum([case.slope(k, x, n) for n in noise], axis=0), **MOVE)
        np.testing.assert_allclose(found, x, atol=1e-7)


def test_the_references_tell_the_rules_apart() -> None:
    """Otherwise agreement would prove nothing."""
    case, still = Case(scale=5.0), {"random_start": False}
    found = [
        case.attacked(attack_of("pgd", **BUDGET)),
        case.attacked(attack_of("pgd", **BUDGET, **still)),
        case.attacked(attack_of("mifgsm", **BUDGET)),
        case.attacked(attack_of("mifgsm", decay=0.5, **BUDGET)),
        case.attacked(attack_of("nifgsm", **BUDGET)),
        case.attacked(attack_of("eotpgd", **BUDGET, **still)),
        case.attacked(attack_of("upgd", loss="margin", **BUDGET)),
        case.attacked(attack_of("upgd", loss="dlr", **BUDGET)),
        case.attacked(attack_of("jitter", **BUDGET, **still)),
    ]
    for a, b in itertools.combinations(found, 2):
        assert np.abs(a - b).max() > 0.01


def test_margin_and_dlr_worked_out_by_hand() -> None:
    z = torch.tensor([[[3.0, 1.0, 0.0, -1.0], [3.0, 1.0, 0.0, -1.0]]])
    y = torch.tensor([[0, 2]])
    torch.testing.assert_close(losses.margin(z, y), torch.tensor([[-2.0, 3.0]]))
    torch.testing.assert_close(losses.dlr(z, y), torch.tensor([[-2 / 3, 1.0]]))
    torch.testing.assert_close(losses.dlr(5 * z, y), losses.dlr(z, y))
    with pytest.raises(ValueError, match="three largest logits, the data has 2 classes"):
        losses.dlr(z[..., :2], y)


def test_upgd_raises_the_margin_from_the_first_step() -> None:
    """∇ margin = w_j − w_y with j the best other class."""
    case = Case()
    attack = attack_of("upgd", loss="margin", epsilon=0.1, step_size=0.1, steps=1)
    for k, found in enumerate(case.attacked(attack)):
        z = case.x @ case.w[k]
        z[np.arange(len(z)), case.y] = -np.inf
        d = case.w[k].T[z.argmax(1)] - case.w[k].T[case.y]
        np.testing.assert_allclose(found, case.step(case.x, d, 0.1, 0.1))


def jitter_loss(case: Case, k: int, x: Floats, noise: Floats) -> Floats:
    z = x @ case.w[k]
    e = np.exp(10 * z / np.abs(z).max(1, keepdims=True))
    error = ((e / e.sum(1, keepdims=True) + 0.1 * noise - np.eye(CLASSES)[case.y]) ** 2).mean(1)
    loss: Floats = np.where(z.argmax(1) != case.y, error / np.abs(x - case.x).max(1), error)
    return loss


def test_jitter_agrees_with_finite_differences_of_its_loss() -> None:
    case, h = Case(), 1e-6
    for k, found in enumerate(case.attacked(attack_of("jitter", epsilon=0.3, step_size=0.01, steps=4))):
        x = case.start(k, 0.3)
        assert 0 < ((x @ case.w[k]).argmax(1) != case.y).sum() < len(x)  # both branches of the loss
        for t in range(4):
            noise = case.draw(k, f"jitter/{t}/0", CLASSES, torch.randn)
            up, down = (
                np.stack([jitter_loss(case, k, x + s * h * e, noise) for e in np.eye(FEATURES)], 1) for s in (1, -1)
            )
            x = case.step(x, up - down, 0.01, 0.3)
        np.testing.assert_allclose(found, x, atol=1e-7)


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(NAMES),
    epsilon=st.floats(1e-4, 1.0),
    step_size=st.floats(1e-4, 1.0),
    steps=st.integers(1, 4),
    scale=st.sampled_from([0.0, 1.0, 1e3]),
    seed=st.integers(0, 2**20),
)
def test_attacks_stay_in_the_ball_and_in_the_box(
    name: str, epsilon: float, step_size: float, steps: int, scale: float, seed: int
) -> None:
    """Scale 0 is a model without gradients, 1000 one whose softmax is saturated."""
    g = torch.Generator().manual_seed(seed)
    x0 = torch.rand(2, 5, FEATURES, generator=g).round(decimals=1)  # some pixels at 0 and 1
    y = torch.randint(CLASSES, (2, 5), generator=g)
    target = Linear(torch.randn(2, FEATURES, CLASSES, generator=g) * scale).target
    stepped = {} if name == "fgsm" else {"step_size": step_size, "steps": steps}
    for loss in ("ce", "margin", "dlr") if name == "upgd" else (None,):
        more = {"loss": loss} if loss else {}
        attack = attack_of(name, epsilon=epsilon, **stepped, **more)
        x = perturb(attack, target, x0, y, Noise(Seeds([seed, 1], CPU), "b"))
        assert x.isfinite().all()
        assert x.min() >= 0 and x.max() <= 1
        assert (x - x0).abs().max() <= epsilon + 1e-6


@pytest.mark.parametrize("name", ["fgsm", "mifgsm", "nifgsm", "upgd"])
def test_without_gradients_an_image_stays_as_it_is(name: str) -> None:
    x0 = torch.rand(1, 3, FEATURES)
    target = Linear(torch.zeros(1, FEATURES, CLASSES)).target
    y = torch.zeros(1, 3, dtype=torch.long)
    assert torch.equal(perturb(attack_of(name), target, x0, y, Noise(Seeds([0], CPU), "b")), x0)


@pytest.mark.parametrize("name", ["mifgsm", "nifgsm", "upgd"])
def test_a_step_without_gradient_keeps_the_momentum(name: str) -> None:
    """The sign of a NaN is 0 in torch: a division by zero would freeze the image and look like robustness."""
    g, d = torch.tensor([[[0.0, 0.0], [3.0, 1.0]]]), torch.ones(1, 2, 2)
    found = attack_of(name, decay=0.5).direction(g, d)
    torch.testing.assert_close(found, torch.tensor([[[0.5, 0.5], [2.0, 1.0]]]))


def test_jitter_is_finite_for_zero_logits_and_moves_images_that_are_wrong_from_the_start() -> None:
    noise = Noise(Seeds([0], CPU), "b")
    z = torch.zeros(1, 3, CLASSES, requires_grad=True)
    attack = attack_of("jitter", random_start=False, epsilon=0.1, steps=1)
    look = Look(z, torch.tensor([[0, 1, 2]]), torch.zeros(1, 3, FEATURES), noise, "0/0")
    loss = attack.loss(look)
    assert loss.isfinite().all() and torch.autograd.grad(loss.sum(), z)[0].isfinite().all()
    case = Case()
    for k, found in enumerate(case.attacked(attack)):
        wrong = (case.x @ case.w[k]).argmax(1) != case.y
        assert wrong.any() and (np.abs(found - case.x)[wrong].max(1) > 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_each_of_16_members_is_attacked_as_if_alone(name: str) -> None:
    def attacked(seeds: list[int]) -> Tensor:
        cohort = Seeds(seeds, CPU)
        problem = Problem(Bottleneck(), 4)
        model = models.build(Mlp(widths=[8], latent=4), models.Sizes(FEATURES, 8, 4, CLASSES, (1, 1, FEATURES)), cohort)
        model.encoder.flat.mul_(4)
        g = torch.Generator().manual_seed(0)
        x0, y = torch.rand(40, FEATURES, generator=g), torch.randint(CLASSES, (40,), generator=g)
        k = len(seeds)
        target = Target(model, problem)
        return perturb(attack_of(name), target, x0.expand(k, -1, -1), y.expand(k, -1), Noise(cohort, "b"))

    seeds = [i // 2 for i in range(16)]
    together = attacked(seeds)
    for k, seed in enumerate(seeds):
        same = (attacked([seed])[0] - together[k]).abs() < 1e-6
        assert same.double().mean() > 0.99  # a gradient of 1e-9 may round to either sign
    assert name in ("fgsm", "mifgsm") or not torch.equal(together[0], together[2])


def test_accuracy_under_attack_is_that_of_the_attacked_images() -> None:
    case = Case(images=300)  # two blocks of rows
    target = Linear(torch.from_numpy(case.w)).target
    x, y = torch.from_numpy(case.x), torch.from_numpy(case.y)
    part = part_of(x, y, Seeds(case.seeds, CPU))
    found = accuracy(attack_of("fgsm", epsilon=0.05), target, part, "test", samples=3)
    for k in range(2):
        attacked = case.step(case.x, case.slope(k, case.x), 0.05, 0.05)
        assert found[k].item() == pytest.approx(((attacked @ case.w[k]).argmax(1) == case.y).mean())


def test_robustness_is_reported_when_asked_and_only_then(cohorts: Any) -> None:
    trials = [cohorts.trial("a", Fixed(), epochs=5), cohorts.trial("b", Fixed(beta=0.1), epochs=5)]
    specs = [{"name": "fgsm"}, {"name": "fgsm", "label": "fgsm-1", "epsilon": 1 / 255}]

    def epochs_with(metric: str, **evaluation: Any) -> list[int]:
        found = cohorts.reports(trials, every=5, samples=2, **evaluation)
        return [r.epoch for r in found if all(metric in m for m in r.metrics.values())]

    for metric in ("robust_fgsm", "robust_fgsm-1", "robust_images"):
        assert epochs_with(metric) == []
        assert epochs_with(metric, attacks=specs) == [5]
        assert epochs_with(metric, attacks=specs, attack_every=2) == [2, 4, 5]


def test_attacks_change_no_other_metric_and_count_their_images(cohorts: Any) -> None:
    trials = [cohorts.trial("a", Fixed(), epochs=2)]
    plain = cohorts.reports(trials)[-1].metrics["a"]
    for images, expected in ((100, 100), (10**6, 359)):
        evaluation = {"attacks": ALL, "attack_images": images, "attack_every": 1}
        found = cohorts.reports(trials, **evaluation)[-1].metrics["a"]
        assert found["robust_images"] == expected
        hits = [found[f"robust_{name}"] * expected for name in NAMES]
        assert hits == pytest.approx([round(h) for h in hits])
        assert {m: found[m] for m in plain if m != "seconds"} == {m: v for m, v in plain.items() if m != "seconds"}


@pytest.mark.parametrize("samples", [1, 3])
def test_a_vanishing_budget_leaves_the_clean_accuracy(cohorts: Any, samples: int) -> None:
    """Both are measured with the same latent noise."""
    trials = [cohorts.trial(str(s), Fixed(beta=0.1), seed=s, epochs=10) for s in range(4)]
    found = cohorts.reports(trials, samples=samples, every=10, attacks=[{"name": "pgd", "epsilon": 1e-9}])[-1].metrics
    assert [m["robust_pgd"] for m in found.values()] == [m["accuracy"] for m in found.values()]


def test_a_model_that_is_no_number_has_no_robustness(cohorts: Any) -> None:
    trial = cohorts.trial("wild", Fixed(), epochs=1, optimizer="sgd", learning_rate=1e30, batch_size=2000)
    found = cohorts.reports([trial], attacks=ALL)[0].metrics["wild"]
    assert [found[f"robust_{name}"] for name in NAMES] == [None] * 7


def test_trained_members_are_as_robust_in_a_cohort_as_alone(cohorts: Any) -> None:
    trials = [cohorts.trial(f"{b}-{s}", Fixed(beta=b), seed=s, epochs=3) for b in (1e-3, 0.1) for s in (3, 7)]
    together = cohorts.reports(trials, attacks=ALL, every=3)[-1].metrics
    for trial in trials:
        alone = cohorts.reports([trial], attacks=ALL, every=3)[-1].metrics[trial.id]
        for name in NAMES:  # one image may lie on the border
            assert together[trial.id][f"robust_{name}"] == pytest.approx(alone[f"robust_{name}"], abs=1.5 / 359), name


def test_robustness_of_a_trained_bottleneck_falls_with_epsilon_and_with_steps(cohorts: Any) -> None:
    budgets = [0.01, 0.05, 0.1, 0.2]
    specs = [
        {"name": name, "label": f"{name}-{i}", "epsilon": e, **({} if name == "fgsm" else {"step_size": e / 4})}
        for name in NAMES
        for i, e in enumerate(budgets)
    ]
    trials = [cohorts.trial(str(s), Fixed(beta=1e-3), seed=s, epochs=30, learning_rate=3e-3) for s in (0, 1)]
    metrics = cohorts.reports(trials, attacks=specs, every=30)[-1].metrics
    assert metrics.keys() == {"0", "1"}
    for found in metrics.values():
        assert found["accuracy"] > 0.9
        for name in NAMES:
            robust = [found[f"robust_{name}-{i}"] for i in range(len(budgets))]
            assert all(less < more for more, less in itertools.pairwise([found["accuracy"] + 1e-9, *robust])), name
        for i in (1, 2, 3):
            assert found[f"robust_pgd-{i}"] <= found[f"robust_fgsm-{i}"]
            assert found[f"robust_eotpgd-{i}"] <= found[f"robust_pgd-{i}"] + 0.01
        assert found["robust_pgd-2"] < found["robust_fgsm-2"]


def test_evaluation_attacks_nothing_without_attacks() -> None:
    assert not Evaluation(attack_every=1).attacks_at(1, last=True)
