"""What tf.gradients takes and gives: paths that add up, grad_ys, stops, rows, second order."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from tests.oracle.program import Program
from tests.oracle.reasons import DEVICES, PYTHON
from tests.oracle.shorthand import element, ints
from tests.oracle.table import DOCUMENTATION, Case, checks

ADD_N = "no aggregation_method: one AddN adds them; the others differ in the use of memory alone"


@checks("grad_none_mixed_paths")
def mixed(case: Case) -> None:
    start = np.array([1.2, -0.7, 2.5], np.float32)  # x*x gives the recorded [2.4, -1.4, 5]
    with Program() as p:
        x = p.like("x", start)
        other = p.like("other", start)
        square = x * x

        def grads(y: Any, xs: Any, **options: Any) -> Any:
            return lambda: p.run(gradients(y, xs, **options), {x: start, other: start})

        case.gradient(grads(x * tf.floor(x), x), "x*floor(x)")
        case.gradient(lambda: p.run(gradients(x + call("Round", x), x), {x: start}), "x+round(x)")
        case.gradient(grads(x - tf.stop_gradient(x), x), "x - stop(x)")
        case.gradient(grads(2.0 * x, [x, other]), "unconnected default")
        zero = {"unconnected_gradients": "zero"}
        case.gradient(grads(2.0 * x, [x, other], **zero), "unconnected_gradients='zero'")
        case.gradient(grads(tf.floor(x), x, **zero), "floor with unconnected 'zero'")
        bogus = {"unconnected_gradients": "bogus"}
        case.error(grads(x, x, **bogus), "bad unconnected value")
        n = p.placeholder("n", "int32", (2,))
        case.gradient(grads(tf.cast(n, DType.FLOAT32), [n]), "int x")
        case.gradient(grads(n * n, [n]), "int y")
        case.gradient(grads(x, x), "y is x")
        case.gradient(grads(square, [x, x]), "same x twice")
        case.gradient(grads(x, []), "empty xs")
        case.gradient(grads([], [x]), "empty ys")
        triple = x * 3.0
        case.gradient(grads(triple * triple, triple), "wrt intermediate")
        case.gradient(grads(square, [tf.identity(x)]), "wrt later identity of x (not on path)")
        case.gradient(grads(square, [x + 0.1]), "b, a+delta")
    case.skip(PYTHON, "UnconnectedGradients enum")
    case.skip("a list or an array as xs: Gradstep's xs are tensors", "xs not a tensor")
    case.skip("a list or an array as xs: Gradstep's xs are tensors", "xs numpy")
    case.skip("two graphs at once: a Gradstep document has one", "other graph")
    for kind in ("ref", "resource"):
        _variable(case, kind)


def _variable(case: Case, kind: str) -> None:
    """d(sum v²)/dv, v by its handle and by its reads."""
    entry = f"variable_{kind}"
    with Program(resource=kind == "resource") as p:
        v = p.variable("v", np.array([1, 2], np.float32))
        read = v.value()
        loss = call("Sum", call("Square", read), ints(0))
        fresh = v.read_value()
        again = v.read_value()
        of_read = call("Sum", call("Square", again), ints(0))
        other = v.value() if kind == "resource" else v.read
        case.gradient(p.run(gradients(loss, v.handle)[0]), entry, "wrt variable")
        case.gradient(p.run(gradients(loss, other)), entry, "wrt v.value()")
        case.gradient(p.run(gradients(loss, fresh)), entry, "wrt fresh read_value()")
        case.gradient(p.run(gradients(of_read, v.handle)), entry, "loss from rv wrt v")
        last = "wrt v.handle" if kind == "resource" else "wrt v._ref()"
        case.gradient(p.run(gradients(loss, v.handle)), entry, last)


@checks("grad_aggregation_and_args")
def arguments(case: Case) -> None:
    start = np.array([1, 2], np.float32)
    with Program() as p:
        x = p.like("x", start)

        def grads(y: Any, xs: Any, **options: Any) -> Any:
            return lambda: p.run(gradients(y, xs, **options), {x: start})

        g, h = call("Square", x, name="g"), call("Exp", x, name="h")
        o = g + h
        entry = "chain: o=x^2+exp(x)"
        for name, wrt in (("do/dg", g), ("do/dh", h), ("do/dx", x)):
            case.gradient(grads(o, wrt), entry, name)
        case.gradient(grads([g, 3.0 * x], x), "ys list sums", "[x^2, 3x]")
        case.gradient(grads(g + 3.0 * x, x), "ys list sums", "same as x^2+3x")
        case.gradient(grads(3.0 * x, x), "ys non scalar = ones seed")
        seed = p.builder.constant(np.array([10, 100], np.float32))
        case.gradient(grads(g, x, grad_ys=[seed]), "grad_ys")
        case.gradient(grads([g], x, grad_ys=[None]), "grad_ys list with None")
        case.gradient(grads(g, x, grad_ys=[seed]), "grad_ys numpy")
        case.error(grads([g, h], x, grad_ys=[seed]), "grad_ys wrong len")
        whole = p.builder.constant(ints(1, 2))
        case.error(
            grads(g, x, grad_ys=[whole]),
            "grad_ys wrong dtype",
            says="Gradient type int32 generated for tensor g with type float32",
        )
        three = p.builder.constant(np.ones(3, np.float32), name="three")
        case.error(
            grads(g, x, grad_ys=[three]),
            "grad_ys wrong shape",
            says="grad_ys 'three' has shape [3]; it must be that of 'g', [2]",
        )
        stops = {"stop_gradients": [g]}
        case.gradient(grads(o, x, **stops), "stop_gradients=[g]: d(l)/dx")
        case.gradient(grads(o, x, stop_gradients=[x]), "stop_gradients=[x] wrt x")
        _documented(case)
        _several(case, p, x, start)
        case.gradient(grads(call("Mean", g, ints(0)), x), "reduce_mean seed 1/n")
    _rows(case)
    _shapes(case)
    case.skip(ADD_N, "bad aggregation_method")
    case.skip(
        "its inputs are not recorded and do not follow from the result", "broadcast scalar mul"
    )
    case.skip(DEVICES, "colocate attr _class")
    case.skip(DOCUMENTATION, "each call rebuilds")


def _documented(case: Case) -> None:
    """The example of tf.gradients' documentation: a = 0, b = 2a, of a + b."""
    with Program() as p:
        a = p.builder.constant(np.float32(0))
        b = 2.0 * a
        entry = "doc: a=0,b=2a"
        case.gradient(p.run(gradients(a + b, [a, b])), entry, "gradients(a+b,[a,b])")
        stopped = gradients(a + b, [a, b], stop_gradients=[a, b])
        case.gradient(p.run(stopped), entry, "stop_gradients=[a,b]")


def _several(case: Case, p: Program, x: Tensor, start: np.ndarray) -> None:
    """Four paths from x: their gradients meet in one AddN."""
    y = call("Square", x) + call("Exp", x) + x * 2.0 + x
    found = gradients(y, x)[0]
    assert isinstance(found, Tensor)
    entry = "aggregation ADD_N"
    case.gradient(p.run(found, {x: start}), entry, "value")
    case.graph(found.op.type, entry, "final_op")
    scope = found.ref.op.split("/")[0]
    sums = [o for o in p.operations() if o.type == "AddN" and o.name.startswith(f"{scope}/")]
    case.graph(len(sums), entry, "AddN nodes")
    for other in ("EXPERIMENTAL_TREE", "EXPERIMENTAL_ACCUMULATE_N"):
        case.gradient(p.run(found, {x: start}), f"aggregation {other}", "value")
        case.graph(found.op.type, f"aggregation {other}", "final_op")
        case.skip(ADD_N, f"aggregation {other}", "AddN nodes")


def _rows(case: Case) -> None:
    """Gathering rows: IndexedSlices, alone, twice, and with a gradient of the whole."""
    with Program() as p:
        v = p.variable("emb", np.arange(6, dtype=np.float32).reshape(3, 2))
        zero = np.array(0, np.int32)

        def rows(*indices: int) -> Tensor:
            return call("GatherV2", v.value(), ints(*indices), zero)

        def outcome(y: Tensor) -> dict[str, Any]:
            found = gradients(y, v.handle)[0]
            sliced = isinstance(found, IndexedSlices)
            kind = "IndexedSlices" if sliced else "SymbolicTensor"
            return {"type": kind, "value": p.run(found)}

        for entry in case.recorded:
            if entry.startswith("IndexedSlices"):
                why = "Gradstep leaves out a Reshape or adds an Identity: same value, other last op"
                case.skip(why, entry, "final_op")

        taken = rows(0, 0, 2)
        case.gradient(lambda: outcome(taken), "IndexedSlices: sparse only")
        two = call("Sum", taken, ints(0, 1)) + call("Sum", rows(1) * 5.0, ints(0, 1))
        case.gradient(lambda: outcome(two), "IndexedSlices: two gathers")
        dense = call("Sum", taken, ints(0, 1)) + call("Sum", call("Square", v.value()), ints(0, 1))
        case.gradient(lambda: outcome(dense), "IndexedSlices: sparse + dense")


def _shapes(case: Case) -> None:
    with Program() as p:
        x = p.like("x", np.zeros(2, np.float32))
        start = {x: np.array([1, 2], np.float32)}
        cube = x * x * x
        first = gradients(cube, x)[0]
        case.gradient(p.run(gradients(first, x), start), "grad of grad", "d2(x^3)")
        rows = [gradients(element(first, i), x)[0] for i in range(2)]
        hessian = p.run(rows, start)
        case.gradient(np.stack(hessian), "grad of grad", "hessians(sum x^3)")
        bias = p.builder.constant(np.zeros(3, np.float32))
        m = p.builder.constant(np.array([[1, 2, 3], [4, 5, 6]], np.float32))
        added = (m + bias) * m
        case.gradient(p.run(gradients(added, bias)[0]), "broadcast add bias")
        tied = p.builder.constant(np.array([1, 1, 0], np.float32))
        top = call("Max", tied, ints(0))
        case.gradient(p.run(gradients(top, tied)[0]), "reduce_max ties split")
        case.error(
            lambda: gradients(call("Complex", x, x), x),
            "complex y",
            says="Gradients of complex tensors (Complex) must set grad_ys (y.dtype = complex64)",
        )
    with Program() as p:
        x = p.like("x", np.zeros(2, np.float32))
        ex = call("Exp", call("Square", x, name="sq"), name="ex")
        made = gradients(ex, x), gradients(ex, x)
        scopes = {g[0].ref.op.split("/")[0] for g in made if isinstance(g[0], Tensor)}
        wanted = {n.split("/")[0] for n in case.at("names") if n.startswith("gradients")}
        case.derived(sorted(scopes), sorted(wanted), "names", how="the scope of each call")
