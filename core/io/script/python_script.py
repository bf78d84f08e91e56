"""A document as a Python script for TensorFlow: the same graph, asked for the same values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from gradstep.core.autodiff.reverse.gradient_request import (
    GradientRequest,
    gradient_name,
    native_name,
)
from gradstep.core.document.document import CodeKind, Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape
from gradstep.core.graph.loop import everywhere
from gradstep.core.graph.model import PYTHON_OPS, Operation, TensorRef
from gradstep.core.io.script.flat_graph import head
from gradstep.core.io.script.script_conds import HELPER as BRANCHES
from gradstep.core.io.script.script_conds import has_branches_in_loops
from gradstep.core.io.script.script_functions import functions, script_name
from gradstep.core.io.script.script_loops import reserve_names, statements
from gradstep.core.io.script.script_nodes import creation_call, is_passed_on, write_prelude
from gradstep.core.io.script.script_optimizers import training_steps
from gradstep.core.io.script.script_threads import HELPER, start_lines
from gradstep.core.io.tensorflow.graphdef_lowering import lower_document, with_requests
from gradstep.core.ops.declare.raw_calls import raw_call, value_text
from gradstep.core.ops.declare.table import lookup
from gradstep.core.ops.typing.inference import infer_declared

_HEAD = """
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_v2_behavior()
graph = tf1.get_default_graph()
known = {}  # tensors that TensorFlow calls otherwise


def tensor(name):
    if name in known:
        return known[name]
    return graph.get_tensor_by_name(name if ":" in name else name + ":0")


def operation(name):
    return known[name].op if name in known else graph.get_operation_by_name(name)


def variable(name):
    return next(v for v in tf1.global_variables() if v.op.name == name)

"""
_ON_ARRAYS = '''
def on_arrays(function):
    """A gradient function that calls `function` on NumPy arrays."""

    def gradient(op, *grads):
        def filled(*arrays):
            found = function(*arrays)
            found = list(found) if isinstance(found, (list, tuple)) else [found]
            pairs = zip(found, arrays[len(grads):])
            return [np.zeros_like(x) if g is None else g for g, x in pairs]

        inputs = list(op.inputs)
        found = tf1.py_func(filled, [*grads, *inputs], [x.dtype.base_dtype for x in inputs])
        for g, x in zip(found, inputs):
            g.set_shape(x.shape)
        return found

    return gradient
'''

_DIFFERENCES = '''

def differences(session, y, x, weights, feeds, step=1e-2):
    """d(sum(y * weights)) / dx, by central differences: what a right gradient is near to."""
    at, weights = session.run([x, weights], feeds)
    found = np.zeros(at.shape)
    for place in np.ndindex(at.shape):
        ends = []
        for sign in (1, -1):
            moved = np.array(at)
            moved[place] += sign * step
            ends.append(np.sum(session.run(y, {**feeds, x: moved}) * weights, dtype=np.float64))
        found[place] = (ends[0] - ends[1]) / (2 * step)
    return found
'''
_MOST = 64  # elements that are moved one by one


def to_python(document: Document) -> bytes:
    """The script, as UTF-8. Raises GradstepError for a graph that a script cannot hold."""
    graph = everywhere(document.graph, lambda part: with_requests(part, document.request))
    graph = everywhere(graph, lambda part: lower_document(part, infer_declared(part)))
    parts = [f"{head(document)}\n{_HEAD}"]
    if any(item.kind is CodeKind.NUMPY_GRADIENT for item in document.code.values()):
        parts.append(_ON_ARRAYS)
    if document.threads:
        parts.append(HELPER)
    if _doubted(document):
        parts.append(_DIFFERENCES)
    if has_branches_in_loops(graph):
        parts.append(BRANCHES)
    parts += write_prelude(document)
    parts += functions(document.code.values())
    parts += reserve_names(graph)
    parts += statements(graph, lambda op: _statement(op, document))
    parts += _session(document)
    return ("\n".join(parts) + "\n").encode()


def _statement(op: Operation, document: Document) -> str:
    line = _call(op, document)
    if op.gradient_op_type:
        mapping = f"{{{op.type!r}: {op.gradient_op_type!r}}}"
        line = f"with graph.gradient_override_map({mapping}):\n    {line}"
    if op.control_inputs:
        needed = ", ".join(f"operation({name!r})" for name in op.control_inputs)
        inner = line.replace("\n", "\n    ")
        line = f"with tf1.control_dependencies([{needed}]):\n    {inner}"
    return line


def _call(op: Operation, document: Document) -> str:
    name = f"name={op.name!r}"
    if is_passed_on(op):
        return creation_call(op, [_input(ref, op) for ref in op.inputs])
    if op.type == "Placeholder":
        shape = value_text(op.attrs.get("shape", Shape(None)))
        return f"tf1.placeholder({value_text(_attr(op, 'dtype'))}, {shape}, {name})"
    if op.type == "Const":
        return f"tf.constant({value_text(_attr(op, 'value'))}, {name})"
    if op.type in ("VariableV2", "VarHandleOp") and op.name in document.initial:
        kind = f"use_resource={op.type == 'VarHandleOp'}"
        return f"tf1.Variable({value_text(document.initial[op.name])}, {name}, {kind})"
    if op.type in PYTHON_OPS:
        item = document.code.get(str(op.attrs.get("token")))
        inputs = ", ".join(_input(ref, op) for ref in op.inputs)
        types = value_text(_attr(op, "Tout"))
        return f"tf1.py_func({script_name(item)}, [{inputs}], {types}, {name})"
    return raw_call(op, [_input(ref, op) for ref in op.inputs], name)


def _attr(op: Operation, name: str) -> Any:
    return lookup(op.type, op.name).attr(op, name)


def _input(ref: TensorRef | None, op: Operation) -> str:
    if ref is None:
        raise GradstepError(
            f"an input of '{op.name}' is not connected",
            kind="ValueError",
            node=op.name,
            hint="connect it before exporting",
        )
    return _tensor(ref)


def _tensor(ref: TensorRef) -> str:
    return f"tensor({ref.short!r})"


def _gradient_arguments(request: GradientRequest) -> Iterator[str]:
    """Of tf.gradients; what is as by default is left out."""
    yield from (_tensors(request.of), _tensors(request.wrt))
    if any(request.grad_ys):
        starts = ("None" if ref is None else _tensor(ref) for ref in request.grad_ys)
        yield f"grad_ys=[{', '.join(starts)}]"
    if request.gate:
        yield "gate_gradients=True"
    if request.stops:
        yield f"stop_gradients={_tensors(sorted(request.stops, key=str))}"
    if request.unconnected_zero:
        yield "unconnected_gradients='zero'"


def _session(document: Document) -> list[str]:
    request = document.request
    lines = [""]
    steps = training_steps(document)
    fetches = [_tensor(ref) for ref in document.fetches or request.of]
    if request.of:
        lines.append(f"gradients = tf1.gradients({', '.join(_gradient_arguments(request))})")
        fetches.append("[g for g in gradients if g is not None]")
    lines += [line for step in steps for line in step.lines]
    feeds = [f"{_tensor(TensorRef.parse(n))}: {value_text(v)}" for n, v in document.feeds.items()]
    init = (
        f"operation({document.init!r})" if document.init else "tf1.global_variables_initializer()"
    )
    lines += ["with tf1.Session() as session:", f"    session.run({init})"]
    run = [step.name for step in steps if step.enabled]
    run += [f"operation({name!r})" for name in document.targets]
    if fetches or run or document.threads:
        lines += [
            f"    # in Gradstep {n!r} is fed a batch of {text!r} in each run"
            for n, text in document.columns.items()
        ]
        lines.append(f"    feeds = {{{', '.join(feeds)}}}")
    lines += start_lines(document)
    lines += [f"    print(session.run({fetch}, feeds))" for fetch in fetches]
    lines += _differences(document)
    if run:
        lines.append(f"    session.run([{', '.join(run)}], feeds)")
    return lines


def _doubted(document: Document) -> list[TensorRef]:
    """What is differentiated by, few numbers each, where a gradient is not the operations' own."""
    request = document.request
    is_own = [gradient_name(op, request.overrides) == native_name(op) for op in document.graph]
    if all(is_own) or len(request.of) != 1:
        return []
    types = infer_declared(document.graph).types
    shapes = {x: types[x].shape for x in request.wrt if x in types}
    fixed = {x: shape.static() for x, shape in shapes.items() if shape.is_static}
    return [x for x, shape in fixed.items() if math.prod(shape) <= _MOST]


def _differences(document: Document) -> Iterator[str]:
    request = document.request
    if found := _doubted(document):
        start = next(iter(request.grad_ys), None)
        y = _tensor(request.of[0])
        weights = f"tf.ones_like({y})" if start is None else _tensor(start)
        yield f"    weights = {weights}"
        for x in found:
            call = f"differences(session, {y}, {_tensor(x)}, weights, feeds)"
            yield f"    print({f'by differences, {x.short}'!r}, {call})"


def _tensors(refs: Iterable[TensorRef]) -> str:
    return f"[{', '.join(_tensor(ref) for ref in refs)}]"
