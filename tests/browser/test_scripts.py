"""The page's files as they are written: short lines, and no list or name that belongs to the service's catalog."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

import pytest

from service.analysis.arm_places import Standing
from service.contract.catalog import OFTEN_SET
from service.contract.methods.own_problems import TYPES
from service.contract.metrics import FAMILIES
from service.contract.metrics.metric import PLACE, Metric
from service.contract.vocabulary import vocabulary
from service.contract.wording.keys import LETTERS

ROOT = Path(__file__).parent.parent.parent
DASHBOARD = ROOT / "frontends" / "dashboard"
REPORT = ROOT / "service" / "exports"
SCRIPTS = {
    str(path.relative_to(folder)): path.read_text()
    for folder in (DASHBOARD, REPORT)
    for path in sorted(folder.rglob("*.js"))
}
LONGEST = 120
# What the names of a family's members share, such as `robust_`.
SHARED = [next(part for part in PLACE.split(family.name) if part) for family in FAMILIES]

WORDS = vocabulary()
LISTS: dict[str, list[str]] = {
    "states of a study": [state.name for state in WORDS.study_states],
    "states of a trial": WORDS.trial_states,
    "kinds of events": WORDS.event_kinds,
    "groups of figures": [group.name for group in WORDS.figure_groups],
    "titles of groups": [group.title for group in WORDS.figure_groups],
    "markers": list(WORDS.markers),
    "downloads": [download.title for download in WORDS.downloads],
    "rules that pick a point": [rule.name for rule in WORDS.pick_rules],
    "kinds of an own parameter": list(TYPES),
    "Greek letters": [*LETTERS, *LETTERS.values()],  # of few parameters, each with its name
    "where an arm stands": list(get_args(Standing)),
    # Names of often set parameters that mean something else on a page, too, say nothing.
    "common parameters": sorted(set().union(*OFTEN_SET.values()) - {"front", "hidden", "trials"}),
}


def code_of(text: str) -> str:
    """Without comments, so that a word may be explained."""
    return re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", "", text, flags=re.DOTALL)


QUOTED = (r'"([^"\n]*)"', r"'([^'\n]*)'", r"`([^`]*)`")  # each by itself: one may stand within another
KEY = re.compile(r"(?<![\w.?])([\w-]+):(?!\s*_)")  # of an object; not a field that is taken out only to be left out


def copied(code: str, words: Iterable[str]) -> set[str]:
    """Those of the words that a script spells, as texts, keys or parts of a text of nothing else; two are no list."""
    known = set(words)
    texts = {text for quoted in QUOTED for text in re.findall(quoted, code)}
    several = [set(re.findall(r"[\w-]+", text)) for text in texts]
    found = known & (texts | set(KEY.findall(code))) | {word for part in several if part <= known for word in part}
    return found if len(found) > 2 else set()


def test_lines_are_no_longer_than_anyone_reads() -> None:
    kinds, folders = ("js", "css", "html", "ts"), (DASHBOARD, REPORT)
    files = [path for folder in folders for kind in kinds for path in folder.rglob(f"*.{kind}")]
    assert len(files) > 40 and REPORT / "report.js" in files
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > LONGEST
    ]
    assert long == []


@pytest.mark.parametrize("what", LISTS)
def test_no_script_keeps_a_list_that_the_catalog_has(what: str) -> None:
    kept = {name: found for name, text in SCRIPTS.items() if (found := copied(code_of(text), LISTS[what]))}
    assert kept == {}


@pytest.mark.parametrize(
    "code",
    [
        'const STATES = ["queued", "running", "finished", "failed"];',
        "const STATES = ['queued', 'running', `finished`];",
        'const WORDS = { queued: "waits", running: "runs", finished: "done" };',
        'const STATES = [\n  "queued",\n  "running",\n  "paused",\n];',
        'const WORDS = new Map([["queued", "waits"], ["running", "runs"], ["failed", "broke"]]);',
        'switch (state) {\n  case "queued": return 1;\n  case "running": return 2;\n  case "failed": return 3;\n}',
        'state === "queued" ? 1 : state === "running" ? 2 : state === "failed" ? 3 : 4;',
        'const STATES = "queued running failed".split(" ");',
        '`${a === "queued"} ${a === "running"} ${a === "failed"}`',
        'if (state === "queued") f();\nfunction f() {}\nif (state === "running") f();\ng({ failed: 1 });',
    ],
)
def test_a_list_that_a_script_keeps_is_seen(code: str) -> None:
    assert len(copied(code_of(code), LISTS["states of a study"])) > 2


@pytest.mark.parametrize(
    "code",
    [
        '// "queued", "running", "failed"\nif (state === "failed") f(["failed", "x"]);',
        'const SAID = "a queued, running or failed study";',
        "const { running, finished: _finished, ...others } = study.counts; f(others.failed);",
    ],
)
def test_a_word_or_two_are_no_list(code: str) -> None:
    assert copied(code_of(code), LISTS["states of a study"]) == set()


def test_a_list_of_parameters_is_seen() -> None:
    assert copied('const COMMON = new Set(["beta", "widths", "epochs"]);', LISTS["common parameters"])


def families_in(code: str) -> list[str]:
    """Parts of their names; what a metric's row is asked for, such as `.validation_of`, is no name."""
    rest = re.sub(rf"\.(?:{'|'.join(Metric._fields)})\b", "", code)
    return [part for part in SHARED if part in rest]


def test_no_script_spells_a_family_of_metrics() -> None:
    assert {name: parts for name, text in SCRIPTS.items() if (parts := families_in(code_of(text)))} == {}


def test_a_family_that_a_script_spells_is_seen() -> None:
    for code in (
        'const HINT = "reported as robust_<attack>";',
        "const name = `accuracy_${task}`;",
        'if (name.endsWith("_stderr")) return;',
        "const isEstimate = /^i_xz_/.test(name);",
    ):
        assert families_in(code_of(code))
    assert not families_in(code_of("// robust_<attack>\nconst least = vocabulary.limits.collapsed_below_bits;"))


def test_every_figure_the_page_names_exists() -> None:
    from service.figures import FIGURES

    assert {WORDS.front_figure, WORDS.beside_the_front, *WORDS.row_per_arm} <= set(FIGURES)
    assert {figure.group for figure in FIGURES.values()} <= {group.name for group in WORDS.figure_groups}


def test_an_element_that_means_nothing_by_itself_has_a_role_with_its_label() -> None:
    """A label alone is not read out, and forbidden while the element is empty."""
    labelled = [
        attributes
        for text in SCRIPTS.values()
        for attributes in re.findall(r'h\("(?:pre|div|span|p)", \{([^{}]*"aria-label"[^{}]*)\}', code_of(text))
    ]
    assert len(labelled) > 5 and [attributes for attributes in labelled if "role:" not in attributes] == []
