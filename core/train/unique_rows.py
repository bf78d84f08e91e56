"""Rows of a gradient in which each is named once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradstep.core.ops.build.builder import call, call_many
from gradstep.core.ops.build.indexed_slices import IndexedSlices


def sum_duplicate_rows(rows: IndexedSlices) -> IndexedSlices:
    """The same gradient with the rows of equal indices added up: TensorFlow's
    `_deduplicate_indexed_slices`."""
    unique, place = call_many("Unique", rows.indices)
    zero, one = np.array([0], np.int32), np.array([1], np.int32)
    count = call("StridedSlice", call("Shape", unique), zero, one, one, shrink_axis_mask=1)
    values = call("UnsortedSegmentSum", rows.values, place, count)
    return replace(rows, values=values, indices=unique)
