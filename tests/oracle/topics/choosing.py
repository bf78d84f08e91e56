"""tf.where: which branch's gradient flows, the NaN trap, and XLA's indices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call, call_many
from gradstep.gpu.emulated_systems import PROFILES
from tests.oracle.point import Build, point
from tests.oracle.program import Program
from tests.oracle.shorthand import ints, like
from tests.oracle.table import Case, checks

SUBNORMAL = "the square of 1e-20 is subnormal, which TensorFlow's CPU takes for zero"


def masked(condition: str, build: Build) -> Build:
    def inner(x: Tensor) -> Tensor:
        return call("Select", call(condition, x, 0.0), build(x), call("ZerosLike", x))

    return inner


def double_where(x: Tensor) -> Tensor:
    positive = call("Greater", x, 0.0)
    safe = call("Select", positive, x, call("OnesLike", x))
    return call("Select", positive, call("Sqrt", safe), call("ZerosLike", x))


WHERE: dict[str, Build] = {
    "where(x>0, sqrt(x), 0)": masked("Greater", lambda x: call("Sqrt", x)),
    "where(x>0, sqrt(where(x>0,x,1)), 0) (fix)": double_where,
    "where(x>0, log(x), 0)": masked("Greater", lambda x: call("Log", x)),
    "where(x>0, 1/x, 0)": masked("Greater", lambda x: 1.0 / x),
    "where(x>0, x**0.5, 0)": masked("Greater", lambda x: x**0.5),
    "where(x!=0, x/x, 0)": masked("NotEqual", lambda x: x / x),
    "sqrt(maximum(x,0))": lambda x: call("Sqrt", call("Maximum", x, 0.0)),
    "mask multiply: cast(x>0)*sqrt(x)": lambda x: (
        tf.cast(call("Greater", x, 0.0), DType.FLOAT32) * call("Sqrt", x)
    ),
    "div_no_nan(x, x)": lambda x: call("DivNoNan", x, x),
    "where(x>0, reciprocal(x), 0)": masked("Greater", lambda x: call("Reciprocal", x)),
    "where(x>0, rsqrt(x), 0)": masked("Greater", lambda x: call("Rsqrt", x)),
    "where(x>0, norm([x,x]), 0) elementwise sqrt(x*x+x*x)": masked(
        "Greater", lambda x: call("Sqrt", x * x + x * x)
    ),
    "where(x>0, acos(1+x), 0)": masked("Greater", lambda x: call("Acos", 1.0 + x)),
    "where(x>1, x, exp(exp(100*x)))": lambda x: call(
        "Select", call("Greater", x, 1.0), x, call("Exp", call("Exp", 100.0 * x))
    ),
}


def root(x: Tensor) -> Tensor:
    return call("Select", call("Greater", x, like(0.0, x)), call("Sqrt", x), call("ZerosLike", x))


@checks("where_cond_gradients")
def choosing(case: Case) -> None:
    start = case.given("inputs", "x")
    for entry, build in WHERE.items():
        flushed = {"but": (3,), "why": SUBNORMAL} if "norm" in entry else {}
        case.value(lambda build=build: point(build, start)["y"], entry, "value")
        case.gradient(lambda build=build: point(build, start)["grad"], entry, "grad", **flushed)
    exact = point(root, start.astype(np.float64))["grad"]
    case.gradient(exact, "where(x>0, SQRT, 0) float64", "grad")
    _selects(case)


def _selects(case: Case) -> None:
    first, second = case.given("inputs", "t"), case.given("inputs", "f")
    condition = np.array(case.given("inputs", "c"))
    feeds = {"t": first, "f": second}
    with Program() as p:
        t, f = p.like("t", first), p.like("f", second)
        c = p.builder.constant(condition)
        chosen = call("Select", c, t * t, f * 10.0)
        depends = call("Select", call("Greater", t, 2.0), t, call("ZerosLike", t))
        found = {
            "op": chosen.op.type,
            "value": chosen,
            "grads t,f": gradients(chosen, [t, f]),
            "grad wrt condition source": gradients(
                call("Select", call("Greater", t, 0.0), f, f), t
            )[0],
        }
        case.gradient(p.run(found, feeds), "where v1")
        wide = call("SelectV2", c, t * t, f * 10.0)
        case.gradient(
            p.run({"op": wide.op.type, "grads": gradients(wide, [t, f])}, feeds), "where v2"
        )
        scalar = call("SelectV2", c, t, like(0.0, t))
        found = {"value": scalar, "grad": gradients(scalar, t)[0]}
        case.gradient(p.run(found, feeds), "where_v2 broadcasting scalar")
        case.error(
            lambda: call("Select", c, t, like(0.0, t)),
            "where v1 broadcasting scalar",
            says="Select needs equal shapes, not [4] and []",
        )
        rows = [
            p.builder.constant(np.array(v, np.float32))
            for v in ([[1, 2], [3, 4]], [[5, 6], [7, 8]])
        ]
        flags = p.builder.constant(np.array([True, False]))
        case.value(p.run(call("Select", flags, *rows)), "where v1 row select")
        case.value(p.run(call("SelectV2", flags, *rows)), "where v2 same args")
        case.gradient(p.run(gradients(depends, t)[0], feeds), "condition depends on t")


def _rows() -> np.ndarray:
    return np.arange(6, dtype=np.float32).reshape(3, 2)


PLACES = ints(0, 5, -1)


ONES = np.ones(3, np.float32)


XLA: dict[str, Callable[[], Tensor]] = {
    "XLA-CPU gather [0,5,-1] of 3 rows": lambda: call(
        "GatherV2", tf.constant(_rows()), PLACES, np.array(0, np.int32)
    ),
    "XLA-CPU gather_nd [[0],[5],[-1]]": lambda: call(
        "GatherNd", tf.constant(_rows()), PLACES.reshape(3, 1)
    ),
    "XLA-CPU scatter_nd [0,5,-1]": lambda: call(
        "ScatterNd", PLACES.reshape(3, 1), tf.constant(ONES), ints(3)
    ),
    "XLA-CPU tensor_scatter_nd_add": lambda: call(
        "TensorScatterAdd", tf.constant(np.zeros(3, np.float32)), PLACES.reshape(3, 1), ONES
    ),
    "XLA-CPU unsorted_segment_sum": lambda: call(
        "UnsortedSegmentSum", tf.constant(ONES), PLACES, np.array(3, np.int32)
    ),
    "XLA-CPU sparse softmax xent label 5 of 2": lambda: call_many(
        "SparseSoftmaxCrossEntropyWithLogits",
        tf.constant(np.array([[0, 1], [1, 0], [0, 1]], np.float32)),
        PLACES,
    )[0],
}


def _emulated(build: Callable[[], Tensor]) -> np.ndarray:
    """The value under the rules of XLA that `emulate:tf-xla` follows."""
    with Program() as p:
        y = build()
        session = Session(p.builder.build(), NumpyBackend(PROFILES["tf-xla"]))
        return session.run([y.ref])[0]


@checks("xla_out_of_range")
def compiled(case: Case) -> None:
    for entry, build in XLA.items():
        case.value(lambda build=build: _emulated(build), entry)
    entry = "grad where(x>0,sqrt(x),0) at [0,4]: XLA-CPU"
    case.skip("emulate:tf-xla imitates XLA's indices, not its derivative of sqrt at zero", entry)
    with Program() as p:
        rows = p.builder.constant(np.arange(6, dtype=np.float32).reshape(3, 2))
        gathered = call("GatherV2", rows, ints(0, 5, -1), np.array(0, np.int32))
        case.error(lambda: p.run(gathered), "plain CPU gather")
    found = point(root, np.array([0, 4], np.float32))["grad"]
    case.gradient(found, "grad where(x>0,sqrt(x),0) at [0,4]: plain CPU kernel")
