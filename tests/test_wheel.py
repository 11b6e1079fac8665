"""The wheel carries everything the code reads, and runs without the checkout."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from urllib.parse import urljoin

import httpx
import pytest

import paretoscope
from tests.processes import Running, environment, free_port, short_home, until

ROOT = Path(__file__).parent.parent
PACKAGES = ("paretoscope", "service", "workers", "frontends")
READ = {".py", ".typed", ".html", ".js", ".css", ".svg", ".bib", ".txt"}
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"
DEMO_SECONDS = 270


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of the tree, so that nothing of an earlier build gets in."""
    copy, out = tmp_path_factory.mktemp("tree") / "paretoscope", tmp_path_factory.mktemp("dist")
    unbuilt = shutil.ignore_patterns(".*", "__pycache__", "tests", "docs", "build", "*.egg-info", "node_modules")
    shutil.copytree(ROOT, copy, ignore=unbuilt)
    command = [sys.executable, "-c", BUILD, str(out)]
    built = subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=120, check=False)
    assert built.returncode == 0, built.stderr
    return out / built.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and nothing else of ours.

    Its dependencies are those already on this machine, by a path: a path does not run the `.pth` files of the folder
    it names, and one of those is how the checkout gets into the environment of the tests. The command `ray` runs with
    the environment's own interpreter.
    """
    folder = tmp_path_factory.mktemp("environment")
    here = Path(sys.executable)
    commands: tuple[list[str], ...] = (
        [str(here), "-m", "venv", "--without-pip", str(folder)],
        [
            str(here.with_name("uv")),
            "pip",
            "install",
            "--offline",
            "--no-deps",
            "--python",
            f"{folder}/bin/python",
            str(wheel),
        ],
    )
    for command in commands:
        subprocess.run(command, capture_output=True, timeout=120, check=True)
    dependencies = dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
    (site(folder) / "dependencies.pth").write_text("\n".join(dependencies))
    (ray,) = metadata.entry_points(group="console_scripts", name="ray")
    script = folder / "bin" / "ray"
    script.write_text(
        f"#!{folder}/bin/python\nimport sys\nfrom {ray.module} import {ray.attr}\nsys.exit({ray.attr}())\n"
    )
    script.chmod(0o755)
    return folder


def site(installed: Path) -> Path:
    (folder,) = installed.glob("lib/python*/site-packages")
    return folder


def run(installed: Path, program: str, *arguments: str, seconds: float = 120, **settings: str) -> str:
    """A program of the environment, in an empty folder far from the checkout."""
    with short_home() as elsewhere:
        answer = subprocess.run(
            [installed / "bin" / program, *arguments],
            cwd=elsewhere,
            env=environment(**{"PARETOSCOPE_HOME": str(elsewhere), **settings}),
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


@pytest.fixture(scope="module")
def service(installed: Path) -> Iterator[Running]:
    """`python -m service` of the wheel, in an empty folder."""
    port = free_port()
    with short_home() as home:
        variables = environment(PARETOSCOPE_HOME=str(home), PARETOSCOPE_PORT=str(port))
        with (home / "service.log").open("wb") as log:
            process = subprocess.Popen(
                [installed / "bin/python", "-m", "service"],
                cwd=home,
                env=variables,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        running = Running(f"http://127.0.0.1:{port}", home, process)
        try:
            until(lambda: process.poll() is not None or answers(running.url), "the service answers")
            assert process.poll() is None, running.log()
            yield running
        finally:
            process.terminate()
            process.wait(timeout=20)


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=2, trust_env=False).is_success
    except httpx.HTTPError:
        return False


def test_the_wheel_has_every_file_that_the_code_reads_and_no_other(wheel: Path) -> None:
    tree = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.suffix in READ and "node_modules" not in path.parts
    }
    presets = {f"paretoscope/presets/{path.name}" for path in (ROOT / "configs").glob("*.yaml")}
    names = zipfile.ZipFile(wheel).namelist()
    carried = {name for name in names if ".dist-info/" not in name}
    assert carried == tree | presets and len(presets) > 10
    assert [name for name in names if name.endswith("licenses/LICENSE")]


def test_the_wheel_says_its_version_and_license(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("METADATA")]
        metadata = archive.read(name).decode()
    assert f"\nVersion: {paretoscope.__version__}\n" in metadata
    assert "\nLicense-Expression: Apache-2.0\n" in metadata


def test_everything_is_imported_from_the_wheel(installed: Path) -> None:
    code = "import paretoscope, frontends.cli.commands, service.app, workers.sending.files, workers.run_study, sys;"
    code += "from paretoscope import Client, Study, ClientError, __version__;"
    code += f"print(*[m.__file__ for n, m in sys.modules.items() if n.split('.')[0] in {PACKAGES}], *sys.path)"
    places = run(installed, "python", "-c", code).split()
    ours = [place for place in places if place.endswith(".py")]
    assert len(ours) > 50 and all(place.startswith(str(site(installed))) for place in ours)
    assert not [place for place in places if Path(place).resolve().is_relative_to(ROOT) and ".venv" not in place]


TYPED = """
from paretoscope import Client, ClientError, LeaseOver, Problem, Study

reveal_type(Client.submit)
reveal_type(Study.wait)
reveal_type(Study.ask)
reveal_type(ClientError("refused").status)
Client().submit(3)
"""
NOT_FOLLOWED = ("httpx", "pydantic", "service", "workers", "torch", "plotly", "pandas", "yaml")  # for speed alone


def test_what_people_import_is_typed_where_it_is_installed(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(TYPED)
    skipped = ",".join(f"mypy-{name},mypy-{name}.*" for name in NOT_FOLLOWED)
    (tmp_path / "mypy.ini").write_text(f"[mypy]\nstrict = True\n[{skipped}]\nfollow_imports = skip\n")
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--no-error-summary", "mine.py"]
    command += ["--python-executable", str(installed / "bin" / "python")]
    command += ["--cache-dir", str(ROOT / ".mypy_cache" / "installed")]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=280, check=False).stdout
    revealed = re.findall(r'Revealed type is "(.*)"', said)
    assert len(revealed) == 4, said
    submit, wait, ask, status = revealed
    assert re.fullmatch(
        r"def \(self: frontends\.client\.Client, spec: .*Mapping.*\) -> frontends\.study\.Study", submit
    )
    assert wait.endswith("-> frontends.study.Study") and ask.endswith("-> frontends.trial.Trial")
    assert status in ("int", "builtins.int")
    assert [line for line in said.splitlines() if "error" in line] == [
        line for line in said.splitlines() if 'Argument 1 to "submit" of "Client" has incompatible type "int"' in line
    ]


def test_the_demo_runs_from_the_wheel(installed: Path) -> None:
    """Ray, its workers and the service as well: all of them start with the environment's own interpreter."""
    printed = run(installed, "paretoscope", "demo", "--exit", "--json", seconds=DEMO_SECONDS)
    ended = json.loads(printed.splitlines()[-1])
    assert ended["study"]["state"] == "finished"
    trained = {arm["name"]: arm["counts"]["finished"] for arm in ended["comparison"]["arms"]}
    assert trained == {"manual β": 36, "MIB": 3, "all β at once": 3}
    assert all(name in ended["comparison"]["verdict"] for name in trained)


@pytest.mark.timeout(600)
def test_the_readme_s_tutorial_of_one_s_own_problem_runs_as_written(installed: Path) -> None:
    """In an empty folder, with the wheel: a front and a verdict of a problem that nobody here trained."""
    (tutorial,) = re.findall(r"## Your own problem.*?```\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    first, *lines = [line.partition("#")[0].strip() for line in tutorial.strip().splitlines()]
    assert (first, [line.split()[1] for line in lines]) == ("paretoscope up", ["new", "submit"])
    with short_home() as elsewhere:
        variables = environment(PARETOSCOPE_HOME=str(elsewhere / "home"))
        folder, printed = elsewhere / "empty", elsewhere / "up.log"
        folder.mkdir()
        with printed.open("wb") as log:
            command = ["sh", "-c", f"exec {installed}/bin/{first}"]
            up = subprocess.Popen(command, cwd=folder, env=variables, stdout=log, stderr=subprocess.STDOUT)
        try:
            until(lambda: up.poll() is not None or "is ready" in printed.read_text(), "the service is ready", 150)
            script = " && ".join(f"{installed}/bin/{line}" for line in lines)
            said = subprocess.run(
                ["sh", "-c", f"{script} --json"],
                cwd=folder,
                env=variables,
                capture_output=True,
                text=True,
                timeout=400,
                check=False,
            )
        finally:
            up.terminate()
            up.wait(timeout=60)
    assert said.returncode == 0, said.stdout + said.stderr
    ended = json.loads(said.stdout.splitlines()[-1])
    assert ended["study"]["counts"]["finished"] == ended["study"]["counts"]["planned"] == 21
    assert {arm["name"] for arm in ended["comparison"]["arms"]} == {"by hand", "UPGrad", "MGDA"}
    assert "by hand" in ended["comparison"]["verdict"]


def test_its_command_line_lists_the_presets_of_its_service(service: Running, installed: Path) -> None:
    printed = run(installed, "paretoscope", "presets", PARETOSCOPE_URL=service.url)
    names = [path.stem for path in (ROOT / "configs").glob("*.yaml")]
    assert set(names) <= set(printed.split())


def imported(package: str) -> set[str]:
    """The modules that a package imports wherever it does, but for those it can do without."""
    found: set[str] = set()
    for path in (ROOT / package).rglob("*.py"):
        tree = ast.parse(path.read_text())
        spared = {
            id(inner)
            for node in ast.walk(tree)
            if (isinstance(node, ast.Try) and any("ImportError" in ast.unparse(h) for h in node.handlers))
            or (isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"))
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            if id(node) not in spared and isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif id(node) not in spared and isinstance(node, ast.ImportFrom):
                found.add(str(node.module).partition(".")[0])
    return found - set(sys.stdlib_module_names) - set(PACKAGES)


def required(distribution: str) -> set[str]:
    """The distributions that one asks for, whatever the extra, by their plain names."""
    lines = metadata.requires(distribution) or []
    return {plain(re.split(r"[^\w.-]", line, maxsplit=1)[0]) for line in lines}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_what_is_imported_is_a_dependency_or_comes_with_one(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("METADATA")]
        asked = re.findall(r"^Requires-Dist: ([\w.-]+)(?!.*extra ==)", archive.read(name).decode(), re.MULTILINE)
    direct = set(map(plain, asked))
    there = direct.union(*map(required, direct))
    homes = metadata.packages_distributions()
    modules = set().union(*map(imported, PACKAGES))
    assert {"ray", "torch", "fastapi", "optuna"} <= modules
    assert not [module for module in sorted(modules) if not there & set(map(plain, homes.get(module, [])))]


def test_every_asset_of_the_page_is_served(service: Running, installed: Path) -> None:
    """Followed as a browser does: from the page to its scripts and styles, and on to what those import."""
    left, seen = ["/"], set[str]()
    while left:
        address = left.pop()
        if address in seen:
            continue
        seen.add(address)
        answer = httpx.get(service.url + address, timeout=30, trust_env=False)
        assert answer.status_code == 200, address
        if "plotly" in address or address.endswith(".svg"):
            continue
        pattern = r'(?:src|href)="([^"#:]+)"' if address == "/" else r'(?:from|import)\s*\(?\s*"([./][^"\s]+\.js)"'
        linked = [urljoin(address, target) for target in re.findall(pattern, answer.text)]
        left += [target for target in linked if address != "/" or target.startswith("/assets/")]
    modules = {path.name for path in (site(installed) / "frontends/dashboard").rglob("*.js")}
    assert {Path(address).name for address in seen} >= modules - {"plotly.min.js"}
