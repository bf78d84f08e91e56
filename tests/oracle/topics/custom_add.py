"""The article's custom_add: a Python function whose override does not give the native gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call
from tests.oracle.program import Program
from tests.oracle.shorthand import vector
from tests.oracle.table import DOCUMENTATION, STATISTIC, Case, checks
from tests.support.rounding import Rounding

ADAM = {"learning_rate": 0.001, "beta1": 0.9, "beta2": 0.999, "epsilon": 0.1}


def _tutorial(op: Any, g: Tensor) -> Any:
    c, k, d = op.inputs
    e = c + k
    return (e + d) * g, d * g, e * g


def _zeros(op: Any, g: Tensor) -> Any:
    return g, g, tf.zeros_like(op.inputs[2])


ADDERS: dict[str, Callable[..., Any] | None] = {
    "native": None,
    "tutorial": _tutorial,
    "correct": lambda op, g: (g, g, None),
    "correct_zeros": _zeros,
}


class Article:
    """d = data + c, e = c + k by custom_add, a = d * e, softmax cross-entropy with the labels."""

    def __init__(self, case: Case, dtype: str, adder: Callable[..., Any] | None) -> None:
        self.p = p = Program()
        with p:
            data = case.given("inputs", "data").astype(dtype)
            labels = case.given("inputs", "labels")
            self.c = p.variable("c", case.given("inputs", "c").astype(dtype))
            self.k = p.variable("k", case.given("inputs", "k").astype(dtype))
            self.d = p.builder.constant(data) + self.c.read
            self.e = self._add(dtype, adder is not None)
            self.a = call("Mul", self.d, self.e, name="a")
            self.functions = {} if adder is None else {"CustomAdd": adder}
            self.loss = loss_of(self.a, labels)

    def _add(self, dtype: str, custom: bool) -> Tensor:
        inputs = [self.c.read, self.k.read, self.d]
        if not custom:
            return inputs[0] + inputs[1]
        shape = (Shape((2,)),)
        attrs = {"_gradient_op_type": "CustomAdd"}
        return self.p.py_func(lambda c, k, d: c + k, inputs, [dtype], "AddGrad/py", shape, **attrs)[
            0
        ]

    def grads(self) -> list[Any]:
        wrt = [self.a, self.c.handle, self.k.handle]
        return gradients(self.loss, wrt, functions=self.functions)

    def train(self, steps: int, **hyper: float) -> list[dict[str, Any]]:
        found = self.grads()
        pairs = [(self.c, found[1]), (self.k, found[2])]
        updates = self.p.apply("Adam", pairs, **{**ADAM, **hyper})
        after = []
        for _ in range(steps):
            self.p.run([], targets=updates.targets)
            after.append({name: self.p.session.store[name].copy() for name in ("c", "k")})
        return after


def loss_of(a: Tensor, labels: np.ndarray) -> Tensor:
    """tf.losses.softmax_cross_entropy of one row: its mean is reduced in float32."""
    rows = a.builder.tensor(labels.reshape(1, -1), dtype=a.dtype)
    logits = call("Reshape", a, np.array([1, -1], np.int32))
    losses = tf.nn.softmax_cross_entropy_with_logits(labels=tf.stop_gradient(rows), logits=logits)
    narrow = tf.cast(losses, DType.FLOAT32)
    return tf.cast(call("Sum", narrow, np.array([0], np.int32)), a.dtype)


@checks("override_custom_add_claim")
def custom_add(case: Case) -> None:
    case.given("inputs", "adam")
    for run in case.at("results"):
        name, dtype = run.split("/")
        article = Article(case, dtype, ADDERS[name])
        parts = {"d": article.d, "e": article.e, "a": article.a, "loss": article.loss}
        found = dict(zip(("dL_da", "dL_dc", "dL_dk"), article.grads(), strict=True))
        values = article.p.run({**parts, **found})
        for key, value in values.items():
            (case.gradient if key.startswith("dL") else case.value)(value, "results", run, key)
        key = "adam_after_step_1_2_3"
        steps = Rounding(steps=3)
        case.value(article.train(3), "results", run, key, rounding=steps)
    for run in case.at("one_adam_step"):
        name, epsilon = run.split("/eps=")
        article = Article(case, "float64", ADDERS[name])
        (after,) = article.train(1, epsilon=float(epsilon))
        found = {**after, "loss_after": article.p.run(article.loss)}
        case.value(found, "one_adam_step", run)
    _variants(case)
    _derivation(case)
    custom = Article(case, "float32", _tutorial)
    op = custom.p.builder.operation("AddGrad/py")
    case.derived(
        [op.type, op.gradient_op_type],
        ["PyFunc", "CustomAdd"],
        "pyfunc_nodedef_attr__gradient_op_type",
        how="under the document's own name, CustomAdd",
    )
    case.skip(DOCUMENTATION, "graph_of_the_tutorial")
    case.skip_each(DOCUMENTATION, "note_adam", "note_minimize")


def _derivation(case: Case) -> None:
    """The recorded formulas in NumPy, with our gradients."""
    grads = {}
    for name in ("native", "tutorial"):
        article = Article(case, "float64", ADDERS[name])
        g, dc, dk = article.p.run(article.grads())
        grads |= {"g": g, f"{name}_dc": dc, f"{name}_dk": dk}
    case.gradient(grads, "derivation", "numpy")
    for key in ("dc", "dk"):
        ratio = grads[f"tutorial_{key}"] / grads[f"native_{key}"]
        case.gradient(ratio, "derivation", "ratio_tutorial_over_native", key)
    for key in ("what_grad_is", "native", "tutorial_override", "equal_iff"):
        case.skip(DOCUMENTATION, "derivation", key)
    case.skip(STATISTIC, "derivation", "max_abs_diff_vs_tf_float64")


def _textbook(op: Any, g: Tensor) -> Any:
    c, k, d = op.inputs
    return d * g, d * g, (c + k) * g


OUTPUTS_A: dict[str, Callable[..., Any]] = {
    "op outputs a; tutorial returns ((e+d)g, d g, e g)": _tutorial,
    "op outputs a; ((e+d)g, d g, None)": lambda op, g: (*_tutorial(op, g)[:2], None),
    "op outputs a; textbook (d g, d g, e g)": _textbook,
}


def _variants(case: Case) -> None:
    native = Article(case, "float64", None)
    _, *own = native.p.run(native.grads())
    for entry, rule in OUTPUTS_A.items():
        article = Article(case, "float64", None)
        p = article.p
        with p:
            a = p.py_func(
                lambda c, k, d: d * (c + k),
                [article.c.read, article.k.read, article.d],
                ["float64"],
                "whole",
                (Shape((2,)),),
                _gradient_op_type="Whole",
            )[0]
            loss = loss_of(a, case.given("inputs", "labels"))
            wrt = [article.c.handle, article.k.handle]
            dc, dk = p.run(gradients(loss, wrt, functions={"Whole": rule}))
        same = bool(np.allclose(dc, own[0]) and np.allclose(dk, own[1]))
        found = {"dL_dc": dc, "dL_dk": dk, "equals_native": same}
        case.gradient(found, "variants_op_outputs_a", entry)


@checks("override_custom_add_list_trap")
def list_trap(case: Case) -> None:
    """py_func with a list of types gives a list: used as a tensor it is packed to rank + 1."""
    with Program() as p:
        c, k = (
            p.variable(n, v) for n, v in (("c", vector(0.06, -0.04)), ("k", vector(0.05, 0.13)))
        )
        d = p.builder.constant(vector(1, 2)) + c.read
        made = p.py_func(lambda c, k, d: c + k, [c.read, k.read, d], _gradient_op_type="CustomAdd")
        a = d * tf.stack(made)
        loss = call("Reshape", loss_of(a, np.array([0, 1])), np.array([], np.int32))
        case.graph(type(made).__name__, "type_of_e")
        case.graph(str(a.shape) if a.shape.rank is not None else "<unknown>", "static_shape_a")
        case.value(p.run(a), "run_a")
        case.value(p.run(loss), "run_loss")
        found = gradients(loss, [c.handle, k.handle], functions={"CustomAdd": _tutorial})
        case.gradient(p.run(found), "run_grads")
        for stateful in (True, False):
            one = p.py_func(lambda x: x, [d], stateful=stateful)
            shape = "<unknown>" if one[0].shape.rank is None else str(one[0].shape)
            path = "stateful_variants", str(stateful)
            case.graph(one[0].op.type, *path, "op_type")
            case.graph(shape, *path, "static_shape")
            case.skip("what TensorFlow's Python returns for one type", *path, "is_list")
    case.skip(DOCUMENTATION, "forward_a")
    case.skip(DOCUMENTATION, "graph")
