"""The deployment: what its files promise, and its commands on this machine, as no Docker engine is needed for them."""

from __future__ import annotations

import platform
import re
import secrets
from collections.abc import Iterator
from typing import Any

import httpx
import jsonschema
import pytest

from frontends.client import Client, Study
from service.settings import Settings
from tests.deployment.compose import (
    ADDRESSES,
    ROOT,
    VARIABLE,
    Moved,
    Started,
    ended_afterwards,
    interpolate,
    load,
    start,
    write_secrets,
)
from tests.postgres import Server
from tests.processes import free_port, short_home, until

FILES = ["docker-compose.yml", "docker-compose.gpu.yml"]
VARIABLES = {
    "PARETOSCOPE_TOKEN": "a-token-of-the-service",
    "PARETOSCOPE_RAY_TOKEN": secrets.token_hex(32),
    "PARETOSCOPE_DATABASE_PASSWORD": secrets.token_hex(32),
    "PARETOSCOPE_HEAD_CPUS": "1",
    "PARETOSCOPE_WORKER_CPUS": "1",
}

HEALTHY_SECONDS = 90.0  # as in the file; a machine that is not busy needs ten
SECONDS = 400.0  # of a study on a machine that is very busy; else some twenty
patient = pytest.mark.timeout(900)

TEXTS = {"type": "array", "items": {"type": "string"}, "minItems": 1}
DURATION = {"type": "string", "pattern": r"^\d+(ms|s|m)$"}
# The part of the Compose specification that we use: a misspelt key is an error, here as there.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["services"],
    "additionalProperties": False,
    "patternProperties": {"^x-": {}},
    "properties": {
        "volumes": {"type": "object", "additionalProperties": {"type": ["object", "null"]}},
        "secrets": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["environment"],
                "additionalProperties": False,
                "properties": {"environment": {"type": "string"}},
            },
        },
        "services": {"type": "object", "additionalProperties": {"$ref": "#/$defs/service"}},
    },
    "$defs": {
        "service": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "build": {"const": "."},
                "image": {"type": "string", "pattern": r"^[a-z]+(:\d+)?$"},
                "user": {"type": "string"},
                "pull_policy": {"const": "build"},
                "init": {"type": "boolean"},
                "restart": {"enum": ["no", "always", "on-failure", "unless-stopped"]},
                "cap_drop": TEXTS,
                "security_opt": TEXTS,
                "shm_size": {"type": "string", "pattern": r"^\d+(mb|gb)$"},
                "cpus": {"type": ["number", "string"]},
                "command": TEXTS,
                "environment": {"type": "object", "additionalProperties": {"type": "string"}},
                "secrets": TEXTS,
                "ports": TEXTS,
                "volumes": TEXTS,
                "depends_on": {
                    "type": "object",
                    "additionalProperties": {
                        "type": "object",
                        "required": ["condition"],
                        "additionalProperties": False,
                        "properties": {"condition": {"const": "service_healthy"}},
                    },
                },
                "healthcheck": {
                    "type": "object",
                    "required": ["test"],
                    "additionalProperties": False,
                    "properties": {
                        "test": {**TEXTS, "prefixItems": [{"const": "CMD"}]},
                        "retries": {"type": "integer"},
                        **dict.fromkeys(("interval", "timeout", "start_period"), DURATION),
                    },
                },
                "deploy": {
                    "type": "object",
                    "additionalProperties": {
                        "type": "object",
                        "additionalProperties": {
                            "type": "object",
                            "additionalProperties": False,
                            "properties": {"devices": {"type": "array", "items": {"$ref": "#/$defs/device"}}},
                        },
                        "propertyNames": {"const": "reservations"},
                    },
                    "propertyNames": {"const": "resources"},
                },
            },
        },
        "device": {
            "type": "object",
            "required": ["capabilities"],
            "additionalProperties": False,
            "properties": {
                "driver": {"type": "string"},
                "count": {"type": ["string", "integer"]},
                "capabilities": TEXTS,
            },
        },
    },
}


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    return dict(load()["services"])


@pytest.mark.parametrize("name", FILES)
def test_the_file_follows_the_specification(name: str) -> None:
    jsonschema.validate(load(name), SCHEMA, cls=jsonschema.Draft202012Validator)


def test_every_role_is_built_here_watched_and_restarted(services: dict[str, dict[str, Any]]) -> None:
    assert set(services) == {"postgres", "ray-head", "ray-worker", "service"}
    for name, service in services.items():
        assert service.get("pull_policy") == "build" or (name, service["image"]) == ("postgres", "postgres:15")
        assert service["restart"] == "unless-stopped" and service["init"] is True
        assert service["cap_drop"] == ["ALL"] and service["security_opt"] == ["no-new-privileges:true"]
        assert len(service["healthcheck"]["test"]) > 1


def test_what_is_waited_for_and_stored_is_declared(services: dict[str, dict[str, Any]]) -> None:
    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
    volumes = [volume.split(":")[0] for service in services.values() for volume in service.get("volumes", [])]
    assert sorted(volumes) == sorted(load()["volumes"])
    assert "postgres" in services["service"]["depends_on"]
    assert f":{services['service']['environment']['PARETOSCOPE_HOME']}" in services["service"]["volumes"][0]
    assert {"ray-worker", "service"} <= {
        name for name in services if "ray-head" in services[name].get("depends_on", {})
    }


def test_only_the_service_is_published_and_only_on_loopback(services: dict[str, dict[str, Any]]) -> None:
    assert [name for name in services if "ports" in services[name]] == ["service"]
    assert services["service"]["ports"] == ["127.0.0.1:${PARETOSCOPE_PORT:-8000}:8000"]


@pytest.mark.parametrize("secret", ["PARETOSCOPE_TOKEN", "PARETOSCOPE_RAY_TOKEN", "PARETOSCOPE_DATABASE_PASSWORD"])
def test_nothing_starts_without_its_tokens(secret: str) -> None:
    with pytest.raises(KeyError, match=secret):
        interpolate(load(), {key: value for key, value in VARIABLES.items() if key != secret})


def test_the_readme_starts_it_with_all_that_it_asks_for() -> None:
    blocks = re.findall(r"^```\w*\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    [block] = [block for block in blocks if "docker compose" in block]
    assert block.startswith("cp .env.example .env ")
    example = (ROOT / ".env.example").read_text()
    assert interpolate(load(), dict.fromkeys(re.findall(r"^(\w+)=$", example, re.MULTILINE), "x"))


def test_no_secret_is_written_down(services: dict[str, dict[str, Any]]) -> None:
    environment = [pair for service in services.values() for pair in service["environment"].items()]
    tokens = {key: value for key, value in environment if re.search("TOKEN|PASSWORD|SECRET|KEY", key)}
    address = services["service"]["environment"]["PARETOSCOPE_DATABASE_URL"]
    assert re.fullmatch(
        r"postgresql://paretoscope:\$\{PARETOSCOPE_DATABASE_PASSWORD:\?[^}]+\}@postgres/paretoscope", address
    )
    assert tokens.pop("RAY_AUTH_TOKEN_PATH") == "/run/secrets/ray-token"
    assert set(tokens) == {"PARETOSCOPE_TOKEN", "PARETOSCOPE_RAY_TOKEN", "POSTGRES_PASSWORD"}
    for value in tokens.values():
        variable = VARIABLE.fullmatch(value)
        assert variable and variable["kind"] == "?" and variable["rest"]
    assert all(services[name]["environment"]["RAY_AUTH_MODE"] == "token" for name in ("ray-head", "ray-worker"))
    example = dict(re.findall(r"^(\w+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE))
    secret = ("PARETOSCOPE_TOKEN", "PARETOSCOPE_RAY_TOKEN", "PARETOSCOPE_DATABASE_PASSWORD")
    assert example == dict.fromkeys(secret, "")


@pytest.mark.parametrize("name", ["ray-head", "ray-worker"])
def test_where_trials_run_no_secret_is_in_the_environment(services: dict[str, dict[str, Any]], name: str) -> None:
    """Each of them has the environment of its node: Ray's token is a file there."""
    assert not [value for value in services[name]["environment"].values() if VARIABLE.search(value)]
    assert services[name]["secrets"] == ["ray-token"]
    (variable,) = (secret["environment"] for secret in load()["secrets"].values())
    needed = VARIABLE.fullmatch(services["service"]["environment"][variable])
    assert needed and needed["kind"] == "?", "Compose takes an empty one for a secret, but not there"


def test_every_variable_is_explained_in_the_example() -> None:
    used = {match["name"] for name in FILES for match in VARIABLE.finditer((ROOT / name).read_text())}
    assert used == set(re.findall(r"^#?(\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))


def test_the_service_knows_every_setting_it_is_given(services: dict[str, dict[str, Any]]) -> None:
    known = {f"PARETOSCOPE_{name.upper()}" for name in Settings.model_fields}
    assert set(services["service"]["environment"]) <= known


def test_the_gpu_file_only_adds_devices_to_a_worker(services: dict[str, dict[str, Any]]) -> None:
    (name, added), *others = load("docker-compose.gpu.yml")["services"].items()
    assert name in services and not others and set(added) == {"deploy"}


def test_the_image_is_locked_and_runs_without_root() -> None:
    text = (ROOT / "Dockerfile").read_text()
    assert re.findall(r"^FROM (.*)$", text, re.MULTILINE) == ["python:3.11-slim"]
    assert "--require-hashes -r /app/requirements.lock" in text
    assert re.findall(r"^USER (.*)$", text, re.MULTILINE)[-1] not in ("root", "0")


def test_the_image_gets_every_package_and_nothing_private() -> None:
    allowed = set(re.findall(r"^!(.*)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE))
    assert {"pyproject.toml", "requirements.lock", "configs", "paretoscope", "service"} <= allowed
    assert {"workers", "frontends", "setup.py", "README.md", "LICENSE"} <= allowed
    assert not allowed & {".env", ".git", ".venv", "tests"}


@pytest.fixture(scope="module")
def deployment(postgres: Server) -> Iterator[dict[str, Started]]:
    """The services of the file, those first for which the others wait; PostgreSQL is Debian's."""
    services = interpolate(load()["services"], VARIABLES)
    ports = {port: free_port() for port in ("6379", "8265", "10001", "8000")}
    with postgres.database() as url, short_home() as home, ended_afterwards(home) as running:
        secret_files = write_secrets(home / "secrets", VARIABLES)
        services["service"]["environment"] |= {"PARETOSCOPE_DATABASE_URL": url, "PARETOSCOPE_SAVE_SECONDS": "0.5"}
        for wave in (["ray-head"], ["ray-worker", "service"]):
            healthy = {started.name for started in running}
            for name in wave:
                assert set(services[name].get("depends_on", {})) - {"postgres"} == healthy
                moved = Moved(
                    name, {**ports, "52365": free_port()}, {"/var/lib/paretoscope": home, "/run/secrets": secret_files}
                )
                added = ["--num-gpus=1"] if name == "ray-worker" else []  # which Ray finds where there are any
                running.append(start(services[name], moved, home, *added, DASHBOARD_METRIC_PORT=str(free_port())))
            for started in running:
                started.wait_until_healthy(HEALTHY_SECONDS)
        yield {started.name: started for started in running}


def _address(deployment: dict[str, Started], name: str) -> str:
    return deployment["service"].environment[name]


@pytest.fixture
def client(deployment: dict[str, Started]) -> Iterator[Client]:
    with Client(_address(deployment, "PARETOSCOPE_URL"), VARIABLES["PARETOSCOPE_TOKEN"]) as client:
        yield client


def _host(name: str) -> str:
    return f"{platform.node()}/{ADDRESSES[name]}"


def _study(client: Client, epochs: int, arm: dict[str, Any], **resources: float) -> Study:
    spec = {
        "name": "on a cluster",
        "model": {"name": "mlp", "widths": [16], "latent": 4},
        "training": {"epochs": epochs, "batch_size": 256},
        "evaluation": {"every": 200},
        "arms": [{"name": "β", **arm}],
        "resources": resources,
    }
    return client.submit(spec)


def _finished(study: Study) -> list[dict[str, Any]]:
    """Its trials when it has ended, each with its weights."""
    study.wait(timeout=SECONDS)
    trials = [study.trial(trial["id"]) for trial in study.trials()]
    assert {trial["state"] for trial in trials} == {"finished"}
    assert all(len(study.checkpoint(trial["id"])) == trial["artifacts"]["checkpoint"] > 1000 for trial in trials)
    return trials


@patient
def test_a_gpu_is_shared_by_as_many_trials_as_its_fractions_allow(client: Client) -> None:
    """Its one CPU has room for four of them, and the other node for four more."""
    arm = {"weighting": {"name": "fixed", "beta": {"grid": [0.001, 0.01, 0.1, 1.0]}}}
    study = _study(client, 200, arm, cpus=0.25, gpus=0.5, cohort=1)
    trials = _finished(study)
    assert len(trials) == 4 and {trial["host"] for trial in trials} == {_host("ray-worker")}, "the head has no GPU"
    at_once = [
        sum(other["started_at"] <= trial["started_at"] < other["ended_at"] for other in trials) for trial in trials
    ]
    assert max(at_once) == 2, "halves of one GPU"
    assert all("GPU of Ray: 0" in "\n".join(trial["log"]) for trial in trials)


@patient
def test_both_nodes_save_and_when_one_dies_the_other_goes_on_with_its_states(
    deployment: dict[str, Started], client: Client
) -> None:
    """One cohort on each node's one CPU; then all that is left fits on the head alone."""
    arm = {"weighting": {"name": "fixed", "beta": {"grid": [0.001, 0.1]}}}
    study = _study(client, 1500, arm | {"training": {"learning_rate": {"grid": [0.003, 0.03]}}}, cpus=1, cohort=2)
    saved: dict[str, int] = {}  # the last epoch that was saved, by trial

    def both_have_saved() -> bool:
        hosts = {trial["id"]: trial["host"] for trial in study.trials()}
        for cohort in client.request("GET", f"/api/studies/{study.id}/cohorts")["cohorts"]:
            saved.update(dict.fromkeys(cohort["members"], cohort["epoch"]))
        return {hosts[trial] for trial in saved} == {_host("ray-head"), _host("ray-worker")}

    until(both_have_saved, "a state from each node", SECONDS)
    there = [trial["id"] for trial in study.trials() if trial["host"] == _host("ray-worker")]
    deployment["ray-worker"].kill()
    assert len(there) == 2 and not study.trial(there[0])["ended_at"], "in the middle of its training"
    trials = _finished(study)
    assert {trial["host"] for trial in trials} == {_host("ray-head")}
    assert {len(trial["reports"]) for trial in trials} == {1500}, "every epoch once"
    again = {event["trial"]: event["epoch"] for event in study.events() if event.get("epoch")}
    assert set(again) == set(there) and all(again[trial] >= saved[trial] for trial in there), "from its saved state"


@pytest.mark.parametrize(
    ("address", "path"), [("PARETOSCOPE_URL", "/api/studies"), ("PARETOSCOPE_RAY_URL", "/api/jobs/")]
)
def test_neither_the_service_nor_ray_answers_without_a_token(
    deployment: dict[str, Started], address: str, path: str
) -> None:
    answer = httpx.get(_address(deployment, address) + path, timeout=10, trust_env=False)
    assert answer.status_code == httpx.codes.UNAUTHORIZED
