"""What is known of tensors before anything runs: shapes and axes that a model computes for itself.

Exporters write a shape as a chain of operators that only constants and sizes go into. It is
computed here, in NumPy, so that what is built of it has sizes and not more such chains.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, Operation, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, Tensor

_SMALL = 4096  # elements of what is computed
_DEEP = 200  # operators in a chain
# Nothing with a state, nothing random, nothing of a branch or a loop.
_PLAIN = frozenset({
    "Abs", "Add", "AddV2", "All", "Any", "BroadcastArgs", "BroadcastTo", "Cast", "Ceil", "ConcatV2",
    "Equal", "ExpandDims", "Fill", "Floor", "FloorDiv", "FloorMod", "GatherNd", "GatherV2",
    "Greater", "GreaterEqual", "Identity", "Less", "LessEqual", "LogicalAnd", "LogicalNot",
    "LogicalOr", "Max", "Maximum", "Min", "Minimum", "Mul", "Neg", "NotEqual", "OnesLike", "Pack",
    "Pad", "PadV2", "Prod", "Range", "RealDiv", "Reshape", "ReverseV2", "Round", "SelectV2",
    "Split", "SplitV", "Sqrt", "Squeeze", "StridedSlice", "Sub", "Sum", "TensorScatterUpdate",
    "Tile", "Transpose", "TruncateDiv", "TruncateMod", "Where", "ZerosLike",
})  # fmt: skip
_BACKEND = NumpyBackend()
_found: WeakKeyDictionary[GraphBuilder, dict[TensorRef, np.ndarray | None]] = WeakKeyDictionary()


def known(x: Tensor) -> np.ndarray | None:
    """What a tensor is before anything runs; None where that is computed of what is fed."""
    return _known(x.builder, x.ref, 0)


def _known(builder: GraphBuilder, ref: TensorRef, depth: int) -> np.ndarray | None:
    seen = _found.setdefault(builder, {})
    if ref not in seen:
        value = builder.constant_value(Tensor(builder, ref))
        seen[ref] = value if value is not None else _computed(builder, ref, depth)
    return seen[ref]


def _computed(builder: GraphBuilder, ref: TensorRef, depth: int) -> np.ndarray | None:
    if not builder.has(ref.op):
        return None
    op = builder.operation(ref.op)
    if op.type == "Const":
        held = op.attrs.get("value")
        return held.array if isinstance(held, Constant) else None
    if op.type not in _PLAIN or depth > _DEEP or not op.inputs or not _is_small(builder, ref):
        return None
    inputs = [None if r is None else _known(builder, r, depth + 1) for r in op.inputs]
    given = [one for one in inputs if one is not None]
    if len(given) != len(inputs) or any(one.size > _SMALL for one in given):
        return None
    return _run(op, given, ref.index)


def _is_small(builder: GraphBuilder, ref: TensorRef) -> bool:
    """Whether it may be: its sizes follow from small arrays, where they are not known."""
    shape = builder.type_of(ref).shape.dims
    known_sizes = [size for size in shape or () if size is not None]
    return int(np.prod(known_sizes, dtype=float)) <= _SMALL


def _run(op: Operation, inputs: list[np.ndarray], index: int) -> np.ndarray | None:
    if op.type in ("BroadcastTo", "Fill", "Tile", "Range") and not _is_modest(op, inputs):
        return None
    try:
        found = np.asarray(run_op(_BACKEND, op, inputs)[index])
    except GradstepError:
        return None
    return found if found.size <= _SMALL else None


def _is_modest(op: Operation, inputs: list[np.ndarray]) -> bool:
    """Whether what makes much of little makes no more than is small."""
    with np.errstate(all="ignore"):
        if op.type == "Range":
            start, limit, step = (float(one.reshape(-1)[0]) for one in inputs)
            return step != 0 and (limit - start) / step <= _SMALL
        sizes = inputs[0] if op.type == "Fill" else inputs[1]
        return float(np.prod(sizes.astype(float))) <= _SMALL
