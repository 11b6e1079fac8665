"""The OpenAPI document with its links: which answer names what another request needs.

What schemathesis infers by itself knows nothing of a study's id, as paths call it `study_id` and answers `id`.
"""

from __future__ import annotations

import copy
from typing import Any

VERBS = ("get", "post", "put", "patch", "delete")
ANSWERS_A_STUDY = ("", "/{study_id}/pause", "/{study_id}/resume", "/{study_id}/retry", "/{study_id}/extend")
CANCEL = "/api/studies/{study_id}/cancel"
TRIALS = "/api/studies/{study_id}/trials"
STREAM = "/events"  # of a study that has not ended it would not end either


def linked(document: dict[str, Any], cohort: str) -> dict[str, Any]:
    """A copy with links; `cohort` is the key of one that every study here has."""
    document = copy.deepcopy(document)
    of_a_study = [
        (verbs[verb]["operationId"], path)
        for path, verbs in document["paths"].items()
        for verb in VERBS
        if verb in verbs and "{study_id}" in path
    ]
    for end in ANSWERS_A_STUDY:
        links = _answers(document, f"/api/studies{end}", "post")
        for operation, path in of_a_study:
            if "{trial_id}" not in path and not path.endswith(STREAM):
                links[operation] = _link(operation, path, "$response.body#/id", cohort)
    ended = _answers(document, CANCEL, "post")
    for operation, path in of_a_study:
        if "{trial_id}" not in path:
            ended[f"{operation}-of-an-ended-one"] = _link(operation, path, "$response.body#/id", cohort)
    trials = _answers(document, TRIALS, "get")
    for operation, path in of_a_study:
        if "{trial_id}" in path:
            trials[operation] = _link(operation, path, "$request.path.study_id", cohort)
    sent = _answers(document, "/api/code", "post")
    for path, verbs in document["paths"].items():
        for verb in VERBS:
            if verb in verbs and "{code_hash}" in path:
                own = verbs[verb]["operationId"]
                sent[own] = {"operationId": own, "parameters": {"code_hash": "$response.body#/hash"}}
    return document


def _answers(document: dict[str, Any], path: str, verb: str) -> dict[str, Any]:
    """The links of a call's answer when all is well."""
    responses: dict[str, Any] = document["paths"][path][verb]["responses"]
    well = next(status for status in responses if status.startswith("2"))
    return dict.setdefault(responses[well], "links", {})


def _link(operation: str, path: str, study: str, cohort: str) -> dict[str, Any]:
    known = {"study_id": study, "trial_id": "$response.body#/trials/0/id", "key": cohort}
    return {
        "operationId": operation,
        "parameters": {name: value for name, value in known.items() if f"{{{name}}}" in path},
    }
