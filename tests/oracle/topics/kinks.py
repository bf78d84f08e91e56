"""Gradients by convention: kinks, ties, zeros and infinities; products."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call, call_many
from tests.oracle.point import Build, point
from tests.oracle.program import Program
from tests.oracle.shorthand import element, ints, like, total
from tests.oracle.table import Case, checks


def norm(x: Tensor) -> Tensor:
    return call("Sqrt", total(x * x, "Sum"))


def max_pool(x: Tensor) -> Tensor:
    image = call("Reshape", x, ints(1, 2, 2, 1))
    return call("MaxPool", image, ksize=(1, 2, 2, 1), strides=(1, 2, 2, 1), padding="VALID")


def huber(x: Tensor) -> Tensor:
    """tf.losses.huber_loss(zeros, x, reduction=NONE): it reduces in float32."""
    error = call("Abs", tf.cast(x, DType.FLOAT32))
    quadratic = call("Minimum", error, 1.0)
    return 0.5 * quadratic * quadratic + (error - quadratic)


POINTS: dict[str, Build] = {
    "relu": lambda x: call("Relu", x),
    "relu6": lambda x: call("Relu6", x),
    "abs": lambda x: call("Abs", x),
    "sign": lambda x: call("Sign", x),
    "sqrt": lambda x: call("Sqrt", x),
    "rsqrt": lambda x: call("Rsqrt", x),
    "log": lambda x: call("Log", x),
    "reciprocal": lambda x: call("Reciprocal", x),
    "elu": lambda x: call("Elu", x),
    "leaky_relu": lambda x: call("LeakyRelu", x, alpha=0.2),
    "softplus": lambda x: call("Softplus", x),
    "sigmoid": lambda x: call("Sigmoid", x),
    "tanh": lambda x: call("Tanh", x),
    "exp": lambda x: call("Exp", x),
    "acos": lambda x: call("Acos", x),
    "clip_by_value(0,1)": lambda x: tf.clip_by_value(x, 0.0, 1.0),
    "maximum(x,0)": lambda x: call("Maximum", x, like(0.0, x)),
    "maximum(0,x)": lambda x: call("Maximum", like(0.0, x), x),
    "minimum(x,0)": lambda x: call("Minimum", x, like(0.0, x)),
    "maximum(x,x)": lambda x: call("Maximum", x, x),
    "pow(x,2)": lambda x: call("Pow", x, like(2.0, x)),
    "pow(x,0.5)": lambda x: call("Pow", x, like(0.5, x)),
    "pow(x,0)": lambda x: call("Pow", x, like(0.0, x)),
    "pow(2,x)": lambda x: call("Pow", like(2.0, x), x),
    "pow(0,x)": lambda x: call("Pow", like(0.0, x), x),
    "pow(-2,x)": lambda x: call("Pow", like(-2.0, x), x),
    "norm": norm,
    "l2_normalize": lambda x: tf.nn.l2_normalize(x, 0),
    "l2_loss": lambda x: call("L2Loss", x),
    "div x/x": lambda x: x / x,
    "div_no_nan(1,x)": lambda x: call("DivNoNan", like(1.0, x), x),
    "reduce_max tie": lambda x: total(x, "Max"),
    "reduce_min tie": lambda x: total(x, "Min"),
    "segment_max tie": lambda x: call("SegmentMax", x, ints(0, 0, 1)),
    "reduce_std": tf.reduce_std,
    "reduce_logsumexp": tf.reduce_logsumexp,
    "xlogy(x,x)": lambda x: call("Xlogy", x, x),
    "mod x%2": lambda x: call("FloorMod", x, like(2.0, x)),
    "top_k tie": lambda x: call_many("TopKV2", x, np.array(1, np.int32), sorted=True)[0],
    "max_pool tie (2x2)": max_pool,
    "softmax big": lambda x: element(call("Softmax", x), 0),
    "log_softmax big": lambda x: element(call("LogSoftmax", x), 1),
    "squared_difference": lambda x: call("SquaredDifference", x, like(1.0, x)),
    "huber delta=1": huber,
    "atan2(x,x)": lambda x: call("Atan2", x, x),
}


@checks("grad_nonsmooth_points")
def each_point(case: Case) -> None:
    for entry in case.recorded:
        if entry in POINTS:
            start = case.given(entry, "x")
            case.gradient(lambda entry=entry, start=start: point(POINTS[entry], start), entry)


def product(axis: int | None) -> Build:
    def build(x: Tensor) -> Tensor:
        if axis is None:
            return total(x, "Prod")
        return call("Prod", x, ints(axis), keep_dims=False) * like([1.0, 10.0], x)  # type: ignore[arg-type]

    return build


BOX = [[4, 5], [5, 6], [5, 7]]  # the article's numbers: they follow from the recorded values


PROBABILITY = [60, 120, 9]


def difference(box: Tensor) -> Tensor:
    """The article's "difference": (the column's product minus p_i) over the column's product."""
    whole = call("Prod", box, ints(0), keep_dims=True)
    parts = call("Reshape", like(PROBABILITY, box), ints(3, 1))  # type: ignore[arg-type]
    return (whole - parts) / whole


@checks("reduce_prod_gradient")
def products(case: Case) -> None:
    for entry in ("no zero", "one zero", "two zeros", "negative"):
        start = case.given(entry, "x")
        found = point(product(None), start)
        case.gradient({"prod": found["y"], "grad": found["grad"]}, entry)
    start = case.given("axis 0", "m")
    case.gradient(point(product(0), start)["grad"], "axis 0", "grad")
    case.value(lambda: _empty_product(), "empty")
    for kind in ("float16", "float32", "float64"):
        found = point(difference, np.array(BOX, kind))
        wanted = {"value": found["y"], "dsum_dbox": found["grad"]}
        case.gradient(wanted, f"difference_{kind}")
        by_assignment(case, f"assign_formulation_{kind}", np.array(BOX, kind))
    found = point(difference, np.array(BOX, np.float64))
    case.value(found["y"], "numpy", "value")
    case.gradient(found["grad"], "numpy", "grad: sum_i p_i/(bp*box)")


LAST = {"float16": 20, "float32": 44, "float64": 68}  # which strided_slice TensorFlow's Python made


def by_assignment(case: Case, entry: str, box: np.ndarray) -> None:
    """The article's "difference" once more, each element assigned to a place of a variable."""
    with Program() as p:
        x = p.like("Placeholder", box)
        result, places = p.variable("result", np.zeros_like(box)), [*np.ndindex(box.shape)]
        whole = call("Prod", x, ints(0))
        done: list[Tensor] = []
        for row, column in places:
            product = element(whole, column)
            part = (product - like(PROBABILITY[row], x)) / product
            name = f"strided_slice_{LAST[str(box.dtype)]}/_assign" if len(done) == 5 else None
            where = [ints(row, column), ints(row + 1, column + 1), ints(1, 1)]
            with tf.control_dependencies(done[-1:]):
                done.append(
                    p.builder.one(
                        "StridedSliceAssign", result.handle, *where, part,
                        name=name, shrink_axis_mask=3,
                    )
                )  # fmt: skip
        with tf.control_dependencies(done[-1:]):
            read = call("Identity", result.handle)
        case.value(p.run(read, {x: box}), entry, "value")
        case.gradient(gradients(read, x), entry, "gradient_of_result_wrt_box")
        last = next(key for key in case.at(entry) if key.startswith("gradient_of_last"))
        case.error(lambda: gradients(done[-1], x), entry, last)
        case.graph(done[-1].op.type, entry, "op_type")


def _empty_product() -> Any:
    with Program() as p:
        return p.run(total(p.builder.constant(np.zeros(0)), "Prod"))


@checks("eager_gradient_tape")
def tape(case: Case) -> None:
    """The eager program's functions as graphs: values and gradients are the same."""
    for entry, kind in (
        ("functional rewrite", "float16"),
        ("functional rewrite float64", "float64"),
    ):
        found = point(difference, np.array(BOX, kind))
        case.gradient({"value": found["y"], "gradient": found["grad"]}, entry)
    case.skip(
        "an assignment to a variable in eager mode; graphs: reduce_prod_gradient", "assign loop"
    )
    with Program() as p:
        gathered = call(
            "GatherV2",
            ints(1, 2, 3, 4, 5),
            p.builder.constant(ints(0, 1, 6)),
            np.array(0, np.int32),
        )
        case.error(lambda: p.run(gathered), "tutorial gather in eager")
        x = p.placeholder("x", shape=())
        ste = x + tf.stop_gradient(tf.floor(x) - x)
        found = [gradients(y, x)[0] for y in (tf.floor(x), ste, call("Sign", x))]
        case.gradient(p.run(found, {x: 1.5}), "tape floor / STE / sign")
        n = p.placeholder("n", "int32", ())
        case.gradient(gradients(n * n, n)[0], "tape int source")
