"""What the page writes as YAML, the service reads back equal: every text stays a text, every number a number."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page

from service.contract.study.parsing import read_body
from tests.browser.pages import Run, needs_chromium

pytestmark = needs_chromium

# Sent as JSON text, so that every value arrives exactly as it is.
WRITTEN = """async (text) => {
  const { flow, toYaml } = await import("/assets/kit/yaml.js");
  const more = (value) => ({ list: [value, { value }], whole: { in: { a: { block: value } } } });
  const keyed = (value) => (typeof value === "string" ? { [value]: value } : {});
  return JSON.parse(text).map((value) => [flow(value), toYaml({ value, ...more(value), ...keyed(value) })]);
}"""
TRICKY = [
    *(
        "no",
        "No",
        "NO",
        "yes",
        "on",
        "Off",
        "y",
        "n",
        "true",
        "False",
        "null",
        "Null",
        "~",
        "",
        " ",
        "nan",
        ".nan",
        ".inf",
    ),
    *("1", "1e3", "1.0", "0x10", "007", "0o7", "1_000", "1:30", "12:30:45", "2026-01-01", "-", "--", "- a", "?", "? a"),
    *(
        "a: b",
        "a:",
        ":a",
        "a #b",
        "#a",
        "a,b",
        "[a",
        "{a",
        "a]",
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "%a",
        "@a",
        "`a`",
        "'a'",
        '"',
    ),
    *(
        "a\nb",
        "a\n",
        "\ta",
        "a ",
        " a",
        "a\\b",
        "\x7f",
        "\x85",
        "\u2028x",
        "\u2029",
        "\ufeff",
        "\uffff",
        "β",
        "é",
        "😀",
    ),
    *("<<", "=", "...", "---", "a\x00b", "<img src=x onerror=alert(1)>", "__proto__"),
]


@pytest.fixture(scope="module")
def round_trip(page: Page) -> Callable[[list[Any]], list[Any]]:
    """What the service reads in what the page writes, on one line and in blocks."""

    def both(values: list[Any]) -> list[Any]:
        return list(page.evaluate(WRITTEN, json.dumps(values)))

    return both


def test_a_tricky_text_stays_the_text_it_is(round_trip: Callable[[list[Any]], list[Any]]) -> None:
    for text, (flow, block) in zip(TRICKY, round_trip(TRICKY), strict=True):
        assert read_body(f"[{flow}]", "yaml") == [text], repr(text)
        wanted = {"value": text, "list": [text, {"value": text}], "whole": {"in": {"a": {"block": text}}}, text: text}
        assert read_body(block, "yaml") == wanted, repr(text)


texts = st.text(max_size=12) | st.sampled_from(TRICKY)
scalars = (
    texts
    | st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([1e-7, 1e21, 1e-300, 0.1, 5e-324])
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)


@settings(max_examples=30)
@given(st.lists(values, min_size=5, max_size=15))
def test_what_the_form_writes_is_read_back_equal(
    round_trip: Callable[[list[Any]], list[Any]], written: list[Any]
) -> None:
    assert [read_body(f"- {flow}", "yaml") for flow, _ in round_trip(written)] == [[value] for value in written]


@settings(max_examples=30)
@given(specs=st.lists(st.dictionaries(texts, values, min_size=1, max_size=5), min_size=3, max_size=8))
def test_blocks_are_read_back_equal_too(
    round_trip: Callable[[list[Any]], list[Any]], specs: list[dict[str, Any]]
) -> None:
    read = [read_body(block, "yaml") for _, block in round_trip(specs)]
    assert [each["whole"] for each in read] == [{"in": {"a": {"block": spec}}} for spec in specs]
    assert [each["list"] for each in read] == [[spec, {"value": spec}] for spec in specs]


def test_keys_stand_in_the_order_of_the_contract(run: Run) -> None:
    spec = {"arms": [{"weighting": {"name": "mib"}, "name": "a"}], "zebra": 1, "seeds": [0], "name": "x", "ape": 2}
    (text,) = run("kit/yaml", "toYaml", [spec])
    assert [line.partition(":")[0] for line in text.splitlines()] == [
        *("name", "seeds", "arms", "  - name", "    weighting"),
        *("zebra", "ape"),
    ]


def test_the_comment_above_a_study_is_kept(run: Run) -> None:
    assert run("kit/yaml", "commentAbove", ["# a\n# b\n\nname: x\n# c\n"], ["name: x\n# a\n"]) == ["# a\n# b\n\n", ""]
