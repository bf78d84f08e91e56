"""What is known of each emulated system: for each operation and corner, measured, read or unknown.

A cell is one system, one operation and one corner; the corner "bits" is what every operation has:
the last bits of its result where nothing else is the matter. tests/devices holds what is measured
to the recordings, and docs/devices.md is made from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from gradstep.core.ops.declare.arithmetic_class import Arithmetic
from gradstep.core.ops.declare.table import all_ops, find
from gradstep.gpu.corner_cases import all_corners
from gradstep.gpu.emulated_systems import PROFILES

Status = Literal["measured", "read", "unknown"]
BITS = "bits"


@dataclass(frozen=True)
class Cell:
    """where: by whom it was measured, or where it can be read; "" of what is unknown."""

    profile: str
    op: str
    corner: str
    status: Status
    where: str = ""


@dataclass(frozen=True)
class _Known:
    """ops: those that were asked; others of the same corner follow the same rule, if `rest` says
    where that can be read."""

    where: str
    ops: tuple[str, ...]
    rest: str = ""


def cells(profile: str) -> Iterator[Cell]:
    """All of a profile's, operation by operation."""
    for definition in all_ops():
        yield _bits(profile, definition.type, definition.arithmetic)
    for corner in all_corners():
        for op in corner.ops:
            yield status_of(profile, op, corner.name)


def status_of(profile: str, op: str, corner: str) -> Cell:
    """What is known of one operation in one corner. profile: of PROFILES."""
    if corner == BITS:
        definition = find(op)
        return _bits(profile, op, "library" if definition is None else definition.arithmetic)
    known = _MEASURED.get(profile, {}).get(corner)
    if known is not None and op in known.ops:
        return Cell(profile, op, corner, "measured", known.where)
    read = _READ.get(profile, {}).get(corner) or (known.rest if known is not None else "")
    if read:
        return Cell(profile, op, corner, "read", read)
    return Cell(profile, op, corner, "unknown")


def _bits(profile: str, op: str, arithmetic: Arithmetic) -> Cell:
    where = _BITS.get(arithmetic)
    if where is None or (profile, op) in _NOT_ROUNDED:
        return Cell(profile, op, BITS, "unknown")
    return Cell(profile, op, BITS, "read", where)


_BITS: Mapping[Arithmetic, str] = {
    "exact": "moves, compares or chooses values",
    "rounded": "IEEE 754: correctly rounded",
}
_NOT_ROUNDED = (("torch", "Sqrt"),)  # 3 of 500 small numbers came out 1 ULP off on the CPU
_RECORDED = {
    "jax": "JAX 0.10.2 on the CPU, 2026-11-26",
    "torch": "PyTorch 2.13.0 on the CPU, 2026-11-26",
    "tf-xla": "TensorFlow 2.21.0, XLA on the CPU, 2026-11-26",
}
_ORT = "ONNX Runtime 1.32.0 on the CPU, 2026-11-27"
_H200 = "CuPy 14.2 on an H200, 2026-11-26"
_ASKED: Mapping[str, tuple[str, ...]] = {  # of the recordings: tests/devices/questions.py
    "gather": ("GatherV2", "GatherNd"),
    "scatter": ("ScatterNd",),
    "segments": ("UnsortedSegmentSum", "UnsortedSegmentProd"),
    "one_hot": ("OneHot",),
    "labels": ("SparseSoftmaxCrossEntropyWithLogits",),
    "no_room": ("Cast",),
    "divide_by_zero": ("FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod"),
    "shift_beyond": ("LeftShift", "RightShift"),
    "float_floor": ("FloorDiv", "FloorMod"),
    "nan_in_place": ("ArgMax", "ArgMin"),
    "nan_in_extremes": ("Max", "Min", "Maximum", "Minimum", "Relu", "Relu6"),
    "nan_in_top_k": ("TopKV2",),
    "sign_of_nan": ("Sign",),
    "ties": ("ArgMax", "ArgMin"),
    "ties_in_top_k": ("TopKV2",),
    "empty": ("Max", "Min", "Sum", "Prod", "Mean"),
}
_ORT_OPS = {  # the rest hangs on where NaN stands, and a mean of nothing is 0
    "nan_in_extremes": ("Maximum", "Minimum", "Relu", "Relu6"),
    "empty": ("Max", "Min", "Sum", "Prod"),
    "divide_by_zero": ("FloorMod", "TruncateDiv", "TruncateMod"),
}
_ORT_ASKED = (
    "gather scatter one_hot labels no_room divide_by_zero shift_beyond nan_in_extremes "
    "nan_in_top_k sign_of_nan ties ties_in_top_k empty"
).split()
_UNSPECIFIED = {"torch": ("ties_in_top_k",)}  # it promises nothing, and gave another each time
_SAME_RULE: Mapping[str, Mapping[str, str]] = {  # who says so of operations that were not asked
    "jax": {
        "gather": "jax.numpy.ndarray.at: reads outside are clamped",
        "scatter": "jax.numpy.ndarray.at: updates outside are dropped",
        "segments": "jax.ops.segment_max: ids outside are dropped",
    },
    "torch": {
        "gather": "torch.index_select and others: IndexError",
        "scatter": "torch.Tensor.index_put_ and others: IndexError",
        "segments": "torch.Tensor.scatter_reduce_: an index outside is an error",
    },
    "tf-xla": {
        "gather": "StableHLO gather: indices are clamped",
        "scatter": "StableHLO scatter: updates outside are dropped",
        "segments": "tf.math.unsorted_segment_max: negative ids are dropped",
    },
    "onnxruntime": {
        "gather": "ONNX Gather: an index outside is an error",
        "scatter": "ONNX ScatterND: an index outside is an error",
    },
    "cupy": {
        "gather": "cupy.take and integer indexing wrap",
        "scatter": "cupy.add.at and setting by integers wrap",
    },
}
_CUPY_OPS = {
    "divide_by_zero": ("FloorDiv", "FloorMod"),
    "nan_in_extremes": ("Max", "Min", "Maximum", "Minimum", "Relu"),
}
_CUPY_ASKED = (
    "gather scatter no_room divide_by_zero shift_beyond float_floor nan_in_place nan_in_extremes "
    "sign_of_nan one_hot empty"
).split()
_FLUSHED_HERE = (  # on the CPU: PyTorch flushes none of them, XLA all but the last two
    "AddV2", "Sub", "Mul", "RealDiv", "Square", "Sqrt", "Maximum", "Minimum", "Greater", "Less",
    "Equal", "Sign", "Neg", "Abs",
)  # fmt: skip
_FLUSHED = (  # of the recording of a card: tests/gpu/test_recorded_card.py
    "AddV2 Mul RealDiv Greater Equal Neg Abs Sign Maximum Sqrt Log Tanh Sin Expm1 Log1p Exp Sum "
    "Min Cumsum MatMul"
).split()
_ON_CARD = {"jax": "JAX 0.11.2", "torch": "PyTorch 2.11.0"}


def _on_h200(library: str) -> dict[str, _Known]:
    where = f"{library} on an H200, 2026-11-26"
    one_of_each = "one operation of each kind was measured"
    return {
        "subnormals": _Known(where, tuple(_FLUSHED), one_of_each),
        "tf32": _Known(where, ("MatMul",), one_of_each),
    }


def _flushing(library: str) -> dict[str, _Known]:
    """Of those that were asked on the CPU, which profiles of a CPU follow."""
    if library == "tf-xla":
        rest = PROFILES["tf-xla"].source_of("flush_subnormals")
        return {"subnormals": _Known(_RECORDED[library], _FLUSHED_HERE, rest)}
    return _on_h200(_ON_CARD[library])


def _specified(library: str) -> list[str]:
    return [corner for corner in _ASKED if corner not in _UNSPECIFIED.get(library, ())]


def _by_corner(
    library: str, where: str, corners: Iterable[str], own: Mapping[str, tuple[str, ...]] = _ASKED
) -> dict[str, _Known]:
    """own: the operations of a corner that were asked, where they are others than `_ASKED`."""
    same = _SAME_RULE[library]
    return {c: _Known(where, own.get(c, _ASKED[c]), same.get(c, "")) for c in corners}


_MEASURED: Mapping[str, Mapping[str, _Known]] = {
    **{
        library: {
            **_by_corner(library, where, _specified(library)),
            **_flushing(library),
        }
        for library, where in _RECORDED.items()
    },
    "onnxruntime": {
        **_by_corner("onnxruntime", _ORT, _ORT_ASKED, _ORT_OPS),
        "subnormals": _Known(_ORT, _FLUSHED_HERE),
    },
    "cupy": {
        **_by_corner("cupy", _H200, _CUPY_ASKED, _CUPY_OPS),
        "ties": _Known(_H200, ("ArgMax",)),
        **_on_h200("CuPy 14.2"),
    },
}
_TF_DOCS = "the documentation of tf.{}"
_READ: Mapping[str, Mapping[str, str]] = {
    "tf-gpu": {
        "gather": PROFILES["tf-gpu"].source,
        "scatter": PROFILES["tf-gpu"].source,
        "no_room": PROFILES["tf-gpu"].source_of("no_room"),
        "segments": _TF_DOCS.format("math.unsorted_segment_sum: negative ids are dropped"),
        "one_hot": _TF_DOCS.format("one_hot: all are off_value"),
        "tf32": PROFILES["tf-gpu"].source_of("tf32"),
        "labels": _TF_DOCS.format("nn.sparse_softmax_cross_entropy_with_logits: NaN on a GPU"),
    },
    "onnxruntime-cuda": {
        "gather": PROFILES["onnxruntime-cuda"].source,
        "scatter": PROFILES["onnxruntime-cuda"].source,
        "no_room": PROFILES["onnxruntime-cuda"].source_of("no_room"),
    },
    "tf-xla": {"tf32": "a CPU has none"},
    "onnxruntime": {"tf32": "a CPU has none"},
    "cupy": {"segments": "by add.at, whose indices wrap"},
}
