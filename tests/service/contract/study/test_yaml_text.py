"""YAML is read once, in C, and only so much of it."""

from __future__ import annotations

import time

import pytest
import yaml

from service.contract.study import parsing, yaml_text
from service.contract.study.parsing import parse_study, read_body
from service.contract.wire.errors import InvalidInput

STUDY = "name: s\nseeds: [0, x]\narms: [{name: a, weighting: {name: uniform}}]\n"


def test_a_study_is_parsed_once_also_where_its_errors_have_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def compose(text: str) -> yaml.Node | None:
        parsed.append(text)
        return yaml_text.compose(text)

    monkeypatch.setattr(parsing, "compose", compose)
    with pytest.raises(InvalidInput) as error:
        parse_study(STUDY, "yaml")
    assert [(detail.path, detail.line) for detail in error.value.details] == [("seeds[1]", 2)] and parsed == [STUDY]


def test_it_is_the_c_library_that_reads() -> None:
    assert yaml.__with_libyaml__ and yaml_text._Parser is yaml.CSafeLoader


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[" * (yaml_text.DEEPEST + 2), "nested deeper than 50 levels"),
        ("[" * 400_000, "nested deeper than 50 levels"),
        ("- " * 400_000, "nested deeper than 50 levels"),
        (f"[{'1,' * yaml_text.MOST}1]", "more than 50,000 keys and values"),
        ("a: &x 1\nb: *x", "aliases are not allowed"),
        ("a: 1\n---\nb: 2", "a second document begins"),
        ("a: 1\nb: 2\na: 3", "'a' is given twice"),
    ],
)
def test_what_goes_too_far_is_refused_where_it_does(text: str, rule: str) -> None:
    with pytest.raises(InvalidInput) as error:
        read_body(text, "yaml")
    assert rule in error.value.message and error.value.details[0].line is not None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x: !!bool abc", 1),
        ("a: 1\nx: !!timestamp abc", 2),
        ('x: !!int ""', 1),
        (f'x: !!float "1{":59" * 200}"', 1),
        (f'x: !!int "1{":1" * 250_000}"', 1),
        ("!!str 3", 1),
        ("a: ! 3", 1),
        ("a:\n  - !own {b: 1}", 2),
        ("!!set {a, b}", 1),
    ],
)
def test_tags_are_refused_where_they_stand(text: str, line: int) -> None:
    with pytest.raises(InvalidInput) as error:
        read_body(text, "yaml")
    assert "tags (!…) are not allowed" in error.value.message and error.value.details[0].line == line


TAG_LINES = "".join(f"%TAG !{number}! t:\n" for number in range(10_000))  # the parser compares each with all before


@pytest.mark.parametrize(
    ("before", "line"),
    [("", 1), ("\ufeff", 1), ("# a study\r\n \n", 3), ("---\n", 2), ("a: 1\n", 2), ("a: 1\n...\n", 3), ("\x85", 2)],
)
def test_directives_are_refused_before_the_parser_gets_them(before: str, line: int) -> None:
    begun = time.process_time()
    with pytest.raises(InvalidInput) as error:
        read_body(f"{before}{TAG_LINES}---\na: 1", "yaml")
    assert "directives (%…) are not allowed" in error.value.message and error.value.details[0].line == line
    assert time.process_time() - begun < 0.2


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# nothing", None),
        (
            "a: 1e-3\nb: 20\nc: '20'\nd: yes\ne: ~\nf: .5\ng: 0x1f",
            {"a": 1e-3, "b": 20, "c": "20", "d": True, "e": None, "f": 0.5, "g": 31},
        ),
        ("- [1, {a: b}]\n- |\n  two\n  lines\n", [[1, {"a": "b"}], "two\nlines\n"]),
        ('"!!int 3"', "!!int 3"),
        ("a: 100%\nb: |\n  %c\nc: 'd\n\n%e'\n...\n# %f", {"a": "100%", "b": "%c\n", "c": "d\n%e"}),
        ("a: {b: [], c: {}}", {"a": {"b": [], "c": {}}}),
        (f"{'[' * 50}1{']' * 50}", None),
    ],
)
def test_values_are_those_of_the_safe_loader(text: str, value: object) -> None:
    read = read_body(text, "yaml")
    assert read == value if value is not None or not text.startswith("[") else read is not None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1:59", "1:59"),
        ("1:59.5", "1:59.5"),
        ("20", 20),
        ("-3", -3),
        ("0x10", 16),
        ("0b11", 3),
        ("1e-3", 0.001),
        (".5", 0.5),
        ("-.inf", float("-inf")),
        ("1_000", 1000),
        ("yes", True),
        ("null", None),
        ("1.2.3", "1.2.3"),
    ],
)
def test_numbers_are_those_that_people_write_and_none_of_base_sixty(text: str, value: object) -> None:
    read = read_body(f"a: {text}", "yaml")["a"]
    assert read == value and type(read) is type(value)


def seconds_of(text: str) -> float:
    begun = time.process_time()
    read_body(text, "yaml")
    return time.process_time() - begun


def test_a_number_twice_as_long_costs_about_twice_the_time() -> None:
    """In base 60 it cost four times as much; here with room for the clock."""
    once, eight = (seconds_of(f"a: 1{':59' * count}") for count in (40_000, 320_000))
    assert eight < 30 * max(once, 0.002)
