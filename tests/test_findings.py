"""Numbers with a pedigree: what README and docs say is what the kept studies in `docs/findings` say."""

from __future__ import annotations

import ast
import re
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import get_args

import pytest

from findings import speed
from findings.commit import CHANGED
from findings.folder import FOLDER, LARGEST, ROOT, asked, differences, load, names
from findings.replay import view_of
from findings.texts import markers, pages, rendered
from findings.unmarked import Unmarked, looking_measured, measuring_commands, numbers_of_tests, unmarked
from service.contract.methods.weightings import Weighting
from service.contract.study.parsing import check_study
from service.contract.wire.errors import InvalidInput
from service.contract.wire.events import StudyState

DOCS = (
    *("fashion-mnist", "known-fronts", "mib-ablation", "multitask", "one-training", "reproductions"),
    "robustness-fashion",
)
# Pages, or sections of the README, whose every number comes from a kept study.
SECTIONS = ("What the demo shows", "What we found", "Speed")
RULED = [*(f"README.md ## {title}" for title in SECTIONS), *(f"docs/{name}.md" for name in DOCS)]

# All other pages have formulas, rules and settings: there only a number that looks measured must come from somewhere.
LOOSELY = [ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *pages()]
RULED_LOOSELY = [place for page in LOOSELY if (place := str(page.relative_to(ROOT))) not in RULED]
WITHOUT_COMMIT = 9  # kept studies, as the README says it
RATES = re.compile(r"\bi_xz_(?:[a-z-]+_)?bits")


def text_of(place: str) -> tuple[str, int]:
    """A page or a section of it, and the line on which it begins."""
    path, _, title = place.partition(" ")
    page = (ROOT / path).read_text()
    if not title:
        return page, 1
    start = page.index(f"\n{title}\n") + 1
    ends = re.compile(r"^## ", re.MULTILINE).search(page, start + 1)
    return page[start : ends.start() if ends else None], page.count("\n", 0, start) + 1


def numbers_of(place: str) -> list[Unmarked]:
    return unmarked(*text_of(place))


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_text_and_data_agree(page: Path) -> None:
    """Where this fails, `make findings` writes what the data say; read the sentences around it again."""
    text = page.read_text()
    assert rendered(text, page.name) == text


@pytest.mark.parametrize("place", RULED)
def test_every_number_comes_from_a_study(place: str) -> None:
    """Or is marked as <!--cited-->; settings stand in code."""
    assert numbers_of(place) == []


@pytest.mark.parametrize("place", RULED_LOOSELY)
def test_every_number_that_looks_measured_comes_from_a_study_or_a_test(place: str) -> None:
    """Settings and limits stand in code."""
    assert looking_measured(*text_of(place)) == []


def constants_of(path: str) -> dict[str, object]:
    """The constants of a module, as they are written in it: tests of training are not imported to read a number."""
    found: dict[str, object] = {}
    for part in ast.parse((ROOT / path).read_text()).body:
        if isinstance(part, ast.Assign):
            with suppress(ValueError):
                names, value = ast.unparse(part.targets[0]), ast.literal_eval(part.value)
                found |= (
                    zip(names.strip("()").split(", "), value, strict=True) if "," in names else {names: value}.items()
                )
    return found


def test_a_number_that_a_test_is_said_to_hold_is_the_one_that_it_holds() -> None:
    tested = [each for page in pages() for each in numbers_of_tests(page.read_text())]
    for each in tested:
        assert constants_of(each.path).get(each.constant) == pytest.approx(each.number), each
        assert (ROOT / each.path).read_text().count(each.constant) > 1, f"nothing is held against {each.constant}"
    assert tested


def test_a_command_that_is_said_to_have_measured_is_there_and_vouches_for_no_page_about_studies() -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = [name for page in pages() for name in measuring_commands(page.read_text())]
    assert named and set(named) <= set(targets)
    said = "<!--measured: make faults, 2026-11-18-->it took 9.5 s<!--/-->, not 20.1 s"
    assert [each.number for each in looking_measured(said)] == ["20.1"]
    assert [each.number for each in unmarked(said)] == ["9.5", "20.1"]
    assert [each.number for each in looking_measured(said.replace(", 2026-11-18", ""))] == ["9.5", "20.1"]


def test_the_page_says_of_every_preset_whether_its_gains_are_ranked_by_cosine() -> None:
    section = text_of("docs/multitask.md ## Do you need it?")[0]
    ranked = {marker.study for marker in markers(section, "multitask") if marker.asked.startswith("mean cosine")}
    left_out = set(re.findall(r"`([a-z0-9-]+)`", section)) - ranked
    presets = {path.stem for path in (ROOT / "configs").glob("*.yaml")}
    assert presets - ranked == left_out & presets and presets & ranked


def test_every_study_whose_rates_are_quoted_has_lights() -> None:
    """A study of before there were lights is run again."""
    asked = [marker for page in pages() for marker in markers(page.read_text(), page.name)]
    quoted = {marker.study for marker in asked if RATES.search(marker.asked)}
    dark = {name for name in quoted if not any(name.endswith("_miss") for name in load(name).metrics)}
    assert quoted and not dark


def test_no_page_is_left_out() -> None:
    looked_at = {place.partition(" ")[0] for place in (*RULED, *RULED_LOOSELY)}
    written = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    assert {str(path.relative_to(ROOT)) for path in written} == looked_at


def test_there_is_something_to_look_at() -> None:
    assert names() and sum(len(markers(page.read_text(), page.name)) for page in pages()) > 5


@pytest.mark.parametrize("name", names())
def test_a_kept_study_is_whole(name: str) -> None:
    finding = load(name)
    assert finding.study.state is StudyState.FINISHED and finding.paretoscope and finding.machine
    assert check_study(finding.study.spec)
    assert view_of(finding).state is StudyState.FINISHED
    assert (FOLDER / f"{name}.json").stat().st_size <= LARGEST


@pytest.mark.parametrize("name", names())
def test_a_kept_study_is_what_its_file_asks_for(name: str) -> None:
    """Where this fails the study was changed: `make findings ARGS="run NAME"` measures it again."""
    assert differences(name, load(name)) == []


def named_commits() -> dict[str, list[str]]:
    """By finding: `e0785b1 to 1a64575+` names two."""
    said = {name: load(name).commit for name in names()}
    said |= {f"{speed.NAME}/{key}": row.commit for key, row in speed.load_speed().rows.items()}
    return {name: [each.rstrip(CHANGED) for each in words.split(" to ")] for name, words in said.items() if words}


def test_studies_that_name_no_commit_are_as_many_as_is_said_and_become_no_more() -> None:
    """Whichever of these is measured again names one: then the README says one fewer."""
    before = {"concave-front", "gradient-balancing", "gradient-blending", "mib-ablation"}
    before |= {"arml-few-labels", "arml-harmful-auxiliary", "multilabel-yeast", "robustness-without"}
    before |= {"two-garments-front"}
    nameless = {name for name in names() if load(name).commit is None}
    assert nameless <= before and len(nameless) == WITHOUT_COMMIT


def git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_commit_that_measured_is_one_of_this_history() -> None:
    """One that was left behind, by a rebase or a deleted branch, could be looked up by nobody."""
    try:
        shallow = git("rev-parse", "--is-shallow-repository").stdout.strip()
    except OSError:
        pytest.skip("there is no git here")
    if shallow != "false":
        pytest.skip("there is no git history here, or only its end")
    named = named_commits()
    lost = {
        name
        for name, own in named.items()
        if any(git("merge-base", "--is-ancestor", c, "HEAD").returncode for c in own)
    }
    assert named and not lost


def test_every_study_for_a_finding_is_valid_and_was_run() -> None:
    written = {path.stem for path in FOLDER.glob("*.yaml")}
    assert all(asked(name).study for name in written)
    assert written <= set(names())


def test_every_kept_study_is_spoken_of() -> None:
    """By its numbers, or by name: some are only what another is compared with or was told."""
    texts = [page.read_text() for page in pages()]
    spoken = {marker.study for page in pages() for marker in markers(page.read_text(), page.name)}
    named = {name for name in names() if any(re.search(rf"[(/]{name}[;.]", text) for text in texts)}
    assert spoken <= {*names(), speed.NAME} <= spoken | named


def runs_on_the_concave_front(weighting: str) -> bool:
    study = asked("concave-front").study.model_dump(by_alias=True, mode="json")
    arm = {"name": "a", "problem": {"name": "toy", "front": "concave"}, "weighting": {"name": weighting}}
    try:
        check_study({**study, "arms": [arm]})
    except InvalidInput:
        return False
    return True


def test_every_weighting_that_runs_on_the_concave_front_was_tried_there() -> None:
    """Where this fails there is a new weighting: give it an arm."""
    names = {kind.model_fields["name"].default for kind in get_args(get_args(Weighting)[0])}
    constant = {"uniform", "arml"}  # of two terms these are the constant weights of β = 1
    first, others = (
        {arm.weighting.name for arm in asked(name).study.arms} for name in ("concave-front", "concave-front-others")
    )
    page = (ROOT / "docs" / "known-fronts.md").read_text()
    assert {name for name in names if runs_on_the_concave_front(name)} == constant | first | others
    assert f"Constant weights and `{len(first) - 1}` weightings" in page
    assert f"The `{len(others)}` other weightings" in page and not first & others


def test_every_timing_names_its_day_and_what_was_measured_on_what() -> None:
    rows = speed.load_speed().rows.values()
    assert rows and all(re.fullmatch(r"2\d{3}-\d\d-\d\d", row.date) and row.machine and row.paretoscope for row in rows)
    assert all(row.values is None or row.ratio == pytest.approx(row.values[0] / row.values[1], rel=0.1) for row in rows)
    assert {row.group for row in rows} <= set(speed.GROUPS) and all(" / " in row.what for row in rows)
