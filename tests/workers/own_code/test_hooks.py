"""Optional methods of a problem: a code, logits, an optimiser; and what is said of those that are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
import torch

from service.contract.methods.attacks import Mifgsm, Pgd
from service.contract.methods.own_description import Hook
from service.contract.methods.own_problems import OwnProblem
from service.contract.methods.weightings import Fixed
from service.contract.study.study import Evaluation, LatentMap
from tests.workers.own_code.parts import described, reports, trial, two_heads, written
from workers.measures.latent_map import latent_maps
from workers.own_code import datasets
from workers.own_code.describing import describe
from workers.own_code.errors import CodeError
from workers.training.loop import Progress

LOGITS = """
    def logits(self, model, x):
        return model(x)[0]
"""
CODE = """
    def code(self, model, x):
        h = model.trunk(x)
        return h[:, :2], h[:, 2:4].abs() + 0.1
"""
ADAMW = """
    def optimizer(self, parameters):
        return torch.optim.AdamW(parameters, lr=0.01, weight_decay=0.1)
"""
PIXELS = ("torch.randn(100, 6", "torch.rand(100, 6")
ATTACKED = Evaluation(attacks=[Pgd(epsilon=0.3, step_size=0.1, steps=4), Mifgsm(epsilon=0.3, steps=4)])


def with_methods(*methods: str, **options: Any) -> str:
    return two_heads(**options).replace(*PIXELS) + "".join(methods)


def of(*hooks: Hook) -> Any:
    return described().model_copy(update={"hooks": list(hooks)})


def test_logits_of_any_shape_of_input_are_attacked(tmp_path: Path) -> None:
    text = with_methods(LOGITS).replace("self.trunk(x)", "self.trunk(x.flatten(1))")
    square = text.replace('"train": (x[:70]', '"train": (x[:70].view(-1, 1, 2, 3)').replace(
        '"test": (x[70:]', '"test": (x[70:].view(-1, 1, 2, 3)'
    )
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    trials = [trial(f"t{k}", seed=k, of=of("logits"), epochs=20, learning_rate=0.03) for k in range(2)]
    flat = reports(written(tmp_path / "a", text), trials, evaluation=ATTACKED)[-1].metrics
    images = reports(written(tmp_path / "b", square), trials, evaluation=ATTACKED)[-1].metrics
    assert set(flat) == {"t0", "t1"}
    for name, own in cast(dict[str, Any], flat).items():
        assert own["robust_pgd"] < own["acc"] and own["validation_robust_pgd"] is not None
        assert (own["robust_pgd"], own["robust_mifgsm"]) == (images[name]["robust_pgd"], images[name]["robust_mifgsm"])


def test_a_random_model_is_attacked_the_same_way_in_any_cohort(tmp_path: Path) -> None:
    code = written(tmp_path, with_methods(LOGITS, noise="h = h + 0.5 * torch.randn_like(h)"))
    trials = [trial(f"t{k}", seed=k, of=of("logits"), epochs=2) for k in range(3)]
    together = reports(code, trials, evaluation=ATTACKED)[-1].metrics
    alone = reports(code, trials[2:], evaluation=ATTACKED)[-1].metrics
    assert together["t2"]["robust_pgd"] == pytest.approx(alone["t2"]["robust_pgd"])


def test_a_code_that_nothing_is_read_off_has_a_rate_and_a_map_but_no_relevance(tmp_path: Path) -> None:
    code = written(tmp_path, with_methods(CODE))
    trials = [trial(f"t{k}", seed=k, of=of("code"), epochs=2) for k in range(2)]
    asked = Evaluation(estimators=["pairwise-upper"], latent_map=LatentMap(points=10))
    found: list[Any] = []

    def draw(cohort: Any, alive: Any) -> None:
        target, test = cohort.shown()
        found.extend(latent_maps(target, test, asked, LatentMap(points=10), list(alive)))

    own: dict[str, Any] = dict(reports(code, trials, evaluation=asked, at_end=draw)[-1].metrics["t1"])
    assert 0 < own["i_xz_bits"] <= own["kl_prior_bits"] and own["validation_i_xz_pairwise-upper_bits"] > 0
    assert not {"i_zy_bits", "accuracy", "validation_accuracy"} & own.keys()
    assert [(k, each.method, each.labels) for k, each in found] == [(0, "codes", None), (1, "codes", None)]


def test_with_data_of_their_own_members_are_measured_as_alone(tmp_path: Path) -> None:
    decode = "\n    def decode(self, model, z):\n        return model.kind(torch.cat([z, z, z, z], -1))\n"
    own = with_methods(CODE, decode).replace("manual_seed(7)", "manual_seed(seed)")
    code = written(tmp_path, own)
    trials = [trial(f"t{k}", seed=k, of=of("code", "decode"), epochs=2) for k in range(3)]
    together = reports(code, trials, evaluation=ATTACKED)[-1].metrics
    for each in trials:
        alone = reports(code, [each], evaluation=ATTACKED)[-1].metrics[each.id]
        expected = {name: value for name, value in alone.items() if name != "seconds"}
        assert {name: together[each.id][name] for name in expected} == pytest.approx(expected, rel=1e-3, abs=1e-4)


def test_large_data_with_logits_train_but_are_not_attacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "CACHED", 10)
    listed = with_methods(LOGITS).replace(
        '"test": (x[70:], y[70:], p[70:])', '"test": list(zip(x[70:], y[70:], p[70:]))'
    )
    code = written(tmp_path, listed)
    assert not reports(code, [trial("t0", epochs=1)])[-1].failures
    with pytest.raises(CodeError, match=r"evaluation\.attacks: logits needs data in memory"):
        reports(code, [trial("t0", epochs=1)], evaluation=ATTACKED)


def test_an_optimizer_is_that_of_torch_for_every_member(tmp_path: Path) -> None:
    code = written(tmp_path, with_methods(ADAMW))
    trials = [trial(f"t{k}", Fixed(beta=1), k, of("optimizer"), epochs=1, batch_size=100) for k in range(2)]
    cohorts: list[Any] = []
    reports(code, trials, at_end=lambda cohort, alive: cohorts.append(cohort))
    assert isinstance(trials[0].problem, OwnProblem)
    problem = code.problem(trials[0].problem)
    for k, each in enumerate(trials):
        torch.manual_seed(each.seed)
        model = problem.model()
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.1)
        train = cohorts[0].split.train.block(slice(None))
        a, b = problem.losses(model, [column[k] for column in train]).values()
        (a + b).backward()
        optimizer.step()
        for name, parameter in model.named_parameters():
            torch.testing.assert_close(cohorts[0].model.named()[name][k], parameter.data, rtol=1e-4, atol=1e-6)


def test_an_optimizer_goes_on_where_it_was_and_follows_the_schedule(tmp_path: Path) -> None:
    schedule = "\n    def schedule(self, epoch, epochs):\n        return 1 / epoch\n"
    code = written(tmp_path, with_methods(ADAMW, schedule))
    trials = [trial(f"t{k}", seed=k, of=of("optimizer", "schedule"), epochs=4) for k in range(2)]
    whole = reports(code, trials)
    kept: list[Progress] = []

    def leave(progress: Progress) -> bool:
        state = {name: tensor.clone() for name, tensor in progress.state().items()}
        kept.append(progress._replace(state=lambda: state))
        return len(kept) == 2

    reports(code, trials, between=leave)
    rest = reports(code, trials, begun=kept[-1])
    assert [each.epoch for each in rest] == [3, 4]
    for name, own in whole[-1].metrics.items():
        assert rest[-1].metrics[name]["loss_class"] == pytest.approx(own["loss_class"], rel=1e-6)


FAULTS = {
    "a code of one tensor": (CODE.replace("h[:, :2], h[:, 2:4].abs() + 0.1", "h"), "must give two tensors"),
    "a code without rows": (CODE.replace("h[:, :2]", "h.sum()"), "a row of numbers per input"),
    "scales of another shape": (CODE.replace("h[:, 2:4]", "h[:, 2:5]"), r"one shape, got \[2, 3\] and \[2, 2\]"),
    "logits of one number": (LOGITS.replace("[0]", "[1]"), r"logits must give logits \[2, classes\]"),
    "logits that raise": (LOGITS.replace("model(x)", "model(nothing)"), "NameError: name 'nothing'"),
    "no optimizer": (ADAMW.replace("torch.optim.AdamW(", "dict(a=").replace("parameters, ", "3, "), "got dict"),
    "an optimizer of other parameters": (ADAMW.replace("(parameters", "([torch.zeros(1)]"), "it has others"),
    "LBFGS": (ADAMW.replace("AdamW", "LBFGS").replace(", weight_decay=0.1", ""), "LBFGS"),
}


@pytest.mark.parametrize(("method", "words"), FAULTS.values(), ids=FAULTS)
def test_a_wrong_method_is_told_with_its_line_before_anything_is_trained(
    tmp_path: Path, method: str, words: str
) -> None:
    text = with_methods(method)
    code = written(tmp_path, text)
    with pytest.raises(CodeError, match=words) as fault:
        reports(code, [trial(f"t{k}", seed=k) for k in range(2)])
    assert fault.value.file == "mine.py" and fault.value.line > len(with_methods().splitlines())


def test_inputs_out_of_range_are_not_attacked_and_labels_must_be_classes(tmp_path: Path) -> None:
    code = written(tmp_path, two_heads() + LOGITS)
    with pytest.raises(CodeError, match=r"evaluation.attacks: .* floats in \[0, 1\], got float32 from −"):
        reports(code, [trial("t0")], evaluation=ATTACKED)
    short = with_methods(LOGITS).replace("x[:, :3].argmax(-1)", "x[:, :3].argmax(-1).int()")
    code = written(tmp_path, short.replace("F.cross_entropy(a, y)", "F.cross_entropy(a, y.long())"))
    with pytest.raises(CodeError, match=r"logits needs classes as the second tensor .* got torch.int32"):
        reports(code, [trial("t0")])


def test_hooks_are_described_and_must_fit_each_other(tmp_path: Path) -> None:
    decode = "\n    def decode(self, model, z):\n        return z\n"
    (tmp_path / "mine.py").write_text(with_methods(CODE, decode, ADAMW))
    assert describe(tmp_path, "mine.py")[0].hooks == ["code", "decode", "optimizer"]
    (tmp_path / "mine.py").write_text(with_methods(decode))
    with pytest.raises(CodeError, match="reads the code of a method code: give it"):
        describe(tmp_path, "mine.py")
    (tmp_path / "mine.py").write_text(with_methods(CODE, LOGITS))
    with pytest.raises(CodeError, match="give decode in place of logits"):
        describe(tmp_path, "mine.py")


def test_a_schedule_of_zero_holds_an_optimizer_still(tmp_path: Path) -> None:
    still = "\n    def schedule(self, epoch, epochs):\n        return float(epoch == 1)\n"
    code = written(tmp_path, with_methods(ADAMW, still))
    first, *later = reports(code, [trial("t0", of=of("optimizer", "schedule"))])
    losses = [each.metrics["t0"]["test_loss_class"] for each in (first, *later)]
    assert losses == [losses[0]] * 3
