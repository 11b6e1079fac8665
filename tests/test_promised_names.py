"""Every name that users were promised is there: names are added, and one leaves these lists only with a reason."""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.main import get_command

import paretoscope
from frontends.cli.commands import app, run
from frontends.client import Client, ClientError
from frontends.study import Study
from frontends.trial import Trial
from service.contract.catalog import catalog
from service.contract.metrics import FAMILIES, SINGLE
from service.contract.study.parsing import parse_study
from service.contract.wire.events import KINDS, StudyState, TrialState
from service.contract.wire.tokens import SCOPES
from service.figures import FIGURES
from workers.own_code.trial import Saved
from workers.own_code.trial import Trial as OwnTrial

ROOT = Path(__file__).parent.parent
OPENAPI: dict[str, Any] = json.loads((ROOT / "tests" / "golden" / "answers" / "openapi.json").read_text())
STUDY, TRIAL = "/api/studies/{study_id}", "/api/studies/{study_id}/trials/{trial_id}"


def words(text: str) -> list[str]:
    return text.split()


# HTTP

CALLS: dict[str, str] = {  # with the parameters of their queries and headers
    "POST /api/studies": "Idempotency-Key",
    "GET /api/studies": "state limit after",
    f"GET {STUDY}": "",
    f"PATCH {STUDY}": "",
    f"DELETE {STUDY}": "",
    f"POST {STUDY}/pause": "",
    f"POST {STUDY}/resume": "",
    f"POST {STUDY}/cancel": "",
    f"POST {STUDY}/extend": "",
    f"POST {STUDY}/retry": "",
    f"GET {STUDY}/trials": "arm state front sort limit after",
    f"GET {TRIAL}": "",
    f"GET {TRIAL}/checkpoint": "",
    f"GET {STUDY}/front": "x y",
    f"GET {STUDY}/comparison": "",
    f"GET {STUDY}/events": "Last-Event-ID",
    f"GET {STUDY}/figures/{{name}}": "studies",
    "GET /api/figures": "",
    f"GET {STUDY}/export": "format",
    f"GET {STUDY}/report": "",
    f"POST {STUDY}/reports": "",
    f"POST {STUDY}/ask": "",
    "POST /api/code": "",
    "GET /api/code/{code_hash}": "",
    "GET /api/tokens": "",
    "POST /api/tokens": "",
    "DELETE /api/tokens/{token_id}": "",
    "GET /api/catalog": "",
    "GET /api/presets": "",
    "GET /healthz": "",
    "GET /readyz": "",
    "GET /metrics": "",
}


def operation(call: str) -> dict[str, Any]:
    method, path = call.split()
    found: dict[str, Any] = OPENAPI["paths"][path][method.lower()]
    return found


@pytest.mark.parametrize("call", CALLS)
def test_a_promised_call_is_there_with_its_parameters(call: str) -> None:
    assert {each["name"] for each in operation(call).get("parameters", [])} >= set(words(CALLS[call]))


def test_exports_have_the_promised_formats() -> None:
    (kind,) = (each["schema"] for each in operation(f"GET {STUDY}/export")["parameters"] if each["name"] == "format")
    assert set(kind["enum"]) >= {"csv", "json", "parquet"}


class Shape(NamedTuple):
    """Fields of an answer, those of an item after a dot."""

    call: str
    fields: str


SHAPES = {
    "study": Shape(
        f"GET {STUDY}",
        """id name state spec created_at started_at ended_at reason counts.planned counts.running counts.finished
        counts.failed progress eta_seconds arms.name arms.counts arms.hypervolume""",
    ),
    "studies": Shape("GET /api/studies", "studies.id studies.name studies.state studies.counts next"),
    "trials": Shape(
        f"GET {STUDY}/trials",
        """trials.id trials.arm trials.seed trials.state trials.reason trials.collapsed trials.on_front trials.config
        trials.metrics trials.training_seconds next""",
    ),
    "trial": Shape(f"GET {TRIAL}", "id arm seed state metrics config reports"),
    "front": Shape(
        f"GET {STUDY}/front",
        """x y goals reference_point hypervolume points.trial points.arm points.x points.y points.where arms.name
        arms.hypervolume arms.points""",
    ),
    "reports": Shape(f"POST {STUDY}/reports", "accepted duplicates"),
    "comparison": Shape(
        f"GET {STUDY}/comparison",
        """baseline objectives verdict pairs arms.name arms.counts arms.hypervolume.mean arms.hypervolume.half_width
        arms.hypervolume.seeds arms.hypervolume.by_seed arms.epsilon arms.igd_plus arms.front_share arms.best
        arms.training_seconds arms.distance.mean arms.distance.half_width arms.distance.seeds arms.matched
        arms.dominated arms.amounts_to""",
    ),
    "catalog": Shape(
        "GET /api/catalog",
        """data.name data.doc data.schema models problems rates weightings searches attacks estimators figures""",
    ),
    "handed trial": Shape(f"POST {STUDY}/ask", "trial arm config seed"),
}


def part(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """What stands under a name in an answer, or in each item of a list; KeyError where nothing does."""
    if "$ref" in schema:
        return part(OPENAPI["components"]["schemas"][schema["$ref"].rpartition("/")[2]], name)
    if "items" in schema:
        return part(schema["items"], name)
    if "anyOf" in schema:
        kinds = [kind for kind in schema["anyOf"] if kind.get("type") != "null"]
        return part(kinds[0], name)
    found: dict[str, Any] = schema["properties"][name]
    return found


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_an_answer_has_the_promised_fields(shape: Shape) -> None:
    responses = operation(shape.call)["responses"]
    answer = next(responses[code] for code in ("200", "201") if code in responses)["content"]["application/json"]
    for path in words(shape.fields):
        schema = answer["schema"]
        for name in path.split("."):
            schema = part(schema, name)


def test_errors_have_the_promised_shape() -> None:
    refused = operation(f"GET {STUDY}")["responses"]["404"]["content"]["application/json"]["schema"]
    for path in ("error.code", "error.message", "error.details.path", "error.details.message"):
        schema = refused
        for name in path.split("."):
            schema = part(schema, name)


# Words

EVENTS = """study_queued study_started trial_started report trial_finished trial_failed study_paused study_resumed
study_finished study_failed study_cancelled"""
METRICS = """epoch seconds i_xz_bits i_zy_bits accuracy train_accuracy generalization_gap"""
PLACES = """loss_ weight_ robust_ accuracy_ cosine_ gradient_norm_"""  # before the name of a term, an attack, a task
NAMES = {
    "weightings": """fixed uniform target-rate mib arml mgb blending conditional fvib mgda upgrad pcgrad cagrad
    nash-mtl imtl-g aligned-mtl fairgrad uw dwa famo imtl-l stch""",
    "attacks": "fgsm pgd mifgsm nifgsm eotpgd upgd jitter",
    "data": "digits fashion-mnist mnist cifar10 svhn celeba gaussian toy",
    "searches": "grid optuna fill",
    "problems": "bottleneck multitask",
    "rates": "vib nib none",
}
DRAWN = """information-plane pareto-front hypervolume-cost attainment beta-sensitivity robustness learning-curves
weight-paths parallel-coordinates importance latent-map"""


def test_events_states_and_scopes_have_their_names() -> None:
    assert set(KINDS) >= set(words(EVENTS))
    assert {*StudyState} >= {"queued", "running", "paused", "finished", "failed", "cancelled"}
    assert {*TrialState} >= {"planned", "running", "finished", "failed", "stopped"}
    assert {*SCOPES} >= {"read", "write", "code", "ingest", "admin"}


def test_metrics_have_their_names() -> None:
    assert set(SINGLE) >= set(words(METRICS))
    families = " ".join(family.name for family in FAMILIES)
    assert [place for place in words(PLACES) if place not in families] == []


@pytest.mark.parametrize("kind", NAMES)
def test_methods_have_their_names(kind: str) -> None:
    assert {entry.name for entry in getattr(catalog([]), kind)} >= set(words(NAMES[kind]))


def test_figures_have_their_names() -> None:
    assert set(FIGURES) >= set(words(DRAWN))


# A study that has every key of the promise; it is valid.
PROMISED = """
name: manual beta versus MIB
data: {name: digits, train_fraction: 0.5, noise: 0.1, validation_fraction: 0.1, draw: per-seed}
model: {name: mlp, widths: [64, 64], latent: 16}
training: {epochs: 20, batch_size: 128, learning_rate: 1.0e-3, optimizer: adam}
seeds: [0, 1, 2]
objectives:
  - {metric: i_xz_bits, goal: minimize}
  - {metric: i_zy_bits, goal: maximize}
arms:
  - name: manual β
    problem: {name: bottleneck, rate: vib}
    weighting: {name: fixed, beta: {grid: {from: 1.0e-4, to: 1.0, count: 12, scale: log}}}
  - name: MIB
    problem: {name: bottleneck, rate: vib}
    weighting: {name: mib, mu: 0.2, power: 2}
  - name: target rates
    weighting: {name: target-rate, rate_bits: {grid: [1, 2]}}
  - name: tuned VIB
    problem: {name: bottleneck, rate: vib, transform: square}
    weighting: {name: fixed, beta: {range: {from: 1.0e-5, to: 1.0, scale: log}}}
    search: {name: optuna, sampler: nsga2, trials: 40}
  - name: filled
    weighting: {name: fixed, beta: {range: {from: 1.0e-5, to: 1.0, scale: log}}}
    search: {name: fill, trials: 12, tolerance: 0.3}
evaluation: {attacks: [{name: pgd, epsilon: 0.03}], every: 5, gradients: true}
resources: {cpus: 1, gpus: 0, concurrency: 2}
limits: {seconds: 3600, trials: 500}
selection: validation
baseline: manual β
constraints: [{metric: accuracy, at_least: 0.9}]
stopping: {name: halving, keep: 0.33, first: 5}
problem: {name: bottleneck, rate: vib}
"""
SEVERAL_TASKS = """
name: several tasks
data: {name: digits, labels: 100}
problem: {name: multitask, main: class, auxiliaries: [rotation, random-labels, coarse-class, exemplar, reconstruction]}
arms: [{name: equal, weighting: {name: uniform}}]
"""
KNOWN = """
name: a known front
data: {name: gaussian, correlations: [0.95, 0.8]}
limits: {training_seconds: 60, gain: 0.005, patience: 2}
arms: [{name: manual β, weighting: {name: fixed, beta: {grid: {from: 1.0e-3, to: 1, count: 50, scale: log}}}}]
"""


@pytest.mark.parametrize("text", [PROMISED, SEVERAL_TASKS, KNOWN])
def test_a_study_of_promised_keys_is_valid(text: str) -> None:
    parse_study(text, "yaml")


@pytest.mark.parametrize("sampler", words("tpe nsga2 nsga3 gp qmc random"))
def test_a_sampler_has_its_name(sampler: str) -> None:
    parse_study(PROMISED.replace("nsga2", sampler), "yaml")


# Command line and Python

COMMANDS = """up demo submit watch list show pause resume cancel extend export report presets data"""
OPTIONS = {"up": "--host --port --home --no-token", "demo": "--exit --json", "submit": "--watch --json"}
VARIABLES = "PARETOSCOPE_URL PARETOSCOPE_TOKEN"
FOR_MACHINES = words("list show pause resume cancel extend export report presets watch")


def options(command: str) -> set[str]:
    made = getattr(get_command(app), "commands", {})[command]
    return {option for each in made.params for option in (*each.opts, *each.secondary_opts)}


def test_commands_have_their_names_and_options() -> None:
    assert set(getattr(get_command(app), "commands", {})) >= set(words(COMMANDS))
    for command, promised in OPTIONS.items():
        assert options(command) >= set(words(promised)), command
    for command in FOR_MACHINES:
        assert options(command) >= {"--json", "--url", "--token"}, command


def test_variables_have_their_names() -> None:
    variables = {each.envvar for each in getattr(get_command(app), "commands", {})["list"].params}
    assert variables >= set(words(VARIABLES))
    assert "PARETOSCOPE_HOME" in {each.envvar for each in getattr(get_command(app), "commands", {})["up"].params}


def refusing(status: int) -> Callable[[], None]:
    def command() -> None:
        raise ClientError("refused", status)

    return command


@pytest.mark.parametrize(("command", "code"), [(lambda: None, 0), (refusing(503), 1), (refusing(422), 2)])
def test_exit_codes_mean_what_they_did(command: Callable[[], None], code: int) -> None:
    assert run(command) == code


MEMBERS: dict[type, str] = {
    Client: "submit study",
    Study: "wait front ask trials comparison",
    Trial: "report should_stop",
    paretoscope.Problem: "terms metrics data model losses measure",
    OwnTrial: "report save should_stop",
}


@pytest.mark.parametrize("kind", MEMBERS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_a_class_has_its_promised_members(kind: type) -> None:
    assert [name for name in words(MEMBERS[kind]) if not hasattr(kind, name)] == []


def test_a_trial_of_a_script_carries_what_was_promised(tmp_path: Path) -> None:
    trial = OwnTrial(1, {"depth": 4}, tmp_path, [], Saved(None, 0, 0.0), lambda said: None, time.monotonic)
    assert (trial.seed, trial.config, trial.folder, trial.saved) == (1, {"depth": 4}, tmp_path, None)


def test_parameters_that_people_write_have_their_names() -> None:
    assert "arm" in inspect.signature(Study.ask).parameters
    assert list(inspect.signature(paretoscope.trainable).parameters) == ["metrics"]
    assert {"goal", "unit", "reference", "doc"} <= set(inspect.signature(paretoscope.Metric).parameters)
    for method, asked in (("data", ["seed"]), ("losses", ["model", "batch"]), ("measure", ["model", "batch"])):
        assert list(inspect.signature(getattr(paretoscope.Problem, method)).parameters) == ["self", *asked]
