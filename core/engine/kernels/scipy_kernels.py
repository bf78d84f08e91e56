"""Sums of rows as the product of a sparse matrix with them, by SciPy's loops."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from gradstep.core.engine.kernels.kernel_alternative import Kernel
from gradstep.core.engine.kernels.kernel_libraries import SCIPY
from gradstep.core.graph.model import Operation
from gradstep.core.ops.catalogue.arrays.unsorted_segments import segment_rows
from gradstep.core.ops.declare.system_rules import TF_CPU
from gradstep.core.ops.numerics.index_bounds import fill_outside


def segment_sum(op: Operation) -> Kernel:
    """UnsortedSegmentSum. Column i of the matrix has a one in the row that row i goes to; SciPy
    takes columns in order, so sums have the reference's bits."""
    add_columns = SCIPY.load().csc_matvecs

    def kernel(data: Any, ids: Any, num_segments: Any, out: Any = None) -> Any:
        count, rows, dropped = segment_rows(np, data, ids, num_segments, TF_CPU)
        inner = data.shape[ids.ndim :]
        total = np.empty((count, *inner), data.dtype) if out is None else out
        total.fill(0)
        if data.size and count:
            values = np.ascontiguousarray(fill_outside(np, data, dropped, 0)).reshape(-1)
            starts, ones = _units(ids.size, data.dtype, rows.dtype)
            width, places = values.size // ids.size, np.ascontiguousarray(rows).reshape(-1)
            flat = total.reshape(-1)
            add_columns(count, ids.size, width, starts, places, ones, values, flat)
        return total

    return kernel


@cache
def _units(count: int, dtype: np.dtype, index: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Where each of `count` columns starts that have one element each, and these elements."""
    return np.arange(count + 1, dtype=index), np.ones(count, dtype)
