"""Turning a node into a Python function that computes the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradstep.core.autodiff.reverse.gradient_request import NATIVE_OP_TYPE
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.document.function_lookup import argument_names
from gradstep.core.errors import GradstepError
from gradstep.core.graph import edits
from gradstep.core.graph.free_names import unique_name
from gradstep.core.graph.loop import anywhere
from gradstep.core.graph.model import PYTHON_OPS, Operation, TensorRef
from gradstep.core.ops.build.loop_captures import capture_tensor
from gradstep.core.ops.declare.formula_text import formula_text
from gradstep.core.ops.declare.table import lookup
from gradstep.core.ops.typing.flatten_loops import flatten_loop_types
from gradstep.core.ops.typing.inference import infer_declared


def to_pyfunc(document: Document, name: str, extra: Sequence[TensorRef] = ()) -> Document:
    """Replace a node by a Python function that computes the same, with further inputs if asked.

    The function's source is written from the op's formula, so the forward result stays what it
    was; its gradient is then the user's to give.
    """
    graph, op = document.graph, anywhere(document.graph, name)
    if op.type in PYTHON_OPS:
        raise GradstepError(f"'{name}' is a Python function already", kind="ValueError", node=name)
    lookup(op.type)
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
    source = _source(op, inputs)
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


def _source(op: Operation, inputs: Sequence[TensorRef | None]) -> str:
    """`def forward(c, k, d): return c + k`, from the op's formula."""
    arguments = argument_names([ref.op if ref is not None else "" for ref in inputs])
    body = formula_text(op, arguments[: len(op.inputs)], what="a Python function")
    return f"def forward({', '.join(arguments)}):\n    return {body}\n"
