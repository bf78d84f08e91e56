"""Graphs after edits that a user might make."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from gradstep.core.graph.carry_over import changes_between, find_moved
from gradstep.core.graph.changes import share_and_diff
from gradstep.core.graph.model import Constant, Graph
from gradstep.core.persistent.sequence_places import exchange


def shared(graph: Graph, before: Graph) -> Graph:
    """`graph` with the very operations of `before` where they are equal, as an editor has them."""
    old = before.operations
    return Graph.of(old[op.name] if old.get(op.name) == op else op for op in graph)


def edited(graph: Graph, fed: set[str], draw: Any) -> Graph:
    """After one change that a user might make, sensible or not."""
    ops = [*graph]
    able = [i for i, op in enumerate(ops) if op.name not in fed]
    if not able:
        return graph
    i = draw(st.sampled_from(able))
    op, kind = (
        ops[i],
        draw(st.sampled_from(("type", "wire", "gone", "wait", "value", "move", "new"))),
    )
    if kind == "type" and op.type in _LIKE:
        ops[i] = replace(op, type=draw(st.sampled_from(_LIKE)))
    elif kind == "wire" and op.inputs:
        place = draw(st.integers(0, len(op.inputs) - 1))
        source = draw(st.sampled_from(ops)).output()
        ops[i] = replace(op, inputs=(*op.inputs[:place], source, *op.inputs[place + 1 :]))
    elif kind == "gone":
        del ops[i]
    elif kind == "wait":
        ops[i] = replace(op, control_inputs=(draw(st.sampled_from(ops)).name,))
    elif kind == "value" and op.type == "Const":
        array = op.attrs["value"].array
        other = array if array.dtype.hasobject else array + array.dtype.type(1)
        ops[i] = op.with_attrs(value=Constant(other))
    elif kind == "move":
        ops.insert(draw(st.integers(0, len(ops) - 1)), ops.pop(i))
    elif kind == "new" and op.inputs:
        ops.insert(i, replace(op, name=f"{op.name}_more"))
    return Graph.of(ops)


_LIKE = (
    "Tanh",
    "Neg",
    "Exp",
    "Square",
    "Identity",
    "ZerosLike",
    "AssignAdd",
    "AssignSub",
    "Assign",
)


def assert_edit_is_known(before: Graph, after: Graph) -> None:
    """What the one remembers of the edit that made it of the other is so, and of the way back."""
    anew = Graph(dict(after.operations))
    assert changes_between(before, after) == share_and_diff(anew, before)[1]
    for then, now in ((before, after), (after, before)):
        moved = find_moved(then, now)
        if moved is not None:
            come = [(place, now.names[place]) for _, place in moved.come]
            assert exchange(then.names, moved.gone, come) == [*now.operations]
