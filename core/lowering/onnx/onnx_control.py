"""Branches and loops of ONNX: conds and loops of ours, the graphs of an operator their functions.

What such a graph reads from outside it gets behind its own inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.lowering.foreign_graph import (
    ForeignRef,
    ForeignSubgraph,
    ForeignTensor,
)
from gradstep.core.lowering.lowering_table import Site, UnloweredError, element_type
from gradstep.core.lowering.onnx.onnx_known import known as known_value
from gradstep.core.lowering.onnx.onnx_operands import (
    Size,
    cast,
    positive,
    rank,
    reshape,
    size,
    transpose,
)
from gradstep.core.lowering.onnx.onnx_table import lower, version
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call


@lower("If")
def if_(
    site: Site,
    condition: Tensor,
    *,
    then_branch: ForeignSubgraph,
    else_branch: ForeignSubgraph,
    captured: Sequence[Tensor] = (),
) -> Sequence[Tensor]:
    """Where the condition is known before, what it chooses alone."""
    told = known_value(condition)
    if told is not None:
        taken = then_branch if bool(told.reshape(-1)[0]) else else_branch
        return _called(site, taken, captured)
    chosen: list[Tensor] = tf.cond(
        _one(condition),
        lambda: _called(site, then_branch, captured),
        lambda: _called(site, else_branch, captured),
        strict=True,
        name=site.scope,
    )
    return chosen


@lower("Loop")
def loop(
    site: Site,
    most: Tensor | None = None,
    condition: Tensor | None = None,
    *carried: Tensor,
    body: ForeignSubgraph,
    captured: Sequence[Tensor] = (),
) -> Sequence[Tensor]:
    """At most so often, as long as the condition holds, if there is one."""
    count = len(carried)
    first = site.constant(np.array(True)) if condition is None else _one(condition)
    begun = [site.constant(np.array(0)), first, *carried, *captured]
    kinds = _kinds(site, body, begun, 1 + count)
    arrays = [_array(kind, most, condition) for kind in kinds]

    def goes_on(index: Tensor, holds: Tensor, *_: Any) -> Tensor:
        if most is None:
            return holds
        return call("LogicalAnd", call("Less", index, cast(_one(most), DType.INT32)), holds)

    def step(index: Tensor, holds: Tensor, values: Sequence[Tensor], rows: Sequence[Any]) -> Any:
        given = [cast(index, DType.INT64), holds, *values, *captured]
        after, *results = _called(site, body, given)
        written = [a.write(index, x) for a, x in zip(rows, results[count:], strict=True)]
        holds = holds if condition is None else _one(after)
        again = [_as_told(x, shape) for x, shape in zip(results, shapes, strict=False)]
        return index + 1, holds, again, written

    shapes = [_shape(x, told) for x, told in zip(carried, body.types[2:], strict=False)]
    _, _, last, written = tf.while_loop(
        goes_on,
        step,
        (np.int32(0), first, [*carried], arrays),
        shape_invariants=(Shape(()), Shape(()), shapes, [Shape(()) for _ in arrays]),
        name=site.scope,
    )
    return [*last, *(array.stack() for array in written)]


def _array(kind: DType, most: Tensor | None, condition: Tensor | None) -> Any:
    """For as many rows as there are iterations, which may not be known before."""
    fixed = None if most is None or condition is not None else known_value(most)
    if fixed is None:
        return tf.TensorArray(kind, 0, dynamic_size=True)
    return tf.TensorArray(kind, int(fixed.reshape(-1)[0]))


@lower("Scan")
def scan(
    site: Site,
    *xs: Tensor,
    body: ForeignSubgraph,
    num_scan_inputs: int,
    scan_input_axes: Sequence[int] | None = None,
    scan_input_directions: Sequence[int] | None = None,
    scan_output_axes: Sequence[int] | None = None,
    scan_output_directions: Sequence[int] | None = None,
    captured: Sequence[Tensor] = (),
) -> Sequence[Tensor]:
    """A row of each of the last inputs after another; what it gives besides its states are rows."""
    if version(site) < 9:
        raise UnloweredError("a scan of before version 9")
    count = len(xs) - num_scan_inputs
    states, items = xs[:count], xs[count:]
    axes, ways = scan_input_axes or [0] * len(items), scan_input_directions or [0] * len(items)
    turned = [_first(x, a, bool(w)) for x, a, w in zip(items, axes, ways, strict=True)]
    how_many: Size = size(turned[0], 0)
    rows = [tf.TensorArray(x.dtype, how_many).unstack(x) for x in turned]
    firsts = [x[0] for x in turned] if len(body.results) > count else []
    kinds = _kinds(site, body, [*states, *firsts, *captured], count)
    arrays = [tf.TensorArray(kind, how_many) for kind in kinds]

    def step(index: Tensor, values: Sequence[Tensor], kept: Sequence[Any]) -> Any:
        given = [*values, *(row.read(index) for row in rows), *captured]
        results = _called(site, body, given)
        written = [a.write(index, x) for a, x in zip(kept, results[count:], strict=True)]
        return index + 1, results[:count], written

    _, last, written = tf.while_loop(
        lambda index, values, kept: index < how_many,
        step,
        (np.int32(0), [*states], arrays),
        name=site.scope,
    )
    out_axes = scan_output_axes or [0] * len(written)
    out_ways = scan_output_directions or [0] * len(written)
    stacked = [array.stack() for array in written]
    return [
        *last,
        *(_back(x, a, bool(w)) for x, a, w in zip(stacked, out_axes, out_ways, strict=True)),
    ]


def _first(x: Tensor, axis: int, reverse: bool) -> Tensor:
    """An axis before the others, from the end on if it is told so."""
    place = positive(axis, rank(x))
    order = [place, *(i for i in range(rank(x)) if i != place)]
    turned = transpose(x, order)
    return call("ReverseV2", turned, np.array([0], np.int32)) if reverse else turned


def _back(x: Tensor, axis: int, reverse: bool) -> Tensor:
    """The first axis where it is wanted."""
    x = call("ReverseV2", x, np.array([0], np.int32)) if reverse else x
    place = positive(axis, rank(x))
    order = [*range(1, rank(x))]
    order.insert(place, 0)
    return transpose(x, order)


def _one(x: Tensor) -> Tensor:
    """Of one element, without an axis."""
    return x if x.shape.rank == 0 else reshape(x, [])


def _called(site: Site, graph: ForeignSubgraph, args: Sequence[Tensor]) -> list[Tensor]:
    if len(args) != len(graph.inputs):
        raise UnloweredError(
            f"its graph takes {len(graph.inputs)} tensors, and is given {len(args)}"
        )
    return site.inner(graph, args, None)


def _kinds(site: Site, graph: ForeignSubgraph, given: Sequence[Tensor], first: int) -> list[DType]:
    """The element types of what a graph gives from a place on, which are told, or follow from what
    it is given."""
    told = [_told(graph, place) for place in range(first, len(graph.results))]
    known = [element_type(name) for name in told if name]
    return known if len(known) == len(told) else site.outline(graph, given)[first:]


def _told(graph: ForeignSubgraph, place: int) -> str:
    """The element type of what a graph gives there; "" where that is not told."""
    ref = graph.results[place]
    types = dict(zip(graph.inputs, graph.types, strict=True))
    outputs = {node.name: node.outputs for node in graph.nodes}
    if not isinstance(ref, ForeignRef):
        return ""
    if ref.node in outputs and ref.output < len(outputs[ref.node]):
        return outputs[ref.node][ref.output].dtype
    found = types.get(ref.node)
    return "" if found is None else found.dtype


def _as_told(x: Tensor, shape: Shape) -> Tensor:
    """What a loop goes on with is of the shape that it has in all iterations."""
    sizes = shape.dims
    if sizes is None or x.shape.dims == sizes or None in sizes:
        return x
    return call("EnsureShape", x, shape=shape)


def _shape(x: Tensor, told: ForeignTensor) -> Shape:
    """What a tensor is in each iteration: sizes that have a name in the graph may change."""
    if not told.has_rank or x.shape.rank != len(told.shape):
        return x.shape
    return Shape(
        tuple(
            own if isinstance(said, int) else None
            for own, said in zip(x.shape, told.shape, strict=True)
        )
    )
