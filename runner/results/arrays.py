"""numpy, which loads when the first array is made: commands that only explain themselves start in half the time."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:

    class _Numpy:
        def __getattr__(self, name: str) -> Any:
            found = vars(self)[name] = getattr(importlib.import_module("numpy"), name)
            return found

    np = _Numpy()

Array: TypeAlias = "NDArray[Any]"
Floats: TypeAlias = "NDArray[np.float64]"
Rows: TypeAlias = "NDArray[np.intp]"
__all__ = ["Array", "Floats", "Rows", "np"]
