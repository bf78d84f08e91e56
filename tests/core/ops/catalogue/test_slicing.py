"""Strided slices mean what Python's do, whatever bits the masks have."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.graph.dtypes import Shape
from gradstep.core.ops.catalogue.arrays.strided_slice_spec import Spec, cut_shape, python_index

PLACES = st.integers(-5, 5)
STEPS = st.integers(-3, 3).filter(bool)


@st.composite
def specs(draw: st.DrawFn) -> tuple[Spec, tuple[Any, ...], tuple[int, ...]]:
    """A specification, Python's way to write it, and the sizes it is applied to."""
    dims = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    kinds = draw(st.lists(st.sampled_from("slice element new".split()), max_size=len(dims)))
    if draw(st.booleans()):
        kinds.insert(draw(st.integers(0, len(kinds))), "rest")
    entries, written, masks = [], [], dict.fromkeys(Spec._fields[3:], 0)
    for i, kind in enumerate(kinds):
        b, e, s = draw(PLACES), draw(PLACES), draw(STEPS)
        if kind == "rest":
            masks["ellipsis_mask"] |= 1 << i
            written.append(Ellipsis)
        elif kind == "new":
            masks["new_axis_mask"] |= 1 << i
            written.append(None)
        elif kind == "element":
            b = draw(st.integers(-1, 0))  # inside every axis, wherever `...` puts it
            s = abs(s)  # a single element is not cut backwards
            masks["shrink_axis_mask"] |= 1 << i
            written.append(b)
        else:
            open_begin, open_end = draw(st.booleans()), draw(st.booleans())
            masks["begin_mask"] |= open_begin << i
            masks["end_mask"] |= open_end << i
            written.append(slice(None if open_begin else b, None if open_end else e, s))
        entries.append((b, e, s))
    columns = zip(*entries, strict=True) if entries else ((), (), ())
    begin, end, strides = (tuple(c) for c in columns)
    return Spec(begin, end, strides, **masks), tuple(written), dims


@given(specs())
def test_it_cuts_what_python_cuts(drawn: Any) -> None:
    spec, written, dims = drawn
    x = np.arange(np.prod(dims)).reshape(dims)
    index = python_index(dims, spec)
    np.testing.assert_array_equal(x[index], x[written])
    assert cut_shape(dims, index) == Shape(x[written].shape)
    unknown = cut_shape([None] * len(dims), python_index([None] * len(dims), spec))
    assert unknown.accepts(x[written].shape)
