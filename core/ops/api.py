"""`tf` as a gradient function sees it: TensorFlow 1's names for the ops that Gradstep has.

`tf.add(x, y)`, `tf.nn.relu(x)`, `tf.reduce_sum(x, axis=0)`, `tf.float32`. Each function adds
operations to the graph of its tensors. Numbers and arrays become constants; a function of
constants alone (`tf.zeros`) works wherever a graph is being differentiated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from core.graph.dtypes import DType
from core.ops import api_functions as functions
from core.ops.known import all_axes
from core.ops.tensor import Tensor, TensorLike, call

# Functions that are one op and take nothing but its inputs.
_PLAIN = {
    "abs": "Abs",
    "add": "AddV2",
    "bias_add": "BiasAdd",
    "broadcast_to": "BroadcastTo",
    "div_no_nan": "DivNoNan",
    "divide": "RealDiv",
    "equal": "Equal",
    "exp": "Exp",
    "fill": "Fill",
    "floor": "Floor",
    "floordiv": "FloorDiv",
    "floormod": "FloorMod",
    "gather_nd": "GatherNd",
    "greater": "Greater",
    "greater_equal": "GreaterEqual",
    "identity": "Identity",
    "invert_permutation": "InvertPermutation",
    "less": "Less",
    "less_equal": "LessEqual",
    "log": "Log",
    "log_softmax": "LogSoftmax",
    "logical_and": "LogicalAnd",
    "logical_not": "LogicalNot",
    "logical_or": "LogicalOr",
    "maximum": "Maximum",
    "minimum": "Minimum",
    "mod": "FloorMod",
    "multiply": "Mul",
    "negative": "Neg",
    "not_equal": "NotEqual",
    "ones_like": "OnesLike",
    "pad": "Pad",
    "pow": "Pow",
    "rank": "Rank",
    "realdiv": "RealDiv",
    "reciprocal": "Reciprocal",
    "relu": "Relu",
    "reshape": "Reshape",
    "rsqrt": "Rsqrt",
    "scatter_nd": "ScatterNd",
    "shape": "Shape",
    "sigmoid": "Sigmoid",
    "sign": "Sign",
    "size": "Size",
    "slice": "Slice",
    "softmax": "Softmax",
    "sqrt": "Sqrt",
    "square": "Square",
    "stop_gradient": "StopGradient",
    "subtract": "Sub",
    "tanh": "Tanh",
    "tile": "Tile",
    "truediv": "RealDiv",
    "unsorted_segment_sum": "UnsortedSegmentSum",
    "zeros_like": "ZerosLike",
}
_REDUCTIONS = {
    "reduce_sum": "Sum",
    "reduce_mean": "Mean",
    "reduce_max": "Max",
    "reduce_min": "Min",
    "reduce_prod": "Prod",
}


_FUNCTIONS = (
    "add_n argmax cast clip_by_value concat constant convert_to_tensor cumsum expand_dims "
    "gather matmul one_hot ones softmax_cross_entropy_with_logits squeeze stack transpose "
    "unstack where zeros"
).split()


def _plain(own_name: str, op_type: str) -> Callable[..., Tensor]:
    def function(*inputs: TensorLike, name: str | None = None) -> Tensor:
        return call(op_type, *inputs, name=name)

    function.__name__ = own_name
    function.__doc__ = f"The op {op_type}."
    return function


def _reduction(own_name: str, op_type: str) -> Callable[..., Tensor]:
    def function(
        x: TensorLike,
        axis: functions.Axes = None,
        keepdims: bool = False,
        name: str | None = None,
    ) -> Tensor:
        x = functions.constant(x)
        axes: Any = all_axes(x) if axis is None else np.array(axis, np.int32)
        return call(op_type, x, axes, keep_dims=keepdims, name=name)

    function.__name__ = own_name
    function.__doc__ = f"The op {op_type}; without axes, over all of them."
    return function


class _Namespace:
    """`tf.nn` and `tf.math`: other ways to the same functions."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return _attribute(name, self._name)


# In a table and not in this module's own names: `range` and `abs` would hide Python's.
_NAMES: dict[str, Any] = {
    **{name: _plain(name, op_type) for name, op_type in _PLAIN.items()},
    **{name: _reduction(name, op_type) for name, op_type in _REDUCTIONS.items()},
    **{name: getattr(functions, name) for name in _FUNCTIONS},
    **{dtype.value: dtype for dtype in DType},
    "range": functions.range_,
    "nn": _Namespace("tf.nn"),
    "math": _Namespace("tf.math"),
}


def _attribute(name: str, place: str) -> Any:
    if name in _NAMES:
        return _NAMES[name]
    from difflib import get_close_matches

    near = get_close_matches(name, list(_NAMES), n=3, cutoff=0.6)
    hint = f"; did you mean {' or '.join(f'{place}.{n}' for n in near)}?" if near else ""
    raise AttributeError(f"{place} has no '{name}'{hint}")


def __getattr__(name: str) -> Any:
    return _attribute(name, "tf")


def __dir__() -> list[str]:
    return sorted(_NAMES)
