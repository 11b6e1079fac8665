"""The page's files as they are written: short lines, and no list or name that belongs to the service's catalog."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from service.contract.metrics import FAMILIES, SINGLE
from service.contract.metrics.metric import PLACE
from service.contract.vocabulary import vocabulary

ROOT = Path(__file__).parent.parent.parent
DASHBOARD = ROOT / "frontends" / "dashboard"
REPORT = ROOT / "service" / "exports"
SCRIPTS = {
    str(path.relative_to(folder)): path.read_text()
    for folder in (DASHBOARD, REPORT)
    for path in sorted(folder.rglob("*.js"))
}
LONGEST = 120
# The one script that knows kinds of metrics, some of which are called as a metric is.
KNOWS_KINDS = "kit/metrics.js"
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
    "keys of a study": WORDS.key_order,
}


def code_of(text: str) -> str:
    """Without comments, so that a word may be explained."""
    return re.sub(r"/\*.*?\*/|(?<!:)//[^\n]*", "", text, flags=re.DOTALL)


def lists_in(code: str) -> Iterable[list[str]]:
    """The texts and keys of every innermost bracket."""
    for inner in re.findall(r"\[([^][]*)\]|\{([^{}]*)\}", code):
        texts = re.findall(r'"([^"\n]*)"', inner[0] or inner[1])
        yield texts + re.findall(r"(?:^|[,{\s])([\w-]+):", inner[1])


def copied(code: str, words: Iterable[str]) -> list[str]:
    """Three of the words in one bracket, or in neighbouring ones, are a list of them."""
    known = set(words)
    return [*(word for texts in lists_in(code) if len(known & set(texts)) > 2 for word in texts if word in known)]


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


@pytest.mark.parametrize("what", [what for what in LISTS if what != "keys of a study"])
def test_no_script_keeps_a_list_that_the_catalog_has(what: str) -> None:
    kept = {name: found for name, text in SCRIPTS.items() if (found := copied(code_of(text), LISTS[what]))}
    assert kept == {}


def test_a_list_that_a_script_keeps_is_seen() -> None:
    for code in (
        'const STATES = ["queued", "running", "finished", "failed"];',
        'const WORDS = { queued: "waits", running: "runs", finished: "done" };',
        'const STATES = [\n  "queued",\n  "running",\n  "paused",\n];',
    ):
        assert copied(code_of(code), LISTS["states of a study"])
    assert not copied(
        code_of('// "queued", "running", "failed"\nif (state === "failed") f(["failed", "x"]);'),
        LISTS["states of a study"],
    )


@pytest.mark.parametrize("name", [name for name in SCRIPTS if name != KNOWS_KINDS])
def test_no_script_goes_by_the_name_of_a_metric(name: str) -> None:
    code = code_of(SCRIPTS[name])
    spelled = set(re.findall(r"""["'`]([a-z0-9_]+)["'`]""", code)) | set(re.findall(r"metrics\.([a-z0-9_]+)\b", code))
    assert spelled & set(SINGLE) == set()
    assert not re.search(r'startsWith\("[a-z]+_', code), "a family has a column of its own: family"


def families_in(code: str) -> list[str]:
    return [part for part in SHARED if part in code]


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
