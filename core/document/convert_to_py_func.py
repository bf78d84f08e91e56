"""Turning a node into a Python function that computes the same."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import NATIVE_OP_TYPE
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.document.function_lookup import argument_names
from gradstep.core.errors import GradstepError
from gradstep.core.graph import edits
from gradstep.core.graph.free_names import unique_name
from gradstep.core.graph.loop import anywhere
from gradstep.core.graph.model import PYTHON_OPS, Operation, TensorRef
from gradstep.core.ops.build.loop_captures import capture_tensor
from gradstep.core.ops.declare.table import OpDef, lookup
from gradstep.core.ops.typing.flatten_loops import flatten_loop_types
from gradstep.core.ops.typing.inference import infer_declared


def to_pyfunc(document: Document, name: str, extra: Sequence[TensorRef] = ()) -> Document:
    """Replace a node by a Python function that computes the same, with further inputs if asked.

    The function's source is written from the op's formula, so the forward result stays what it
    was; its gradient is then the user's to give.
    """
    graph, op = document.graph, anywhere(document.graph, name)
    definition = lookup(op.type)
    if op.type in PYTHON_OPS:
        raise GradstepError(f"'{name}' is a Python function already", kind="ValueError", node=name)
    if not definition.formula or definition.state.stateful:
        raise GradstepError(
            f"{op.type} cannot be written as a Python function", kind="ValueError", node=name
        )
    brought: list[TensorRef] = []
    for ref in extra:
        graph, inner = capture_tensor(graph, ref, name)
        brought.append(inner)
    types = flatten_loop_types(graph, infer_declared(graph)).types
    inputs = (*op.inputs, *brought)
    known = [types.get(ref) for ref in inputs if ref is not None]
    if len(known) < len(inputs) or None in known:
        raise GradstepError(f"connect all inputs of '{name}' first", kind="ValueError", node=name)
    output = types.get(op.output())
    if output is None:
        raise GradstepError(
            f"what '{name}' gives is not known, and so not what the function is to give",
            kind="ValueError",
            node=name,
            hint="mend what its problem names first",
        )
    source = _source(op, definition, inputs)
    token = unique_name(graph, f"{name.replace('/', '_')}_forward")
    attrs = {
        "token": token,
        "Tout": (output.dtype,),
        "shapes": (output.shape,),
        NATIVE_OP_TYPE: op.type,
    }
    graph = edits.retype(graph, name, "PyFunc", inputs, attrs)
    code = {**document.code, token: CodeItem(token, CodeKind.PYFUNC, source)}
    return replace(document, graph=graph, code=code)


def _source(op: Operation, definition: OpDef, inputs: Sequence[TensorRef | None]) -> str:
    """`def forward(c, k, d): return c + k`, from the op's formula."""
    arguments = argument_names([ref.op if ref is not None else "" for ref in inputs])
    names = dict(zip(definition.arity(len(op.inputs)), arguments, strict=False))
    attrs = {name: definition.attr(op, name) for name in definition.attrs}
    body = ast.unparse(_Rewrite(op, names, attrs).visit(ast.parse(definition.formula, mode="eval")))
    return f"def forward({', '.join(arguments)}):\n    return {body}\n"


class _Rewrite(ast.NodeTransformer):
    """Puts argument names, attribute values and `np.` into a formula."""

    def __init__(
        self, op: Operation, names: Mapping[str, str], attrs: Mapping[str, object]
    ) -> None:
        self.op, self.names, self.attrs = op, names, attrs

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.names:
            return ast.Name(self.names[node.id], ast.Load())
        if node.id in self.attrs and isinstance(self.attrs[node.id], int | float | bool):
            return ast.Constant(self.attrs[node.id])  # type: ignore[arg-type]
        if hasattr(np, node.id):
            return ast.Attribute(ast.Name("np", ast.Load()), node.id, ast.Load())
        raise GradstepError(
            f"{self.op.type} cannot be written as a Python function: its formula uses '{node.id}'",
            kind="ValueError",
            node=self.op.name,
        )
