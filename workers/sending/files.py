"""What a trained cohort leaves with the service: weights, and latent maps where they are asked for."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import NamedTuple

from service.contract.study.expansion import PlannedTrial
from service.contract.wording.numbers import number
from workers.measures.latent_map import latent_maps
from workers.planning.plan import Plan
from workers.sending import checkpoint
from workers.sending.uploads import Uploads
from workers.training.loop import Cohort, Trained

log = logging.getLogger(__name__)


class Kept(NamedTuple):
    """Bytes of each file that the service has now, and why it has not those of other members."""

    sizes: list[int]
    missing: dict[int, str]


def keep(cohort: Trained, trained: Mapping[int, PlannedTrial], plan: Plan, uploads: Uploads) -> dict[int, str]:
    """Send the files of these members; what is missing of which. The training itself went well."""
    missing: dict[int, list[str]] = {}
    for what, send, wanted in (
        ("checkpoints", _checkpoints, plan.evaluation.checkpoints),
        ("latent maps", _maps, plan.evaluation.latent_map is not None),
    ):
        begun = time.perf_counter()
        try:
            kept = send(cohort, trained, plan, uploads) if wanted else Kept([], {})
        except Exception as error:
            log.exception("the %s could not be made", what)
            kept = Kept([], dict.fromkeys(trained, f"the {what} could not be made: {error or type(error).__name__}"))
        for k, why in kept.missing.items():
            missing.setdefault(k, []).append(why)
        if kept.sizes:
            size, seconds = sum(kept.sizes) / len(kept.sizes) / 1e6, time.perf_counter() - begun
            log.info("%s kept: %d, %s MB each, in %s s", what, len(kept.sizes), number(size), number(seconds))
    return {k: "; ".join(reasons) for k, reasons in missing.items()}


def _checkpoints(cohort: Trained, trained: Mapping[int, PlannedTrial], plan: Plan, uploads: Uploads) -> Kept:
    tensors, samples = checkpoint.tensors_of(cohort.model), plan.evaluation.samples
    inputs = checkpoint.OF_OWN_CODE
    if isinstance(cohort, Cohort):
        inputs = checkpoint.Inputs(cohort.split.data.shape, cohort.split.data.vocabulary)
    kept = Kept([], {})
    for k, trial in trained.items():
        said = checkpoint.metadata_of(plan.study_id, trial, plan.data, cohort.problem.terms, inputs, samples)
        _put(kept, k, trial.id, "checkpoint.safetensors", checkpoint.packed(tensors, k, said), uploads)
    return kept


def _maps(cohort: Trained, trained: Mapping[int, PlannedTrial], plan: Plan, uploads: Uploads) -> Kept:
    spec, shown = plan.evaluation.latent_map, cohort.shown()
    chosen = [k for k, trial in trained.items() if trial.seed in plan.mapped_seeds]
    kept = Kept([], {})
    if spec is None or not chosen or shown is None:
        return kept
    for k, drawn in latent_maps(*shown, plan.evaluation, spec, chosen):
        _put(kept, k, trained[k].id, "latent-map.json", drawn.model_dump_json().encode(), uploads)
        if uploads.given_up:
            break
    return kept


def _put(kept: Kept, member: int, trial: str, name: str, content: bytes, uploads: Uploads) -> None:
    why = uploads.put(trial, name, content)
    if why is None:
        kept.sizes.append(len(content))
    else:
        kept.missing[member] = why
