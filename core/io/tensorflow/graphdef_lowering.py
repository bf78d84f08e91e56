"""What a document says outside of its graph, said inside it, as TensorFlow wants it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import (
    GradientRequest,
    OverrideTable,
    native_name,
)
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import (
    GRADIENT_OP_TYPE,
    PYTHON_OPS,
    Constant,
    Edge,
    Graph,
    Operation,
    TensorRef,
)
from gradstep.core.ops.typing.inference import Inference


def with_requests(graph: Graph, request: GradientRequest) -> Graph:
    """`graph` with its overrides as `_gradient_op_type` and its stopped wires as StopGradient."""
    made: dict[str, Operation] = {}
    overrides = OverrideTable(request.overrides)
    for op in graph:
        name = overrides.gradient_name(op)
        if name != native_name(op) and name != op.gradient_op_type:
            op = op.with_attrs(**{GRADIENT_OP_TYPE: name})
        inputs = list(op.inputs)
        for index, ref in enumerate(inputs):
            if ref is not None and Edge(op.name, index) in request.stopped_edges:
                stop = Operation(
                    _free(f"{op.name}/stop_gradient_{index}", graph), "StopGradient", (ref,)
                )
                made[stop.name] = stop
                inputs[index] = stop.output()
        made[op.name] = replace(op, inputs=tuple(inputs))
    return Graph(made)


def with_private_shapes(graph: Graph) -> Graph:
    """`graph` with the declared shapes of Python functions under the name that TensorFlow lets
    pass: PyFunc has no attribute for them there."""
    return Graph.of(_private_shapes(op) if "shapes" in op.attrs else op for op in graph)


def _private_shapes(op: Operation) -> Operation:
    if op.type not in PYTHON_OPS:
        return op
    attrs = {("_output_shapes" if k == "shapes" else k): v for k, v in op.attrs.items()}
    return replace(op, attrs=attrs)


def with_initializers(graph: Graph, initial: Mapping[str, Constant], init: str = "") -> Graph:
    """`graph` with an assignment of every initial value, after `init` if there is one, and an
    operation `init` (`init_1`, … when the name is taken) that groups them."""
    made = dict(graph.operations)
    assigned: list[str] = []
    for name, value in initial.items():
        variable = graph[name]
        dtype = DType.of(value.array.dtype)
        constant = Operation(
            _free(f"{name}/initial_value", made), "Const", attrs={"value": value, "dtype": dtype}
        )
        made[constant.name] = constant
        assign = _assign(_free(f"{name}/Assign", made), variable, constant, dtype)
        made[assign.name] = replace(assign, control_inputs=(init,) if init else ())
        assigned.append(assign.name)
    if assigned:
        group = _free("init", made)
        made[group] = Operation(group, "NoOp", control_inputs=tuple(assigned))
    return Graph(made)


def _assign(name: str, variable: Operation, value: Operation, dtype: DType) -> Operation:
    inputs = (variable.output(), value.output())
    if variable.type == "VarHandleOp":
        return Operation(name, "AssignVariableOp", inputs, attrs={"dtype": dtype})
    attrs = {"T": dtype, "use_locking": True, "validate_shape": True}
    return Operation(name, "Assign", inputs, attrs=attrs)


def lower_document(graph: Graph, inference: Inference) -> Graph:
    """`graph` with every SoftmaxCrossEntropyWithLogits on matrices, as TensorFlow insists: the
    leading dimensions are flattened before it and restored behind it."""
    made: dict[str, Operation] = {}
    moved: dict[TensorRef, TensorRef] = {}
    for op in graph:
        shape = _rows_shape(op, inference)
        if shape is None or shape.rank == 2:
            made[op.name] = op
            continue
        _want_equal(op, inference)
        flat = _flattened(op, shape, graph.operations)
        made.update({part.name: part for part in flat})
        moved[op.output(1)] = flat[-1].output()
    return Graph.of(_rewired(op, moved) for op in made.values()) if moved else graph


def _rewired(op: Operation, moved: Mapping[TensorRef, TensorRef]) -> Operation:
    inputs = tuple(moved.get(ref, ref) if ref is not None else None for ref in op.inputs)
    return op if inputs == op.inputs else replace(op, inputs=inputs)


def _rows_shape(op: Operation, inference: Inference) -> Shape | None:
    """The shape that logits and labels have together."""
    if op.type != "SoftmaxCrossEntropyWithLogits":
        return None
    kind = inference.types.get(op.output(1))
    return None if kind is None or kind.shape.dims is None else kind.shape


def _want_equal(op: Operation, inference: Inference) -> None:
    """What is broadcast cannot be flattened first."""
    logits, labels = (inference.types[ref].shape for ref in op.inputs if ref is not None)
    try:
        logits.merge(labels)
    except ValueError:
        raise GradstepError(
            f"'{op.name}' broadcasts {logits} and {labels}, which cannot be exported: TensorFlow "
            "takes matrices",
            kind="UnimplementedError",
            node=op.name,
            hint="give logits and labels one shape",
        ) from None


def _flattened(op: Operation, shape: Shape, taken: Mapping[str, Operation]) -> list[Operation]:
    """The operations that stand for `op`: one named as it gives the loss, the last the gradient."""
    dims = shape.dims or ()
    matrix: tuple[int | None, int | None] = (-1 if len(dims) > 1 else 1, dims[-1])
    if dims[-1] is None:
        matrix = (1, -1) if len(dims) == 1 else _unknown(op, shape)
    made: list[Operation] = []

    def reshape(name: str, ref: TensorRef | None, sizes: tuple[int | None, ...]) -> TensorRef:
        if sum(size is None or size == -1 for size in sizes) > 1:
            _unknown(op, shape)
        value = np.array([-1 if size is None else size for size in sizes], np.int32)
        attrs = {"value": Constant(value), "dtype": DType.INT32}
        constant = Operation(_free(f"{name}/shape", taken), "Const", attrs=attrs)
        reshaped = Operation(name, "Reshape", (ref, constant.output()), op.control_inputs)
        made.extend([constant, replace(reshaped, origin=op.origin, phase=op.phase)])
        return reshaped.output()

    logits = reshape(_free(f"{op.name}/logits", taken), op.inputs[0], matrix)
    labels = reshape(_free(f"{op.name}/labels", taken), op.inputs[1], matrix)
    inner = replace(op, name=_free(f"{op.name}/xentropy", taken), inputs=(logits, labels))
    made.append(inner)
    reshape(op.name, inner.output(), dims[:-1])
    reshape(_free(f"{op.name}/backprop", taken), inner.output(1), dims)
    return made


def _unknown(op: Operation, shape: Shape) -> tuple[int | None, int | None]:
    raise GradstepError(
        f"'{op.name}' on logits of shape {shape} cannot be exported: TensorFlow takes matrices",
        kind="UnimplementedError",
        node=op.name,
        hint="declare all but one of the sizes",
    )


def _free(name: str, taken: Graph | Mapping[str, Operation]) -> str:
    """`name`, numbered if it is taken."""
    candidate, count = name, 0
    while candidate in taken:
        count += 1
        candidate = f"{name}_{count}"
    return candidate
