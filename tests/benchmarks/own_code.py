"""A user's own problem: stacked against one by one, against ours of the same size, and against plain Ray Tune; the
bottleneck as a user's file against the built-in; models that nobody here wrote. One thread."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import torch

from frontends.client import Client
from service.contract.methods.data import Data, Digits, OwnData
from service.contract.methods.models import Mlp, OwnModel
from service.contract.methods.own_problems import of_trial
from service.contract.methods.problems import Bottleneck, Multitask
from service.contract.methods.weightings import Fixed
from service.contract.study.expansion import PlannedTrial
from service.contract.study.study import Evaluation, Training
from tests.benchmarks.row import Row, row_of_rounds
from tests.workers.own_code import test_bottleneck_again as bottleneck
from tests.workers.own_code import test_foreign_models as foreign
from workers.own_code import choosing
from workers.own_code.describing import describe
from workers.own_code.loaded import LoadedCode
from workers.own_code.running_members import OneByOne, Stacked, Way
from workers.training.loop import train

EPOCHS, MEMBERS, ROUNDS = 20, 16, 11
COMMAND = str(Path(sys.executable).with_name("paretoscope"))
CHECKS = 3
STUDIES = 6  # rounds of whole studies: as few as an interval of 95 % can come from
FILES = Path(__file__).parent / "own_files"
CPU = torch.device("cpu")
NEVER = Evaluation(every=EPOCHS, samples=1)
UNIT = "CPU ms an epoch"

# Files of `tests/workers/own_code/foreign`, in words.
FOREIGN = {
    "residual": "torchvision’s resnet18",
    "mobile": "torchvision’s mobilenet_v3_small",
    "transformer": "timm’s vision transformer",
    "two_tasks": "two tasks as in torchjd’s documentation",
    "reviews": "torch’s LSTM for film reviews",
}
FOREIGN_MEMBERS, FOREIGN_BATCH = 4, 16


def betas(trials: int) -> list[float]:
    return [0.01 * 100 ** (i / (trials - 1)) for i in range(trials)]


class Side(NamedTuple):
    """One side of a comparison: trials, their data, and the file of their code. A process has one code at a time."""

    trials: list[PlannedTrial]
    data: Data
    file: Path | None = None
    stacked: bool | None = None  # none: as the cohort chooses

    def milliseconds(self) -> float:
        """CPU time of training per epoch, all members, evaluation left out."""
        timed = choosing._timed
        code = None if self.file is None else LoadedCode(self.file.parent, self.file.name)
        if self.stacked is not None:
            choosing._timed = lambda way, *rest: 1.0 if isinstance(way, Stacked) == self.stacked else 2.0
        try:
            *_, last = train(self.trials, self.data, NEVER, CPU, time.process_time, code=code)
        finally:
            choosing._timed = timed
        seconds = next(iter(last.metrics.values()))["seconds"] or 0.0
        return 1000 * seconds * len(self.trials) / EPOCHS


def own_rows(counted: int = ROUNDS) -> list[Row]:
    """In interleaved rounds; the first, in which memory is taken, does not count."""
    torch.set_num_threads(1)
    with TemporaryDirectory() as folder:
        (Path(folder) / "mine.py").write_text(bottleneck.FILE)
        sides = {**_two_heads(), **_bottlenecks(Path(folder))}
        rounds = [{name: side.milliseconds() for name, side in sides.items()} for _ in range(1 + counted)][1:]
    mlp = f"a user's MLP of two heads, {MEMBERS} members"
    compared = {
        "own-stacked": (f"{mlp}: one by one / stacked", "alone", "stacked"),
        "own-ours": (f"{mlp}: stacked / our multitask of the same size", "stacked", "ours"),
        "own-bottleneck-8": ("the bottleneck as a user's file / built in, cohort of 8", "own8", "built8"),
        "own-bottleneck-32": ("the bottleneck as a user's file / built in, cohort of 32", "own32", "built32"),
    }
    return [
        row_of_rounds(key, "own", what, [own[a] for own in rounds], [own[b] for own in rounds], UNIT)
        for key, (what, a, b) in compared.items()
    ]


def own_seconds(client: Client, file: Path) -> float:
    """Submit to finished, as a study with its code."""
    study = {
        "name": "bench own code",
        "code": str(file),
        "problem": {"name": "TwoHeads"},
        "training": {"epochs": EPOCHS, "batch_size": 128},
        "arms": [{"name": "grid", "weighting": {"name": "fixed", "beta": {"grid": betas(MEMBERS)}}}],
    }
    begun = time.perf_counter()
    handle = client.submit(study)
    handle.wait(timeout=600)
    seconds = time.perf_counter() - begun
    counts = handle.read()["counts"]
    assert counts["finished"] == MEMBERS, counts
    return seconds


def tune_rows(client: Client, plain: Callable[[], float]) -> list[Row]:
    """In each round a script, a study whose code nobody has read yet, and one of the same code again."""
    scripts, unread, read = [], [], []
    with TemporaryDirectory() as folder:
        for number in range(STUDIES):
            file = Path(folder) / "two_heads.py"
            file.write_text(f"{(FILES / file.name).read_text()}\nROUND = {number}  # another file\n")
            scripts.append(plain())
            unread.append(own_seconds(client, file))
            read.append(own_seconds(client, file))
    what = f"{MEMBERS} trials of a user's MLP of two heads, as a whole: plain Ray Tune (actors reused) / Paretoscope"
    return [
        row_of_rounds("own-tune", "own", f"{what}, which first reads and tries the code", scripts, unread, "s"),
        row_of_rounds("own-tune-again", "own", f"{what}, which has read the code before", scripts, read, "s"),
    ]


def check_row(client: Client) -> Row:
    """Of the study that `paretoscope new` writes."""
    trained, checked = [], []
    with TemporaryDirectory() as folder:
        subprocess.run([COMMAND, "new", "my_task"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        for _ in range(CHECKS):
            begun = time.perf_counter()
            client.submit(Path(folder) / "my_task.yaml").wait(timeout=600)
            between = time.perf_counter()
            subprocess.run([COMMAND, "check", "my_task.yaml"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            trained.append(between - begun)
            checked.append(time.perf_counter() - between)
    what = (
        "the study that `paretoscope new` writes: trained, from submission to finished / tried by `paretoscope check`"
    )
    return row_of_rounds("own-check", "own", what, trained, checked, "s")


def foreign_rows(counted: int = ROUNDS) -> list[Row]:
    """Of models that nobody here wrote: whether their members train together, what stacking gains of a forward and a
    backward pass over a batch, and how far it leads from members alone."""
    torch.set_num_threads(1)
    return [_foreign_row(name, words, counted) for name, words in FOREIGN.items()]


def _foreign_row(name: str, words: str, counted: int) -> Row:
    code = LoadedCode(foreign.FOLDER, f"{name}.py")
    trials = foreign.trials(name, FOREIGN_MEMBERS, Fixed(), batch_size=FOREIGN_BATCH)
    cohort = code.cohort(trials, OwnData(), CPU)
    cohort.model.train(True)
    batch = next(cohort._passes.epoch(1))
    key, what = f"own-{name.replace('_', '-')}", f"{words}, {FOREIGN_MEMBERS} members, a batch of {FOREIGN_BATCH}"
    ways: list[Way] = [OneByOne(cohort.model), Stacked(cohort.model)]
    before = {name: tensor.clone() for name, tensor in cohort.model.buffers.items()}
    try:
        alone, together = (choosing._tried(way, cohort.model, cohort._losses, batch, before) for way in ways)
    except RuntimeError:  # vmap has no rule for one of its operations, so there is nothing to compare
        del ways[1:]
    rounds = [
        [1000 * choosing._timed(way, cohort.model, cohort._losses, batch, time.process_time) for way in ways]
        for _ in range(1 + counted)
    ][1:]
    if len(ways) == 1:
        took = median(first for (first,) in rounds)
        return Row(key, "models", f"{what}: one by one / stacked", took, None, "CPU ms", stacking=cohort.stacking)
    first, second = ([each[i] for each in rounds] for i in (0, 1))
    row = row_of_rounds(key, "models", f"{what}: one by one / stacked", first, second, "CPU ms")
    apart = max(float(each.max()) for each in choosing.differences(together, alone))
    return row._replace(stacking=cohort.stacking, apart=apart)


def _two_heads() -> Mapping[str, Side]:
    (described,) = describe(FILES, "two_heads.py")
    spec = of_trial(described).model_validate({"name": described.name})
    how = Training(epochs=EPOCHS, batch_size=128)
    own = [_trial(spec, k, beta, OwnModel(), how) for k, beta in enumerate(betas(MEMBERS))]
    ours = Multitask(auxiliaries=["coarse-class"])
    built = [_trial(ours, k, beta, Mlp(), how) for k, beta in enumerate(betas(MEMBERS))]
    return {
        "alone": Side(own, OwnData(), FILES / "two_heads.py", stacked=False),
        "stacked": Side(own, OwnData(), FILES / "two_heads.py", stacked=True),
        "ours": Side(built, Digits()),
    }


def _bottlenecks(folder: Path) -> Mapping[str, Side]:
    spec = of_trial(bottleneck.SPEC).model_validate({"name": bottleneck.SPEC.name})
    how, model = Training(epochs=EPOCHS, batch_size=128), Mlp(widths=[32], latent=8)
    sides = {}
    for members in (8, 32):
        grid = list(enumerate(betas(members)))
        own = [_trial(spec, k % 3, beta, OwnModel(), how, k) for k, beta in grid]
        built = [_trial(Bottleneck(), k % 3, beta, model, how, k) for k, beta in grid]
        sides[f"own{members}"] = Side(own, OwnData(validation_fraction=0), folder / "mine.py")
        sides[f"built{members}"] = Side(built, Digits(validation_fraction=0))
    return sides


def _trial(problem: Any, seed: int, beta: float, model: Any, how: Training, number: int | None = None) -> PlannedTrial:
    name = f"t{seed if number is None else number}"
    return PlannedTrial(name, "arm", seed, {}, problem, Fixed(beta=beta), model, how)
