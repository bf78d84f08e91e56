"""Which element of which input an error is about."""

from __future__ import annotations

import re

from gradstep.core.graph.model import Edge, Operation
from gradstep.gui.canvas.scene.input_names import input_name
from gradstep.gui.model.workspace import Workspace

# TensorFlow names the input and the place: "indices[2] = 6 is not in [0, 5)".
_NAMED = re.compile(r"(\w+)\[[\d, ]+\] = ")


def element(workspace: Workspace, op: Operation) -> int | None:
    """The position in the flat output of `op` that the error at its reader names, if it does."""
    error = None if workspace.stop is None else workspace.stop.error
    if error is None or error.node is None or error.index is None or len(error.index) != 1:
        return None
    named, graph = _NAMED.match(error.message), workspace.shown
    if named is None or error.node not in graph:
        return None
    for index, ref in enumerate(graph[error.node].inputs):
        if ref == op.output() and input_name(graph, Edge(error.node, index)) == named[1]:
            return error.index[0]
    return None
