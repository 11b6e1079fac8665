"""Markers of a text are answered where they stand; numbers that nobody vouches for are seen."""

from __future__ import annotations

import pytest

from findings.texts import rendered
from findings.unmarked import looking_measured, numbers_of_tests, unmarked


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
        ("shown (p < 0.05) in 7 of 8, more than 3 > 2", ["0.05", "7", "8", "3", "2"]),
        ("x <4 and y> 5", ["4", "5"]),
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
        'a picture <img src="a2.png" width="640">, a <sub class="x1">line</sub>',
        "a grid of twelve βs, two tasks, one of them",
    ],
)
def test_harmless_numbers_are_let_be(text: str) -> None:
    assert unmarked(text) == []


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("rotation gets 0.76, random labels 1.24 ± 0.03 (n = 8)", ["0.76", "1.24", "0.03", "8"]),
        ("8 % of studies, 5 s, 2 bits, 3 times, 10 seeds", ["8", "5", "2", "3", "10"]),
        ("| VIB | 48.7 | 7 to 8.2 |", ["48.7", "8.2"]),
        ("on the rest it misses ± 3", ["3"]),
        ("imports take 4–5 s, a restart 2 min, 3 MB; a hundred times slower", ["5", "2", "3", "hundred times"]),
        ("<!--tested: tests/a.py::MOST-->0.03 bit<!--/-->, here 0.04 bit", ["0.04"]),
        ("<!--tested: tests/a.py-->0.03 bit<!--/-->, <!--tested: tests/a.py::test_b-->2 %<!--/-->", ["0.03", "2"]),
    ],
)
def test_on_a_page_of_methods_what_looks_measured_is_seen(text: str, numbers: list[str]) -> None:
    assert [each.number for each in looking_measured(text)] == numbers


@pytest.mark.parametrize(
    "text",
    [
        "w = (1, …, 1)/2 on [0, 1], steps 2/(t+2), 16 members, 1,797 images",
        "clip((info − r)/r, ±0.2) and 0.1·N(0, 1), within `0.05` bit, below `2` %",
        "with three seeds or more, eq. 13",
        "each at most three times, at once",
        "1. a list\n\n   ```python\n   x = [0.5, 2.0]\n   ```",
    ],
)
def test_formulas_and_settings_do_not_look_measured(text: str) -> None:
    assert looking_measured(text) == []


def test_the_tests_that_hold_numbers_are_told_with_them() -> None:
    text = "<!--tested: tests/a.py::MOST-->at most 1 %<!--/--> and <!--tested: tests/c.py::BITS-->6.7 bits<!--/-->"
    most, bits = numbers_of_tests(text)
    assert most[:2] == ("tests/a.py", "MOST") and bits[:2] == ("tests/c.py", "BITS")
    assert (most.number, bits.number) == (0.01, 6.7)


def test_a_number_is_told_with_its_line() -> None:
    assert [each.line for each in unmarked("a\n<!--cited-->1\n2<!--/-->\n3", first_line=10)] == [13]
