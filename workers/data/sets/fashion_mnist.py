"""Fashion-MNIST (Xiao, Rasul, Vollgraf 2017): 28×28 grey images of ten kinds of clothing."""

from __future__ import annotations

from pathlib import Path

from service.contract.methods.data import FashionMnist
from workers.data import Draw, coarse
from workers.data.files import idx
from workers.data.preparing.recipes import Download, Place, Recipe

RECIPE = Recipe(
    "fashion-mnist",
    places=(
        Place("torchvision's files", "FashionMNIST/raw", idx.NAMES, idx.splits),
        Place("Debian package dataset-fashion-mnist", "/usr/share/datasets/fashion-mnist", idx.NAMES, idx.splits),
    ),
    downloads=(
        Download("Debian package dataset-fashion-mnist", "apt", "dataset-fashion-mnist"),
        Download("torchvision's download", "torchvision", "FashionMNIST"),
    ),
    mean=(0.2860,),
    std=(0.3530,),
    coarse=coarse.CLOTHES,
)


def load(spec: FashionMnist, folder: Path) -> Draw:
    from workers.data.preparing import images

    return images.load(RECIPE, spec, folder)
