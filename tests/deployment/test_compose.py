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


def test_no_secret_is_written_down(services: dict[str, dict[str, Any]]) -> None:
    environment = [pair for service in services.values() for pair in service["environment"].items()]
    tokens = {key: value for key, value in environment if re.search("TOKEN|PASSWORD|SECRET|KEY", key)}
    address = services["service"]["environment"]["PARETOSCOPE_DATABASE_URL"]
    assert re.fullmatch(
        r"postgresql://paretoscope:\$\{PARETOSCOPE_DATABASE_PASSWORD:\?[^}]+\}@postgres/paretoscope", address
    )
    assert set(tokens) == {"RAY_AUTH_TOKEN", "PARETOSCOPE_TOKEN", "PARETOSCOPE_RAY_TOKEN", "POSTGRES_PASSWORD"}
    for value in tokens.values():
        variable = VARIABLE.fullmatch(value)
        assert variable and variable["kind"] == "?" and variable["rest"]
    assert all(services[name]["environment"]["RAY_AUTH_MODE"] == "token" for name in ("ray-head", "ray-worker"))
    example = dict(re.findall(r"^(\w+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE))
    secret = ("PARETOSCOPE_TOKEN", "PARETOSCOPE_RAY_TOKEN", "PARETOSCOPE_DATABASE_PASSWORD")
    assert example == dict.fromkeys(secret, "")


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
        services["service"]["environment"]["PARETOSCOPE_DATABASE_URL"] = url
        for wave in (["ray-head"], ["ray-worker", "service"]):
            healthy = {started.name for started in running}
            for name in wave:
                assert set(services[name].get("depends_on", {})) - {"postgres"} == healthy
                moved = Moved(name, {**ports, "52365": free_port()}, {"/var/lib/paretoscope": home})
                running.append(start(services[name], moved, home, DASHBOARD_METRIC_PORT=str(free_port())))
            for started in running:
                started.wait_until_healthy(HEALTHY_SECONDS)
        yield {started.name: started for started in running}


def _address(deployment: dict[str, Started], name: str) -> str:
    return deployment["service"].environment[name]


def test_a_study_is_trained_on_both_nodes(deployment: dict[str, Started], spec: dict[str, Any]) -> None:
    # Three cohorts, each longer than it takes the slower node to start its worker, so that both get one.
    spec |= {"resources": {"cpus": 1, "concurrency": 2, "cohort": 2}, "evaluation": {"every": 200}}
    spec["training"] = {**spec["training"], "epochs": 1500}
    headers = {"Authorization": f"Bearer {VARIABLES['PARETOSCOPE_TOKEN']}"}
    url = _address(deployment, "PARETOSCOPE_URL")
    with httpx.Client(base_url=url, headers=headers, timeout=30, trust_env=False) as client:
        answer = client.post("/api/studies", json=spec)
        assert answer.is_success, answer.text
        path = f"/api/studies/{answer.json()['id']}"
        until(lambda: client.get(path).json()["state"] not in ("queued", "running"), "the study ends", 200)
        assert client.get(path).json()["state"] == "finished"
        trials = client.get(f"{path}/trials").json()["trials"]
    assert {trial["state"] for trial in trials} == {"finished"}
    assert {trial["host"] for trial in trials} == {
        f"{platform.node()}/{ADDRESSES[name]}" for name in ("ray-head", "ray-worker")
    }


@pytest.mark.parametrize(
    ("address", "path"), [("PARETOSCOPE_URL", "/api/studies"), ("PARETOSCOPE_RAY_URL", "/api/jobs/")]
)
def test_neither_the_service_nor_ray_answers_without_a_token(
    deployment: dict[str, Started], address: str, path: str
) -> None:
    answer = httpx.get(_address(deployment, address) + path, timeout=10, trust_env=False)
    assert answer.status_code == httpx.codes.UNAUTHORIZED
