"""What is in `docs/findings`: kept studies, and the studies that are run for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from findings.finding import Finding, finding_text
from service.contract.study.parsing import check_study, read_body
from service.contract.study.study import Study

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "findings"
PRESETS = ROOT / "configs"
SPEED = FOLDER / "speed.json"  # no study: what `make bench` measured
LARGEST = 256_000  # bytes of a kept study


class Asked(NamedTuple):
    """A study that is run for a finding, the metrics of which it keeps every report, and those that it keeps at all."""

    study: Study
    curves: list[str]
    metrics: tuple[str, ...] = ()  # none: all


def names() -> list[str]:
    """Of the kept studies."""
    return sorted(path.stem for path in FOLDER.glob("*.json") if path != SPEED)


def load(name: str) -> Finding:
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        raise ValueError(f"there is no study {name!r} in docs/findings; kept: {', '.join(names()) or 'none'}")
    return Finding.model_validate_json(path.read_bytes())


def save(name: str, finding: Finding) -> Path:
    path, text = FOLDER / f"{name}.json", finding_text(finding)
    if (size := len(text.encode())) > LARGEST:
        raise ValueError(f"{path.name} would have {size:,} bytes, over {LARGEST:,}: keep fewer curves, or fewer trials")
    path.write_text(text)
    return path


def asked(name: str) -> Asked:
    """`docs/findings/NAME.yaml`, else the preset NAME.

    The former is a study with `curves` and `metrics`, lists of metrics; with `preset` it is that preset, and its other
    keys replace the preset's. Where a search learns `from` a kept study, that is named as here.
    """
    own = FOLDER / f"{name}.yaml"
    body = _read(own if own.is_file() else _preset(name))
    curves, metrics = body.pop("curves", []), body.pop("metrics", [])
    if "preset" in body:
        body = _read(_preset(body.pop("preset"))) | body
    for search in (arm.get("search", {}) for arm in body["arms"]):
        if "from" in search:
            search["from"] = [load(earlier).study.id for earlier in search["from"]]
    return Asked(check_study(body), curves, tuple(metrics))


def _preset(name: str) -> Path:
    path = PRESETS / f"{name}.yaml"
    if not path.is_file():
        raise ValueError(f"there is no study {name!r}: neither docs/findings/{name}.yaml nor configs/{name}.yaml")
    return path


def _read(path: Path) -> dict[str, Any]:
    body = read_body(path.read_text(), "yaml")
    if not isinstance(body, dict):
        raise ValueError(f"{path.name} is no mapping")
    return body


def differences(name: str, finding: Finding) -> list[str]:
    """Where the kept spec is not what its file asks for: `seeds: [0, 1] asked for, [0] kept`.

    Only what the file says itself: a default that has changed since does not make a measurement untrue.
    """
    said = asked(name).study.model_dump(by_alias=True, mode="json", exclude_unset=True)
    return _differences(said, finding.study.spec, "")


def _differences(said: Any, spec: Any, path: str) -> list[str]:
    if isinstance(said, dict) and isinstance(spec, dict):
        return [line for key, part in said.items() for line in _differences(part, spec.get(key), f"{path}.{key}")]
    if isinstance(said, list) and isinstance(spec, list) and len(said) == len(spec):
        parts = enumerate(zip(said, spec, strict=True))
        return [line for i, pair in parts for line in _differences(*pair, f"{path}[{i}]")]
    return [] if said == spec else [f"{path.removeprefix('.')}: {said!r} asked for, {spec!r} kept"]
