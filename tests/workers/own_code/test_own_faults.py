"""Faults of a user's problem: each names the thing, the rule and the user's line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workers.own_code.parts import reports, trial, two_heads, written
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
