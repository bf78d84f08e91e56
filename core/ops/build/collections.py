"""Collections: what TensorFlow's Python gathers while a graph is built, kept on the operations.

An operation says in an attribute which collections it is in, so that a file knows it, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gradstep.core.graph.model import Operation
from gradstep.core.ops.build.tensor import Tensor
from gradstep.core.ops.build.variable import VARIABLES, found_variable, is_trainable
from gradstep.core.ops.declare.attribute_kinds import hinted_items

if TYPE_CHECKING:
    from gradstep.core.ops.build.builder import GraphBuilder

COLLECTIONS = "_collections"


class GraphKeys:
    """The names of TensorFlow's own collections."""

    GLOBAL_VARIABLES = "variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"


def collect(tensor: Tensor, collection: str) -> Tensor:
    """Put the operation that makes `tensor` into a collection. Returns the tensor."""
    there = hinted_items(tensor.op.operation, COLLECTIONS)
    return tensor.builder.mark(tensor, **{COLLECTIONS: (*there, collection)})


def is_in(operation: Operation, collection: str) -> bool:
    if collection == GraphKeys.GLOBAL_VARIABLES:
        return operation.type in VARIABLES
    if collection == GraphKeys.TRAINABLE_VARIABLES:
        return is_trainable(operation)
    return collection in hinted_items(operation, COLLECTIONS)


def members_of(builder: GraphBuilder, collection: str, scope: str | None = None) -> list[Tensor]:
    """The members in order of creation, variables as such; those whose name `scope`, a regular
    expression, matches from the start on ("foo" is the start of "foobar", too)."""
    found = [op for op in builder.build() if is_in(op, collection)]
    return [_member(builder, op) for op in found if scope is None or re.match(scope, op.name)]


def _member(builder: GraphBuilder, operation: Operation) -> Tensor:
    variable = found_variable(builder, operation.name)
    return builder.get(f"{operation.name}:0") if variable is None else variable
