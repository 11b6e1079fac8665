"""Markers of a text are answered where they stand; numbers that nobody vouches for are seen."""

from __future__ import annotations

import pytest

from findings.texts import rendered
from findings.unmarked import unmarked


def answered(text: str, **answers: str) -> str:
    def say(name: str, asked: str) -> str:
        if f"{name} {asked}" not in known:
            raise ValueError(f"{asked} of {name} is not known")
        return known[f"{name} {asked}"]

    known = {"demo seeds": "5", "demo verdict": "a long sentence", "demo by arm | trials": "| a |\n| - |", **answers}
    return rendered(text, "README.md", say)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("<!--= demo: seeds -->3<!--/--> seeds", "<!--= demo: seeds -->5<!--/--> seeds"),
        ("<!--study: demo-->\n<!--= seeds --><!--/-->", "<!--study: demo-->\n<!--= seeds -->5<!--/-->"),
        ("<!--= demo: by arm |\n trials --><!--/-->", "<!--= demo: by arm |\n trials -->\n| a |\n| - |\n<!--/-->"),
        ("`<!--= demo: seeds -->3<!--/-->`", "`<!--= demo: seeds -->3<!--/-->`"),
        ("```\n<!--= demo: seeds -->\n```", "```\n<!--= demo: seeds -->\n```"),
        ("> <!--= demo: verdict -->a long\n> sentence<!--/-->", "> <!--= demo: verdict -->a long\n> sentence<!--/-->"),
        ("> <!--= demo: verdict -->a short\n> one<!--/-->", "> <!--= demo: verdict -->a long sentence<!--/-->"),
    ],
)
def test_a_marker_is_answered(text: str, result: str) -> None:
    assert answered(text) == result
    assert answered(result) == result


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\n<!--= demo: sedes -->3<!--/-->", r"README.md:3: sedes of demo is not known"),
        ("\n<!--= seeds -->3<!--/-->", r"README.md:2: a marker is <!--= study: quantity -->, got ' seeds '"),
        ("\n<!--= demo: seeds -->3", "README.md:2: a marker is not closed by <!--/-->"),
        ("<!--= demo: seeds -->3\n<!--= demo: seeds -->5<!--/-->", "README.md:1: a marker is not closed"),
    ],
)
def test_a_wrong_marker_is_told_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        answered(text)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("MIB loses 0.02 ± 0.01, in 3.", ["0.02", "0.01", "3"]),
        ("It is twelve times faster over\nthree seeds.", ["twelve times", "three seeds"]),
        ("over five\nseeds", ["five seeds"]),
        ("| MIB | 57.8 |", ["57.8"]),
        ("1,230 bits", ["1,230"]),
        ("<!--= demo: seeds -->5<!--/--> seeds, 4 of them", ["4"]),
        ("<!--cited-->87.4 ± 0.3<!--/-->, ours 86.1", ["86.1"]),
    ],
)
def test_a_number_that_nobody_vouches_for_is_seen(text: str, numbers: list[str]) -> None:
    assert [each.number for each in unmarked(text)] == numbers


@pytest.mark.parametrize(
    "text",
    [
        "`beta: 0.01` with `epochs: 40`",
        "```\nmake 3\n```",
        "# Table 1, in small",
        "L1, CIFAR-10, ResNet-18 and f1",
        "Gaussian IB (Chechik et al. 2005; Kolchinsky 2019)",
        "the paper's tables 3 and 4, equation (7)",
        "the KL to N(0, I), mean with 95 % interval, since 0.1.0",
        "[the page](docs/a-1.md) and ![12 βs](a2.png)",
        "1. first\n2. second",
        "a grid of twelve βs, two tasks, one of them",
    ],
)
def test_harmless_numbers_are_let_be(text: str) -> None:
    assert unmarked(text) == []


def test_a_number_is_told_with_its_line() -> None:
    assert [each.line for each in unmarked("a\n<!--cited-->1\n2<!--/-->\n3", first_line=10)] == [13]
