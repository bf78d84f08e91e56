"""Distinct values and sums of rows as compiled loops over them, by numba."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from gradstep.core.engine.kernels.kernel_alternative import Kernel
from gradstep.core.engine.kernels.kernel_libraries import NUMBA
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.catalogue.arrays.unsorted_segments import segment_count, segment_rows
from gradstep.core.ops.declare.system_rules import TF_CPU
from gradstep.core.ops.declare.table import lookup


def segment_sum(op: Operation) -> Kernel:
    """UnsortedSegmentSum, one row after another: the reference's bits."""
    add_rows = _compiled(_add_rows)

    def kernel(data: Any, ids: Any, num_segments: Any, out: Any = None) -> Any:
        count = segment_count(data, ids, num_segments)
        total = np.empty((count, *data.shape[ids.ndim :]), data.dtype) if out is None else out
        if total.size == 0 or data.size == 0:
            total.fill(0)
            segment_rows(np, data, ids, num_segments, TF_CPU)  # raises what is to be raised
        elif add_rows(total.reshape(count, -1), data.reshape(ids.size, -1), ids.reshape(-1)):
            segment_rows(np, data, ids, num_segments, TF_CPU)  # raises: an id is too large
        return total

    return kernel


def unique(op: Operation) -> Kernel:
    """Unique, of integers, by a table of hashed values."""
    find = _compiled(_find_distinct)
    kind = DType(lookup("Unique").attr(op, "out_idx")).numpy

    def kernel(x: Any) -> tuple[Any, Any]:
        index = np.empty(x.size, kind)
        table = np.full(1 << max(x.size * 2 - 1, 1).bit_length(), -1, np.int32)
        values = np.empty_like(x)
        return values[: find(x, values, index, table)].copy(), index

    return kernel


@cache
def _compiled(loop: Any) -> Any:
    """Compiled once for each combination of types; the result is kept between processes."""
    return NUMBA.load().njit(cache=True, nogil=True)(loop)


def _add_rows(total: Any, values: Any, places: Any) -> bool:
    """Fill `total`; whether that has failed. Rows for negative places are dropped."""
    total[:] = 0
    for i in range(values.shape[0]):
        place = places[i]
        if place >= len(total):
            return True
        if place >= 0:
            for j in range(values.shape[1]):
                total[place, j] += values[i, j]
    return False


def _find_distinct(x: Any, values: Any, index: Any, table: Any) -> int:
    """Fill `values` and `index`; how many values there are. `table`, all -1, has a power of two
    entries, twice as many as there are elements at least: the numbers of values, each at its hash
    or behind what was there before."""
    last = np.uint64(len(table) - 1)
    count = 0
    for i in range(len(x)):
        value = x[i]
        mixed = np.uint64(value) * np.uint64(0x9E3779B97F4A7C15)
        at = (mixed >> np.uint64(32)) & last
        while table[at] >= 0 and values[table[at]] != value:
            at = (at + np.uint64(1)) & last
        if table[at] < 0:
            table[at] = count
            values[count] = value
            count += 1
        index[i] = table[at]
    return count
