"""The papers behind what a study may name, as BibTeX keys; the entries stand in papers.bib."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

BIBLIOGRAPHY = Path(__file__).with_name("papers.bib")

PAPERS: dict[str, dict[str, tuple[str, ...]]] = {
    "weighting": {
        "conditional": ("dosovitskiy2020yoto",),
        "fvib": ("kudo2024fvib",),
        "mib": ("anonymous2024mib",),
        "arml": ("shi2020arml",),
        "mgb": ("lopezpaz2017gem",),  # the same projection, there onto the gradients of past tasks
        "blending": ("wang2020blending",),
        "config": ("liu2025config",),
        "db-mtl": ("lin2023dbmtl",),
        "go4align": ("shen2024go4align",),
        "mgda": ("desideri2012mgda", "sener2018mtl"),
        "upgrad": ("quinton2024upgrad",),
        "pcgrad": ("yu2020pcgrad",),
        "cagrad": ("liu2021cagrad",),
        "nash-mtl": ("navon2022nash",),
        "imtl-g": ("liu2021imtl",),
        "imtl-l": ("liu2021imtl",),
        "aligned-mtl": ("senushkin2023aligned",),
        "fairgrad": ("ban2024fairgrad",),
        "uw": ("kendall2018uw",),
        "dwa": ("liu2019dwa",),
        "famo": ("liu2023famo",),
        "stch": ("lin2024stch",),
        "tchebycheff": ("bowman1976tchebycheff",),
        "dualproj": ("lopezpaz2017gem",),
        "gradvac": ("wang2021gradvac",),
        "pcd": ("varam2026pcd",),
        "cr-mogm": ("zhou2022crmogm",),
        "modo": ("chen2024modo",),
        "sdmgrad": ("xiao2023sdmgrad",),
        "excess-mtl": ("he2024excess",),
        "geometric-mean": ("chennupati2019gls",),
        "random": ("lin2022rlw",),
        "cosmos": ("ruchte2021cosmos",),
        "pbi": ("zhang2007moead",),
    },
    "rate": {"vib": ("alemi2017deep",), "nib": ("kolchinsky2019nib",)},
    "transform": {
        "square": ("kolchinsky2019caveats",),
        "power": ("rodriguez2020convex",),
        "exp": ("rodriguez2020convex",),
        "shifted-exp": ("rodriguez2020convex",),
    },
    "estimator": {
        "marginal-kl": ("poole2019bounds", "kolchinsky2017pairwise"),
        "prior-kl": ("alemi2017deep",),
        "cross-entropy": ("barber2003im",),
        "pairwise-lower": ("kolchinsky2017pairwise",),
        "pairwise-upper": ("kolchinsky2017pairwise",),
        "infonce": ("oord2018cpc", "poole2019bounds"),
        "mine": ("belghazi2018mine",),
        "ksg": ("kraskov2004ksg",),
    },
    "attack": {
        "fgsm": ("goodfellow2015fgsm",),
        "pgd": ("madry2018pgd",),
        "mifgsm": ("dong2018mifgsm",),
        "nifgsm": ("lin2020nifgsm",),
        "eotpgd": ("athalye2018eot", "zimmermann2019comment"),
        "upgd": ("kim2020torchattacks",),
        "jitter": ("schwinn2023jitter",),
    },
    "sampler": {
        "tpe": ("bergstra2011tpe",),
        "gp": ("daulton2020ehvi", "ament2023logei"),
        "nsga2": ("deb2002nsga2",),
        "nsga3": ("deb2014nsga3",),
        "qmc": ("sobol1967points",),
        "random": ("bergstra2012random",),
    },
    "search": {"optuna": ("akiba2019optuna",), "fill": ("kim2005adaptive", "fritsch1984monotone")},
    "stopping": {"halving": ("schmucker2021moasha", "salinas2021multi")},  # the rungs; the net within a rank
    "data": {
        "digits": ("alpaydin1998digits", "pedregosa2011sklearn"),
        "fashion-mnist": ("xiao2017fashion",),
        "mnist": ("lecun1998mnist",),
        "cifar10": ("krizhevsky2009cifar",),
        "svhn": ("netzer2011svhn",),
        "celeba": ("liu2015celeba",),
        "overlaid": ("sabour2017capsules", "sener2018mtl"),
        "yeast": ("elisseeff2001yeast",),
        "census-income": ("lane2000census",),
        "movie-reviews": ("maas2011imdb", "pang2005stars"),
        "gaussian": ("chechik2005gaussian",),
        "toy": ("kolchinsky2019caveats",),
    },
    "model": {"resnet18": ("he2016resnet",), "rnn": ("elman1990rnn",), "transformer": ("vaswani2017attention",)},
    "problem": {"bottleneck": ("tishby1999ib",)},
    "optimizer": {"adam": ("kingma2015adam",), "adamw": ("loshchilov2019adamw",)},
    "training": {
        "balance": ("alexos2025balance",),
        "dfa": ("nokland2016dfa",),
        "nesterov": ("sutskever2013momentum",),
        "cosine": ("loshchilov2017sgdr",),
        "clip": ("pascanu2013difficulty",),
        "anneal": ("bowman2016sentences",),
        "average": ("polyak1992averaging",),
    },
    "analysis": {
        "hypervolume": ("zitzler1999hypervolume",),
        "holm": ("holm1979test",),
        "delta-m": ("maninis2019attentive", "navon2022nash"),  # the measure; its sign, and the mean rank
    },
    "software": {"torch": ("paszke2019pytorch",), "ray": ("liaw2018tune",)},
}

# What needs no paper, and why.
WITHOUT_PAPER: dict[str, dict[str, str]] = {
    "weighting": {
        "fixed": "constant weights",
        "uniform": "constant weights",
        "single": "constant weights",
        "target-rate": "dual ascent on one constraint",
    },
    "rate": {"none": "no information term"},
    "transform": {"identity": "the rate itself"},
    "search": {"grid": "every combination"},
    "data": {"image-folder": "the user's own", "text": "the user's own"},
    "model": {"mlp": "textbook", "cnn": "textbook"},
    "problem": {"toy": "made for Paretoscope", "multitask": "a sum of losses"},
    "optimizer": {"sgd": "textbook"},
}


class Citation(NamedTuple):
    """A paper, and what of the study it is for."""

    key: str
    reason: str


def keys_for(kind: str, name: str) -> tuple[str, ...]:
    """The papers of a method; none for what needs none."""
    return PAPERS[kind].get(name, ())


@cache
def entries() -> dict[str, str]:
    """All BibTeX entries by key."""
    text = BIBLIOGRAPHY.read_text(encoding="utf-8")
    keys = re.findall(r"^@\w+\{([^,\s]+),.*?^\}", text, re.MULTILINE | re.DOTALL)
    bodies = re.findall(r"^@\w+\{.*?^\}", text, re.MULTILINE | re.DOTALL)
    return dict(zip(keys, bodies, strict=True))


def bibtex(keys: list[str]) -> str:
    """The entries of these keys, each once, in this order."""
    return "\n\n".join(entries()[key] for key in dict.fromkeys(keys)) + "\n"
