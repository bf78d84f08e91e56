"""Names and scopes: numbered, refused, looked up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.free_names import check_name
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, call
from tests.oracle.program import Program
from tests.oracle.table import Case, checks

LOOKUP = "looking up by name in Python; in Gradstep a fetch by name says the same"
OBJECT = "the class of what Python returns"
LOOKED_UP = (
    "get_tensor_by_name_no_colon",
    "get_tensor_by_name_bad_format",
    "get_tensor_by_name_neg",
    "get_operation_by_name_missing",
    "get_operation_by_name_tensorname",
)


@checks("names_and_scopes")
def names(case: Case) -> None:
    builder = GraphBuilder()
    made = [builder.constant(np.float32(1), name=name) for name in ("k", "k", "K", "k_1", "k")]
    case.graph([t.ref.op for t in made], "unique_names")
    other = GraphBuilder()
    one, two = (other.constant(np.float32(v)) for v in (1, 2))
    total = other.one("AddV2", one, two, name="add")
    square = other.constant(np.zeros((1, 1), np.float32), name="m")
    product = other.one("MatMul", square, square)
    case.graph([t.name for t in (one, two, total, product)], "default_names")
    _scopes(case)
    _lookups(case)
    case.skip_each(LOOKUP, *LOOKED_UP)
    case.skip(OBJECT, "as_graph_element_str")


@checks("names_and_scopes")
def variables(case: Case) -> None:
    """get_variable and the scopes around it; the graph grows as the recorded program's did."""
    with Program():
        with tf.variable_scope("foo", reuse=tf.AUTO_REUSE):
            first, second = tf.get_variable("v", [1]), tf.get_variable("v", [1])
        case.value(first.ref == second.ref, "auto_reuse_same_object")
        case.value(first.ref == second.ref, "auto_reuse_equal")
        case.graph(first.name, "v.name")
        case.skip(
            "nothing was recorded; duplicate_without_reuse is it",
            "get_variable_again_without_reuse",
        )
        _refused(case)
        with tf.variable_scope("foo", reuse=True):
            case.graph(tf.get_variable("v").name, "reuse_without_shape_ok")
        _effects(case)
        with tf.variable_scope("foobar"):
            tf.get_variable("q", [1])
            tf.get_variable("nt", [1], trainable=False)
        for scope, entry in (
            (None, "global_variables"),
            ("foo", 'global_variables(scope="foo")'),
            ("foo/", 'global_variables(scope="foo/")'),
        ):
            case.graph([v.name for v in tf.global_variables(scope)], entry)
        trained = [v.name for v in tf.trainable_variables("foo")]
        case.graph(trained, 'trainable_variables(scope="foo")')
        _nested(case)


def _refused(case: Case) -> None:
    def get(reuse: bool | None, *args: Any) -> Callable[[], Any]:
        def got() -> None:
            with tf.variable_scope("foo", reuse=reuse):
                tf.get_variable(*args)

        return got

    case.error(get(None, "v", [1]), "duplicate_without_reuse")
    case.error(get(True, "nope", [1]), "reuse_true_missing")
    case.error(get(True, "v", [2]), "reuse_shape_mismatch")
    case.error(get(True, "v", [1], tf.float64), "reuse_dtype_mismatch")
    case.error(lambda: tf.get_variable("zzz"), "get_variable_no_shape_new")


def _effects(case: Case) -> None:
    """A name scope is for operations and tf.Variable, a variable scope for all."""

    def made() -> dict[str, str]:
        variable = tf.get_variable("gv", [1])
        own = tf.Variable([1.0], name="tv")
        total = call("AddV2", 1.0, 2.0, name="add")
        return {"get_variable": variable.name, "tf.Variable": own.name, "op": total.name}

    with tf.name_scope("ns"):
        case.graph(made(), "name_scope_effect")
    found = {}
    for key, reuse in (("first", None), ("second (reuse=True)", True)):
        with tf.variable_scope("vs", reuse=reuse):
            found[key] = list(made().values())
    case.graph(found, "variable_scope_effect")
    with tf.name_scope("ns/"):
        case.graph(call("AddV2", 1.0, 2.0, name="add").name, "name_scope_trailing_slash_reenters")


def _nested(case: Case) -> None:
    with tf.variable_scope("outer"), tf.variable_scope("inner"):
        case.graph(tf.get_variable("w", [1]).name, "nested_variable_scope")
    with tf.variable_scope("outer") as outer:
        pass
    with tf.variable_scope(outer, auxiliary_name_scope=False), tf.name_scope("outer/"):
        with tf.variable_scope("inner", reuse=True):
            o = call("AddV2", 1.0, 2.0, name="o")
        case.graph(o.ref.op, "same_var_scope_second_time_op_scope")
    with tf.variable_scope("init", initializer=tf.constant_initializer(3.0)):
        start = tf.get_variable("w", [2]).initial_value
    case.value(start, "scope_default_initializer")
    made = []
    for _ in range(2):
        with tf.variable_scope(None, default_name="d"):
            made.append(tf.get_variable("w", [1]).name)
    case.graph(made, "default_name_uniquified")
    with tf.variable_scope("sc"):
        tf.get_variable("w", [1])
        tf.get_variable_scope().reuse_variables()
        case.graph(tf.get_variable("w", [1]).name, "reuse_variables()")
    with tf.name_scope("x"), tf.name_scope("y") as y:
        inner = call("AddV2", 1.0, 2.0, name="z")
        with tf.name_scope(None):
            outer = call("AddV2", 1.0, 2.0, name="z")
    case.graph([f"{y}/", inner.ref.op, outer.ref.op], "nested")


def _scopes(case: Case) -> None:
    with Program() as p:
        with p.builder.scope("ns"):
            call("AddV2", 1.0, 2.0, name="add")
        with p.builder.scope("ns"):
            again = call("AddV2", 1.0, 2.0, name="add")
        case.graph(again.name, "name_scope_again")
        case.skip("names that Python gives to constants", "op_inputs_of_add_const")
        for entry, name in (("invalid_name", "a b"), ("invalid_name2", "_a")):
            says = f"'{name}' is not a valid operation name"
            case.error(lambda name=name: check_name(name), entry, says=says)


def _lookups(case: Case) -> None:
    with Program() as p:
        call("AddV2", np.int32(1), np.int32(2), name="addd")
        graph = p.builder.build()
        found = p.builder.get("addd:0").name == "addd:0"
        case.value(found, "get_tensor_by_name")
        for entry, name in (
            ("get_tensor_by_name_missing", "nope:0"),
            ("get_tensor_by_name_bad_index", "addd:1"),
        ):
            case.error(
                lambda name=name: Session(graph).run([name]),
                entry,
                kind="ValueError",
                why="said of a fetch",
            )
