"""All alternatives to reference kernels. What is not listed here is computed by NumPy alone.

An entry needs a gain that was measured: `gain` says it, and `python -m tests.bench.alternatives`
measures it again, shape by shape.
"""

from __future__ import annotations

from gradstep.core.engine.kernels import numba_kernels, onednn_convolution, scipy_kernels
from gradstep.core.engine.kernels.kernel_alternative import Alternative, Use
from gradstep.core.engine.kernels.kernel_libraries import NUMBA, ONEDNN, SCIPY
from gradstep.core.graph.dtypes import DType, TensorType

_REAL = frozenset({DType.FLOAT32, DType.FLOAT64})
_INTEGER = frozenset({DType.INT32, DType.INT64})
_ORDER = (
    "products are added in another order: at most 2 n epsilon times the sum of their magnitudes, "
    "for n of them"
)


def _real_rows(use: Use) -> bool:
    return use.reads[0].dtype in _REAL


def _integer_vector(use: Use) -> bool:
    return use.reads[0].dtype in _INTEGER and use.reads[0].shape.rank == 1


def _convolution(image: TensorType, filter: TensorType, use: Use) -> bool:
    """Of images in float32 with the channels last, in one group, of sizes known before running."""
    if not all(t.shape.is_static and t.dtype is DType.FLOAT32 for t in (image, filter)):
        return False
    last = use.op.attrs.get("data_format", "NHWC") == "NHWC"
    sizes = image.shape.static(), filter.shape.static()
    return last and 0 not in (*sizes[0], *sizes[1]) and sizes[0][3] == sizes[1][2]


def _forward(use: Use) -> bool:
    return _convolution(use.reads[0], use.reads[1], use)


def _to_input(use: Use) -> bool:
    """Of more than one channel: with one NumPy is as quick."""
    image, filter = use.writes[0], use.reads[1]
    return _convolution(image, filter, use) and filter.shape.static()[2] > 1


def _to_filter(use: Use) -> bool:
    """Of fewer than 64 channels: with more NumPy is as quick."""
    image, filter = use.reads[0], use.writes[0]
    return _convolution(image, filter, use) and filter.shape.static()[2] < 64


# For an op type with several the first one whose library may be used is taken: the quickest.
ALTERNATIVES = (
    Alternative(
        "UnsortedSegmentSum",
        NUMBA,
        "a compiled loop over rows",
        _real_rows,
        gain="0.07 to 0.23",
        kernel=numba_kernels.segment_sum,
    ),
    Alternative(
        "UnsortedSegmentSum",
        SCIPY,
        "a sparse matrix times the rows",
        _real_rows,
        gain="0.11 to 0.49",
        kernel=scipy_kernels.segment_sum,
    ),
    Alternative(
        "Unique",
        NUMBA,
        "a compiled loop with a table of hashed values",
        _integer_vector,
        gain="0.04 to 0.31",
        kernel=numba_kernels.unique,
    ),
    Alternative(
        "Conv2D",
        ONEDNN,
        "direct convolution",
        _forward,
        gain="0.25 to 0.89",
        differs=_ORDER,
        bind=onednn_convolution.forward,
    ),
    Alternative(
        "Conv2DBackpropInput",
        ONEDNN,
        "direct convolution",
        _to_input,
        gain="0.19 to 0.83",
        differs=_ORDER,
        bind=onednn_convolution.to_input,
    ),
    Alternative(
        "Conv2DBackpropFilter",
        ONEDNN,
        "direct convolution",
        _to_filter,
        gain="0.28 to 0.87",
        differs=_ORDER,
        bind=onednn_convolution.to_filter,
    ),
)
