"""Faults of a user's problem: each names the thing, the rule and the user's line."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.contract.methods.data import OwnData
from tests.workers.own_code.parts import CPU, reports, trial, two_heads, written
from workers.own_code.errors import CodeError

FILE = two_heads()
FAULTS = {
    "a loss that is no scalar": (
        "F.mse_loss(b, p)",
        "(b - p) ** 2",
        29,
        r"'price' of losses must be one number, got .*\[32\]",
    ),
    "a loss of a text": ("F.mse_loss(b, p)", "'x'", 29, "'price' of losses must be one number, got str"),
    "a term too many": (
        '"price": F.',
        '"size": b.sum(), "price": F.',
        29,
        "'size', which is none of the declared terms",
    ),
    "a term too few": (', "price": F.mse_loss(b, p)', "", 29, "no term 'price', which the class declares"),
    "no dict": (
        'return {"class": F',
        'return [1]; {"class": F',
        29,
        "must give a dict of one number per term, got list",
    ),
    "no gradient": (
        'a, b = model(x)\n        return {"class"',
        'a, b = (t.detach() for t in model(x))\n        return {"class"',
        29,
        "none of them does",
    ),
    "an error": (
        'x, y, p = batch\n        a, b = model(x)\n        return {"class"',
        'x, y = batch\n        return {"class"',
        30,
        "too many values to unpack",
    ),
    "an error in the model": ("h = self.trunk(x)", "h = self.trunk(x[:, :2])", 13, "shapes cannot be multiplied"),
    "a metric that was not declared": (
        '"mae": (b',
        '"mse": 0.0, "mae": (b',
        33,
        "'mse', which is none of the declared metrics",
    ),
    "a metric that is missing": (', "mae": (b - p).abs().mean()', "", 33, "no metric 'mae'"),
    "a metric that is no number": ("(b - p).abs().mean()", "(b - p).abs()", 33, "'mae' of measure must be one number"),
    "sys.exit": ("return Net(self.width)", "raise SystemExit(2)", 28, r"it ended the process: sys.exit\(2\)"),
    "no module": ("return Net(self.width)", "return 3", 27, "model must give a torch.nn.Module, got int"),
    "a model without parameters": (
        "return Net(self.width)",
        "return nn.ReLU()",
        27,
        "no parameter that can be trained",
    ),
    "no data": ("def data(self, seed):", "def data(self, seed):\n        open('/nothing/there')", 23, "No such file"),
    "a schedule": (
        "width: int = 8",
        "width: int = 8\n    def schedule(self, epoch, epochs): return -1.0",
        21,
        "must give a number ≥ 0, got -1.0",
    ),
}


@pytest.mark.parametrize(("old", "new", "line", "words"), FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("members", [1, 2])
def test_a_fault_is_told_with_the_users_own_line(
    tmp_path: Path, old: str, new: str, line: int, words: str, members: int
) -> None:
    assert old in FILE
    code = written(tmp_path, FILE.replace(old, new))
    with pytest.raises(CodeError, match=words) as fault:
        reports(code, [trial(f"t{k}", seed=k) for k in range(members)])
    assert (fault.value.file, fault.value.line) == ("mine.py", line)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("raise ValueError('of the ninth batch')", "ValueError: of the ninth batch"),
        ("raise SystemExit(4)", r"it ended the process: sys.exit\(4\)"),
    ],
)
@pytest.mark.parametrize("stacked", [False, True])
def test_a_fault_after_the_first_batch_is_told_with_the_line(
    tmp_path: Path, fault: str, words: str, stacked: bool
) -> None:
    later = 'self.calls = getattr(self, "calls", 0) + 1\n        if self.calls > 40:\n            '
    text = FILE.replace('return {"class"', f'{later}{fault}\n        return {{"class"')
    cohort = written(tmp_path, text).cohort([trial(f"t{k}", seed=k) for k in range(2)], OwnData(), CPU)
    cohort._go(stacked)
    assert cohort.stacks is stacked
    with pytest.raises(CodeError, match=words) as told:
        for epoch in range(1, 99):
            cohort.train_epoch(epoch)
    line = text.splitlines().index(f"            {fault}") + 1
    assert (told.value.file, told.value.line) == ("mine.py", line)


def test_the_log_has_the_users_frames_and_none_of_ours(tmp_path: Path) -> None:
    text = FILE.replace("h = self.trunk(x)", "h = self.trunk(x[:, :2])")
    with pytest.raises(CodeError) as told:
        reports(written(tmp_path, text), [trial("t0")])
    message, *frames = told.value.told.splitlines()
    assert message == told.value.message and len(frames) == 2
    assert frames[0].startswith("  mine.py:31 in losses: a, b = model(x)")
    assert frames[1].startswith("  mine.py:13 in forward: h = self.trunk(x[:, :2])")


def test_a_loss_that_is_no_number_is_told_with_term_epoch_step_and_where_losses_are(tmp_path: Path) -> None:
    text = FILE.replace("F.mse_loss(b, p)", "F.mse_loss(b, p) * (float('nan') if model.training else 1)")
    *_, last = reports(written(tmp_path, text), [trial("t0", learning_rate=0.001)])
    assert last.failures["t0"].startswith("mine.py:29: loss_price became non-finite in epoch 1, step 1")
