"""Short names of array types."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]
Words = NDArray[np.uint64]
Bools = NDArray[np.bool_]
Indices = NDArray[np.intp]
