"""One network for every β: what it is told, what it descends, its curve, and that it learns one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from service.analysis.truth import gaussian_at_rate
from service.contract.methods.data import Digits, Gaussian
from service.contract.methods.models import Cnn, Mlp
from service.contract.methods.problems import Bottleneck, Multitask
from service.contract.methods.weightings import Conditional, Fixed
from service.contract.study.expansion import PlannedTrial
from service.contract.study.parsing import check_study
from service.contract.study.study import Evaluation, Training
from service.contract.wire.epoch_report import EpochReport
from service.contract.wire.errors import InvalidInput
from workers import data, weightings
from workers.models.components.modulation import PACE
from workers.planning.cohorts import plan
from workers.problems import Batch
from workers.problems.bottleneck import Bottleneck as BottleneckProblem
from workers.problems.rates import kl_to_prior
from workers.sending import checkpoint
from workers.training import gradients
from workers.training.loop import Cohort, train
from workers.weightings import Setting

CPU = torch.device("cpu")
TERMS = ("pred", "info")
FEW = Conditional(points=3)


def range_of(low: float, high: float, **more: Any) -> Conditional:
    return Conditional.model_validate({"beta": {"from": low, "to": high}, **more})


def trial(weighting: Conditional | Fixed = FEW, seed: int = 0, **parts: Any) -> PlannedTrial:
    training = Training(epochs=parts.pop("epochs", 1), learning_rate=parts.pop("learning_rate", 1e-3))
    model, problem = parts.pop("model", Mlp(widths=[32], latent=8)), parts.pop("problem", Bottleneck())
    return PlannedTrial(f"t{seed}{parts.pop('name', '')}", "a", seed, {}, problem, weighting, model, training)


def reports(*trials: PlannedTrial, **evaluation: Any) -> list[EpochReport]:
    return list(train(trials, Digits(), Evaluation(**{"samples": 2, **evaluation}), CPU))


def cohort(*trials: PlannedTrial) -> Cohort:
    return Cohort(trials, data.draws(Digits(), list(dict.fromkeys(t.seed for t in trials))), CPU)


def drawn(spec: Conditional, seeds: tuple[int, ...] = (0,), batches: int = 3, **setting: Any) -> weightings.Weighting:
    where = Setting(TERMS, 8, CPU, seeds, batches, by_beta=True)._replace(**setting)
    return weightings.build([spec] * len(seeds), where)


def weights_at(weighting: weightings.Weighting, epoch: int, step: int, rows: int) -> Tensor:
    assert weighting.told(epoch, step, rows) is not None
    by_example = weighting.by_example()
    assert by_example is not None
    return by_example


def test_a_batch_has_a_beta_from_each_part_of_the_range_in_equal_shares() -> None:
    weighting = drawn(range_of(1e-4, 1.0, draws=4))
    w = weights_at(weighting, 1, 0, 12)[0]  # [12, 2]
    assert (w[:, 0] == 1).all()
    shares = w[:, 1].log10().view(4, 3)
    assert (shares == shares[:, :1]).all(), "three examples share each β"
    assert sorted(math.floor(value) for value in shares[:, 0].tolist()) == [-4, -3, -2, -1]


def test_draws_differ_between_batches_epochs_and_seeds_and_come_again() -> None:
    weighting, again = (drawn(range_of(1e-4, 1.0), seeds=(0, 1)) for _ in range(2))
    first, second, later = (weights_at(weighting, *at, 16) for at in ((1, 0), (1, 1), (2, 0)))
    assert not any(torch.equal(a, b) for a, b in ((first, second), (first, later), (first[0], first[1])))
    assert torch.equal(first, weights_at(again, 1, 0, 16))


def test_a_smaller_last_batch_has_as_many_betas_as_divide_it() -> None:
    weighting = drawn(range_of(1e-4, 1.0, draws=16))
    weighting.told(1, 0, 128)
    assert len(weights_at(weighting, 1, 1, 126)[0, :, 1].unique()) == 14
    assert len(weights_at(weighting, 1, 2, 127)[0, :, 1].unique()) == 1, "127 is a prime"


def test_a_uniform_law_draws_equal_differences() -> None:
    law = {"beta": {"from": 0.0, "to": 1.0, "law": "uniform"}, "draws": 8}
    w = weights_at(drawn(Conditional.model_validate(law)), 1, 0, 8)[0, :, 1]
    assert sorted((w * 8).floor().tolist()) == list(range(8))


def test_without_hidden_units_the_network_starts_as_one_that_is_told_nothing() -> None:
    """All scales are 1 and all shifts 0 at first, and what they are made of learns faster than the rest."""
    own = cohort(trial())
    own._tell(own.weighting.middle())
    plain = cohort(trial(Fixed()))
    x = torch.rand(1, 5, 64)
    torch.testing.assert_close(own.model.encode(x)[0], plain.model.encode(x)[0])
    pace = own.model.encoder.pace
    assert pace is not None and plain.model.encoder.pace is None
    assert pace.unique().tolist() == [1.0, PACE]
    coefficients = 3 * 2 * (32 + 2 * 8)  # of 1, t and 2t² − 1, for each scale and shift
    assert (pace == PACE).sum() == coefficients and (pace[-coefficients:] == PACE).all()


def test_the_network_is_told_the_share_of_the_range() -> None:
    weighting = drawn(range_of(1e-4, 1.0, draws=4))
    told = weighting.told(1, 0, 4)
    assert told is not None
    torch.testing.assert_close(told[0, :, 0], weights_at(weighting, 1, 0, 4)[0, :, 1].log10() / 2 + 1)


def test_the_step_descends_the_mean_of_pred_plus_beta_times_rate() -> None:
    """Of the encoder; the decoder descends pred, as with every weighting."""
    own = cohort(trial(range_of(1e-3, 1.0, draws=4)))
    batch: Batch = next(iter(own.problem.batches(own.split, 1)))
    told = own.weighting.told(1, 0, batch.x.shape[1])
    own._tell(told)
    step = gradients.step(own.model, own.problem, own.weighting, batch)
    beta = own.weighting.by_example()
    assert beta is not None
    s = own.model.encode(batch.x)
    assert isinstance(own.problem, BottleneckProblem)
    code = own.problem.code(s)
    logits = own.model.decode(torch.addcmul(code.mean, code.scale, batch.noise))
    nats = torch.nn.functional.cross_entropy(logits.mT, batch.y, reduction="none")
    loss = (nats + beta[..., 1] * kl_to_prior(code)).mean()
    encoder = torch.autograd.grad(loss, own.model.encoder.leaves, retain_graph=True)
    head = torch.autograd.grad(nats.mean(), own.model.head.leaves)
    torch.testing.assert_close(step.encoder, own.model.encoder.flatten(encoder), rtol=1e-4, atol=1e-7)
    torch.testing.assert_close(step.head, own.model.head.flatten(head), rtol=1e-4, atol=1e-7)
    watched = gradients.step(own.model, own.problem, own.weighting, batch, watched=True)
    torch.testing.assert_close(watched.encoder, step.encoder)
    assert watched.gram is not None and step.gram is None


@pytest.mark.parametrize(
    ("problem", "model", "width"),
    [
        (Bottleneck(), Mlp(widths=[16], latent=4), 0),
        (Bottleneck(), Mlp(widths=[16], latent=4), 8),
        (Bottleneck(), Cnn(channels=[4], widths=[16], latent=4), 0),
        (Bottleneck(rate="nib"), Mlp(widths=[16], latent=4), 0),
        (Bottleneck(transform="square"), Mlp(widths=[16], latent=4), 8),
        (Multitask(auxiliaries=["rotation", "random-labels"]), Mlp(widths=[16], latent=4), 0),
    ],
)
def test_members_with_ranges_of_their_own_do_what_they_do_alone(problem: Any, model: Any, width: int) -> None:
    ranges = [(1e-4, 1.0), (1e-3, 0.1), (1e-4, 1.0)]
    specs = [range_of(low, high, points=3, width=width) for low, high in ranges]
    trials = [trial(spec, seed, problem=problem, model=model) for seed, spec in zip((0, 0, 5), specs, strict=True)]
    trials[1] = trials[1]._replace(id="narrow")
    (together,) = reports(*trials)
    assert not together.failures
    assert_alike_alone(together, trials)


def test_members_with_temperatures_of_their_own_do_what_they_do_alone() -> None:
    specs = [Conditional(points=3, scalarization="stch", mu=mu) for mu in (0.02, 0.2, 5.0)]
    tasks = Multitask(auxiliaries=["rotation"])
    own: dict[str, Any] = {"problem": tasks, "model": Mlp(widths=[16], latent=4), "learning_rate": 1e-2}
    trials = [trial(spec, name=f" {spec.mu}", **own) for spec in specs]
    (together,) = reports(*trials)
    assert_alike_alone(together, trials)
    losses = {together.metrics[each.id]["loss_class"] for each in trials}
    assert len(losses) == 3, "of one seed, they differ in their temperature alone"


def assert_alike_alone(together: EpochReport, trials: Sequence[PlannedTrial]) -> None:
    for each in trials:
        (alone,) = reports(each)
        own, other = ({**told.metrics[each.id], "seconds": 0} for told in (together, alone))
        assert own == pytest.approx(other, rel=1e-4, abs=1e-5, nan_ok=True)
        for a, b in zip(together.points[each.id], alone.points[each.id], strict=True):
            assert a["where"] == b["where"]
            assert a["metrics"] == pytest.approx(b["metrics"], rel=1e-4, abs=1e-5, nan_ok=True)


@pytest.mark.parametrize("law", ["uniform", "log-uniform"])
@pytest.mark.parametrize("count", [2, 3, 24])
def test_what_is_reported_lies_within_the_range(law: str, count: int) -> None:
    betas = Conditional.model_validate({"beta": {"from": 0.03, "to": 0.3, "law": law}}).beta
    assert betas.spread(count)[0] == 0.03 and betas.spread(count)[-1] == 0.3
    assert [betas.share(beta) for beta in betas.spread(count)] == sorted(map(betas.share, betas.spread(count)))
    assert betas.share(betas.spread(1)[0]) == pytest.approx(0.5, abs=1e-5)


def test_the_curve_runs_over_the_range_and_its_middle_is_what_the_trial_reports() -> None:
    (last,) = reports(trial(range_of(1e-4, 1.0, points=5)))
    curve = last.points["t0"]
    assert [point["where"] for point in curve] == [{"beta": beta} for beta in (1e-4, 1e-3, 1e-2, 0.1, 1.0)]
    rates = [point["metrics"]["i_xz_bits"] for point in curve]
    assert len(set(rates)) == 5, "the network is told β"
    own = last.metrics["t0"]
    assert {name: own[name] for name in curve[2]["metrics"]} == curve[2]["metrics"]


@pytest.mark.parametrize("part", ["encoder", "decoder"])
def test_only_the_part_that_is_modulated_depends_on_beta(part: Any) -> None:
    (last,) = reports(trial(Conditional(points=3, modulates=part)))
    rates, accuracies = ([point["metrics"][name] for point in last.points["t0"]] for name in ("i_xz_bits", "i_zy_bits"))
    assert (len(set(rates)) == 1) == (part == "decoder") and len(set(accuracies)) == 3


def test_a_curve_is_measured_now_and_then_and_at_the_end() -> None:
    told = reports(trial(FEW, epochs=12), samples=1)
    assert [report.epoch for report in told if report.points] == [3, 6, 9, 12]
    seldom = reports(trial(FEW, epochs=12), samples=1, every=5)
    assert [report.epoch for report in seldom if report.points] == [5, 10, 12]
    assert all(point["metrics"] for report in seldom for point in report.points.get("t0", []))


def test_under_a_clock_every_report_that_measures_has_a_curve() -> None:
    """Any of them may be the last: a curve of long ago would be what the seconds have bought."""
    told = train([trial(FEW, epochs=30)], Digits(), Evaluation(samples=1, every=2), CPU, clocked=True)
    assert [report.epoch for report in itertools.islice(told, 4) if report.points] == [2, 4]


def test_preferences_of_tasks_cover_the_simplex_and_weigh_the_encoder() -> None:
    tasks = Multitask(auxiliaries=["rotation"])
    (last,) = reports(trial(Conditional(points=4), problem=tasks))
    assert [list(point["where"]) for point in last.points["t0"]] == [["class", "rotation"]] * 4
    assert [point["where"]["class"] for point in last.points["t0"]] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    three = drawn(Conditional(points=24), terms=("a", "b", "c"), by_beta=False)
    assert len(three.places()) == 21, "of a lattice as many as there is room for"
    w = weights_at(three, 1, 0, 50)
    torch.testing.assert_close(w.sum(-1), torch.full((1, 50), 3.0))
    assert len(w[0].unique(dim=0)) == 50, "each example has its own"


def test_few_preferences_of_a_batch_reach_every_row_that_a_task_reads() -> None:
    """Tasks decode rows of a batch, whose views stand one below the other."""
    two = drawn(Conditional(draws=4), terms=("a", "b"), by_beta=False)
    told = two.told(1, 0, 12)
    w = two.by_example()
    assert told is not None and w is not None and told.shape == w.shape == (1, 12, 2)
    torch.testing.assert_close(w, told + 1)
    assert len(w[0].unique(dim=0)) == 4
    (last,) = reports(trial(Conditional(points=2, draws=4), problem=Multitask(auxiliaries=["rotation"])))
    assert not last.failures


def test_smooth_tchebycheff_weighs_by_the_largest_weighted_loss() -> None:
    losses = torch.tensor([[0.5, 2.0, 1.0]], requires_grad=True)
    weighting = drawn(Conditional(scalarization="stch", mu=0.5), terms=("a", "b", "c"), by_beta=False)
    weighting.told(1, 0, 20)
    assert weighting.by_example() is None, "one preference for the batch"
    w = weighting(losses.detach(), None)
    plain = drawn(Conditional(draws=1), terms=("a", "b", "c"), by_beta=False)
    plain.told(1, 0, 20)
    n_p = plain(losses.detach(), None)
    (gradient,) = torch.autograd.grad(0.5 * torch.logsumexp(n_p * losses / 0.5, 1).sum(), losses)
    torch.testing.assert_close(w, gradient)


@pytest.mark.parametrize(
    ("width", "names"),
    [
        (0, {"modulation.encoder.coefficients", "modulation.decoder.coefficients"}),
        (8, {"modulation.encoder.0.weight", "modulation.decoder.1.bias"}),
    ],
)
def test_a_checkpoint_has_the_modulation_and_goes_back_into_a_model(width: int, names: set[str]) -> None:
    spec = Conditional(points=3, width=width)
    own, other = cohort(trial(spec)), cohort(trial(spec, seed=1))
    own.train_epoch(1)
    tensors = checkpoint.tensors_of(own.model)
    assert names <= tensors.keys()
    checkpoint.load(other.model, 0, {name: tensor[0] for name, tensor in tensors.items()})
    assert torch.equal(own.model.encoder.flat, other.model.encoder.flat)
    assert torch.equal(own.model.head.flat, other.model.head.flat)


def test_a_network_that_is_told_beta_trains_with_its_like_alone() -> None:
    trials = [trial(FEW), trial(Conditional(points=3, width=8), 1), trial(range_of(0.1, 1.0, points=3), 2)]
    assert sorted([each.id for each in own] for own in plan(trials, slots=1, size=8)) == [["t0", "t2"], ["t1"]]
    with pytest.raises(ValueError, match="must share what the model is told"):
        cohort(trials[0], trials[1])


@pytest.mark.parametrize(
    ("weighting", "path", "words"),
    [
        ({"beta": {"from": 1.0, "to": 0.1}}, "beta", "from must be below to"),
        ({"beta": {"from": 0.0, "to": 1.0}}, "beta", "log scale needs from and to above 0"),
        ({"beta": {"grid": [0.1, 1.0]}}, "beta", "one training covers all β from one to another"),
        ({"beta": 0.1}, "beta", "give {from, to}, got 0.1"),
        ({"points": 0}, "points", "greater than or equal to 1"),
        ({"points": 10**6}, "points", "less than or equal to 256"),
    ],
)
def test_what_is_no_range_is_refused_with_path_and_rule(weighting: dict[str, Any], path: str, words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_study({"name": "s", "arms": [{"name": "a", "weighting": {"name": "conditional", **weighting}}]})
    assert [(d.path, words in d.message) for d in caught.value.details] == [(f"arms[0].weighting.{path}", True)]


def test_one_training_learns_the_front_of_gaussian_data() -> None:
    """A short training comes near the exact curve at every β; a longer one nearer."""
    spec = range_of(0.05, 0.8, points=6)
    planned = trial(spec, model=Mlp(widths=[32], latent=3, head=[]), epochs=30)
    gaussian = Gaussian(train_samples=12_000, test_samples=4_000)
    planned = planned._replace(training=planned.training.model_copy(update={"batch_size": 250}))
    *_, last = train([planned], gaussian, Evaluation(every=100, samples=4), CPU)
    points = [(p["metrics"]["i_xz_bits"], p["metrics"]["i_zy_bits"]) for p in last.points["t0"]]
    rates = [x for x, _ in points if x is not None]
    assert rates == sorted(rates, reverse=True) and rates[0] > rates[-1] + 3
    for x, y in points:
        assert x is not None and y is not None
        assert gaussian_at_rate(gaussian.correlations, x) - 0.25 < y


@pytest.mark.parametrize("concentration", [1e-3, 0.02, 0.09, 0.5])
def test_preferences_follow_their_law_also_where_gammas_underflow(concentration: float) -> None:
    """Of a symmetric Dirichlet distribution of n shares: E[Σ p²] = (α + 1)/(nα + 1); any may be the largest."""
    spec = Conditional(concentration=concentration)
    weighting = drawn(spec, batches=64, by_beta=False, terms=("a", "b", "c"))
    p = torch.cat([weights_at(weighting, epoch, step, 64)[0] for epoch in range(4) for step in range(64)]) / 3
    assert torch.isfinite(p).all() and torch.allclose(p.sum(-1), torch.ones(len(p)), atol=1e-5)
    expected = (concentration + 1) / (3 * concentration + 1)
    assert p.square().sum(-1).mean().item() == pytest.approx(expected, abs=0.01)
    largest = p.argmax(-1).bincount(minlength=3) / len(p)
    assert largest.tolist() == pytest.approx([1 / 3] * 3, abs=0.02)
