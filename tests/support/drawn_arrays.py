"""Random arrays of every element type that has numbers, of bfloat16 as well."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradstep.core.graph.dtypes import DType

NUMBERS = [kind.numpy for kind in DType if not kind.numpy.hasobject]
_BFLOAT16 = DType.BFLOAT16.numpy  # which Hypothesis does not know: any 16 bits are one
_KNOWN = st.sampled_from([dtype for dtype in NUMBERS if dtype != _BFLOAT16])


def number_arrays(shapes: Any) -> st.SearchStrategy[np.ndarray]:
    """Of any shape that a strategy gives."""
    known = _KNOWN.flatmap(lambda dtype: hnp.arrays(dtype, shapes))
    return known | hnp.arrays(np.uint16, shapes).map(lambda bits: bits.view(_BFLOAT16))
