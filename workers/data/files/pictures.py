"""Picture files as arrays of one size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.contract.wire.errors import InvalidInput

FORMATS = ("JPEG", "PNG")


def read(files: Sequence[Path], size: int) -> NDArray[np.uint8]:
    """The middle square of each picture, resized: [N, 3, size, size]."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    out = np.empty((len(files), 3, size, size), dtype=np.uint8)
    for i, file in enumerate(files):
        try:
            with Image.open(file, formats=FORMATS) as picture:
                square = ImageOps.fit(picture.convert("RGB"), (size, size), Image.Resampling.BILINEAR)
        except (UnidentifiedImageError, Image.DecompressionBombError, OSError):
            raise InvalidInput(f"{'/'.join(file.parts[-3:])} is not a readable picture") from None
        out[i] = np.asarray(square).transpose(2, 0, 1)
    return out
