"""The manifests: what they name is there, they run what Compose runs, and nothing secret stands in them.

The schema is the part of KubeRay's, and of Kubernetes', that we use: a misspelt key is an error, here as there.
"""

from __future__ import annotations

import re
from typing import Any

import jsonschema
import pytest
import yaml

from paretoscope import __version__
from service.settings import Settings
from tests.deployment.compose import ROOT, load

Manifest = dict[str, Any]
FILE = ROOT / "docs" / "kubernetes" / "paretoscope.yaml"
MANIFESTS: dict[str, Manifest] = {each["kind"]: each for each in yaml.safe_load_all(FILE.read_text())}


def only(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    """An object with these keys and no others."""
    properties = {**required, **optional}
    return {"type": "object", "required": list(required), "additionalProperties": False, "properties": properties}


def many(inner: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": inner, "minItems": 1}


TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 0}
TEXTS = {"type": "object", "additionalProperties": TEXT}
SECRET = only({"secretKeyRef": only({"name": TEXT, "key": TEXT})})
VARIABLE = {"oneOf": [only({"name": TEXT, "value": TEXT}), only({"name": TEXT, "valueFrom": SECRET})]}
PROBE = only({"httpGet": only({"path": TEXT, "port": TEXT})}, periodSeconds=COUNT, failureThreshold=COUNT)
CLAIM = only({"claimName": TEXT})
FILES = only({"secretName": TEXT, "items": many(only({"key": TEXT, "path": TEXT})), "defaultMode": COUNT})
CONTAINER = only(
    {
        "name": TEXT,
        "image": TEXT,
        "imagePullPolicy": {"enum": ["IfNotPresent", "Always", "Never"]},
        "securityContext": only({"allowPrivilegeEscalation": {"const": False}, "capabilities": only({"drop": {}})}),
        "env": many(VARIABLE),
        "resources": only({"requests": TEXTS, "limits": TEXTS}),
    },
    command=many(TEXT),
    ports=many(only({"name": TEXT, "containerPort": COUNT})),
    volumeMounts=many(only({"name": TEXT, "mountPath": TEXT})),
    livenessProbe=PROBE,
    readinessProbe=PROBE,
)
POD = only(
    {
        "automountServiceAccountToken": {"const": False},
        "securityContext": only(
            {
                "runAsNonRoot": {"const": True},
                "runAsUser": {"const": 1000},
                "fsGroup": COUNT,
                "seccompProfile": only({"type": TEXT}),
            }
        ),
        "containers": many(CONTAINER),
    },
    enableServiceLinks={"type": "boolean"},
    volumes=many(
        {"oneOf": [only({"name": TEXT, "persistentVolumeClaim": CLAIM}), only({"name": TEXT, "secret": FILES})]}
    ),
)
GROUP = {"rayStartParams": TEXTS, "template": only({"spec": POD})}
SIZES = {"replicas": COUNT, "minReplicas": COUNT, "maxReplicas": COUNT}
RAY = only(
    {
        "rayVersion": TEXT,
        "headGroupSpec": only(GROUP, serviceType={"const": "ClusterIP"}),
        "workerGroupSpecs": many(only({"groupName": TEXT, **SIZES, **GROUP})),
    }
)


def containers() -> dict[str, Manifest]:
    ray = MANIFESTS["RayCluster"]["spec"]
    pods = {"ray-head": ray["headGroupSpec"], **{group["groupName"]: group for group in ray["workerGroupSpecs"]}}
    pods["service"] = MANIFESTS["Deployment"]["spec"]
    return {name: pod["template"]["spec"]["containers"][0] for name, pod in pods.items()}


def test_the_ray_cluster_has_what_the_operator_knows() -> None:
    jsonschema.validate(MANIFESTS["RayCluster"]["spec"], RAY, cls=jsonschema.Draft202012Validator)
    jsonschema.validate(MANIFESTS["Deployment"]["spec"]["template"]["spec"], POD)


def test_a_misspelt_key_is_an_error() -> None:
    spec = {**MANIFESTS["RayCluster"]["spec"], "headGroupSpecs": {}}
    with pytest.raises(jsonschema.ValidationError, match="headGroupSpecs"):
        jsonschema.validate(spec, RAY)


def test_every_role_runs_this_version() -> None:
    assert {each["image"] for each in containers().values()} == {f"paretoscope:{__version__}"}
    pinned = re.search(r"^ray==(\S+)", (ROOT / "requirements.lock").read_text(), re.M)
    assert pinned and MANIFESTS["RayCluster"]["spec"]["rayVersion"] == pinned[1]


def test_the_roles_run_what_compose_runs() -> None:
    services = load()["services"]
    head = MANIFESTS["RayCluster"]["spec"]["headGroupSpec"]["rayStartParams"]
    asked = {f"--{key}={value}" for key, value in head.items() if key != "num-cpus"}
    assert asked <= set(services["ray-head"]["command"]) and head["num-cpus"] == "0"
    assert containers()["service"]["command"] == services["service"]["command"]
    for role, ours in (("service", "service"), ("ray-head", "ray-head"), ("ray-worker", "cpu"), ("ray-worker", "gpu")):
        there = set(services[role]["environment"])
        assert {each["name"] for each in containers()[ours]["env"]} >= there - {"PARETOSCOPE_DATABASE_URL"}, ours


def test_settings_are_known_and_secrets_come_from_the_secret() -> None:
    known = {f"PARETOSCOPE_{name.upper()}" for name in Settings.model_fields}
    variables = containers()["service"]["env"]
    assert {"PARETOSCOPE_TOKEN", "PARETOSCOPE_RAY_URL"} & {variable["name"] for variable in variables}
    for variable in variables:
        assert variable["name"] in known
        assert ("valueFrom" in variable) == ("TOKEN" in variable["name"])
    made = set(re.findall(r"--from-literal=(\w+)=", (ROOT / "docs" / "kubernetes.md").read_text()))
    used = set(re.findall(r"secretKeyRef: {name: paretoscope, key: (\w+)}", FILE.read_text()))
    assert used == made == {"token", "auth_token"}


def test_where_trials_run_no_secret_is_in_the_environment() -> None:
    """Each of them has the environment of its pod: Ray's token is a file there."""
    ray = MANIFESTS["RayCluster"]["spec"]
    for group in (ray["headGroupSpec"], *ray["workerGroupSpecs"]):
        pod = group["template"]["spec"]
        [container], [volume] = pod["containers"], pod["volumes"]
        [mount], settings = container["volumeMounts"], {each["name"]: each["value"] for each in container["env"]}
        [item] = volume["secret"]["items"]
        assert settings["RAY_AUTH_MODE"] == "token" and item["key"] == "auth_token"
        assert settings["RAY_AUTH_TOKEN_PATH"] == f"{mount['mountPath']}/{item['path']}"
        assert mount["name"] == volume["name"] and volume["secret"]["secretName"] == "paretoscope"


def test_what_is_named_is_there() -> None:
    deployment, service = MANIFESTS["Deployment"], MANIFESTS["Service"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert labels == deployment["spec"]["selector"]["matchLabels"] == service["spec"]["selector"]
    settings = {each["name"]: each.get("value") for each in containers()["service"]["env"]}
    [port] = service["spec"]["ports"]
    assert settings["PARETOSCOPE_URL"] == f"http://{service['metadata']['name']}:{port['port']}"
    assert settings["PARETOSCOPE_RAY_URL"] == f"http://{MANIFESTS['RayCluster']['metadata']['name']}-head-svc:8265"
    [mount] = containers()["service"]["volumeMounts"]
    [volume] = deployment["spec"]["template"]["spec"]["volumes"]
    claim = MANIFESTS["PersistentVolumeClaim"]["metadata"]["name"]
    assert mount == {"name": volume["name"], "mountPath": settings["PARETOSCOPE_HOME"]}
    assert volume["persistentVolumeClaim"]["claimName"] == claim


def test_only_ray_the_operator_and_the_service_reach_rays_ports() -> None:
    policy = MANIFESTS["NetworkPolicy"]["spec"]
    cluster = {"ray.io/cluster": MANIFESTS["RayCluster"]["metadata"]["name"]}
    assert policy["podSelector"]["matchLabels"] == cluster and policy["policyTypes"] == ["Ingress"]
    [rule] = policy["ingress"]
    who = [each["podSelector"]["matchLabels"] for each in rule["from"]]
    service = MANIFESTS["Service"]["spec"]["selector"]
    assert who == [cluster, service, {"app.kubernetes.io/name": "kuberay-operator"}]
