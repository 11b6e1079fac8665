"""Plain values and byte arrays out of a pickle that may come from anyone: nothing in it can be called."""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.contract.wire.errors import InvalidInput


class _Type:
    """Stands in for numpy's dtype and remembers its code."""

    def __init__(self, code: Any = None, *_: Any) -> None:
        self.code = code.decode() if isinstance(code, bytes) else code

    def __setstate__(self, state: Any) -> None:
        pass


class _Array:
    """Stands in for numpy's array and keeps what the pickle says about it."""

    state: tuple[Any, ...] = ()

    def __init__(self, *_: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def values(self) -> NDArray[np.uint8]:
        """State: version, shape, type, whether columns come first, bytes."""
        if len(self.state) != 5:
            raise InvalidInput("an array without values")
        _, shape, kind, columns_first, raw = self.state
        if not isinstance(kind, _Type) or kind.code not in ("u1", "|u1") or columns_first or not isinstance(raw, bytes):
            raise InvalidInput("an array that is not of unsigned bytes, row by row")
        return np.frombuffer(raw, dtype=np.uint8).reshape(shape)


STAND_INS: dict[str, type[object]] = {
    "numpy.core.multiarray._reconstruct": _Array,
    "numpy._core.multiarray._reconstruct": _Array,
    "numpy.ndarray": _Array,
    "numpy.dtype": _Type,
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if stand_in := STAND_INS.get(f"{module}.{name}"):
            return stand_in
        raise pickle.UnpicklingError(f"it wants {module}.{name}, and only byte arrays are read")


def read_pickled(raw: bytes) -> dict[Any, Any]:
    """The dict that the pickle holds, the arrays in it as numpy's."""
    try:
        content = _Reader(io.BytesIO(raw), encoding="bytes").load()
    except (pickle.UnpicklingError, EOFError, AttributeError, IndexError, TypeError, ValueError) as error:
        raise InvalidInput(f"a pickle that cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise InvalidInput(f"a pickle of {type(content).__name__}, not of a dict")
    return {key: value.values() if isinstance(value, _Array) else value for key, value in content.items()}
