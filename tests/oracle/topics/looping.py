"""tf.while_loop: values and gradients, shape invariants, what cannot be read from outside."""

from __future__ import annotations

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.ops import api as tf
from gradstep.core.ops.api.tf_tensor_array import TensorArray
from gradstep.core.ops.build.builder import Tensor
from tests.oracle.program import Program
from tests.oracle.shorthand import total, vector
from tests.oracle.table import Case, checks

TWO = np.float32(2)


@checks("while_loop_gradients")
def powers(case: Case) -> None:
    with Program() as p:
        x, n = p.placeholder("x", shape=[]), p.placeholder("n", "int32", [])
        one = p.builder.constant(1.0)
        i, y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * x), (0, one))
        grad = gradients(y, x)[0]
        for number, entry in enumerate(case.at("x^n")):
            feeds = {x: case.given("x^n", number, "x"), n: case.given("x^n", number, "n")}
            assert set(entry) == {"x", "n", "y", "dy/dx", "i"}
            found = p.run({"y": y, "dy/dx": grad, "i": i}, feeds)
            case.gradient(found, "x^n", number)


@checks("while_loop_gradients")
def trip_counts(case: Case) -> None:
    """How often the body runs depends on the data."""
    entry = "data dependent: while a<100: a=a*a"
    with Program() as p:
        x = p.placeholder("x", shape=[])
        y = tf.while_loop(lambda a: a < 100.0, lambda a: a * a, [x])
        case.derived(isinstance(y, Tensor), True, "single loop var returns", how="a tensor")
        grad = gradients(y, x)[0]
        for number in range(len(case.at(entry))):
            feeds = {x: case.given(entry, number, "x")}
            case.gradient(p.run({"y": y, "dy/dx": grad}, feeds), entry, number)


@checks("while_loop_gradients")
def stopping(case: Case) -> None:
    with Program() as p:
        x = p.placeholder("x", shape=[])
        _, y = tf.while_loop(
            lambda i, a: i < 5, lambda i, a: (i + 1, a * tf.stop_gradient(x)), (0, x)
        )
        found = p.run({"y": y, "g": gradients(y, x)[0]}, {x: TWO})
        case.gradient(found, "stop_gradient inside")
        most = tf.while_loop(
            lambda a: a > 0.0, lambda a: a * x, [np.float32(1)], maximum_iterations=2
        )
        case.value(p.run(most, {x: TWO}), "maximum_iterations")
        w = np.float32(1)
        _, inside = tf.while_loop(
            lambda i, w: i < 3,
            lambda i, w: (i + 1, w - 0.1 * gradients(tf.square(w), w)[0]),
            (0, w),
        )
        case.value(p.run(inside), "gradient_inside_loop")


@checks("while_loop_gradients")
def shapes(case: Case) -> None:
    with Program() as p:
        start = p.builder.constant(vector(0), name="zeros")

        def grown(shape: list[None] | None) -> Tensor:
            _, found = tf.while_loop(
                lambda i, v: i < 3,
                lambda i, v: (i + 1, tf.concat([v, vector(0)], 0)),
                (0, start),
                shape_invariants=None if shape is None else [[], shape],
            )
            assert isinstance(found, Tensor)
            return found

        case.error(lambda: grown(None), "shape_invariant_error")
        case.value(p.run(grown([None])), "shape_invariant_ok")


@checks("while_loop_gradients")
def out_of_reach(case: Case) -> None:
    inner: list[Tensor] = []
    with Program() as p:
        x = p.placeholder("x", shape=[])

        def body(i: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
            inner.append(tf.multiply(a, x, name="mul"))
            return i + 1, inner[0]

        _, y = tf.while_loop(lambda i, a: i < 3, body, (0, x))
        case.error(lambda: tf.identity(inner[0]), "use_inner_tensor_outside")
        case.error(lambda: p.run(inner[0], {x: TWO}), "fetch_tensor_from_inside_loop")
        grad = gradients(y, x)[0]
        case.error(lambda: gradients(grad, x), "second_order")


@checks("while_loop_gradients")
def elements(case: Case) -> None:
    """Loops over elements, whose outputs a TensorArray collects."""
    with Program() as p:
        x, v = p.placeholder("x", shape=[]), p.placeholder("v", shape=[3])
        _, array = tf.while_loop(
            lambda i, _: i < 4,
            lambda i, array: (i + 1, array.write(i, x * tf.cast(i, "float32"))),
            (0, TensorArray("float32", 4)),
        )
        stack = array.stack()
        found = p.run({"stack": stack, "grad_sum": gradients(total(stack), x)[0]}, {x: TWO})
        case.gradient(found, "TensorArray")
        y = tf.scan(lambda a, e: a * e, v)
        feeds = {v: vector(1, 2, 3)}
        case.gradient(p.run({"y": y, "g": gradients(y, v)[0]}, feeds), "scan cumulative")
        case.value(p.run(tf.map_fn(lambda e: e * e, v), feeds), "map_fn")
    own = "the words of the file, which is checked as graph_file_forward"
    case.skip(own, "graph_words")
    stacks = "TensorFlow's way back keeps values on stacks; ours reads them from the loop's trace"
    case.skip(stacks, "ops_with_gradient")


@checks("gradient_override_map_semantics")
def overridden(case: Case) -> None:
    entry = "while_mul_override"
    functions = {"MulTimes": lambda op, g: (10.0 * op.inputs[1] * g, 10.0 * op.inputs[0] * g)}
    with Program() as p:
        c = p.placeholder("c", shape=[])

        def marked(i: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
            (product,) = p.builder.op("Mul", a, tf.constant(TWO), _gradient_op_type="MulTimes")
            return i + 1, product

        _, y = tf.while_loop(lambda i, a: i < 3, marked, (0, c))
        grad = gradients(y, c, functions=functions)[0]
        found = p.run([y, grad], {c: TWO})
        case.value(found[0], entry, "forward (c=2 -> 16)")
        case.gradient(found[1], entry, "grad (8*10^3)")
