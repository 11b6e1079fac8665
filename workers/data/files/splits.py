"""What the files of a data set hold, whatever their format."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Splits(NamedTuple):
    """Examples as they were published, before anything is chosen or scaled: a table row is an image of one row."""

    train_images: NDArray[Any]  # [N, C, H, W]: bytes of an image, floats of a table, word numbers of a text
    train_labels: NDArray[np.int64]  # [N], or [N, tasks]
    test_images: NDArray[Any]  # [M, C, H, W]
    test_labels: NDArray[np.int64]  # [M], or [M, tasks]
