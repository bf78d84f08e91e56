"""What is known of tensors before anything runs: shapes and axes that a model computes for itself.

Exporters write a shape as a chain of operators that only constants and sizes go into. It is
computed here, in NumPy, so that what is built of it has sizes and not more such chains. Where one
size may be any, as that of a batch, the others are known none the less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, Operation, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, Tensor

_SMALL = 4096  # elements of what is computed
_DEEP = 200  # operators in a chain
# Nothing with a state, nothing random, nothing of a branch or a loop.
PLAIN = frozenset({
    "Abs", "Add", "AddV2", "All", "Any", "BroadcastArgs", "BroadcastTo", "Cast", "Ceil", "ConcatV2",
    "Equal", "ExpandDims", "Fill", "Floor", "FloorDiv", "FloorMod", "GatherNd", "GatherV2",
    "Greater", "GreaterEqual", "Identity", "Less", "LessEqual", "LogicalAnd", "LogicalNot",
    "LogicalOr", "Max", "Maximum", "Min", "Minimum", "Mul", "Neg", "NotEqual", "OnesLike", "Pack",
    "Pad", "PadV2", "Prod", "Range", "RealDiv", "Reshape", "ReverseV2", "Round", "SelectV2",
    "Split", "SplitV", "Sqrt", "Squeeze", "StridedSlice", "Sub", "Sum", "TensorScatterUpdate",
    "Tile", "Transpose", "TruncateDiv", "TruncateMod", "Where", "ZerosLike",
})  # fmt: skip
# Of what only moves numbers: the inputs whose numbers it moves, some of which may not be known.
_MOVED: Mapping[str, slice] = {
    "Cast": slice(1), "ConcatV2": slice(-1), "ExpandDims": slice(1), "GatherV2": slice(1),
    "Identity": slice(1), "Pack": slice(None), "Reshape": slice(1), "Split": slice(1, None),
    "SplitV": slice(1), "Squeeze": slice(1), "StridedSlice": slice(1),
}  # fmt: skip
_ANY = -(2**30)  # this and what is below it stand for sizes that are not known, one by one
_BACKEND = NumpyBackend()


class SizeOf(NamedTuple):
    """A size that is not known before anything runs: of which axis of which tensor."""

    tensor: TensorRef
    axis: int


@dataclass
class _Knowledge:
    """Of one builder's tensors: what they are, and the sizes that may be any, each with its place
    among them. None: computed of what is fed."""

    values: dict[TensorRef, np.ndarray | None] = field(default_factory=dict)
    unknown: list[SizeOf] = field(default_factory=list)
    places: dict[SizeOf, int] = field(default_factory=dict)

    def number(self, size: SizeOf) -> int:
        """What stands for it."""
        place = self.places.setdefault(size, len(self.unknown))
        if place == len(self.unknown):
            self.unknown.append(size)
        return _ANY - place

    def is_unknown(self, x: np.ndarray) -> np.ndarray:
        """Which elements."""
        found: np.ndarray = (x <= _ANY) & (x > _ANY - len(self.unknown))
        return found

    def has_unknown(self, x: np.ndarray) -> bool:
        return x.dtype.kind == "i" and bool(self.is_unknown(x).any())


_found: WeakKeyDictionary[GraphBuilder, _Knowledge] = WeakKeyDictionary()


def known(x: Tensor) -> np.ndarray | None:
    """What a tensor is before anything runs; None where that is computed of what is fed."""
    own = _found.setdefault(x.builder, _Knowledge())
    found = _known(own, x.builder, x.ref, 0)
    return None if found is None or own.has_unknown(found) else found


def known_in_part(x: Tensor) -> list[int | SizeOf] | None:
    """The whole numbers of a tensor one by one: of a shape whose batch may be of any size the other
    sizes are known. None where there is more to it than that."""
    own = _found.setdefault(x.builder, _Knowledge())
    found = _known(own, x.builder, x.ref, 0)
    if found is None or found.dtype.kind not in "iu":
        return None
    numbers, unknown = found.reshape(-1).tolist(), own.is_unknown(found).reshape(-1)
    return [own.unknown[_ANY - n] if u else n for n, u in zip(numbers, unknown, strict=True)]


def _known(own: _Knowledge, builder: GraphBuilder, ref: TensorRef, depth: int) -> np.ndarray | None:
    if ref not in own.values:
        value = builder.constant_value(Tensor(builder, ref))
        own.values[ref] = value if value is not None else _computed(own, builder, ref, depth)
    return own.values[ref]


def _computed(
    own: _Knowledge, builder: GraphBuilder, ref: TensorRef, depth: int
) -> np.ndarray | None:
    if not builder.has(ref.op):
        return None
    op = builder.operation(ref.op)
    if op.type == "Const":
        held = op.attrs.get("value")
        return held.array if isinstance(held, Constant) else None
    if op.type == "Shape":
        return _sizes(own, builder, op)
    if op.type not in PLAIN or depth > _DEEP or not op.inputs or not _is_small(builder, ref):
        return None
    inputs = [None if r is None else _known(own, builder, r, depth + 1) for r in op.inputs]
    given = [one for one in inputs if one is not None]
    if len(given) != len(inputs) or any(one.size > _SMALL for one in given):
        return None
    if not _stays_known(op, [own.has_unknown(one) for one in given]):
        return None
    return _run(op, given, ref.index)


def _sizes(own: _Knowledge, builder: GraphBuilder, op: Operation) -> np.ndarray | None:
    """What a Shape gives."""
    ref = op.inputs[0]
    told = None if ref is None else builder.type_of(ref).shape.dims
    if ref is None or told is None:
        return None
    numbers = [own.number(SizeOf(ref, i)) if n is None else n for i, n in enumerate(told)]
    return np.array(numbers, op.attrs.get("out_type", DType.INT32).numpy)


def _stays_known(op: Operation, unknown: Sequence[bool]) -> bool:
    """Whether what comes out follows from inputs that are, or are not, known in all their numbers:
    where numbers go to, which stay as they are, depends on what is known."""
    if not any(unknown):
        return True
    if op.type == "Cast" and op.attrs.get("DstT") not in (DType.INT32, DType.INT64):
        return False
    moved = [*range(len(unknown))][_MOVED.get(op.type, slice(0))]
    return not any(one for place, one in enumerate(unknown) if place not in moved)


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
