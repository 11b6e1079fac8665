"""The pages of docs/ tell the truth: every name that exists is on its page, and what is on it exists."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from typer.main import get_command

from frontends.cli.commands import app
from service.app import create_app
from service.contract.catalog import catalog
from service.contract.methods.papers import PAPERS
from service.contract.methods.problems import MADE_TASKS, Bottleneck
from service.contract.methods.searches import OptunaSearch
from service.contract.study.parsing import parse_study
from service.contract.wire.ceilings import STUDIES_OVERLAID
from service.contract.wire.errors import ParetoscopeError
from service.contract.wire.events import KINDS, StudyState, TrialState
from service.settings import Settings

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
API, METHODS, DESIGN = ((DOCS / f"{name}.md").read_text() for name in ("api", "methods", "design"))


def section(page: str, title: str) -> str:
    """What stands below a heading, up to the next of its rank."""
    rank = title.partition(" ")[0]
    _, found, rest = f"\n{page}".partition(f"\n{title}\n")
    assert found, f"no heading {title!r}"
    return re.split(rf"^#{{1,{len(rank)}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def rows(text: str) -> dict[str, str]:
    """The tables of a text: each row by the name in its first cell."""
    return {name: row for row, name in re.findall(r"^(\| `([^`]+)`.*)$", text, re.MULTILINE)}


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


# Every page


def test_every_link_leads_somewhere() -> None:
    prose = {page: re.sub(r"`[^`]*`", "", page.read_text()) for page in PAGES}
    links = [(page, link) for page in PAGES for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose[page])]
    assert len(links) > 50
    assert not [f"{page.name}: {link}" for page, link in links if not (page.parent / link).is_file()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    example = "norm.py"  # the weighting that CONTRIBUTING adds
    folders = "tests|service|workers|frontends|findings|paretoscope|configs|docs"
    named = re.findall(rf"`((?:{folders})/[\w./-]*)`", page.read_text())
    missing = [path for path in named if example not in path and not (ROOT / path).exists()]
    assert not missing


def test_studies_are_valid_and_python_names_what_exists() -> None:
    studies, snippets = ([text for page in PAGES for text in blocks(page.read_text(), of)] for of in ("yaml", "python"))
    assert len(studies) >= 2 and all(parse_study(text, "yaml").arms for text in studies)
    imports = [node for text in snippets for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    named = [(str(node.module), alias.name) for node in imports for alias in node.names]
    assert len(named) > 5
    assert not [(module, name) for module, name in named if not hasattr(importlib.import_module(module), name)]


# docs/api.md


def operations() -> dict[str, set[str]]:
    """`GET /api/studies/{}` and the names of its query parameters, for everything that OpenAPI has."""
    paths = create_app(Settings()).openapi()["paths"]
    return {
        f"{method.upper()} {re.sub(r'{[^}]*}', '{}', path)}": {
            parameter["name"] for parameter in operation.get("parameters", []) if parameter["in"] == "query"
        }
        for path, methods in paths.items()
        for method, operation in methods.items()
    }


def test_every_operation_has_a_row_in_the_api_and_no_other_has() -> None:
    table = {re.sub(r"{[^}]*}", "{}", call): row for call, row in rows(section(API, "## HTTP")).items() if "/" in call}
    assert set(table) == set(operations())
    for call, parameters in operations().items():
        assert not [name for name in parameters if f"`{name}`" not in table[call]], call


def errors(kind: type[ParetoscopeError] = ParetoscopeError) -> Iterator[type[ParetoscopeError]]:
    for each in kind.__subclasses__():
        yield each
        yield from errors(each)


def test_every_error_has_its_status_and_code_in_the_api() -> None:
    table = section(API, "### Errors")
    ours = {(kind.status, kind.code) for kind in errors() if kind.__module__.startswith("service.")}
    assert len(ours) >= 6
    assert not [each for each in ours if f"| {each[0]} | `{each[1]}` |" not in table]


def test_every_event_and_state_is_in_the_api() -> None:
    text = section(API, "### Events and states")
    kinds = set(re.findall(r"`([a-z_]+)`", "".join(re.findall(r"^\|([^|]*)\|", text, re.MULTILINE))))
    assert kinds == set(KINDS)
    assert not [state for state in (*StudyState, *TrialState) if f"`{state.value}`" not in text]


def test_every_command_is_in_the_api_and_no_other_is() -> None:
    named = {row.split()[1] for row in rows(section(API, "## Command line"))}
    command = get_command(app)
    assert named == set(getattr(command, "commands", {}))


def test_the_api_says_how_many_studies_can_be_overlaid() -> None:
    assert f"At most `{STUDIES_OVERLAID}` studies can be overlaid" in API


# docs/methods.md


def literals(annotation: object) -> set[str]:
    """The names that a field of literals takes, however deep the literal stands."""
    if isinstance(annotation, str):
        return {annotation}
    return {text for inner in get_args(annotation) for text in literals(inner)}


def named(kind: str) -> set[str]:
    return {entry.name for entry in getattr(catalog([]), kind)}


TRANSFORMS = literals(Bottleneck.model_fields["transform"].annotation)
SAMPLERS = literals(OptunaSearch.model_fields["sampler"].annotation)
TABLES = {
    "## Weightings": named("weightings"),
    "## Problems": named("problems") | named("rates") | TRANSFORMS | set(MADE_TASKS),
    "### Rates of the bottleneck": named("rates"),
    "### Transforms of the rate": TRANSFORMS,
    "### Tasks of multitask": set(MADE_TASKS),
    "## Estimators of information": named("estimators"),
    "## Attacks": named("attacks"),
    "## Searches": named("searches"),
    "## Models": named("models"),
    "## Data sets": named("data"),
}


@pytest.mark.parametrize("title", TABLES)
def test_a_table_has_every_method_and_no_other(title: str) -> None:
    assert TABLES[title] and set(rows(section(METHODS, title))) == TABLES[title]


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("weighting", "## Weightings"),
        ("problem", "## Problems"),
        ("rate", "### Rates of the bottleneck"),
        ("transform", "### Transforms of the rate"),
        ("estimator", "## Estimators of information"),
        ("attack", "## Attacks"),
        ("search", "## Searches"),
        ("model", "## Models"),
        ("data", "## Data sets"),
    ],
)
def test_a_row_cites_the_papers_of_its_method(kind: str, title: str) -> None:
    table = rows(section(METHODS, title))
    assert not [name for name, keys in PAPERS[kind].items() for key in keys if f"`{key}`" not in table[name]]


def test_samplers_and_every_other_paper_are_somewhere_on_the_page() -> None:
    assert not [name for name in SAMPLERS if f"`{name}`" not in section(METHODS, "## Searches")]
    keys = {key for kind, names in PAPERS.items() if kind != "software" for found in names.values() for key in found}
    assert not [key for key in sorted(keys) if f"`{key}`" not in METHODS]


# docs/design.md


def tree() -> set[str]:
    """Every folder of the page's tree, also those that a line names inside its room."""
    (text,) = [block for block in blocks(DESIGN, "") if "service/" in block]
    folders: set[str] = set()
    top = ""
    for line in text.splitlines():
        first, *inner = re.findall(r"((?:\w+/)*\w+)/", line)
        top = top if line.startswith(" ") else first
        room = first if top == first else f"{top}/{first}"
        folders |= {room, *(f"{room}/{name}" for name in inner)}
    return folders | {str(parent) for folder in folders for parent in Path(folder).parents} - {"."}


def test_every_folder_of_the_design_exists() -> None:
    assert not [folder for folder in sorted(tree()) if not (ROOT / folder).is_dir()]


@pytest.mark.parametrize("package", ["paretoscope", "service", "workers", "frontends", "findings"])
def test_every_folder_of_a_package_is_in_the_design(package: str) -> None:
    folders = {str(path.parent.relative_to(ROOT)) for path in (ROOT / package).rglob("*.*") if path.is_file()}
    assert {folder for folder in folders if "__pycache__" not in folder and "node_modules" not in folder} <= tree()
