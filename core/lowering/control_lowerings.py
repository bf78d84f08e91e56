"""Branches and loops, of whichever framework: conds and loops of ours, a graph for each function.

docs/trace-format.md has their arguments, which are no framework's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.lowering.foreign_graph import ForeignSubgraph
from gradstep.core.lowering.lowering_table import (
    LoweringTable,
    Site,
    UnloweredError,
    element_type,
)
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor

CONTROL = LoweringTable()


@CONTROL.lower("cond")
def cond(
    site: Site,
    predicate: Tensor,
    true: ForeignSubgraph,
    false: ForeignSubgraph,
    operands: Sequence[Any],
) -> Sequence[Tensor]:
    """What `true` gives of the operands where the predicate holds, else what `false` gives."""
    kinds = [told.dtype for told in site.node.outputs]
    if predicate.shape.rank != 0:
        predicate = tf.reshape(predicate, [])  # of one element
    chosen: list[Tensor] = tf.cond(
        predicate,
        lambda: _called(site, true, operands, kinds),
        lambda: _called(site, false, operands, kinds),
        strict=True,
        name=site.scope,
    )
    return chosen


@CONTROL.lower("while_loop")
def while_loop(
    site: Site,
    condition: ForeignSubgraph,
    body: ForeignSubgraph,
    carried: Sequence[Any],
    constants: Sequence[Any],
) -> Sequence[Tensor]:
    """`carried`, replaced by what `body` gives of it and the constants, while `condition` holds."""
    kinds = [told.dtype for told in site.node.outputs]
    counted = any(site.counts(_graph(function)) for function in (condition, body))

    def goes_on(*values: Tensor) -> Tensor:
        number, rest = _number(values, counted)
        return _called(site, condition, [*rest, *constants], ["bool"], number)[0]

    def step(*values: Tensor) -> list[Tensor]:
        number, rest = _number(values, counted)
        after = [] if number is None else [number + 1]
        return [*after, *_called(site, body, [*rest, *constants], kinds, number)]

    first = [site.builder.constant(np.int32(0), name="iteration")] if counted else []
    results: list[Tensor] = tf.while_loop(
        goes_on,
        step,
        [*first, *_entering(site, carried, body)],
        return_same_structure=True,
        name=site.scope,
    )
    return results[len(first) :]


def _number(values: Sequence[Tensor], counted: bool) -> tuple[Tensor | None, Sequence[Tensor]]:
    """The number of the iteration, where a loop counts them, and what else goes round."""
    return (values[0], values[1:]) if counted else (None, values)


@CONTROL.lower("scan")
def scan(
    site: Site,
    body: ForeignSubgraph,
    carried: Sequence[Any],
    items: Sequence[Tensor],
    constants: Sequence[Any],
    length: int | None = None,
    reverse: bool = False,
) -> Sequence[Tensor]:
    """`body` of what is carried, a row of each of the items and the constants gives what is carried
    on, and rows; the last of what was carried, and all rows. length: how often, where there are no
    items. reverse: from the last row on."""
    count, kinds = len(carried), [told.dtype for told in site.node.outputs]
    rows, how_many = _rows(items, length)
    kept = [tf.TensorArray(element_type(kind), how_many) for kind in kinds[count:]]

    def step(index: Tensor, values: Sequence[Tensor], arrays: Sequence[Any]) -> Any:
        at = how_many - 1 - index if reverse else index
        given = [*values, *(row.read(at) for row in rows), *constants]
        results = _called(site, body, given, kinds, index)
        written = [a.write(at, x) for a, x in zip(arrays, results[count:], strict=True)]
        return index + 1, results[:count], written

    _, last, written = tf.while_loop(
        lambda index, values, arrays: index < how_many,
        step,
        (0, _entering(site, carried, body), kept),
        name=site.scope,
    )
    return [*last, *(array.stack() for array in written)]


def _rows(items: Sequence[Tensor], length: int | None) -> tuple[list[Any], Any]:
    """An array of the rows of each, and how many there are."""
    if not items and isinstance(length, int):
        return [], length
    if not items or not all(isinstance(x, Tensor) for x in items):
        raise UnloweredError("what it goes over are no tensors")
    known = items[0].shape.dims
    fixed = known[0] if known else None
    how_many = tf.shape(items[0])[0] if fixed is None else fixed
    return [tf.TensorArray(x.dtype, how_many).unstack(x) for x in items], how_many


def _called(
    site: Site,
    function: Any,
    args: Sequence[Any],
    kinds: Sequence[str],
    number: Tensor | None = None,
) -> list[Tensor]:
    """What a function gives: tensors of these element types. Raises UnloweredError where it is
    none, or takes or gives another number of them. number: of a loop's iteration."""
    graph = _graph(function)
    if len(args) != len(graph.inputs):
        raise UnloweredError(
            f"its function takes {len(graph.inputs)} tensors, and is given {len(args)}"
        )
    results = site.inner(graph, _entering(site, args, graph), number)
    if len(results) != len(kinds):
        raise UnloweredError(f"a function of it gives {len(results)} tensors, and not {len(kinds)}")
    return [site.tensor(value, kind) for value, kind in zip(results, kinds, strict=True)]


def _entering(site: Site, values: Sequence[Any], function: Any) -> list[Tensor]:
    """What a function begins with: tensors of the types that it takes. A loop gives it constants
    besides."""
    types = _graph(function).types
    return [site.tensor(value, told.dtype) for value, told in zip(values, types, strict=False)]


def _graph(function: Any) -> ForeignSubgraph:
    if not isinstance(function, ForeignSubgraph):
        raise UnloweredError("one of its functions is no graph")
    return function
