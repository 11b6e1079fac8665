"""Studies whose searches learn from earlier ones, over HTTP: what is taken, what is kept, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service.bench import Bench

GRID = {"name": "grid", "weighting": {"name": "fixed", "beta": {"grid": [0.1, 0.2, 0.4]}}}
MIB = {"name": "MIB", "weighting": {"name": "mib"}}
TUNED: dict[str, Any] = {
    "name": "tuned",
    "weighting": {"name": "fixed", "beta": {"range": {"from": 0.15, "to": 1.0}}},
    "search": {"name": "optuna", "trials": 4},
}


def ended(bench: Bench, **spec: Any) -> str:
    """A study whose trials finished, all but the last of them, which failed."""
    study = bench.submit(**{"seeds": [0, 1], "arms": [GRID, MIB], **spec})
    bench.report(study, {"uid": "go", "kind": "study_started"})
    trials = bench.get(f"/api/studies/{study}/trials")["trials"]
    for i, trial in enumerate(trials):
        metrics = {"epoch": 1, "i_xz_bits": 2.0 + i, "i_zy_bits": 1.0, "accuracy": 0.5}
        held = {f"validation_{name}": value for name, value in metrics.items() if name != "epoch"}
        end = {"kind": "trial_failed", "reason": "why"} if trial is trials[-1] else {"kind": "trial_finished"}
        report = {"uid": f"r{i}", "kind": "report", "trial": trial["id"], "metrics": {**metrics, **held}}
        bench.report(study, report, {"uid": f"e{i}", "trial": trial["id"], **end})
    bench.finish(study)
    return study


def warm(earlier: str | list[str], arm: dict[str, Any] = TUNED, **spec: Any) -> dict[str, Any]:
    named = [earlier] if isinstance(earlier, str) else earlier
    return {"name": "warm", "arms": [{**arm, "search": {**arm["search"], "from": named}}], "seeds": [0, 1], **spec}


def told(bench: Bench, study: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = bench.read(study)["spec"]["arms"][0]["search"]["told"]
    return found


def test_finished_trials_with_the_same_method_in_range_are_told_by_seed_and_kept(bench: Bench) -> None:
    earlier = ended(bench)
    study = bench.submit(**warm(earlier))
    values = sorted((each["seed"], each["values"]["weighting.beta"]) for each in told(bench, study))
    assert values == [(0, 0.2), (0, 0.4), (1, 0.2), (1, 0.4)], "0.1 is out of range, MIB is another weighting"
    assert all(len(each["objectives"]) == 2 for each in told(bench, study))
    before = told(bench, study)
    assert bench.ask("DELETE", f"/api/studies/{earlier}").status_code == 204
    assert told(bench, study) == before
    assert bench.read(study)["spec"]["arms"][0]["search"]["from"] == [earlier]


def test_constraints_are_judged_as_the_new_study_has_them(bench: Bench) -> None:
    study = bench.submit(**warm(ended(bench), constraints=[{"metric": "accuracy", "at_least": 0.75}]))
    assert [each["excesses"] for each in told(bench, study)] == [[0.25]] * 4


def refusals(bench: Bench) -> dict[str, tuple[dict[str, Any], str]]:
    earlier = ended(bench)
    running = bench.submit(arms=[GRID], seeds=[0])
    other_weighting = {**TUNED, "weighting": {"name": "mib", "mu": {"range": {"from": 0.5, "to": 0.9}}}}
    goals = [{"metric": "i_xz_bits", "goal": "minimize"}, {"metric": "accuracy", "goal": "maximize"}]
    return {
        "unknown": (warm("s00"), "there is no study"),
        "not ended": (warm(running), "is queued: a warm start needs one that has ended"),
        "other data": (warm(earlier, data={"name": "digits", "train_fraction": 0.5}), "has other data (digits), this"),
        "other objectives": (warm(earlier, objectives=goals), "has other objectives (minimize validation_i_xz_bits"),
        "another split": (warm(earlier, selection="test"), "has other objectives"),
        "other method": (warm(earlier, other_weighting), "no finished trial with the problem, the weighting"),
        "other seeds": (warm(earlier, seeds=[7]), "and a seed of arm 'tuned'"),
    }


@pytest.mark.parametrize(
    "case",
    ["unknown", "not ended", "other data", "other objectives", "another split", "other method", "other seeds"],
)
def test_a_warm_start_from_what_does_not_agree_is_refused_with_path_and_rule(bench: Bench, case: str) -> None:
    spec, words = refusals(bench)[case]
    answer = bench.ask("POST", "/api/studies", json=spec)
    error = answer.json()["error"]
    assert answer.status_code == 422, error
    assert [detail["path"] for detail in error["details"]] == ["arms[0].search.from[0]"]
    assert words in error["details"][0]["message"]
    checked = bench.ask("POST", "/api/studies/check", json=spec).json()
    assert checked["valid"] is False and checked["error"]["details"] == error["details"]


def test_a_study_that_is_copied_with_what_it_was_told_is_told_anew(bench: Bench) -> None:
    earlier = ended(bench)
    spec = bench.read(bench.submit(**warm(earlier)))["spec"]
    spec["arms"][0]["search"]["told"] = spec["arms"][0]["search"]["told"][:1]
    assert len(told(bench, bench.submit(**spec))) == 4


PGD = {"name": "pgd", "epsilon": 0.1}
BOUND = {"constraints": [{"metric": "robust_pgd", "at_least": 0.2}]}
GOALS = [{"metric": "i_xz_bits", "goal": "minimize"}, {"metric": "robust_pgd", "goal": "maximize"}]
BY_INFONCE = [{"metric": "i_xz_infonce_bits", "goal": "minimize"}, {"metric": "i_zy_bits", "goal": "maximize"}]
NEURAL = {"estimators": ["infonce"]}
OTHERWISE: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], list[str]]] = {
    "samples of the code": (
        {"samples": 12},
        {"samples": 24},
        {},
        ["measures i_xz_bits otherwise (evaluation.samples 12)", "this one has evaluation.samples 24"],
    ),
    "the budget of an objective's attack": (
        {"attacks": [PGD]},
        {"attacks": [{**PGD, "epsilon": 0.3}]},
        {"objectives": GOALS},
        ["measures robust_pgd otherwise (epsilon of attack pgd 0.1)", "has epsilon of attack pgd 0.3"],
    ),
    "another attack of that name": (
        {"attacks": [PGD]},
        {"attacks": [{"name": "fgsm", "label": "pgd", "epsilon": 0.1}]},
        BOUND,
        ["name of attack pgd pgd", "name of attack pgd fgsm", "steps of attack pgd none"],
    ),
    "the images of a constraint's attack": (
        {"attacks": [PGD]},
        {"attacks": [PGD], "attack_images": 50},
        BOUND,
        ["evaluation.attack_images 1000", "evaluation.attack_images 50"],
    ),
    "points of an estimator": (
        NEURAL,
        {**NEURAL, "estimator_samples": 200},
        {"objectives": BY_INFONCE},
        ["measures i_xz_infonce_bits otherwise (evaluation.estimator_samples 1000)"],
    ),
}


@pytest.mark.parametrize("case", OTHERWISE)
def test_a_warm_start_from_what_was_measured_otherwise_is_refused(bench: Bench, case: str) -> None:
    there, here, asked, words = OTHERWISE[case]
    earlier = ended(bench, evaluation=there, **asked)
    answer = bench.ask("POST", "/api/studies", json=warm(earlier, evaluation=here, **asked))
    error = answer.json()["error"]
    assert answer.status_code == 422, error
    (detail,) = error["details"]
    assert detail["path"] == "arms[0].search.from[0]"
    assert all(each in detail["message"] for each in words), detail["message"]


def test_what_changes_no_value_that_a_search_goes_by_may_differ(bench: Bench) -> None:
    earlier = ended(bench, evaluation={"attacks": [PGD], **NEURAL})
    watched = {"every": 2, "attacks": [{**PGD, "epsilon": 0.3}], "attack_images": 50, "checkpoints": False}
    study = bench.submit(**warm(earlier, evaluation={**watched, "gradients": True, "overfitting": True}))
    assert len(told(bench, study)) == 4
