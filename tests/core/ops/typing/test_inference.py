"""Types and values that are known without a run."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from gradstep.core.graph.dtypes import Shape
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.typing.inference import infer


@pytest.mark.parametrize("value", [1.0, np.int32(1)])
def test_what_can_be_no_size_is_not_computed(value: float) -> None:
    """A file may ask for more than there is memory."""
    builder = GraphBuilder()
    sizes = np.array([1 << 22], np.int32)
    filled = builder.one("Fill", builder.constant(sizes), builder.constant(value))
    graph = builder.build()
    tracemalloc.start()
    try:
        known = infer(graph)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert known.types[filled.ref].shape == Shape.of(1 << 22)
    assert peak < 1 << 21


def test_what_may_be_sizes_is_known() -> None:
    builder = GraphBuilder()
    sizes = builder.one("Fill", builder.constant(np.array([3], np.int32)), builder.constant(2))
    drawn = builder.one("Fill", sizes, builder.constant(0.5))
    assert infer(builder.build()).types[drawn.ref].shape == Shape.of(2, 2, 2)
