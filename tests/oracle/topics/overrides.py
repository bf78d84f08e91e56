"""RegisterGradient and gradient_override_map: whose gradient is replaced, by what, and when not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import Override, OverrideKind
from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.document.document import Document
from gradstep.core.io.export_document import to_bytes
from gradstep.core.io.tensorflow.graphdef_import import from_pb
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor, call
from tests.oracle.program import Program
from tests.oracle.shorthand import vector
from tests.oracle.table import Case, checks

REGISTRY = (
    "Python's registry of gradients: in Gradstep a gradient is a function of the document, "
    "whose names are unique"
)


MAP = "an argument of gradient_override_map in Python: Gradstep's overrides are records with types"


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "CustomGrad": lambda op, g: 5.0 * g,
    "Times7": lambda op, g: 7.0 * g,
    "Hundred": lambda op, g: tf.ones_like(op.inputs[0]) * 100.0,
    "MulTimes": lambda op, g: (10.0 * op.inputs[1] * g, 10.0 * op.inputs[0] * g),
}


def marked(op_type: str, x: Any, gradient: str, *more: Any, name: str | None = None) -> Tensor:
    """An operation made under a gradient_override_map that names `gradient` for its type."""
    return call(op_type, x, *more, name=name, _gradient_op_type=gradient)


@checks("gradient_override_map_semantics")
def affected(case: Case) -> None:
    start = case.given("inputs", "x")
    with Program() as p:
        x = p.like("x", start)

        def grad(y: Tensor) -> Any:
            return p.run(gradients(y, x, functions=FUNCTIONS)[0], {x: start})

        before, outside = tf.identity(x, name="before"), x + x
        inside = marked("Identity", x, "CustomGrad", name="inside")
        entry = "identity_customgrad_5x"
        case.gradient(grad(before), entry, "before")
        case.gradient(grad(inside), entry, "inside")
        case.gradient(grad(marked("Identity", x, "CustomGrad")), entry, "inside_without_name_arg")
        case.gradient(grad(tf.identity(x, name="after")), entry, "after")
        case.gradient(grad(outside), entry, "op_created_outside_used_inside")
        case.value(p.run(inside, {x: start}), entry, "forward_inside")
        for name in case.at("nodedef_attrs"):
            found = p.builder.operation(name).gradient_op_type
            case.graph(found, "nodedef_attrs", name)
        entry = "nested"
        case.gradient(grad(marked("Identity", x, "Times7")), entry, "inner_identity(7)")
        floored = marked("Floor", x, "Identity")
        case.gradient(grad(floored), entry, "inner_floor(from outer map)")
        case.gradient(grad(marked("Identity", x, "CustomGrad")), entry, "back_in_outer(5)")
        case.gradient(grad(tf.identity(x)), entry, "outside(1)")
        entry = "floor_identity"
        case.value(p.run(floored, {x: start}), entry, "forward")
        case.gradient(grad(floored), entry, "grad")
        case.gradient(grad(tf.floor(x)), entry, "grad_plain_floor")
        mean = call("Mean", 2.0 * x, np.array([0], np.int32))
        last = "snippet_reduce_mean_in_scope_grad (unaffected, 2/3)"
        case.gradient(grad(mean), entry, last)
        case.gradient(grad(marked("Identity", x, "Floor")), "identity_with_floor_gradient")
        case.gradient(grad(marked("Mul", x, "AddV2", x)), "mul_with_add_gradient")
        case.gradient(grad(marked("Square", x, "Neg")), "square_with_neg_gradient")
        _wrong_names(case, x)
        case.gradient(grad(marked("Identity", x, "Hundred")), "fn_receives_real_op (100)")
        case.graph((x + x).op.type, "plus_operator_op_type")
        by_type = [Override("CustomGrad", "Add", OverrideKind.TYPE)]
        found = gradients(x + x, x, overrides=by_type, functions=FUNCTIONS)[0]
        case.gradient(p.run(found, {x: start}), "Add_key_effect_on_plus")
    for kind in ("ref", "resource"):
        _made_inside(case, kind)
    _second_order(case)
    _imported(case, start)


def _wrong_names(case: Case, x: Tensor) -> None:
    unknown = marked("Identity", x, "Argmax", name="Identity_5")
    case.error(
        lambda: gradients(unknown, x),
        "identity_with_unregistered_name Argmax (typo case)",
    )
    case.skip(
        "an op without a gradient lends 'no gradient' to an op with any number of inputs",
        "identity_with_ArgMax_gradient (returns 2 Nones)",
    )


def _made_inside(case: Case, kind: str) -> None:
    """A variable made inside the map: the Identity of a ref variable's read is overridden, too."""
    entry = f"variable_created_inside_override_{kind}"
    with Program(resource=kind == "resource") as p:
        v = p.variable("v", vector(1, 2), read_gradient="CustomGrad")

        def grad(y: Tensor) -> Any:
            return p.run(gradients(y, v.handle, functions=FUNCTIONS)[0])

        case.gradient(grad(3.0 * v.value()), entry, "grad of 3*v")
        again = marked("Identity", v.value(), "CustomGrad")
        case.gradient(grad(3.0 * again), entry, "tf.identity(v) inside again")


def _second_order(case: Case) -> None:
    """Gradient operations made while the map is active are overridden, too."""
    entry = "tf_gradients_inside_context"
    with Program() as p:
        c = p.builder.constant(np.float32(2))
        twice = marked("Mul", 2.0, "MulTimes", c)
        case.gradient(
            p.run(gradients(twice, c, functions=FUNCTIONS)[0]), entry, "d(2c) with MulTimes"
        )
        first = gradients(call("Pow", c, 3.0), c)[0]
        plain = gradients(first, c)[0]
        case.gradient(p.run(plain), entry, "dd pow, first-order built outside (=6c=12)")
        by_type = [Override("MulTimes", "Mul", OverrideKind.TYPE)]
        inside = gradients(first, c, overrides=by_type, functions=FUNCTIONS)[0]
        case.gradient(p.run(inside), entry, "dd pow, first-order built inside")


def _imported(case: Case, start: np.ndarray) -> None:
    """Through a GraphDef: the attribute stays; an unknown gradient fails when asked for."""
    with Program() as p:
        marked("Identity", p.like("x", start), "CustomGrad", name="inside")
        p.builder.constant(np.float32(0))
        data = to_bytes(Document(graph=p.builder.build()), ".pb")
    back = GraphBuilder(from_pb(data, "graph.pb").graph)
    q = Program()
    q.builder = back
    inside, x = back.get("inside"), back.get("x")
    found = gradients(inside, x, functions=FUNCTIONS)[0]
    case.gradient(q.run(found, {x: start}), "import_graph_def_keeps_override")
    case.value(None, "import_unknown_gradient_type")
    case.error(
        lambda: gradients(inside, x),
        "import_unknown_gradient_type_then_gradients",
        says="No gradient defined for operation 'inside' (op type: Identity)",
        why="TensorFlow's import puts the prefix i/ before the name",
    )


@checks("register_gradient_rules")
def registering(case: Case) -> None:
    case.skip_each(REGISTRY, "duplicate_name", "duplicate_builtin", "non_string_name")
    case.skip_each(REGISTRY, "decorator_returns_fn", "get_gradient_function")
    case.skip_each(MAP, "map_not_dict", "key_not_string", "value_not_string")
    case.skip(MAP, "value_function_object")
    with Program() as p:
        x = p.builder.constant(np.float32(2))
        y = marked("Identity", x, "Later")
        other = marked("Identity", x, "Later")
        case.graph(f"{y.ref.op}:0", "unknown_name_enter_and_create")
        case.value(p.run(y), "unknown_name_forward_run")
        case.error(lambda: gradients(other, x), "unknown_name_tf_gradients")
        beside = p.builder.constant(np.float32(3))
        case.gradient(
            gradients(beside + y, p.builder.constant(np.float32(1))), "unknown_name_not_on_path"
        )
        bogus = [Override("Identity", "NoSuchOp", OverrideKind.TYPE)]
        third = call("Identity", x)
        gradients(third, x, overrides=bogus)
        case.graph(third.name, "unknown_op_type_key")
        case.skip(REGISTRY, "registered_after_creation")
        found = gradients(y, x, functions={"Later": lambda op, g: 11.0 * g})
        case.gradient(p.run(found), "registered_after_op_creation_before_gradients")
        ids, size = np.array([0, 1, 1], np.int32), np.array(2, np.int32)
        weights = p.builder.constant(vector(1, 2, 3))
        case.error(
            lambda: gradients(call("Bincount", ids, size, weights, name="Bincount"), weights),
            "op_without_registered_gradient",
        )


@checks("custom_gradient_decorator")
def decorator(case: Case) -> None:
    """tf.custom_gradient is an IdentityN with `_gradient_op_type`; an Identity does as well."""
    start = case.given("inputs", "x")
    with Program() as p:
        x = p.like("x", start)
        y = marked("Identity", x, "Clip")
        clip = {"Clip": lambda op, g: tf.clip_by_value(g, -1.0, 1.0)}
        case.value(p.run(y, {x: start}), "forward")
        found = gradients(10.0 * y, x, functions=clip)[0]
        case.gradient(p.run(found, {x: start}), "grad_of_sum_10*y")
    case.skip("how TensorFlow's Python decorator wraps: two Identity and one IdentityN", "ops")
