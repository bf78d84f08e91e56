"""Gathers, scatters and slices: in range, out of range, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call, call_many
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from tests.oracle.program import Program
from tests.oracle.shorthand import ints, whole
from tests.oracle.table import DOCUMENTATION, Case, checks

EMBEDDING = "tf.nn.embedding_lookup over several shards, made by TensorFlow's Python"


def const(values: Any, kind: str = "float32") -> Tensor:
    return tf.constant(np.array(values, kind))


def gather(params: Any, indices: Any, axis: int = 0, **attrs: Any) -> Tensor:
    return call("GatherV2", params, np.array(indices, np.int32), whole(axis), **attrs)


def matrix() -> Tensor:
    return const(np.arange(12).reshape(3, 4))


def line() -> Tensor:
    return const([1, 2, 3, 4, 5], "int32")


def rows() -> Tensor:
    return const(np.arange(6).reshape(3, 2))


def nd(params: Any, indices: Any, **attrs: Any) -> Tensor:
    return call("GatherNd", params, np.array(indices, np.int32), **attrs)


def scatter_nd(indices: Any, updates: Any, size: int, **attrs: Any) -> Tensor:
    return call("ScatterNd", np.array(indices, np.int32), const(updates), ints(size), **attrs)


def sparse_xent(labels: Any) -> Tensor:
    return call_many("SparseSoftmaxCrossEntropyWithLogits", const(np.zeros((2, 3))), ints(*labels))[
        0
    ]


def slice_at(x: Tensor, begin: int, end: int, **masks: int) -> Tensor:
    return call("StridedSlice", x, ints(begin), ints(end), ints(1), **masks)


READS: dict[str, Callable[[], Tensor]] = {
    "tutorial: gather(a,[0,1,6])": lambda: gather(line(), [0, 1, 6]),
    "gather_in_range": lambda: gather(line(), [0, 1, 4, 0]),
    "gather_negative": lambda: gather(line(), [0, -1]),
    "gather_scalar_index": lambda: gather(line(), 5),
    "gather_2d_indices": lambda: gather(line(), [[0, 1], [2, 9]]),
    "gather_axis1": lambda: gather(matrix(), [0, 4], 1),
    "gather_axis1_ok": lambda: gather(matrix(), [3, 0], 1),
    "gather_axis_-1": lambda: gather(matrix(), [3, 0], -1),
    "gather_batch_dims": lambda: gather(matrix(), [[0], [4], [1]], 1, batch_dims=1),
    "gather_empty_indices": lambda: gather(matrix(), np.zeros(0)),
    "gather_from_empty": lambda: gather(const(np.zeros(0)), [0]),
    "gather_validate_indices_False": lambda: gather(line(), [6]),
    "gather_nd": lambda: nd(line(), [[0], [6]]),
    "gather_nd_2d": lambda: nd(matrix(), [[0, 0], [1, 4]], name="GatherNd_1"),
    "gather_nd_negative": lambda: nd(matrix(), [[0, -1]], name="GatherNd_2"),
    "gather_nd_partial_index_ok": lambda: nd(matrix(), [[2], [0]]),
    "gather_nd_index_depth_too_big": lambda: nd(matrix(), [[0, 0, 0]]),
    "gather_nd_bad_indices_policy_ERROR": lambda: nd(
        matrix(), [[0, 1], [1, 4]], bad_indices_policy="ERROR", name="GatherNd_5"
    ),
    "gather_nd_bad_indices_policy_IGNORE": lambda: nd(
        matrix(), [[0, 1], [1, 4]], bad_indices_policy="IGNORE"
    ),
    "scatter_nd_bad_indices_policy_ERROR": lambda: scatter_nd(
        [[1], [9]], [1, 2], 4, bad_indices_policy="ERROR"
    ),
    "scatter_nd_bad_indices_policy_IGNORE": lambda: scatter_nd(
        [[1], [9]], [1, 2], 4, bad_indices_policy="IGNORE"
    ),
    "embedding_lookup_tensor": lambda: gather(rows(), [0, 3]),
    "embedding_lookup_negative": lambda: gather(rows(), [-1]),
    "scatter_nd_oor": lambda: scatter_nd([[1], [9]], [1, 2], 4),
    "scatter_nd_duplicates_sum": lambda: scatter_nd([[1], [1]], [1, 2], 4),
    "tensor_scatter_nd_update_oor": lambda: call(
        "TensorScatterUpdate", const([1, 2]), ints([5]), const([9])
    ),
    "unsorted_segment_sum_oor": lambda: call(
        "UnsortedSegmentSum", const([1, 2, 3]), ints(0, 1, 5), whole(2)
    ),
    "unsorted_segment_sum_negative_dropped": lambda: call(
        "UnsortedSegmentSum", const([1, 2, 3]), ints(0, -1, 1), whole(2)
    ),
    "segment_sum_unsorted": lambda: call("SegmentSum", const([1, 2, 3]), ints(0, 1, 0)),
    "sparse_softmax_xent_label_oor": lambda: sparse_xent([0, 3]),
    "sparse_softmax_xent_label_negative": lambda: sparse_xent([0, -1]),
    "one_hot_oor": lambda: tf.one_hot(ints(0, 3, -1), 3),
    "index_oor_static": lambda: slice_at(const([1, 2]), 5, 6, shrink_axis_mask=1),
    "slice_clamps": lambda: slice_at(const([1, 2]), 1, 9),
    "tf.slice_oor": lambda: call("Slice", const([1, 2]), ints(1), ints(5)),
    "negative_python_index_ok": lambda: slice_at(
        const([1, 2]), -1, 0, shrink_axis_mask=1, end_mask=1
    ),
    "in_top_k_oor": lambda: call("InTopKV2", const([[0.1, 0.9]]), ints(5), whole(1)),
}


# TensorFlow looks at these only as they run.
SEEN_EARLY = {"tf.slice_oor"}


@checks("gather_out_of_range_cpu")
def reads(case: Case) -> None:
    for entry, build in READS.items():
        with Program() as p:
            run = lambda p=p, build=build: p.run(build())  # noqa: E731
            recorded = case.at(entry)
            if isinstance(recorded, dict) and recorded.get("raised"):
                early = entry in SEEN_EARLY
                why = "seen while building" if early else ""
                case.error(run, entry, kind="ValueError" if early else "", why=why)
            else:
                case.value(run, entry)
    _fed(case)
    _gradients(case)
    for kind in ("ref", "resource"):
        for entry in case.recorded:
            if f"_{kind}" in entry:
                _variable(case, entry, kind)
    case.skip_each(EMBEDDING, "embedding_lookup_2_shards_mod", "embedding_lookup_2_shards_oor")
    case.skip("the arrays that the checks write out", "inputs")


def _fed(case: Case) -> None:
    with Program() as p:
        i = p.placeholder("i", "int32", (None,))
        fed = call("GatherV2", rows(), i, whole(0))
        case.error(lambda: p.run(fed, {i: [0, 7]}), "gather_fed_index")
        at = p.placeholder("at", "int32", (1,))
        after = at + 1
        x = const([1, 2])
        element = call("StridedSlice", x, at, after, ints(1), shrink_axis_mask=1)
        case.error(lambda: p.run(element, {at: [5]}), "index_oor_dynamic")
        case.error(
            lambda: call("GatherV2", x, const([0.0]), whole(0)),
            "gather_float_indices",
            says="not float32",
            kind="ValueError",
        )


def _gradients(case: Case) -> None:
    with Program() as p:
        params = p.builder.constant(np.arange(6, dtype=np.float32).reshape(3, 2))
        weights = const([[1, 1], [2, 2], [3, 3]])
        found = gradients(gather(params, [0, 2, 0]) * weights, params)[0]
        sliced = isinstance(found, IndexedSlices)
        case.graph("IndexedSlices" if sliced else "dense", "gather_gradient_type")
        case.gradient(p.run(found), "gather_gradient")
        assert isinstance(found, IndexedSlices)
        case.gradient(p.run(found.dense()), "gather_gradient_dense")
        picked = nd(params, [[0, 1], [2, 0], [0, 1]])
        case.gradient(_dense(p, picked, params), "gather_nd_gradient")
        columns = gather(params, [0, 1, 0], 1)
        case.gradient(_dense(p, columns, params), "gather_axis1_gradient")


def _dense(p: Program, y: Tensor, x: Tensor) -> dict[str, Any]:
    found = gradients(y, x)[0]
    kind = "IndexedSlices" if isinstance(found, IndexedSlices) else "SymbolicTensor"
    return {"type": kind, "value": p.run(found)}


UPDATES: dict[str, tuple[str, Any, Any]] = {
    "scatter_sub_{}_oor": ("ScatterSub", [1, 6], [10, 20]),
    "scatter_add_{}_oor": ("ScatterAdd", [1, 6], [10, 20]),
    "scatter_update_{}_oor": ("ScatterUpdate", [1, 6], [10, 20]),
    "scatter_mul_{}_oor": ("ScatterMul", [1, 6], [10, 20]),
    "scatter_max_{}_oor": ("ScatterMax", [1, 6], [10, 20]),
    "scatter_sub_{}_negative": ("ScatterSub", [1, -1], [10, 20]),
    "scatter_sub_{}_duplicates": ("ScatterSub", [1, 1, 0], [10, 5, 1]),
    "scatter_update_{}_duplicates": ("ScatterUpdate", [1, 1], [10, 5]),
    "scatter_nd_update_{}_oor": ("ScatterNdUpdate", [[1], [6]], [10, 20]),
    "scatter_nd_sub_{}_dup": ("ScatterNdSub", [[1], [1]], [10, 5]),
}


def _variable(case: Case, entry: str, kind: str) -> None:
    """A gather from a variable, or an update of some of its rows: result, and value afterwards."""
    with Program(resource=kind == "resource") as p:
        v = p.variable("v", np.array([1, 2, 3, 4, 5], np.float32))
        name = entry.replace(f"_{kind}", "_{}")
        if name in UPDATES:
            op_type, indices, updates = UPDATES[name]
            run = lambda: p.run(v.update(op_type, ints(*indices), np.array(updates, np.float32)))  # noqa: E731
        else:
            run = lambda: p.run(gather(v.value(), [1, 6]))  # noqa: E731
        if case.at(entry, "result").get("raised"):
            case.error(run, entry, "result")
        else:
            case.value(run, entry, "result")
        if name in UPDATES and case.at(entry, "result").get("raised"):
            unchanged = np.array_equal(p.value(v), [1, 2, 3, 4, 5])
            assert unchanged, "the record says that nothing is changed"
            case.differs(UPDATES[name][0], entry, "var_after")
        else:
            case.value(p.value(v), entry, "var_after")
    case.skip("not recorded", entry, "op")


@checks("gather_gpu_documentation")
def documented(case: Case) -> None:
    """Nothing was run on a GPU; what the sources say is held by tests/gpu/test_profiles."""
    for entry in case.recorded:
        if entry not in ("case", "topic", "tf_version", "trap"):
            case.skip(DOCUMENTATION, entry)
