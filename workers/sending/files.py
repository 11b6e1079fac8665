"""What a trained cohort leaves with the service: weights, and latent maps where they are asked for."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping

from service.contract.study.expansion import PlannedTrial
from service.contract.wording.numbers import number
from workers.measures.attacks.steps.ascent import Target
from workers.measures.latent_map import latent_maps
from workers.planning.plan import Plan
from workers.problems.bottleneck import Bottleneck
from workers.sending import checkpoint
from workers.sending.uploads import Uploads
from workers.training.loop import Cohort

log = logging.getLogger(__name__)


def keep(cohort: Cohort, trained: Mapping[int, PlannedTrial], plan: Plan, uploads: Uploads) -> None:
    """Send the files of these members. Whatever goes wrong is a line of the log: the training itself went well."""
    for what, send, wanted in (
        ("checkpoints", _checkpoints, plan.evaluation.checkpoints),
        ("latent maps", _maps, plan.evaluation.latent_map is not None),
    ):
        begun = time.perf_counter()
        try:
            sent = send(cohort, trained, plan, uploads) if wanted else []
        except Exception:
            log.exception("the %s could not be made", what)
            continue
        if sent:
            size, seconds = sum(sent) / len(sent) / 1e6, time.perf_counter() - begun
            log.info("%s kept: %d, %s MB each, in %s s", what, len(sent), number(size), number(seconds))


def _checkpoints(cohort: Cohort, trained: Mapping[int, PlannedTrial], plan: Plan, uploads: Uploads) -> list[int]:
    """Bytes of each that the service has now."""
    tensors = checkpoint.tensors_of(cohort.model)
    data, samples = cohort.split.data, plan.evaluation.samples
    inputs = checkpoint.Inputs(data.shape, data.vocabulary)
    sent = []
    for k, trial in trained.items():
        said = checkpoint.metadata_of(plan.study_id, trial, plan.data, cohort.problem.terms, inputs, samples)
        content = checkpoint.packed(tensors, k, said)
        if uploads.put(trial.id, "checkpoint.safetensors", content):
            sent.append(len(content))
    return sent


def _maps(cohort: Cohort, trained: Mapping[int, PlannedTrial], plan: Plan, uploads: Uploads) -> list[int]:
    spec, problem = plan.evaluation.latent_map, cohort.problem
    chosen = [k for k, trial in trained.items() if trial.seed in plan.mapped_seeds]
    if spec is None or not chosen or not isinstance(problem, Bottleneck):
        return []
    sent = []
    for k, drawn in latent_maps(Target(cohort.model, problem), cohort.split, plan.evaluation, spec, chosen):
        content = drawn.model_dump_json().encode()
        if uploads.put(trained[k].id, "latent-map.json", content):
            sent.append(len(content))
        if uploads.given_up:
            break
    return sent
