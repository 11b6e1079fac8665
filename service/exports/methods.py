"""What was done, in prose with citations: a methods paragraph, its BibTeX, and what each paper is for."""

from __future__ import annotations

from service.analysis import LEAST_SEEDS, Axis
from service.analysis.candidates import chooser, objectives
from service.analysis.compared import compared
from service.analysis.single_tasks import against_single
from service.contract.methods.own_description import Code
from service.contract.methods.own_problems import OwnProblem
from service.contract.methods.papers import Citation, bibtex, keys_for
from service.contract.methods.problems import Bottleneck, Multitask, Problem, has_code
from service.contract.methods.searches import FillSearch, OptunaSearch
from service.contract.methods.weightings import OfCurves, Weighting
from service.contract.metrics import TEST_EXAMPLES, described
from service.contract.study.branches import WeightingChoice
from service.contract.study.halved import halved
from service.contract.study.outcomes import COLLAPSED_BELOW_BITS
from service.contract.study.study import Arm, Study
from service.contract.wire.answers.exports import CitedPaper, MethodsAnswer
from service.contract.wire.events import TrialState
from service.contract.wording.chosen_split import selection_words
from service.contract.wording.lists import listed
from service.contract.wording.numbers import percent, plural, setting, whole
from service.exports.settings_in_words import settings_words, value_words
from service.exports.training_in_words import training_words
from service.exports.version import SOFTWARE, VERSION, software
from service.views.selectors import compared_counts, counts
from service.views.view import View


class Cited:
    """Collects what was cited, in the order of the text."""

    def __init__(self) -> None:
        self.citations: list[Citation] = []

    def __call__(self, kind: str, name: str) -> str:
        """` [@key; @other]`, or nothing where no paper is needed."""
        keys = keys_for(kind, name)
        known = [(citation.key, citation.reason) for citation in self.citations]
        self.citations += [Citation(k, f"{kind} {name}") for k in keys if (k, f"{kind} {name}") not in known]
        return f" [{'; '.join(f'@{key}' for key in keys)}]" if keys else ""


def _data(view: View, cite: Cited) -> str:
    data = view.study.data
    if view.study.code is not None:
        trained = any(not problem.is_script for problem in _own(view.study))
        held = settings_words(data, only_changed=True) if trained else ""
        what = "Data, model and losses" if trained else "Data and training"
        return f"{what}: the study's own code ({_code(view.study, view.study.code)}{held and f'; {held}'})."
    title, _, rest = " ".join((type(data).__doc__ or "").split()).partition(". ")[0].partition(": ")
    tested = {t.metrics.get(TEST_EXAMPLES) for t in view.trials.values()} - {None}
    parts = [rest.rstrip("."), settings_words(data, only_changed=True)]
    parts += [f"{whole(count)} test examples" for count in tested if count is not None and len(tested) == 1]
    inner = "; ".join(filter(None, parts))
    return f"Data: {title}{f' ({inner})' if inner else ''}{cite('data', data.name)}."


def _code(study: Study, code: Code) -> str:
    """By the start of its hash, with what its author says of what the arms run of it."""
    used = {problem.name: problem.described.doc for problem in _own(study)}
    problems = [f"{name}{doc and f', {doc.splitlines()[0].rstrip(chr(46))}'}" for name, doc in used.items()]
    return f"sha256 {code.hash[:12]}: {'; '.join(problems)}"


def _own(study: Study) -> list[OwnProblem]:
    """The arms' problems that are of the study's code: it may have others."""
    return [arm.problem for arm in study.arms if isinstance(arm.problem, OwnProblem)]


def _reads_code(problem: Problem) -> bool:
    """Whether classes are read off its code, so that I(Z;Y) and chance level are known."""
    return has_code(problem) and not (isinstance(problem, OwnProblem) and not problem.described.reads_code)


def _problem(arm: Arm, cite: Cited) -> str:
    problem = arm.problem
    if isinstance(problem, OwnProblem):
        return problem.name
    if not isinstance(problem, Bottleneck):
        if not isinstance(problem, Multitask):
            return f"{problem.name}{cite('problem', problem.name)}"
        words = f"{problem.name} of {listed(list(problem.tasks))}{cite('problem', problem.name)}"
        return words if problem.rate == "none" else f"{words} and rate {problem.rate}{cite('rate', problem.rate)}"
    words = f"information bottleneck{cite('problem', 'bottleneck')} with rate {value_words(problem.rate)}"
    words += cite("rate", problem.rate) if isinstance(problem.rate, str) else ""
    if isinstance(problem.transform, str) and problem.transform == "identity":
        return words
    words += f" and transform {value_words(problem.transform)}"
    return words + (cite("transform", problem.transform) if isinstance(problem.transform, str) else "")


def _weighting(arm: Arm, cite: Cited) -> str:
    """A script has none that is worth a word."""
    if isinstance(arm.problem, OwnProblem) and arm.problem.is_script:
        return ""
    if not isinstance(arm.weighting, WeightingChoice):
        return f", weighting {_one_weighting(arm.weighting, cite)}"
    among = "; ".join(_one_weighting(each, cite) for each in arm.weighting.choice)
    return f", weighting chosen by the search among {among}"


def _one_weighting(weighting: Weighting, cite: Cited) -> str:
    """`mib [@key]: mu 0.1`."""
    settings = settings_words(weighting, only_changed=weighting.name != "fixed")
    return f"{weighting.name}{cite('weighting', weighting.name)}{f': {settings}' if settings else ''}"


def _arm(study: Study, arm: Arm, trials: int, cite: Cited) -> str:
    weighting = _weighting(arm, cite)
    search = ""
    if isinstance(arm.search, OptunaSearch):
        sampler = f"sampler {arm.search.sampler}{cite('sampler', arm.search.sampler)}"
        search = f", searched by Optuna{cite('search', 'optuna')} with the {sampler}"
    elif isinstance(arm.search, FillSearch):
        where, until = {
            "gap": ("in the largest gaps of the front", "down to"),
            "hypervolume": ("where the front can add most to the hypervolume", "until no gap is above"),
        }[arm.search.aim]
        gaps = f"{until} {value_words(arm.search.tolerance)} of the objectives’ ranges"
        search = f", with values placed {where}{cite('search', 'fill')} {gaps}"
    places = ((arm.model, study.model), (arm.training, study.training))
    changed = {k: v for own, shared in places for k, v in own.items() if v != getattr(shared, k, None)}
    own = f", its own {', '.join(f'{k} {value_words(v)}' for k, v in changed.items())}" if changed else ""
    return f"“{arm.name}” ({_problem(arm, cite)}{weighting}{search}{own}; {plural(trials, 'trial')})"


def _curves(study: Study) -> str:
    """What trainings with many points cover, and where they were measured."""
    said = []
    for arm in study.arms:
        if isinstance(arm.weighting, OfCurves):
            own, betas = arm.weighting, arm.weighting.beta
            covered = f"all β from {setting(betas.from_)} to {setting(betas.to)} ({betas.law})"
            at = f"{own.points} of them" if own.points > 1 else "the middle of them"
            if not isinstance(arm.problem, Bottleneck):
                covered, at = (
                    f"all preferences among {listed(list(arm.problem.terms))}",
                    (f"up to {max(own.points, len(arm.problem.terms))} of them"),
                )
            said.append(f"each training of “{arm.name}” covers {covered} and was measured at {at}{_verified(arm, own)}")
    many = f"{'; '.join(said)}: each of these counts as a point, and the training is counted once."
    return many[:1].upper() + many[1:] if said else ""


def _verified(arm: Arm, weighting: OfCurves) -> str:
    if not weighting.verify:
        return ""
    place = "β" if isinstance(arm.problem, Bottleneck) else "preference"
    alone = f"for {plural(weighting.verify, place)} of its curve a network was trained separately with each seed"
    return f" ({alone}, to check the curve there)"


def _stopping(study: Study, cite: Cited) -> str:
    if study.stopping is None:
        return ""
    cut = halved(study)
    rungs = sorted({rung for arm in cut for rung in study.stopping.rungs(_epochs(study, arm))})
    whose = "each arm's configurations" if len(cut) == len(study.arms) else "the configurations of "
    whose += "" if len(cut) == len(study.arms) else listed([arm.name for arm in cut])
    chosen = "on the validation split" if study.choosing != [each.metric for each in study.objectives] else "as claimed"
    return (
        f"Trials were stopped early by successive halving{cite('stopping', study.stopping.name)}: after "
        f"{'epoch' if len(rungs) == 1 else 'epochs'} {listed(list(map(str, rungs)))} the best "
        f"{setting(study.stopping.keep)} of {whose} trained on, by non-dominated rank of their means "
        f"over seeds {chosen}; what was stopped is on no front, and its training time counts."
    )


def _epochs(study: Study, arm: Arm) -> int:
    return int(arm.training.get("epochs", study.training.epochs))


def _measures(study: Study, cite: Cited) -> str:
    measures = []
    if any(has_code(arm.problem) for arm in study.arms):
        rate = "I(X;Z) is the upper bound by the KL divergence to a marginal fitted to training codes"
        rate += cite("estimator", "marginal-kl")
        read = any(_reads_code(arm.problem) for arm in study.arms)
        entropy = cite("estimator", "cross-entropy") if read else ""
        relevance = f" and I(Z;Y) the lower bound by the cross-entropy{entropy}, both in bits on the test split"
        measures.append(rate + (relevance if read else ", in bits on the test split"))
    estimators = [f"{name}{cite('estimator', name)}" for name in study.evaluation.estimators]
    if estimators:
        count = study.evaluation.estimator_samples
        measures.append(f"I(X;Z) was also estimated by {listed(estimators)} on at most {count:,} points")
    attacks = [f"{a.name} (ε {setting(a.epsilon)}){cite('attack', a.name)}" for a in study.evaluation.attacks]
    if attacks:
        images = study.evaluation.attack_images
        measures.append(f"accuracy was measured under {listed(attacks)} on at most {images:,} test images")
    return f"{'; '.join(measures)}." if measures else ""


def _goal(axis: Axis) -> str:
    known = described(axis.metric)
    return f"{'least' if axis.goal == 'minimize' else 'most'} {known.label}{f' [{known.unit}]' if known.unit else ''}"


def _analysis(view: View, axes: list[Axis], cite: Cited) -> str:
    goals, seeds = listed([_goal(axis) for axis in axes]), len(view.study.seeds)
    point = ", ".join("none" if axis.reference is None else setting(axis.reference) for axis in axes)
    volume = f"hypervolume{cite('analysis', 'hypervolume')} from the reference point ({point})"
    if seeds < LEAST_SEEDS:
        few = ". There was one seed" if seeds == 1 else ", one hypervolume per arm and seed. There were two seeds"
        return f"Fronts are of {goals}, compared by {volume}{few}, so there is no interval and no test."
    tested = (
        f" Arms were compared with paired t-tests over seeds, adjusted by Holm's method{cite('analysis', 'holm')}."
        if len(view.study.arms) > 1
        else ""
    )
    return (
        f"Fronts are of {goals}, compared by {volume}, one hypervolume per arm and seed, given as mean with 95 % "
        f"Student t interval over {seeds} seeds.{tested}{_place(view, axes)}"
    )


def _chosen(view: View) -> str:
    """Which split chose, and what the seeds share: no number of a table can be read without."""
    split, data = chooser(view), view.study.data
    if split is None:
        return ""
    if split != "validation":
        return f"Trials of fronts, best values and searches were {selection_words(split)}."
    held = "A validation split was held out"
    if view.study.code is None:
        anew = "for each seed anew" if data.draw == "per-seed" else "once for all seeds"
        held += f", {percent(data.validation_fraction)} of the training examples, drawn {anew}"
    return f"{held}: fronts, best values and searches were chosen by it; what is told was measured on the test split."


def _place(view: View, axes: list[Axis]) -> str:
    """The test behind the verdict, where arms are held against a front."""
    comparison = compared(view)
    if len(axes) != 2 or not comparison.pairs:
        return ""
    return (
        f" Every other arm was held against the front of “{comparison.baseline}” of the same seed by its signed "
        "distance in units of the objectives' ranges, to the straight lines between its points where the arm beats "
        "them and to its steps where it does not reach them, and by its gap in each objective at the same value of "
        "the other (t-tests over seeds, Holm's method for each of the two)."
    )


def _constraints(study: Study) -> str:
    """What a trial had to keep, and on which split that was seen."""
    if not study.constraints:
        return ""
    kept = listed([each.words for each in study.constraints])
    held = any(bound.metric != bound.constraint.metric for bound in study.bounds)
    return f"Only trials with {kept}{', by the validation split,' if held else ''} count for a front."


def _single(view: View, cite: Cited) -> str:
    """What Δm is measured against, where tasks were trained alone."""
    against = against_single(view)
    if against is None:
        return ""
    measures = [described(name).label for name in against.measures.values()]
    return (
        f"Δm is the mean relative drop{cite('analysis', 'delta-m')} of {listed(measures)} against a training of each "
        "task alone with the same seed, in percent, where less is better; ranks are averaged over the same tasks."
    )


def _outcome(view: View) -> str:
    counted, trials = counts(view), view.all_trials.values()
    finished = [trial for trial in trials if trial.state is TrialState.FINISHED]
    collapsed, infeasible = sum(t.collapsed for t in finished), sum(t.infeasible for t in finished)
    stopped = sum(trial.stopped_after is not None for trial in trials)
    left = counted.planned - counted.finished - counted.failed - stopped
    parts = [f"{counted.finished:,} finished"]
    if any(has_code(arm.problem) for arm in view.study.arms):
        read = any(_reads_code(arm.problem) for arm in view.study.arms)
        least = f"a code of less than {setting(COLLAPSED_BELOW_BITS)} bit{' or chance level' if read else ''}"
        nothing = f"collapsed to {least} and left out of every front"
        parts[0] += f" ({collapsed:,} of them {nothing})"
    if view.study.constraints:
        parts.append(f"{infeasible:,} of the finished ones infeasible and left out of every front")
    parts.append(f"{counted.failed:,} failed")
    parts += [f"{stopped:,} stopped early"] if stopped else []
    off = {"collapsed": counted.collapsed - collapsed, "infeasible": counted.infeasible - infeasible}
    told = [f"{number:,} {what}" for what, number in off.items() if number]
    parts += [f"{left:,} did not end" + (f" (of them {listed(told)}, left out too)" if told else "")] if left else []
    return f"Of {plural(counted.planned, 'trial')}, {listed(parts)}."


def _software(cite: Cited) -> str:
    names = [f"{SOFTWARE[package]} {number}" for package, number in software().items()]
    papers = "".join(cite("software", package) for package in ("torch", "ray"))
    return f"Paretoscope {VERSION} with {listed(names)}{papers}." if names else f"Paretoscope {VERSION}."


def methods(view: View) -> MethodsAnswer:
    cite, study = Cited(), view.study
    trials = {arm.name: compared_counts(view, arm.name).planned for arm in study.arms}  # without what was spared
    sentences = [
        _data(view, cite),
        training_words(study, cite),
        f"{plural(len(study.arms), 'arm')}: "
        + "; ".join(_arm(study, arm, trials[arm.name], cite) for arm in study.arms)
        + ".",
        _curves(study),
        _stopping(study, cite),
        _measures(study, cite),
        _chosen(view),
        _analysis(view, objectives(view), cite),
        _constraints(study),
        _single(view, cite),
        _outcome(view),
        _software(cite),
    ]
    return MethodsAnswer(
        paragraph=" ".join(filter(None, sentences)),
        bibtex=bibtex([citation.key for citation in cite.citations]),
        citations=[CitedPaper(key=citation.key, reason=citation.reason) for citation in cite.citations],
    )
