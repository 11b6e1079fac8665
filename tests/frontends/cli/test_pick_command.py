"""`paretoscope pick`: a point in words and as JSON, and its study in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from frontends.client import Client
from service.contract.study.parsing import check_study, read_body
from tests.frontends.cli.command_line import run
from tests.frontends.played import begin
from tests.processes import Running


def test_a_point_is_told_in_words_and_its_study_is_written(
    service: Running, spec: dict[str, Any], tmp_path: Path
) -> None:
    study = begin(service, spec, end=True)
    file = tmp_path / "alone.yaml"
    answer = run("pick", study, "--at-least", "i_zy_bits:0", "--yaml", str(file), url=service.url)
    assert answer.returncode == 0, answer.stderr
    assert "with i_zy_bits at least 0" in answer.stdout and "i_xz_bits" in answer.stdout and str(file) in answer.stdout
    assert len(check_study(read_body(file.read_text(), "yaml")).arms) == 1


def test_the_rule_follows_from_the_options_and_the_client_has_the_same(service: Running, spec: dict[str, Any]) -> None:
    study = begin(service, spec, end=True)
    cases: list[tuple[list[str], dict[str, str]]] = [
        ([], {}),
        (["--weights", "i_zy_bits:1"], {"by": "weights", "weights": "i_zy_bits:1"}),
        (["--at-most", "i_xz_bits:100"], {"by": "constraint", "at_most": "i_xz_bits:100"}),
    ]
    with Client(service.url) as client:
        for options, params in cases:
            answer = run("pick", study, *options, "--json", url=service.url)
            assert json.loads(answer.stdout) == client.study(study).pick(**params), options


def test_what_cannot_be_picked_is_bad_input(service: Running, spec: dict[str, Any]) -> None:
    study = begin(service, spec, end=True)
    answer = run("pick", study, "--weights", "accuracy", url=service.url)
    assert answer.returncode == 2 and "metric:number" in answer.stderr
