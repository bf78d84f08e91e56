"""Where gradients end: stop_gradient, and for each op None, zeros, a value or a LookupError."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call, call_many
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from tests.oracle.documents import NO_GRADIENTS, minimize
from tests.oracle.program import Program
from tests.oracle.shorthand import element, ints, total, whole
from tests.oracle.table import DOCUMENTATION, Case, checks

Build = Callable[[Program, Tensor], Tensor]


@checks("stop_gradient")
def stop_gradient(case: Case) -> None:
    start = case.given("inputs", "x")
    with Program() as p:
        x = p.like("x", start)
        sg = tf.stop_gradient
        steps = x + sg(tf.floor(x * 1.5) - x)
        masked_y = x * np.array([1, 0, 1], np.float32) + sg(x * np.array([0, 1, 0], np.float32))
        made = {
            "only_path": sg(x),
            "x*sg(x)": x * sg(x),
            "x*x": x * x,
            "x + sg(x^2)": x + sg(x * x),
            "log_trick sg(loss)*logp": sg(x) * x,
        }
        for entry, y in made.items():
            case.gradient(lambda y=y: p.run(gradients(y, x), {x: start})[0], entry)
        entry = "straight_through: x + sg(floor(x*1.5)-x)"
        case.gradient(p.run(gradients(steps, x), {x: start})[0], entry, "grad")
        case.value(p.run(steps, {x: start}), entry, "forward")
        entry = "masked: m*x + sg((1-m)*x), m=[1,0,1]"
        squares = tf.reduce_sum(tf.square(masked_y))
        case.gradient(p.run(gradients(squares, x), {x: start})[0], entry, "grad_of_sum_sq")
        case.value(p.run(masked_y, {x: start}), entry, "forward")
        case.graph(sg(x).op.type, "op_type")
    with Program() as p:
        v = p.variable("v", np.zeros(2, np.float32))
        entry = "minimize_through_stop_gradient"
        blocked = total(tf.stop_gradient(v.read))
        case.error(lambda: minimize(p, blocked, [v]), entry, says=NO_GRADIENTS)
    case.skip(DOCUMENTATION, "graph")


def unary(op_type: str, /, **attrs: Any) -> Build:
    return lambda p, x: call(op_type, x, **attrs)


def flags(op_type: str, *more: Any, **attrs: Any) -> Build:
    return lambda p, x: tf.cast(call(op_type, x, *more, **attrs), DType.FLOAT32)


def through(kind: DType) -> Build:
    return lambda p, x: tf.cast(tf.cast(x, kind), DType.FLOAT32)


def numbers(op_type: str, p: Program, x: Tensor) -> Tensor:
    return call(op_type, tf.shape(x), dtype=DType.FLOAT32)


def updated(op_type: str, resource: bool) -> Build:
    def build(p: Program, x: Tensor) -> Tensor:
        y = p.variable("v", np.zeros(4, np.float32), resource).update(op_type, x)
        return tf.identity(y) if resource else y

    return build


def scatter_sub(p: Program, x: Tensor) -> Tensor:
    return p.variable("v", np.zeros(4, np.float32)).update("ScatterSub", ints(0, 1, 2, 3), x)


def strided_slice_assign(p: Program, x: Tensor) -> Tensor:
    v = p.variable("v", np.zeros(4, np.float32))
    part = element(x, 0)
    places = [ints(n) for n in (0, 1, 1)]
    name = "strided_slice_6/_assign"
    return p.builder.one(
        "StridedSliceAssign", v.handle, *places, part, name=name, shrink_axis_mask=1
    )


def top_k(index: int) -> Build:
    return lambda p, x: tf.cast(call_many("TopKV2", x, whole(2), sorted=True)[index], DType.FLOAT32)


def sort(p: Program, x: Tensor) -> Tensor:
    return -call_many("TopKV2", -x, whole(4), sorted=True)[0]


def in_top_k(p: Program, x: Tensor) -> Tensor:
    rows = call("ExpandDims", x, whole(0))
    return tf.cast(call("InTopKV2", rows, ints(1), whole(2)), DType.FLOAT32)


def dynamic_partition(p: Program, x: Tensor) -> Tensor:
    return call_many("DynamicPartition", x, ints(0, 1, 0, 1), num_partitions=2)[0]


ROWS: dict[str, Build] = {
    "identity": unary("Identity"),
    "stop_gradient": unary("StopGradient"),
    "floor": unary("Floor"),
    "ceil": unary("Ceil"),
    "round": unary("Round"),
    "rint": unary("Rint"),
    "sign": unary("Sign"),
    "floordiv x//1": lambda p, x: call("FloorDiv", x, 1.0),
    "floormod x%1": lambda p, x: call("FloorMod", x, 1.0),
    "truncatemod": lambda p, x: call("TruncateMod", x, 1.0, name="TruncateMod"),
    "floordiv op": lambda p, x: call("FloorDiv", x, 1.0),
    "cast f32->i32->f32": through(DType.INT32),
    "cast f32->f64->f32": through(DType.FLOAT64),
    "cast f32->f16->f32": through(DType.FLOAT16),
    "cast f32->bool->f32": through(DType.BOOL),
    "cast to int only": lambda p, x: tf.cast(x, DType.INT32),
    "tf.to_int32": lambda p, x: tf.cast(x, DType.INT32),
    "bitcast i32": unary("Bitcast", type=DType.INT32),
    "saturate_cast": lambda p, x: tf.saturate_cast(x, DType.INT8),
    "argmax": flags("ArgMax", whole(0)),
    "argmin": flags("ArgMin", whole(0)),
    "greater": flags("Greater", 0.0),
    "equal": flags("Equal", 0.0),
    "logical_not": lambda p, x: flags("LogicalNot")(p, call("Greater", x, 0.0)),
    "less as mask * x": lambda p, x: tf.cast(call("Less", x, 1.0), DType.FLOAT32) * x,
    "one_hot(cast)": lambda p, x: tf.one_hot(tf.cast(x, DType.INT32), 3),
    "one_hot on_value=x[0]": lambda p, x: tf.one_hot([0, 1], 3, on_value=element(x, 0)),
    "shape": flags("Shape"),
    "size": flags("Size"),
    "rank": flags("Rank"),
    "zeros_like": unary("ZerosLike"),
    "ones_like": unary("OnesLike"),
    "x*ones_like(x)": lambda p, x: x * call("OnesLike", x),
    "fill": lambda p, x: call("Fill", ints(2), element(x, 0)),
    "range": lambda p, x: call("Range", element(x, 0), 2.0, 1.0),
    "linspace": lambda p, x: tf.linspace(element(x, 0), element(x, 3), 3),
    "random_uniform(shape(x))": lambda p, x: numbers("RandomUniform", p, x),
    "random_normal(mean=x)": lambda p, x: numbers("RandomStandardNormal", p, x) * 1.0 + x,
    "random_normal(stddev=x)*0": lambda p, x: (numbers("RandomStandardNormal", p, x) * x) * 0.0,
    "truncated_normal": lambda p, x: numbers("TruncatedNormal", p, x) * 1.0 + 0.0,
    "multinomial": lambda p, x: flags("Multinomial", whole(3))(p, call("ExpandDims", x, whole(0))),
    "random_shuffle": unary("RandomShuffle"),
    "random_poisson": lambda p, x: call(
        "RandomPoissonV2",
        ints(1),
        call("Abs", x),
        dtype=DType.FLOAT32,
        name="random_poisson/RandomPoissonV2",
    ),
    "dropout keep=1": lambda p, x: tf.nn.dropout(x, rate=0.0),
    "assign(ref var, x)": updated("Assign", False),
    "assign_add(ref var, x)": updated("AssignAdd", False),
    "assign(resource var, x)": updated("Assign", True),
    "assign_add(resource var, x)": updated("AssignAdd", True),
    "scatter_sub(ref var)": scatter_sub,
    "var[i].assign(x)": strided_slice_assign,
    "py_func": lambda p, x: p.py_func(lambda a: a * 2, [x])[0],
    "numpy_function": lambda p, x: p.py_func(lambda a: a * 2, [x])[0],
    "Print": lambda p, x: call("Print", x, x, message=""),
    "check_numerics": unary("CheckNumerics", message="x"),
    "placeholder_with_default": unary("PlaceholderWithDefault", shape=Shape((4,))),
    "top_k values": top_k(0),
    "top_k indices": top_k(1),
    "sort": sort,
    "argsort": lambda p, x: tf.cast(call_many("TopKV2", -x, whole(4))[1], DType.FLOAT32),
    "unique": lambda p, x: call_many("Unique", x, name="Unique")[0],
    "where_index": lambda p, x: flags("Where")(p, call("Greater", x, 0.0)),
    "boolean_mask": lambda p, x: call(
        "GatherV2", x, call("Reshape", call("Where", call("Greater", x, 0.0)), ints(-1)), whole(0)
    ),
    "in_top_k": in_top_k,
    "dynamic_partition": dynamic_partition,
    "invert_permutation": lambda p, x: flags("InvertPermutation")(
        p, call_many("TopKV2", x, whole(4))[1]
    ),
    "is_nan": flags("IsNan"),
    "clip_by_value(-1,1)": lambda p, x: tf.clip_by_value(x, -1.0, 1.0),
    "maximum(x,0)": lambda p, x: call("Maximum", x, 0.0),
    "relu": unary("Relu"),
    "abs": unary("Abs"),
    "quantize fake_quant": unary("FakeQuantWithMinMaxArgs", min=-1.0, max=1.0),
    "nextafter": lambda p, x: call("NextAfter", x, call("OnesLike", x)),
    "session const": lambda p, x: p.builder.constant(np.ones(4, np.float32)),
    "matrix_inverse diag": lambda p, x: call(
        "MatrixInverse", np.eye(4, dtype=np.float32) * (x + 2.0)
    ),
    "cumsum": lambda p, x: tf.cumsum(x),
    "cumprod": lambda p, x: call("Cumprod", x, whole(0)),
    "erfinv": lambda p, x: call("Erfinv", x / 3.0),
    "histogram_fixed_width": lambda p, x: tf.cast(
        call("HistogramFixedWidth", x, np.array([0, 1], np.float32), whole(5)), DType.FLOAT32
    ),
    "bincount weights": lambda p, x: call(
        "Bincount", ints(0, 1, 1, 0), whole(2), x, name="Bincount"
    ),
    "bucketize": flags("Bucketize", boundaries=(0.0, 1.0)),
    "random_crop": lambda p, x: call("Slice", x, ints(0), ints(4)),
    "meshgrid": lambda p, x: call("Reshape", x, ints(1, 4)) * np.ones((4, 4), np.float32),
    "l2_normalize": lambda p, x: tf.nn.l2_normalize(x, 0),
    "tensor_array write/read": lambda p, x: tf.TensorArray(tf.float32, 1).write(0, x).read(0),
    "queue round trip": lambda p, x: _queued(x),
}


def _queued(x: Tensor) -> Tensor:
    queue = tf.FIFOQueue(1, [tf.float32], [[4]])
    with tf.control_dependencies([queue.enqueue(x)]):
        return queue.dequeue()


# Rows whose recorded op is what TensorFlow's Python makes of a static shape, or hides behind.
FOLDED = {
    "linspace": "tf.linspace here leaves out the last Slice, which changes nothing",
    "zeros_like": "TensorFlow's Python makes a constant where the shape is static",
    "ones_like": "TensorFlow's Python makes a Fill where the shape is static",
}
LATER = {
    "random_gamma(alpha=|x|+1)": "the gradient of RandomGamma: a later version",
    "py_function (eager)": "runs TensorFlow's eager mode inside the graph",
    "string round trip": "string ops: a later version",
    "string op": "string ops: a later version",
}


@checks("grad_none_vs_zeros_table")
def each_op(case: Case) -> None:
    start = case.given("inputs", "x")
    case.skip("the rows of `ops` again, sorted by result", "summary")
    for row, recorded in case.at("ops").items():
        if row in LATER:
            case.skip(LATER[row], "ops", row)
        elif recorded["result"] == "raises":
            case.error(lambda row=row: _found(row, start), "ops", row)
        else:
            if row in FOLDED:
                case.skip(FOLDED[row], "ops", row, "y_op")
            case.gradient(lambda row=row: _found(row, start), "ops", row)


def _found(row: str, start: np.ndarray) -> dict[str, Any]:
    with Program() as p:
        x = p.like("Placeholder", start)
        y = ROWS[row](p, x)
        found = gradients(y, x)[0]
        whole_grad = found.dense() if isinstance(found, IndexedSlices) else found
        grad = p.run(whole_grad, {x: start})
    op = {} if row in FOLDED else {"y_op": y.op.type}
    if grad is None:
        return {"result": "None", **op}
    return {"result": "value" if np.any(grad) else "zeros", **op, "grad": grad}
