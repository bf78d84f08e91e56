"""py_func: gradients missing or wrong, functions that fail, a sample with its own gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call
from tests.oracle.documents import NO_GRADIENTS, minimize
from tests.oracle.program import Program
from tests.oracle.shorthand import total, vector
from tests.oracle.table import STATISTIC, Case, checks

NO_GRADIENTS_WORDS = {
    "minimize_all_none": NO_GRADIENTS,
    "apply_gradients_all_none": "No gradients provided for any variable",
}


NODE_DEF = "TensorFlow prints the whole NodeDef"


def _too_many(op: Any, g: Tensor) -> Any:
    return g, g, g


BAD_GRADIENTS: dict[str, Callable[..., Any]] = {
    "wrong_count_too_few": lambda op, g: (g,),
    "wrong_count_too_many": _too_many,
    "single_none_for_two_inputs": lambda op, g: None,
}


@checks("override_pyfunc_errors")
def py_func_errors(case: Case) -> None:
    with Program() as p:
        x = p.variable("x", vector(1, 2))
        plain = p.py_func(lambda a: a * 2, [x.read])[0]
        case.gradient(gradients(plain, x.handle), "gradients_through_plain_py_func")
        case.gradient([[gradients(plain, x.handle)[0], "x:0"]], "compute_gradients_pairs")
        for entry in ("minimize_all_none", "apply_gradients_all_none"):
            loss = total(plain)
            case.error(
                lambda loss=loss: minimize(p, loss, [x]), entry, says=NO_GRADIENTS_WORDS[entry]
            )
    _left_out(case)
    _rules(case)
    _calls(case)


def _left_out(case: Case) -> None:
    """A variable without a gradient is left out of the update."""
    with Program() as p:
        x, y = p.variable("x", vector(1, 2)), p.variable("y", vector(1, 2))
        loss = tf.reduce_sum(p.py_func(lambda a: a * 2, [x.read], shapes=(Shape((2,)),))[0])
        found = gradients(loss + tf.reduce_sum(y.read), [x.handle, y.handle])
        names = [
            [None if g is None else "tensor", v.name + ":0"]
            for g, v in zip(found, (x, y), strict=True)
        ]
        case.gradient(names, "partial_none_apply", "pairs")
        updates = p.apply("GradientDescent", [(x, found[0]), (y, found[1])], learning_rate=0.5)
        p.run([], targets=updates.targets)
        case.value(p.value(x), "partial_none_apply", "x_after")
        case.value(p.value(y), "partial_none_apply", "y_after")


def _rules(case: Case) -> None:
    """Gradient functions that return the wrong number, shape, type or thing."""
    with Program() as p:
        a, b = p.variable("a", vector(1, 2)), p.variable("b", vector(3, 4))
        z = p.py_func(
            lambda u, v: u + v,
            [a.read, b.read],
            name="z",
            shapes=(Shape((2,)),),
            _gradient_op_type="Rule",
        )[0]

        def grads(rule: Callable[..., Any]) -> Callable[[], Any]:
            return lambda: p.run(gradients(z, [a.handle, b.handle], functions={"Rule": rule}))

        for entry, rule in BAD_GRADIENTS.items():
            count = {"wrong_count_too_many": 3}.get(entry, 1)
            words = f"Num gradients {count} generated for op 'z' (op type: PyFunc, gradient: Rule) "
            says = f"{words}do not match num inputs 2"
            case.error(grads(rule), entry, says=says, why=NODE_DEF)
        case.gradient(grads(lambda op, g: (g, None)), "one_none")
        case.gradient(grads(lambda op, g: [g, g]), "list_instead_of_tuple")
        case.error(
            grads(lambda op, g: (tf.constant(vector(1, 1, 1)), g)),
            "wrong_static_shape",
            says="Incompatible shapes between op input and calculated input gradient. Forward "
            "operation: z. Input index: 0. Original input shape: [2]. Calculated input gradient "
            "shape: [3]",
            why="shapes are written [2] everywhere",
        )
        wide = grads(lambda op, g: (tf.cast(g, DType.FLOAT64), g))
        case.gradient(wide, "wrong_dtype")
        case.error(
            grads(lambda op, g: (np.ones(2), np.ones(2))),
            "numpy_grad_returned",
            says="gradient 'Rule' returned a ndarray for input 0",
        )
        case.error(
            grads(lambda op, g: 1 / 0),
            "raises_inside",
            says="gradient function 'Rule' raised ZeroDivisionError: division by zero",
            kind="GradientFunctionError",
        )


def _calls(case: Case) -> None:
    """Functions that fail or return something else than was declared."""
    with Program() as p:
        x = p.builder.constant(vector(1, 2))

        def run(function: Callable[..., Any]) -> Callable[[], Any]:
            return lambda: p.run(p.py_func(function, [x])[0])

        def token(entry: str) -> str:
            """TensorFlow's words with the token that this program's function has."""
            words = case.at(entry, "message").partition("\n")[0]
            return words.replace(_token(words), f"pyfunc_{len(p.functions)}")

        for entry, function in {
            "wrong_return_dtype": lambda a: a.astype(np.float64),
            "wrong_return_count": lambda a: (a, a),
            "returns_none": lambda a: None,
        }.items():
            case.error(run(function), entry, says=token(entry), why="its own token")
        case.error(run(lambda a: {}["nokey"]), "python_exception_inside")
        case.skip(
            "a tensor of the graph inside the function: custom Python gets arrays alone",
            "tf_op_inside_py_func",
        )
        calls: list[int] = []
        y = p.py_func(lambda a: calls.append(1) or a, [x])[0]
        p.run([y + 1.0, y * 2.0, y])
        case.value(len(calls), "py_func_calls_for_three_consumers_one_run")


def _token(words: str) -> str:
    return next(word for word in words.split() if word.startswith("pyfunc_"))


@checks("bernoulli_custom_grad")
def bernoulli(case: Case) -> None:
    for dtype in ("float32", "float64"):
        for way in case.at(dtype):
            case.gradient(_sampled(case, dtype, way), dtype, way)
    exact = {
        way: _sampled(case, "float64", way) for way in ("ste_identity", "tutorial_fmap_times_grad")
    }
    case.gradient(exact["ste_identity"]["dp"], "numpy", "ste dp = fmap*dL/dout")
    case.gradient(
        exact["tutorial_fmap_times_grad"]["dp"],
        "numpy",
        "tutorial dp (override on mask only) = fmap^2*dL/dout",
    )
    case.gradient(exact["ste_identity"]["df"], "numpy", "df = z*dL/dout")
    case.skip(STATISTIC, "checks")
    for entry in case.recorded:
        if entry.startswith("tf.distributions"):
            case.skip("tf.distributions, which is not part of TensorFlow itself", entry)


def _product(op: Any, g: Tensor) -> Any:
    p, u, f = op.inputs
    return f * g, None, tf.cast(call("Less", u, p), f.dtype) * g


def _sampled(case: Case, dtype: str, way: str) -> dict[str, Any]:
    """out = mask * fmap, where mask is 1 with probability p; loss = sum((out - target)²)."""
    keys = ("p", "fmap", "u (uniform draw, fed)", "target")
    start = [case.given("inputs", key).astype(dtype) for key in keys]
    with Program() as program:
        p, f, u, target = (program.like(f"in{i}", x) for i, x in enumerate(start))
        functions: dict[str, Callable[..., Any]] = {}

        def draw(
            gradient: str, rule: Callable[..., Any], *inputs: Tensor, whole: bool = False
        ) -> Tensor:
            functions[gradient] = rule
            return program.py_func(
                lambda q, v, *w: np.where(v < q, 1, 0).astype(dtype) * (w[0] if whole else 1),
                [*inputs],
                [dtype],
                shapes=(Shape(start[0].shape),),
                _gradient_op_type=gradient,
            )[0]

        plain = tf.cast(call("Less", u, p), DType(dtype))
        if way == "none":
            out = plain * f
        elif way == "ste_stop_gradient":
            out = (p + tf.stop_gradient(plain - p)) * f
        elif way == "ste_identity":
            out = draw("Ste", lambda op, g: (g, None), p, u) * f
        elif way == "tutorial_fmap_times_grad":
            out = draw("Tutorial", lambda op, g: (op.inputs[2] * g, None, None), p, u, f) * f
        else:
            out = draw("Product", _product, p, u, f, whole=True)
        loss = call("Sum", call("Square", out - target), np.array([0, 1], np.int32))
        dp, df = gradients(loss, [p, f], functions=functions)
        fetches = {"out": out, "loss": loss, "dp": dp, "df": df}
        feeds = dict(zip((p, f, u, target), start, strict=True))
        return program.run(fetches, feeds)
