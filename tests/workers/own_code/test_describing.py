"""What is read off a user's file, and each refusal with its file and line."""

from __future__ import annotations

import math
from pathlib import Path
from textwrap import dedent

import pytest

from service.contract.methods.own_description import Described
from service.contract.methods.own_problems import own_metrics
from service.contract.metrics import Kind, described
from workers.own_code.describing import describe
from workers.own_code.errors import CodeError

FILE = """
from __future__ import annotations
from typing import Annotated, ClassVar, Literal
from pydantic import Field
from paretoscope import Metric, Problem, trainable

class Mine(Problem):
    \"\"\"Class and price.\"\"\"
    terms = ("class", "price")
    metrics = {"acc": "maximize", "mae": Metric("minimize", unit="€", reference=9.0, doc="mean miss")}
    width: int = 8
    def data(self, seed): ...
    def model(self): ...
    def losses(self, model, batch): ...
    def measure(self, model, batch): ...
"""


def written(folder: Path, text: str = FILE, name: str = "mine.py") -> list[Described]:
    (folder / name).write_text(dedent(text))
    return describe(folder, name)


def test_a_problem_is_described_by_its_class(tmp_path: Path) -> None:
    (mine,) = written(tmp_path)
    assert (mine.name, mine.kind, mine.doc, mine.file, mine.line) == (
        "Mine",
        "problem",
        "Class and price.",
        "mine.py",
        7,
    )
    assert mine.terms == ["class", "price"] and mine.hooks == [] and mine.stacks is None
    assert [(m.name, m.goal, m.unit, m.reference, m.doc) for m in mine.metrics] == [
        ("acc", "maximize", "", None, ""),
        ("mae", "minimize", "€", 9.0, "mean miss"),
    ]


def test_types_fields_and_literals_describe_parameters(tmp_path: Path) -> None:
    parameters = """
    width: Annotated[int, Field(ge=1, le=64, description="of the trunk")] = 8
    rate: float = Field(1, gt=0, lt=2)
    how: Literal["a", "b"] = "a"
    some: Annotated[int, Field(ge=2)] | None = None
    flag: bool = False
    needed: int
    fixed: ClassVar[int] = 3
    _own: int = 4
    """
    (mine,) = written(tmp_path, FILE.replace("width: int = 8", parameters.strip()))
    told = {p.name: p.model_dump(exclude_defaults=True, exclude={"name"}) for p in mine.parameters}
    assert told == {
        "width": {"kind": "int", "default": 8, "at_least": 1.0, "at_most": 64.0, "doc": "of the trunk"},
        "rate": {"kind": "float", "default": 1.0, "above": 0.0, "below": 2.0},
        "how": {"kind": "str", "choices": ["a", "b"], "default": "a"},
        "some": {"kind": "int", "optional": True, "at_least": 2.0},
        "flag": {"kind": "bool", "default": False},
        "needed": {"kind": "int", "required": True},
    }


def test_hooks_are_named(tmp_path: Path) -> None:
    hooks = "def shared(self, model): ...\n    def schedule(self, epoch, epochs): ...\n    width: int = 8"
    assert written(tmp_path, FILE.replace("width: int = 8", hooks))[0].hooks == ["shared", "schedule"]


def test_a_script_is_described_by_its_signature(tmp_path: Path) -> None:
    text = """
    from paretoscope import trainable

    @trainable(metrics={"acc": "maximize"})
    def forest(trial, depth: int = 4, share=0.5):
        "A forest."
    """
    (forest,) = written(tmp_path, text)
    assert (forest.name, forest.kind, forest.doc, forest.line, forest.terms) == ("forest", "script", "A forest.", 4, [])
    assert [(p.name, p.kind, p.default) for p in forest.parameters] == [("depth", "int", 4), ("share", "float", 0.5)]


def test_those_of_the_entry_come_first_in_the_order_of_their_lines(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text(FILE.replace("Mine", "Base"))
    text = "from base import Base\nclass Second(Base): ...\nclass First(Base): ...\n_Hidden = First\n"
    assert [each.name for each in written(tmp_path, text)] == ["Second", "First", "Base"]


REFUSALS = {
    "no terms": ('terms = ("class", "price")', "", 7, "needs terms"),
    "a term's name": ('"price")', '"The Price")', 7, "got 'The Price'"),
    "a term twice": ('"price")', '"class")', 7, "'class' appears twice"),
    "no metrics": ("metrics = {", "others = {", 7, "needs metrics"),
    "a goal": ('"maximize"', '"up"', 7, "'minimize' or 'maximize', got 'up'"),
    "a metric's name": ('"acc"', '"An Accuracy"', 7, "lower case"),
    "a metric of every trial": ('"acc"', '"seconds"', 7, "'seconds' of Mine: Paretoscope reports one of this name"),
    "a metric of a term": ('"acc"', '"test_loss_price"', 7, "'test_loss_price' of Mine: Paretoscope reports one"),
    "a type": ("width: int = 8", "width: list[int] = [8]", 7, "'width' of Mine must be bool, int"),
    "a type that is not there": ("width: int = 8", "width: Nope = 8", 7, "name 'Nope' is not defined"),
    "a rule": ("width: int = 8", "width: Annotated[int, Field(multiple_of=2)] = 8", 7, "knows bounds"),
    "a default of another type": ("width: int = 8", "width: int = 'x'", 7, "default 'x' is no int"),
    "a default out of bounds": ("width: int = 8", "width: int = Field(8, gt=8)", 7, "must be above 8"),
    "a default that hides": ("width: int = 8", r"width: str = 'a\x1b[2J'", 7, "must not have control characters"),
    "a long default": ("width: int = 8", "width: str = 'a' * 1001", 7, "at most 1,000"),
    "a choice that hides": ("width: int = 8", r"width: Literal['a', '\u202e'] = 'a'", 7, "its choice .* must not have"),
    "a parameter called name": ("width: int", "name: int", 7, "'name' of Mine: this name is taken"),
    "a parameter like a method": ("width: int", "data: int", 7, "this name is taken"),
    "a method": ("def measure", "def measured", 7, "needs a method measure"),
    "its arguments": ("losses(self, model, batch)", "losses(self, batch)", 14, "2 arguments besides self"),
    "a syntax error": ("def model(self):", "def model(self:", 13, "SyntaxError"),
    "an import": ("from pydantic import Field", "import nothing_there", 4, "No module named 'nothing_there'"),
    "sys.exit": ("from pydantic import Field", "raise SystemExit(3)", 4, r"sys.exit\(3\)"),
    "nothing in it": ("(Problem)", "", 0, "no problem in it"),
}


@pytest.mark.parametrize(("old", "new", "line", "words"), REFUSALS.values(), ids=REFUSALS)
def test_a_broken_rule_is_refused_with_its_line(tmp_path: Path, old: str, new: str, line: int, words: str) -> None:
    assert old in FILE
    with pytest.raises(CodeError, match=words) as refusal:
        written(tmp_path, FILE.replace(old, new))
    assert (refusal.value.file, refusal.value.line) == ("mine.py", line)
    assert refusal.value.message.startswith("mine.py:")


@pytest.mark.parametrize("name", ["accuracy", "f1", "accuracy_class", "loss_all"])
def test_a_name_that_its_trials_do_not_report_otherwise_is_anybodys(tmp_path: Path, name: str) -> None:
    (mine,) = written(tmp_path, FILE.replace('"acc"', f'"{name}"'))
    row = described({str(each): each for each in own_metrics(mine)}[name])
    assert (row.label, row.kind, row.reference, row.bounds[1]) == (name, Kind.OWN, None, math.inf), "not ours"


def test_what_an_entry_lists_is_offered_wherever_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "installed").mkdir()
    (tmp_path / "code").mkdir()
    (tmp_path / "installed" / "their_problems.py").write_text(dedent(FILE))
    monkeypatch.syspath_prepend(str(tmp_path / "installed"))
    imported = "from their_problems import Mine\n"
    with pytest.raises(CodeError, match="there is no problem in it"):
        written(tmp_path / "code", imported)
    (mine,) = written(tmp_path / "code", f"{imported}__all__ = ['Mine']\n")
    assert (mine.name, mine.file, mine.terms) == ("Mine", "", ["class", "price"])
