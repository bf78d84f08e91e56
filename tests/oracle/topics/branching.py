"""tf.cond and tf.case: what runs, what does not, and which gradient comes back."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call
from tests.oracle.compare import as_array
from tests.oracle.program import Program
from tests.oracle.table import Case, checks
from tests.oracle.topics.overrides import FUNCTIONS

BOTH = (True, False)


def scalars(p: Program, *names: str) -> list[Tensor]:
    return [p.placeholder(name, shape=()) for name in names]


def flag(p: Program) -> Tensor:
    return p.placeholder("p", "bool", ())


@checks("where_cond_gradients")
def branching(case: Case) -> None:
    _squares(case)
    _roots(case)
    _runs(case)
    _updates(case)
    _errors(case)
    _cases(case)


def _squares(case: Case) -> None:
    """a² or 10 b, at a = 3 and b = 5."""
    with Program() as p:
        pred, (a, b) = flag(p), scalars(p, "a", "b")
        y = tf.cond(pred, lambda: a * a, lambda: b * 10.0)
        by_a, by_b = gradients(y, [a, b])
        for taken in BOTH:
            found = p.run({"value": y, "d/da": by_a, "d/db": by_b}, {pred: taken, a: 3.0, b: 5.0})
            case.gradient(found, "cond", str(taken))


def _roots(case: Case) -> None:
    with Program() as p:
        (q,) = scalars(p, "q")
        y = tf.cond(call("Greater", q, 0.0), lambda: tf.sqrt(q), lambda: tf.constant(0.0))
        by_q = gradients(y, q)[0]
        found = [np.array(p.run([y, by_q], {q: at}), np.float32) for at in (0.0, 4.0)]
        case.gradient(found, "cond(q>0, sqrt(q), 0) at 0 and 4")


def _runs(case: Case) -> None:
    """What an operation outside does runs always; what is in a branch, where it is taken."""
    ran: list[str] = []
    with Program() as p:
        pred = flag(p)

        def noting(name: str) -> Tensor:
            def note() -> np.ndarray:
                ran.append(name)
                return np.float32(1)

            return p.py_func(note, [], name=name)[0]

        outside = noting("outside")
        y = tf.cond(pred, lambda: noting("T") + outside, lambda: noting("F"))
        for taken, entry in zip(BOTH, case.at("cond_execution"), strict=True):
            ran.clear()
            p.run(y, {pred: taken})
            case.value(sorted(ran), "cond_execution", entry)
        unfed = tf.cond(pred, lambda: scalars(p, "a")[0], lambda: tf.constant(0.0))
        b = p.placeholder("b")
        other = tf.cond(pred, lambda: tf.constant(0.0), lambda: b * 1.0)
        case.error(lambda: p.run(other, {pred: True}), "cond_unfed_branch_placeholder")
        assert p.run(unfed, {pred: False}) == 0  # one that is made inside is not asked for


def _updates(case: Case) -> None:
    with Program() as p:
        pred, v = flag(p), p.variable("v", np.float32(0))
        update = v.update("AssignAdd", 1.0)
        y = tf.cond(pred, lambda: tf.identity(update), lambda: tf.constant(0.0))
        p.run(y, {pred: False})
        case.value(p.value(v), "assign_created_outside_cond_runs_on_False")
    with Program() as p:
        pred, v = flag(p), p.variable("v", np.float32(0))
        y = tf.cond(pred, lambda: tf.identity(v.update("AssignAdd", 1.0)), lambda: v.value())
        after = []
        for taken in (False, True):
            p.run(y, {pred: taken})
            after.append(p.value(v).copy())
        case.value(np.array(after), "assign_created_inside_cond")
    with Program() as p:
        pred, v = flag(p), p.variable("v", np.float32(2))
        y = tf.cond(pred, lambda: v.value() * 3.0, lambda: tf.constant(1.0))
        found = gradients(y, v.handle)[0]
        for taken in BOTH:
            given = p.run(found, {pred: taken})
            case.gradient(given, "cond_variable_only_in_true", f"p={taken}")


def _errors(case: Case) -> None:
    one, two = (lambda: tf.constant(1.0)), (lambda: [tf.constant(1.0), tf.constant(2.0)])
    with Program() as p:
        pred = flag(p)
        case.error(lambda: tf.cond(True, one, one), "cond_python_bool")
        case.error(lambda: tf.cond(pred, one, lambda: tf.constant(1)), "cond_type_mismatch")
        case.error(
            lambda: tf.cond(pred, one, two),
            "cond_structure_mismatch",
            says="The two structures don't have the same nested structure.",
            why="TensorFlow goes on with the names of its Python objects",
        )


def _cases(case: Case) -> None:
    with Program() as p:
        (x,) = scalars(p, "x")
        choices: list[tuple[Tensor, Callable[[], Any]]] = [
            (call("Less", x, 1.25), lambda: x * x),
            (call("Less", x, 2.0), lambda: 3.0 * x),
        ]
        y = tf.case(choices, default=lambda: 4.0 * x)
        by_x = gradients(y, x)[0]
        found = [np.array(p.run([y, by_x], {x: at}), np.float32) for at in (1.0, 1.5, 2.5)]
        case.gradient(found, "tf.case")


@checks("gradient_override_map_semantics")
def overridden(case: Case) -> None:
    """A map that is active while a cond is made marks the Identities that this makes, too."""
    with Program() as p:
        pred, (x,) = flag(p), scalars(p, "x")
        y = tf.cond(
            pred,
            lambda: call("Identity", x, _gradient_op_type="CustomGrad"),
            lambda: x * 1.0,
        )
        made = [op for op in p.operations() if op.type == "Identity"]
        case.graph(sorted(f"{op.name}:{op.type}" for op in made), "cond_ops_with_attr")
        found = p.run(gradients(y, x, functions=FUNCTIONS)[0], {pred: True, x: 2.0})
        entry = "grad_through_cond (5 per Identity on the path)"
        case.gradient(found, entry)


_NODE = re.compile(r"(\S+) = (\w+)\((.*?)\)(?: {(.*)})?$")


@checks("where_cond_gradients")
def in_words(case: Case) -> None:
    """The graph that TensorFlow wrote, gradients included, and the forward part as tf.cond makes
    it here."""
    words = case.at("cond_graph_words")
    session = Session(Graph.of(map(_operation, words)))
    for run in case.at("graph_file", "runs"):
        values = session.run(list(run["fetches"]), run["feeds"])
        for value, recorded in zip(values, run["fetches"].values(), strict=True):
            assert value == as_array(recorded)
    with Program() as p:
        pred, (a, b) = flag(p), scalars(p, "a", "b")

        def sum_of_both() -> Tensor:
            ten = p.builder.constant(np.float32(10), name="ten")  # TensorFlow: cond/mul_1/y
            return call("AddV2", call("Mul", b, ten, name="mul_1"), a, name="add")

        y = tf.cond(pred, lambda: call("Mul", a, a, name="mul"), sum_of_both)
        call("Identity", y, name="y")
        made = sorted(map(_said, p.operations()))
    forward = [text.partition(" {")[0] for text in words if not text.startswith(("grad", "dy"))]
    forward = [text.replace("cond/mul_1/y", "cond/ten") for text in forward]
    how = "names and wires; the recorded runs of the whole graph give their values"
    case.derived(made, sorted(forward), "cond_graph_words", how=how)


def _operation(words: str) -> Operation:
    """`cond/mul_1/y = Const(^cond/switch_f) {dtype=float32, value=10.0}`."""
    found = _NODE.match(words)
    assert found is not None
    name, kind, inputs, described = found.groups()
    wires = [text for text in inputs.split(", ") if text]
    attrs: dict[str, Any] = {}
    if kind in ("Const", "Placeholder"):
        dtype, _, rest = described.partition(", ")
        attrs["dtype"] = DType(dtype.removeprefix("dtype="))
        value = ast.literal_eval(rest.partition("=")[2])
        array = np.array(value, attrs["dtype"].numpy) if kind == "Const" else None
        attrs |= {"shape": Shape(value)} if array is None else {"value": Constant(array)}
    return Operation(
        name,
        kind,
        tuple(TensorRef.parse(text) for text in wires if text[0] != "^"),
        tuple(text[1:] for text in wires if text[0] == "^"),
        attrs,
    )


def _said(op: Operation) -> str:
    wires = [*(ref.short for ref in op.inputs if ref), *(f"^{name}" for name in op.control_inputs)]
    return f"{op.name} = {op.type}({', '.join(wires)})"
