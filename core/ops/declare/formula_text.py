"""An op's formula as Python: its inputs, its attributes' values, and `np` before functions."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.table import OpDef, lookup


def formula_text(
    op: Operation, inputs: Sequence[str], helpers: Collection[str] = (), what: str = "a function"
) -> str:
    """inputs: what stands for each, in Python; helpers: names beside NumPy's that may stand in it.
    Raises GradstepError for an op without a formula, or of which it takes more than that; what:
    cannot be written then."""
    definition = lookup(op.type, op.name)
    if not definition.formula or definition.state.stateful:
        raise _unwritten(op, what)
    attrs = {name: definition.attr(op, name) for name in definition.attrs}
    attrs["masks"] = {name: value for name, value in attrs.items() if name.endswith("_mask")}
    names = _inputs(definition, inputs)
    tree = ast.parse(definition.formula, mode="eval")
    return ast.unparse(_Rewrite(op, names, attrs, helpers, what).visit(tree))


def _inputs(definition: OpDef, inputs: Sequence[str]) -> dict[str, ast.expr]:
    """Name -> what stands for it, as text; of a list of tensors a list."""
    fixed = sum(not spec.variadic for spec in definition.inputs)
    lists = len(definition.inputs) - fixed
    spare = (len(inputs) - fixed) // max(lists, 1)
    left, found = iter(inputs), dict[str, ast.expr]()
    for spec in definition.inputs:
        texts = [next(left) for _ in range(spare)] if spec.variadic else [next(left)]
        parts = [ast.parse(text, mode="eval").body for text in texts]
        found[spec.name] = ast.List(parts, ast.Load()) if spec.variadic else parts[0]
    return found


class _Rewrite(ast.NodeTransformer):
    def __init__(
        self,
        op: Operation,
        names: Mapping[str, ast.expr],
        attrs: Mapping[str, object],
        helpers: Collection[str],
        what: str,
    ) -> None:
        self.op, self.names, self.attrs = op, names, attrs
        self.helpers, self.what = helpers, what

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.names:
            return self.names[node.id]
        value = self.attrs.get(node.id)
        if isinstance(value, DType):
            return ast.Constant(value.value)
        if isinstance(value, int | float | bool | str | tuple | list | dict):
            return ast.parse(repr(value), mode="eval").body
        if node.id in self.helpers:
            return node
        if hasattr(np, node.id):
            return ast.Attribute(ast.Name("np", ast.Load()), node.id, ast.Load())
        raise _unwritten(self.op, self.what, f": its formula uses '{node.id}'")


def _unwritten(op: Operation, what: str, why: str = "") -> GradstepError:
    return GradstepError(
        f"{op.type} cannot be written as {what}{why}", kind="ValueError", node=op.name
    )
